"""What becomes rows: lists, arrays and tables, of pyarrow and of all that speak Arrow's PyCapsule interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pyarrow as pa

from robobatch.errors import Error


def table_of(rows: Any, url: str) -> pa.Table:
    """Return the rows as a table. An array or a list becomes the column of the URLs."""
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, pa.RecordBatchReader):
        return rows.read_all()
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        return pa.table({url: rows})
    if isinstance(rows, str | bytes | bytearray):
        raise TypeError(f"rows is one URL, {rows[:80]!r}: write a list, as in decide([url], …)")
    if hasattr(rows, "__arrow_c_stream__"):
        return _of_stream(rows, url)
    if hasattr(rows, "__arrow_c_array__"):
        array = pa.array(rows)
        return pa.Table.from_struct_array(array) if pa.types.is_struct(array.type) else pa.table({url: array})
    if type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "columns"):
        return pa.Table.from_pandas(rows)  # before 2.2
    if hasattr(rows, "collect") and hasattr(rows, "collect_schema"):
        raise TypeError("rows is lazy: write rows.collect()")
    if isinstance(rows, Iterable) and not isinstance(rows, dict):
        return pa.table({url: _texts(rows)})
    raise TypeError(f"rows is {type(rows).__name__}: use a list of URLs, or a table of pyarrow, pandas or Polars")


def _of_stream(rows: Any, url: str) -> pa.Table:
    """Return the rows of an Arrow stream: a table if it is one of structs, otherwise a column of URLs."""
    column = pa.chunked_array(rows)
    if not pa.types.is_struct(column.type):
        return pa.table({url: column})
    return pa.table(rows)


def _texts(urls: Iterable[object]) -> pa.Array[Any]:
    urls = list(urls)
    try:
        return pa.array(urls, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as err:
        for i, text in enumerate(urls):
            if text is not None and not isinstance(text, str | bytes):
                raise TypeError(f"URL {i} is {type(text).__name__}, {text!r:.80}: use str, bytes or None") from err
        if any(isinstance(text, bytes) for text in urls):
            return pa.array(
                [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in urls],
                pa.binary(),
            )
        for i, text in enumerate(urls):
            try:
                str(text).encode()
            except UnicodeEncodeError:
                raise ValueError(f"URL {i} has half a surrogate pair, {text!r:.80}: pass bytes") from err
        raise


def url_index(schema: pa.Schema, url: str) -> int:
    """Return the index of the column of the URLs."""
    found = schema.get_all_field_indices(url)
    if len(found) == 1:
        return int(found[0])
    if found:
        raise Error(f'{len(found)} columns are named "{url}": rename them, so that one is')
    names = ", ".join(schema.names)
    raise Error(f'no such column: "{url}": the rows have {names}: name the column of the URLs with -url-column')


_Rows = TypeVar("_Rows", pa.Table, pa.RecordBatch)


def only(rows: _Rows, index: int) -> _Rows:
    """Return one column of the rows. One that has no type, because all is null, becomes one of texts."""
    column = rows.select([index])
    if pa.types.is_null(column.schema.field(0).type):
        return column.cast(pa.schema([(column.schema.names[0], pa.string())]))
    return column


def check_names(names: list[str], added: list[str]) -> None:
    """Check that no column has the name of an added one."""
    taken = [name for name in added if name in names]
    if taken:
        raise Error(
            f'the name of a column is taken: the rows have a column "{taken[0]}", and so have the verdicts: '
            "give theirs other names with -prefix, or leave it out with -columns"
        )
