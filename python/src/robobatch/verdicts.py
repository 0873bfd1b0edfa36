"""Verdicts for tables and for streams of record batches."""

from __future__ import annotations

import datetime
import os
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import pyarrow as pa

from robobatch.convert import check, convert
from robobatch.errors import Error, InputWarning, in_row
from robobatch.process import Process, started
from robobatch.progress import counted
from robobatch.question import Options, arguments, columns_read
from robobatch.rows import check_names, column_index, is_text, only, repeated, repeated_batch, table_of
from robobatch.rules import Given, Rules

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Unpack

_BATCH_ROWS = 1 << 16  # rows of a table sent at once
_AHEAD = 2  # batches sent before waiting for the first answer


@overload
def decide(
    rows: Any, *, rules: Given, to: Literal["arrow"] | None = None, progress: bool = False, **options: Unpack[Options]
) -> pa.Table: ...
@overload
def decide(
    rows: Any, *, rules: Given, to: Literal["pandas"], progress: bool = False, **options: Unpack[Options]
) -> pd.DataFrame: ...
@overload
def decide(
    rows: Any, *, rules: Given, to: Literal["polars"], progress: bool = False, **options: Unpack[Options]
) -> pl.DataFrame: ...
@overload
def decide(
    rows: Any, *, rules: Given, to: Literal["same"], progress: bool = False, **options: Unpack[Options]
) -> Any: ...
def decide(
    rows: Any,
    *,
    rules: Given,
    url: str = "url",
    agents: str | Sequence[str] | None = None,
    agent_column: str | None = None,
    on_bad_agent: str | None = None,
    user_agent_column: str | None = None,
    client_column: str | None = None,
    time_column: str | None = None,
    ranges: str | Sequence[str] | None = None,
    layout: str | None = None,
    columns: str | Sequence[str] | None = None,
    prefix: str = "",
    dialect: str | None = None,
    missing: str | None = None,
    as_of: str | datetime.date | datetime.datetime | None = None,
    origin: str | None = None,
    accept_damaged_rules: bool = False,
    max_memory: str | None = None,
    workers: int | None = None,
    flags: Sequence[str] = (),
    to: str | None = None,
    progress: bool = False,
) -> Any:
    r"""Decide for each row whether a crawler may fetch its URL.

    Each call starts the program and loads the rules, which takes at least 10 ms. For many calls, use a Decider.

    Parameters
    ----------
    rows : table, array, or list
        A table of pyarrow, pandas, Polars (also lazy) or DuckDB, or of another library with Arrow's
        PyCapsule interface; or only the URLs, as an array, a series or an iterable of str, bytes or None, which
        become the column ``url``. None, NaN, "" and invalid URLs get the reason ``bad_url``.
    rules : path, dict, or text
        A pack of ``robobatch compile``, a directory of robots.txt files, or captures; ``{origin: text}``; or, with
        ``origin``, the text of one robots.txt.
    url : str, default "url"
        The column of the URLs. If it has paths, prepend the site: ``'https://example.com' || path`` in SQL.
    agents : str or list of str, default "*"
        Crawlers to decide for, by product token. ``"@ai"`` and others are sets. Several give one row each.
    agent_column : str, optional
        The column with the crawler of each row, as a product token, instead of ``agents``.
    on_bad_agent : {"null", "raise"}, default "null"
        For a value of ``agent_column`` that is null, empty or not a product token: ``"null"`` gives a null verdict
        with the reason ``bad_agent``, ``"raise"`` raises an Error that names the row.
    user_agent_column : str, optional
        The column of the User-Agents of a log, instead of ``agents``: each row is decided for the crawler that its
        User-Agent names. This adds the columns ``agent`` and ``violation`` (the crawler requested a disallowed URL).
    client_column : str, optional
        The column of the client addresses, for ``ranges``.
    time_column : str, optional
        The column of the request times, for ``as_of="log"`` and ``ranges``: timestamps or texts.
    ranges : path or list of paths, optional
        Published lists of crawler addresses. They add the columns ``verified`` and ``verified_by``, and requests of
        impostors are never violations.
    layout : {"long", "wide"}, default "long"
        For several ``agents``: one row per URL and agent, with the column ``agent``; or one row per URL, with
        columns such as ``allowed_googlebot``.
    columns : str or list of str, default ["origin", "allowed", "reason", "rule_line", "rule"]
        The columns to add, such as ``canonical_url``. With ``layout="wide"``, the default is ``origin``, and
        ``allowed`` and ``rule_line`` for each agent.
    prefix : str, default ""
        Text before the names of the added columns.
    dialect : {"google", "rfc9309", "google-2010", "yandex"}, default "google"
        How to read robots.txt.
    missing : {"allow", "disallow", "null"}, default "allow"
        The verdict for an origin without rules.
    as_of : str, date or datetime, optional
        Use the captures that were in force at this time, which must have a time zone; ``"log"`` is the time of
        each row, in ``time_column``. The default is the newest capture.
    origin : str, optional
        The origin of ``rules``, if this is one robots.txt, such as ``"https://www.example.com"``.
    accept_damaged_rules : bool, default False
        Use the intact part of damaged capture files.
    max_memory : str, optional
        The memory limit of the program, such as ``"256MiB"``.
    workers : int, optional
        The number of worker goroutines. The default is one per processor.
    flags : list of str, optional
        Other flags of ``robobatch pipe``, as on the command line.
    to : {"arrow", "pandas", "polars", "same"}, default "arrow"
        The type of the result. A pandas DataFrame has the nullable types ``boolean``, ``Int32`` and ``category``;
        ``"same"`` returns the type of ``rows``, or for a list a list of dicts.
    progress : bool, default False
        Show a bar, if tqdm is installed.

    Returns
    -------
    pyarrow.Table, pandas.DataFrame or polars.DataFrame
        The rows in order, with the verdict columns after their own. ``robobatch.summary`` counts them.

    Raises
    ------
    Error
        The program failed: ``str(error)`` is the reason and a remedy.
    TypeError, ValueError
        The rows or arguments have a wrong type or value.

    Warns
    -----
    InputWarning
        The input does not look like its format, or contradicts an argument.

    Examples
    --------
    >>> import robobatch
    >>> rules = {"https://example.com": "User-agent: *\nDisallow: /private\n"}
    >>> table = robobatch.decide(["https://example.com/", "https://example.com/private"], rules=rules)
    >>> table["allowed"].to_pylist()
    [True, False]
    >>> robobatch.decide(["https://example.com/private"], rules=rules, columns="rule", to="same")
    [{'url': 'https://example.com/private', 'rule': 'Disallow: /private'}]
    """
    check(rows, to)
    source = Rules(rules, origin)
    options: Options = {
        "url": url, "prefix": prefix, "accept_damaged_rules": accept_damaged_rules, "flags": flags,
    }  # fmt: skip
    given = {
        "agents": agents, "agent_column": agent_column, "columns": columns, "dialect": dialect, "missing": missing,
        "as_of": as_of, "origin": origin, "max_memory": max_memory, "workers": workers, "on_bad_agent": on_bad_agent,
        "user_agent_column": user_agent_column, "client_column": client_column, "time_column": time_column,
        "ranges": ranges, "layout": layout,
    }  # fmt: skip
    options.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    asked = arguments(source.path, options)
    table = table_of(rows, url)
    verdicts, warned = decided(columns_sent(table, options), started(asked, source.files), progress=progress)
    added = with_columns(table, verdicts)
    for warning in warned:
        warnings.warn(warning, stacklevel=2)
    return convert(added, rows, to, verdicts.column_names)


_Rows = TypeVar("_Rows", pa.Table, pa.RecordBatch)


def columns_sent(table: _Rows, options: Options) -> _Rows:
    """Return the columns of the rows that the program reads, under the program's names."""
    read = columns_read(options)
    for _, name, _, _ in read:  # a column of nulls may have any type: pandas makes it numeric
        at = table.schema.get_field_index(name)
        kind = table.schema.field(at).type if at >= 0 else pa.string()
        if not is_text(kind) and not pa.types.is_timestamp(kind) and table.column(at).null_count == table.num_rows:
            table = table.set_column(at, name, pa.nulls(table.num_rows))
    indexes = [column_index(table.schema, name, argument, what) for argument, name, what, _ in read]
    return only(table, indexes, [name for _, _, _, name in read])


def decided(
    sent: pa.Table, opened: AbstractContextManager[Process], *, progress: bool = False
) -> tuple[pa.Table, list[InputWarning]]:
    """Return the verdicts of a table of the columns that the program reads, and the warnings."""
    batches = sent.to_batches(max_chunksize=_BATCH_ROWS) or [_empty(sent.schema)]
    warned: list[InputWarning] = []
    found = answers(iter(batches), opened, warned.extend)
    table = pa.Table.from_batches(counted(found, sent.num_rows, show=progress))
    return table.unify_dictionaries(), warned


def with_columns(table: pa.Table, verdicts: pa.Table) -> pa.Table:
    """Return a table with the columns of another one appended, which may have several rows for each of its rows."""
    check_names(table.schema.names, verdicts.column_names)
    table = repeated(table, verdicts.num_rows // max(1, table.num_rows))
    schema = pa.schema([*table.schema, *verdicts.schema])
    if table.schema.metadata:
        schema = schema.with_metadata(table.schema.metadata)
    return pa.Table.from_arrays([*table.columns, *verdicts.columns], schema=schema)


def stream(
    batches: Iterable[pa.RecordBatch],
    *,
    rules: str | os.PathLike[str],
    on_warning: Callable[[InputWarning], object] = warnings.warn,
    progress: bool = False,
    **options: Unpack[Options],
) -> Generator[pa.RecordBatch]:
    """Yield each record batch with the verdicts after its columns, in bounded memory.

    Read the iterator to its end, or close it, to end the program.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The rows. All batches must have the same schema. A few are read ahead.
    rules : path
        As for decide.
    on_warning : function, default warnings.warn
        A function that is called with each InputWarning.
    progress : bool, default False
        Show a bar, if tqdm is installed.
    **options
        The other options of decide, except ``to``.

    Yields
    ------
    pyarrow.RecordBatch
        The rows of one batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import robobatch
    >>> batches = [pa.record_batch({"url": ["https://www.example.com/a"]})]
    >>> for batch in robobatch.stream(batches, rules="rules", columns=["allowed"]):  # doctest: +SKIP
    ...     print(batch["allowed"].to_pylist())
    [True]
    """
    process = started(arguments(rules, options))
    return counted(extended(batches, process, options, on_warning), None, show=progress)


def extended(
    batches: Iterable[pa.RecordBatch],
    process: AbstractContextManager[Process],
    options: Options,
    on_warning: Callable[[InputWarning], object],
) -> Generator[pa.RecordBatch]:
    """Yield each record batch with the verdicts that a process gives."""
    waiting: deque[pa.RecordBatch] = deque()

    def sent() -> Iterator[pa.RecordBatch]:
        schema: pa.Schema | None = None
        for batch in batches:
            if not isinstance(batch, pa.RecordBatch):
                kind = type(batch).__name__
                raise TypeError(
                    f"batches has {kind}: pass record batches, as from table.to_batches(), or call decide"
                )
            if schema is None:
                schema = batch.schema
            elif batch.schema != schema:
                raise Error(
                    f"a record batch has {batch.schema.names}, the first {schema.names}: use one schema for all"
                )
            read = columns_sent(batch, options)
            waiting.append(batch)
            yield read

    schema: pa.Schema | None = None
    with closing(answers(sent(), process, lambda found: [on_warning(warning) for warning in found])) as found:
        for answer in found:
            batch = waiting.popleft()
            if schema is None:
                check_names(batch.schema.names, answer.schema.names)
                schema = pa.schema([*batch.schema, *answer.schema])
                schema = schema.with_metadata(batch.schema.metadata) if batch.schema.metadata else schema
            batch = repeated_batch(batch, answer.num_rows // max(1, batch.num_rows))
            yield pa.RecordBatch.from_arrays([*batch.columns, *answer.columns], schema=schema)


def verdict_schema(options: Options) -> pa.Schema:
    """Return the columns that would be added, for any rules."""
    asked: Options = {**options}
    asked.pop("origin", None)
    names = [name for _, _, _, name in columns_read(options)]
    with tempfile.TemporaryDirectory(prefix="robobatch-") as rules:
        Path(rules, "https_example.com.txt").write_text("User-agent: *\nDisallow:\n")
        no_urls = _empty(pa.schema([(name, pa.string()) for name in names]))
        (answer,) = answers(iter([no_urls]), started(arguments(rules, asked)), lambda _: None)
    return answer.schema


def answers(
    sent: Iterator[pa.RecordBatch],
    opened: AbstractContextManager[Process],
    on_warnings: Callable[[list[InputWarning]], object],
) -> Generator[pa.RecordBatch]:
    """Yield the verdicts for batches of the columns that the program reads, without these."""
    first = next(sent, None)
    if first is None:
        return
    sizes: list[int] = []
    try:
        with opened as process:
            for batch in chain([first], sent):
                sizes.append(batch.num_rows)
                process.send(batch)
                if process.unanswered > _AHEAD:
                    yield process.receive()
            process.end_stream()
            while process.unanswered:
                yield process.receive()
            warned = process.warnings()
    except Error as error:
        raise in_row(error, sizes) from error.__cause__
    on_warnings(warned)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
