"""Converting lists, arrays and tables of pyarrow and of libraries with Arrow's PyCapsule interface to rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from robobatch.errors import Error


def library(value: object) -> str:
    """Return the name of the library that defines a value's type."""
    return type(value).__module__.partition(".")[0].lstrip("_")


def table_of(rows: Any, url: str) -> pa.Table:
    """Return the rows as a table. An array or a list becomes the column of the URLs."""
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, pa.RecordBatchReader):
        return rows.read_all()
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        return pa.Table.from_arrays([rows], [url])
    if isinstance(rows, str | bytes | bytearray):
        raise TypeError(
            f"rows is one URL, {rows[:80]!r}: write a list, as in decide([url], …), or call Decider.allowed"
        )
    if hasattr(rows, "collect_schema") and hasattr(rows, "collect"):  # a LazyFrame of Polars
        return _of_lazy(rows)
    if hasattr(rows, "__arrow_c_stream__"):
        return _of_stream(rows, url)
    if hasattr(rows, "__arrow_c_array__"):
        array = pa.array(rows)
        return pa.Table.from_struct_array(array) if pa.types.is_struct(array.type) else pa.table({url: array})
    if library(rows) == "pandas" and hasattr(rows, "columns"):
        return pa.Table.from_pandas(rows)  # before 2.2
    if library(rows) == "numpy" and getattr(rows, "ndim", 1) != 1:
        raise TypeError(f"rows is an array of {rows.ndim} dimensions: pass one dimension, as in rows[:, 0]")
    if library(rows) == "pyspark":
        raise TypeError("rows is a Spark object: use robobatch.spark.with_verdicts, or robobatch.spark.register")
    if library(rows) == "dask":
        raise TypeError("rows is a Dask object: call decide in rows.map_partitions, as docs/LAKE.md shows")
    if isinstance(rows, Iterable) and not isinstance(rows, Mapping | set | frozenset):
        return pa.table({url: _texts(rows)})
    raise TypeError(
        f"rows is {type(rows).__name__}: use a list of URLs, or a table of pyarrow, pandas, Polars or DuckDB"
    )


def _of_lazy(rows: Any) -> pa.Table:
    """Return the rows of a LazyFrame, batch by batch if Polars supports it."""
    if not hasattr(rows, "collect_batches"):  # before 1.34
        return pa.table(rows.collect())
    tables = [pa.table(frame) for frame in rows.collect_batches(maintain_order=True)]
    return pa.concat_tables(tables) if tables else pa.table(rows.limit(0).collect())


def _of_stream(rows: Any, url: str) -> pa.Table:
    """Return the rows of an Arrow stream: a table if it is one of structs, otherwise a column of URLs."""
    try:
        column = pa.chunked_array(rows)
        return pa.table(rows) if pa.types.is_struct(column.type) else pa.table({url: column})
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as err:
        if library(rows) != "pandas":
            raise
        urls = rows[url] if url in getattr(rows, "columns", ()) else rows
        if getattr(urls, "ndim", 2) == 1:
            _texts(urls)  # the error names the row
        raise TypeError(f"a column of rows has values without an Arrow type: {err}: cast it, or remove it") from err


def _texts(urls: Iterable[object]) -> pa.Array[Any]:
    urls = list(urls)
    try:
        return pa.array(urls, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        urls = [None if _is_null(text) else text for text in urls]
    for i, text in enumerate(urls):
        if text is not None and not isinstance(text, str | bytes):
            raise TypeError(f"URL {i} is {type(text).__name__}, {text!r:.80}: use str, bytes or None")
    if any(isinstance(text, bytes) for text in urls):
        return pa.array(
            [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in urls],
            pa.binary(),
        )
    for i, text in enumerate(urls):
        try:
            str(text).encode()
        except UnicodeEncodeError as err:
            raise ValueError(f"URL {i} has half a surrogate pair, {text!r:.80}: pass bytes") from err
    return pa.array(urls, pa.string())


def _is_null(value: object) -> bool:
    """Report whether a value is a missing value of pandas or NumPy: NaN, NaT, NA."""
    return (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def column_index(schema: pa.Schema, name: str, argument: str, what: str) -> int:
    """Return the index of the column, of texts or times, that an argument names. ``what`` names it in messages."""
    found = schema.get_all_field_indices(name)
    if len(found) > 1:
        raise Error(f'{len(found)} columns are named "{name}": rename all but one')
    if not found:
        names = ", ".join(schema.names) or "none"
        raise Error(f'no such column: "{name}": the columns are {names}: name the column of {what} with {argument}=')
    kind = schema.field(found[0]).type
    types = pa.types
    if types.is_null(kind) or is_text(kind):
        return int(found[0])
    if argument == "time_column":
        if not (types.is_timestamp(kind) or types.is_date(kind) or types.is_integer(kind)):
            raise Error(
                f'no times: column "{name}" is {kind}: cast it to a timestamp, or name another with {argument}='
            )
    else:
        raise Error(
            f'not a type of text: column "{name}" is {kind}: cast it to a string, or name another with {argument}='
        )
    return int(found[0])


def is_text(kind: pa.DataType) -> bool:
    """Report whether the program can read a column of the type."""
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    types = pa.types
    return any(
        check(kind)
        for check in (
            types.is_string,
            types.is_large_string,
            types.is_string_view,
            types.is_binary,
            types.is_large_binary,
            types.is_binary_view,
        )
    )


_Rows = TypeVar("_Rows", pa.Table, pa.RecordBatch)


def only(rows: _Rows, indexes: list[int], names: list[str]) -> _Rows:
    """Return some columns of the rows, under other names, in types that the program reads.

    A column of nulls without a type becomes text, and times become timestamps.
    """
    columns = rows.select(indexes)
    for i, field in enumerate(columns.schema):
        kind, types = field.type, pa.types
        other: pa.DataType | None = None
        if types.is_null(kind) or types.is_integer(kind):
            other = pa.string()
        elif types.is_date(kind):
            other = pa.timestamp("us")
        if other is not None:
            column: Any = columns.column(i)
            columns = columns.set_column(i, field.name, column.cast(other))
    return columns.rename_columns(names).replace_schema_metadata(None)


_PART = 1 << 16  # rows repeated at once, so that the texts do not exceed their type


def repeated(rows: pa.Table, times: int) -> pa.Table:
    """Return a table with each row several times."""
    if times == 1 or not rows.num_columns:
        return rows
    parts = [repeated_batch(batch, times) for batch in rows.to_batches(max_chunksize=_PART)]
    return pa.Table.from_batches(parts, rows.schema)


def repeated_batch(batch: pa.RecordBatch, times: int) -> pa.RecordBatch:
    """Return a record batch with each row several times."""
    if times <= 1:
        return batch
    of = places(batch.num_rows, times)
    return pa.RecordBatch.from_arrays([_taken(column, of) for column in batch.columns], schema=batch.schema)


def _taken(column: pa.Array[Any], of: pa.Array[Any]) -> pa.Array[Any]:
    """Return rows of a column. Arrow cannot take rows from views."""
    try:
        return column.take(of)
    except pa.ArrowNotImplementedError:
        rows: list[Any] = of.to_pylist()
        return pa.concat_arrays([column.slice(row, 1) for row in rows]) if rows else column


def places(rows: int, times: int) -> pa.Array[Any]:
    """Return the number of each row several times: 0, 0, 1, 1."""
    lists: Any = pa.FixedSizeListArray.from_arrays(pa.nulls(rows * times), times)
    found: pa.Array[Any] = pc.list_parent_indices(lists)
    return found


def flattened(urls: Any, lists: Any) -> tuple[Any, Any, Any]:
    """Return the URL and the item for each item of lists, and the end of each list."""
    sizes: Any = pc.fill_null(pc.list_value_length(lists), pa.scalar(0, pa.int32()))
    ends: Any = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(sizes).cast(pa.int32())])
    return urls.take(pc.list_parent_indices(lists)), pc.list_flatten(lists), ends


def check_names(names: list[str], added: list[str]) -> None:
    """Check that no column has the name of an added one."""
    taken = [name for name in added if name in names]
    if taken:
        raise Error(
            f'two columns have the same name: the rows already have a column "{taken[0]}": '
            "rename the added columns with -prefix, or select others with -columns"
        )
