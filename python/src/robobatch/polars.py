r"""Polars expressions: importing this module registers the namespace ``robobatch``.

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

from robobatch.decider import Decider
from robobatch.question import DETAILS
from robobatch.rules import Given

__all__ = ["Robobatch", "RobobatchSeries"]


@pl.api.register_expr_namespace("robobatch")
class Robobatch:
    """Verdicts for an expression of URLs.

    ``rules`` is a Decider, or rules as for one: then the expression has its own Decider. ``agent`` is
    a product token, such as ``"Googlebot"``, or an expression of them; for User-Agents, call ``request``. Nulls,
    invalid URLs, and agents that are not product tokens give null.
    """

    def __init__(self, expr: pl.Expr) -> None:
        """Wrap the expression."""
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

    def request(
        self,
        user_agent: pl.Expr,
        client: pl.Expr | None = None,
        time: pl.Expr | None = None,
        *,
        rules: Given | Decider,
        **options: Any,
    ) -> pl.Expr:
        """Return a Struct for the crawler that the User-Agent names: see Decider.requests."""
        decider = _decider(rules, options)
        given = [self._expr, user_agent, *(expr for expr in (client, time) if expr is not None)]
        kinds = {"allowed": pl.Boolean(), "violation": pl.Boolean(), "rule_line": pl.Int32()}
        fields = [pl.Field(name, kinds.get(name, pl.String())) for name in decider.request_columns]

        def decide(series: Any) -> pl.Series:
            parts = []
            for i, part in _parts(series[0]):
                rest = [_part(other, i) for other in series[1:]]
                parts.append(decider.requests(part.to_arrow(), rest[0], *_placed(rest[1:], client is None)))
            found: Any = pa.chunked_array(parts) if parts else []
            return pl.Series(series[0].name, found, dtype=pl.Struct(fields))

        return pl.map_batches(given, decide, return_dtype=pl.Struct(fields), is_elementwise=True)

    def _verdict(self, column: str, kind: pl.DataType, agent: str | pl.Expr, decider: Decider) -> pl.Expr:
        columns = DETAILS if column in DETAILS else (column,)  # so that few processes serve all expressions

        def decide(series: pl.Series, agents: Any) -> pl.Series:
            parts = []
            for i, part in _parts(series):
                found = decider.verdicts(part.to_arrow(), _part(agents, i), columns)
                parts.append(_plain(found.column(column)))
            return pl.Series(series.name, pa.chunked_array(parts) if parts else [], dtype=kind)

        if isinstance(agent, str):
            return self._expr.map_batches(
                lambda series: decide(series, agent), return_dtype=kind, is_elementwise=True
            )
        return pl.map_batches(
            [self._expr, agent], lambda both: decide(both[0], both[1]), return_dtype=kind, is_elementwise=True
        )


def _placed(rest: list[Any], no_client: bool) -> list[Any]:
    """Return address and time of requests."""
    return [None, *rest] if no_client else rest


@pl.api.register_series_namespace("robobatch")
class RobobatchSeries:
    """Verdicts for a Series of URLs. The methods are those of expressions; ``agent`` may be a Series."""

    def __init__(self, series: pl.Series) -> None:
        """Wrap the Series."""
        self._series = series

    def allowed(self, agent: str | pl.Series = "*", *, rules: Given | Decider, **options: Any) -> pl.Series:
        """Return whether the crawler may fetch the URL, a Boolean. ``options`` are those of Decider."""
        return self._ask("allowed", [agent], rules, options)

    def rule(self, agent: str | pl.Series = "*", *, rules: Given | Decider, **options: Any) -> pl.Series:
        """Return the rule that decides, a String; null if none does. ``options`` are those of Decider."""
        return self._ask("rule", [agent], rules, options)

    def line(self, agent: str | pl.Series = "*", *, rules: Given | Decider, **options: Any) -> pl.Series:
        """Return the line of the rule that decides, an Int32; null if none does. ``options`` are those of Decider."""
        return self._ask("line", [agent], rules, options)

    def reason(self, agent: str | pl.Series = "*", *, rules: Given | Decider, **options: Any) -> pl.Series:
        """Return the kind of the verdict, a String. ``options`` are those of Decider."""
        return self._ask("reason", [agent], rules, options)

    def request(
        self,
        user_agent: pl.Series,
        client: pl.Series | None = None,
        time: pl.Series | None = None,
        *,
        rules: Given | Decider,
        **options: Any,
    ) -> pl.Series:
        """Return a Struct for the crawler that the User-Agent names: see Decider.requests."""
        return self._ask("request", [user_agent, client, time], rules, options)

    def _ask(self, name: str, given: list[Any], rules: Given | Decider, options: dict[str, Any]) -> pl.Series:
        decider = _decider(rules, options)
        columns = {f"{i}": part for i, part in enumerate(given) if isinstance(part, pl.Series)}
        asked = [pl.col(f"{i}") if f"{i}" in columns else part for i, part in enumerate(given)]
        frame = pl.DataFrame({"url": self._series, **columns})
        found = frame.select(getattr(Robobatch(pl.col("url")), name)(*asked, rules=decider)).to_series()
        if decider is not rules:
            decider.close()
        return found.alias(self._series.name)


def _plain(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return plain texts, because each answer has its own dictionary."""
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


_ROWS = 1 << 16  # sent at once


def _parts(series: pl.Series) -> list[tuple[int, pl.Series]]:
    return [(i, series.slice(i, _ROWS)) for i in range(0, len(series), _ROWS)]


def _part(agents: Any, at: int) -> Any:
    return agents if isinstance(agents, str) else agents.slice(at, _ROWS).to_arrow()


def _decider(rules: Given | Decider, options: dict[str, Any]) -> Decider:
    return rules if isinstance(rules, Decider) and not options else Decider(rules, **options)  # type: ignore[arg-type]
