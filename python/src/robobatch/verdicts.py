"""Verdicts for tables and for streams of record batches."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from robobatch.errors import Doubt, Error
from robobatch.process import Process, started
from robobatch.question import Options, arguments, url_column
from robobatch.rows import check_names, only, table_of, url_index

if TYPE_CHECKING:
    from typing_extensions import Unpack

_BATCH_ROWS = 1 << 16  # of a table, sent at once
_AHEAD = 2  # batches that are sent before the answer to the first is waited for


def decide(rows: Any, *, rules: str | os.PathLike[str], **options: Unpack[Options]) -> pa.Table:
    """Return the rows with the verdicts behind their columns, in the same order.

    ``rows`` is a list of URLs, an array of them, or a table of pyarrow, pandas, Polars or another library that
    speaks Arrow's PyCapsule interface. ``rules`` is a pack of ``robobatch compile``, or a directory of robots.txt.
    What is doubtful is a warning of the class Doubt.
    """
    table = table_of(rows, url_column(options))
    asked = arguments(rules, options)
    urls = only(table, url_index(table.schema, url_column(options)))
    batches = urls.to_batches(max_chunksize=_BATCH_ROWS) or [_empty(urls.schema)]
    doubts: list[Doubt] = []
    answers = pa.Table.from_batches(_answers(iter(batches), started(asked), doubts.extend)).unify_dictionaries()
    check_names(table.schema.names, answers.column_names)
    for name, column in zip(answers.column_names, answers.columns, strict=True):
        table = table.append_column(answers.schema.field(name), column)
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=2)
    return table


def stream(
    batches: Iterable[pa.RecordBatch],
    *,
    rules: str | os.PathLike[str],
    on_doubt: Callable[[Doubt], object] = warnings.warn,
    **options: Unpack[Options],
) -> Generator[pa.RecordBatch]:
    """Yield each record batch with the verdicts behind its columns, in bounded memory.

    Of the batches, a few are read ahead. All must have the schema of the first. No batches give none. Close the
    iterator, or read it to its end: then the program has ended, too.
    """
    process = started(arguments(rules, options))
    return extended(batches, process, url_column(options), on_doubt)


def extended(
    batches: Iterable[pa.RecordBatch],
    process: AbstractContextManager[Process],
    url_column: str,
    on_doubt: Callable[[Doubt], object],
) -> Generator[pa.RecordBatch]:
    """Yield each record batch with the verdicts that a process gives."""
    waiting: deque[pa.RecordBatch] = deque()

    def urls() -> Iterator[pa.RecordBatch]:
        schema: pa.Schema | None = None
        for batch in batches:
            if not isinstance(batch, pa.RecordBatch):
                kind = type(batch).__name__
                raise TypeError(
                    f"batches has {kind}: give record batches, as table.to_batches() does, or call decide"
                )
            if schema is None:
                schema, url = batch.schema, url_index(batch.schema, url_column)
            elif batch.schema != schema:
                raise Error(f"a record batch has {batch.schema.names}, the first {schema.names}: give all one schema")
            waiting.append(batch)
            yield only(batch, url)

    schema: pa.Schema | None = None
    with closing(_answers(urls(), process, lambda doubts: [on_doubt(doubt) for doubt in doubts])) as answers:
        for answer in answers:
            batch = waiting.popleft()
            if schema is None:
                check_names(batch.schema.names, answer.schema.names)
                schema = pa.schema([*batch.schema, *answer.schema])
            yield pa.RecordBatch.from_arrays([*batch.columns, *answer.columns], schema=schema)


def verdict_schema(options: Options) -> pa.Schema:
    """Return the columns that would be added, by any rules."""
    asked: Options = {**options}
    asked.pop("origin", None)
    with tempfile.TemporaryDirectory(prefix="robobatch-") as rules:
        Path(rules, "https_example.com.txt").write_text("User-agent: *\nDisallow:\n")
        no_urls = _empty(pa.schema([(url_column(options), pa.string())]))
        (answer,) = _answers(iter([no_urls]), started(arguments(rules, asked)), lambda _: None)
    return answer.schema


def _answers(
    urls: Iterator[pa.RecordBatch],
    opened: AbstractContextManager[Process],
    on_doubts: Callable[[list[Doubt]], object],
) -> Generator[pa.RecordBatch]:
    """Yield the verdicts for batches of URLs, without the URLs."""
    first = next(urls, None)
    if first is None:
        return
    with opened as process:
        process.send(first)
        for batch in urls:
            process.send(batch)
            if process.unanswered > _AHEAD:
                yield process.receive()
        process.end_stream()
        while process.unanswered:
            yield process.receive()
        doubts = process.doubts()
    on_doubts(doubts)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
