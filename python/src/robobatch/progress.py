"""A progress bar that counts rows, with tqdm if it is installed."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import pyarrow as pa


def counted(batches: Iterable[pa.RecordBatch], rows: int | None, *, show: bool) -> Generator[pa.RecordBatch]:
    """Yield record batches, and show the progress in rows."""
    try:
        if not show:
            raise ModuleNotFoundError
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        yield from batches
        return
    with tqdm(total=rows, unit=" rows", unit_scale=True, desc="robobatch") as bar:
        for batch in batches:
            yield batch
            bar.update(batch.num_rows)
