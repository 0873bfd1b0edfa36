"""The forms in which verdicts are returned: an Arrow table, or the caller's own type."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import pyarrow as pa

from robobatch.rows import library, places

To: TypeAlias = Literal["arrow", "pandas", "polars", "same"]
KINDS = ("arrow", "pandas", "polars", "same")


def check(rows: object, to: str | None) -> None:
    """Check that the form exists, and that the rows support it."""
    if to is not None and to not in KINDS:
        raise ValueError(f"to is {to!r}: use one of {', '.join(KINDS)}")
    if to == "same" and library(rows) == "numpy":
        raise TypeError('rows is a NumPy array, which cannot hold several columns: use to="pandas"')


def convert(table: pa.Table, rows: Any, to: str | None, added: list[str]) -> Any:
    """Return a table with verdicts in the requested form.

    ``rows`` is the source of the table, and ``added`` contains the names of the added columns.
    """
    kind = library(rows)
    if to == "same":
        to = kind if kind in ("pandas", "polars", "duckdb") else "pyarrow" if kind == "pyarrow" else "list"
    match to:
        case "pandas":
            return _pandas(table, rows if kind == "pandas" and hasattr(rows, "columns") else None, added)
        case "polars":
            return _polars(table, rows, added)
        case "duckdb":
            return _relation(rows, table)
        case "pyarrow" if isinstance(rows, pa.RecordBatch):
            return table.combine_chunks().to_batches()[0] if table.num_rows else _no_rows(table.schema)
        case "pyarrow" if isinstance(rows, pa.RecordBatchReader):
            return table.to_reader()
        case "list":
            return table.to_pylist()
    return table


def _relation(rows: Any, decided: pa.Table) -> Any:  # noqa: ARG001 - the query has it
    """Return a relation of the connection of another one. DuckDB finds the variable by its name."""
    try:
        return rows.query("robobatch_rows", "select * from decided")
    except Exception as err:
        raise TypeError(
            "DuckDB cannot see Python tables, because python_enable_replacements is off: turn it on, or remove to="
        ) from err


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _pandas(table: pa.Table, frame: Any, added: list[str]) -> Any:
    """Return a DataFrame whose verdicts have nullable types. Columns of an input frame are unchanged."""
    import pandas as pd

    kinds = {pa.bool_(): pd.BooleanDtype(), pa.int32(): pd.Int32Dtype()}
    if frame is None:
        return table.to_pandas(types_mapper=kinds.get)
    columns = table.select(added).replace_schema_metadata(None).to_pandas(types_mapper=kinds.get)
    if len(frame) < len(columns):
        frame = frame.take(_places(frame, columns).to_pylist())
    columns.index = frame.index
    return pd.concat([frame, columns], axis=1)


def _polars(table: pa.Table, rows: Any, added: list[str]) -> Any:
    """Return a frame, lazy if the rows were."""
    import polars as pl

    if isinstance(rows, pl.DataFrame):  # its columns keep types that Arrow lacks, such as Enum
        columns = _frame(table.select(added), pl)
        return (rows if len(rows) == len(columns) else rows[_places(rows, columns).to_pylist()]).hstack(list(columns))
    frame = _frame(table, pl)
    return frame.lazy() if isinstance(rows, pl.LazyFrame) else frame


def _places(rows: Any, columns: Any) -> Any:
    """Return the row of each answer, if rows have several answers."""
    return places(len(rows), len(columns) // len(rows))


def _frame(table: pa.Table, pl: Any) -> Any:
    return pl.from_arrow(table.replace_schema_metadata(None), rechunk=False)
