r"""Expressions of Polars: importing this module registers the namespace ``robobatch``.

>>> import polars as pl
>>> import robobatch.polars
>>> rules = {"https://example.com": "User-agent: GPTBot\nDisallow: /"}
>>> frame = pl.DataFrame({"url": ["https://example.com/"] * 2, "bot": ["GPTBot", "Googlebot"]})
>>> frame.select(pl.col("url").robobatch.allowed(pl.col("bot"), rules=rules))["url"].to_list()
[False, True]
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from robobatch.decider import DETAILS, Decider
from robobatch.errors import Error, in_part
from robobatch.rules import Given

__all__ = ["Robobatch"]


@pl.api.register_expr_namespace("robobatch")
class Robobatch:
    """Verdicts for an expression of URLs.

    ``rules`` is a Decider, or what one is made of: then the expression has its own, which ends with it. ``agent`` is
    a product token, such as ``"Googlebot"``, or an expression of them. A null, and what is no URL, have null.
    """

    def __init__(self, expr: pl.Expr) -> None:
        """Take the expression that the namespace is asked of."""
        self._expr = expr

    def allowed(self, agent: str | pl.Expr = "*", *, rules: Given | Decider, **options: Any) -> pl.Expr:
        """Return whether the crawler may fetch the URL, a Boolean. ``options`` are those of Decider."""
        return self._verdict("allowed", pl.Boolean(), agent, _decider(rules, options))

    def rule(self, agent: str | pl.Expr = "*", *, rules: Given | Decider, **options: Any) -> pl.Expr:
        """Return the rule that decides, a String; null if none does. ``options`` are those of Decider."""
        return self._verdict("rule", pl.String(), agent, _decider(rules, options))

    def line(self, agent: str | pl.Expr = "*", *, rules: Given | Decider, **options: Any) -> pl.Expr:
        """Return the line of the rule that decides, an Int32; null if none does. ``options`` are those of Decider."""
        return self._verdict("rule_line", pl.Int32(), agent, _decider(rules, options))

    def reason(self, agent: str | pl.Expr = "*", *, rules: Given | Decider, **options: Any) -> pl.Expr:
        """Return the kind of the verdict, a String. ``options`` are those of Decider."""
        return self._verdict("reason", pl.String(), agent, _decider(rules, options))

    def _verdict(self, column: str, kind: pl.DataType, agent: str | pl.Expr, decider: Decider) -> pl.Expr:
        columns = DETAILS if column in DETAILS else (column,)  # so that few processes serve all expressions

        def decide(series: pl.Series, agents: Any) -> pl.Series:
            parts = []
            for i, part in _parts(series):
                try:
                    found = decider.verdicts(part.to_arrow(), _part(agents, i), columns)
                except Error as error:
                    raise in_part(error, i, len(series)) from error.__cause__
                parts.append(_plain(found.column(column)))
            return pl.Series(series.name, pa.chunked_array(parts) if parts else [], dtype=kind)

        if isinstance(agent, str):
            return self._expr.map_batches(
                lambda series: decide(series, agent), return_dtype=kind, is_elementwise=True
            )
        return pl.map_batches(
            [self._expr, agent], lambda both: decide(both[0], both[1]), return_dtype=kind, is_elementwise=True
        )


def _plain(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return texts as they are: each answer has a dictionary of its own."""
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


_ROWS = 1 << 16  # asked at once


def _parts(series: pl.Series) -> list[tuple[int, pl.Series]]:
    return [(i, series.slice(i, _ROWS)) for i in range(0, len(series), _ROWS)]


def _part(agents: Any, at: int) -> Any:
    return agents if isinstance(agents, str) else agents.slice(at, _ROWS).to_arrow()


def _decider(rules: Given | Decider, options: dict[str, Any]) -> Decider:
    return rules if isinstance(rules, Decider) and not options else Decider(rules, **options)  # type: ignore[arg-type]
