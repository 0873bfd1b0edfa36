"""A short table that summarises verdicts."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from robobatch.rows import table_of

_ABOUT = ("agent", "reason")  # columns for grouping
_COUNTED = ("allowed", "violation")


@dataclass(frozen=True)
class Summary:
    """Counts of verdicts by crawler and reason. Notebooks and ``print`` show them as a table.

    Attributes
    ----------
    rows : list of dict
        ``agent`` and ``reason`` if the verdicts have them; ``rows``, ``allowed``, ``disallowed`` and, for a log's
        crawlers, ``violations``. The largest counts come first.
    """

    rows: list[dict[str, Any]]

    def __str__(self) -> str:
        """Return the counts as lines."""
        lines = self._cells()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """Return the counts as a table for notebooks."""
        head, *rest = ([html.escape(cell) for cell in line] for line in self._cells())
        body = "".join(f"<tr><td>{'</td><td>'.join(line)}</td></tr>" for line in rest)
        return f"<table><tr><th>{'</th><th>'.join(head)}</th></tr>{body}</table>"

    def _cells(self) -> list[list[str]]:
        if not self.rows:
            return [["no rows"]]
        shown = [
            [f"{value:,}" if isinstance(value, int) else str(value or "") for value in row.values()]
            for row in self.rows
        ]
        return [list(self.rows[0]), *shown]


def summary(decided: Any, prefix: str = "") -> Summary:
    r"""Return the number of rows that each crawler may fetch, by reason.

    Parameters
    ----------
    decided : table
        A result of ``decide``, in any of its forms, with layout="long".
    prefix : str, default ""
        The prefix of the verdict columns.

    Examples
    --------
    >>> import robobatch
    >>> rules = {"https://example.com": "User-agent: *\nDisallow: /private\n"}
    >>> table = robobatch.decide(["https://example.com/private"], rules=rules)
    >>> print(robobatch.summary(table))
    reason  rows  allowed  disallowed
    rule    1     0        1
    """
    table = table_of(decided, "url")
    named = {name: prefix + name for name in (*_ABOUT, *_COUNTED) if prefix + name in table.column_names}
    if "allowed" not in named:
        raise ValueError(f'no column "{prefix}allowed": summary counts what decide returned, in the layout long')
    columns: dict[str, Any] = {name: _plain(table[column]) for name, column in named.items()}
    keys = [name for name in _ABOUT if name in columns]
    if not keys:
        columns["reason"], keys = pa.array(["all"] * table.num_rows), ["reason"]
    counted = [name for name in _COUNTED if name in columns]
    values: list[Any] = [(name, "sum") for name in counted] + [("allowed", "count"), ([], "count_all")]
    found = pa.table(columns).group_by(keys).aggregate(values).to_pylist()
    rows = []
    for group in sorted(found, key=lambda group: (-group["count_all"], *(str(group[key]) for key in keys))):
        row = {key: group[key] for key in keys} | {"rows": group["count_all"], "allowed": group["allowed_sum"] or 0}
        row["disallowed"] = group["allowed_count"] - row["allowed"]
        if "violation" in counted:
            row["violations"] = group["violation_sum"] or 0
        rows.append(row)
    return Summary(rows)


def _plain(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Return texts without dictionaries: their values may be views, which cannot be cast or grouped."""
    if not isinstance(column.type, pa.DictionaryType):
        return column
    chunks: list[Any] = column.chunks
    values = [chunk.dictionary.cast(pa.string()).take(chunk.indices) for chunk in chunks]
    return pa.chunked_array(values, pa.string())
