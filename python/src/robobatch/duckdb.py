r"""SQL functions for DuckDB.

They need ``pip install duckdb numpy``.

>>> import duckdb
>>> import robobatch.duckdb
>>> con = duckdb.connect()
>>> decider = robobatch.duckdb.register(con, rules={"https://example.com": "User-agent: *\nDisallow: /private"})
>>> con.sql("select robots_allowed('https://example.com/private', 'Googlebot')").fetchall()
[(False,)]
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from robobatch.decider import Decider
from robobatch.question import DETAILS
from robobatch.rows import flattened
from robobatch.rules import Given

if TYPE_CHECKING:
    import duckdb

__all__ = ["register"]

_FUNCTIONS = {"allowed": ("allowed", "BOOLEAN"), "rule": ("rule", "VARCHAR"), "line": ("rule_line", "INTEGER")}
_KINDS = {"allowed": "BOOLEAN", "violation": "BOOLEAN", "rule_line": "INTEGER"}  # others are VARCHAR


def register(
    con: duckdb.DuckDBPyConnection, *, rules: Given | Decider, prefix: str = "robots_", **options: Any
) -> Decider:
    """Define SQL functions that decide URLs.

    - ``robots_allowed(url, agent)``; ``robots_rule(url, agent)``, the rule that decides; and
      ``robots_line(url, agent)``, its line. ``agent`` is a product token such as ``'Googlebot'``, or ``'*'``, and may
      be a column.
    - ``robots_allowed_list(url, agents)``: the results of ``robots_allowed`` for a list of agents, as a list.
    - ``robots_request(url, user_agent)``: a struct of ``agent``, the crawler that the User-Agent names, ``allowed``,
      ``reason``, ``rule_line``, ``rule`` and ``violation`` (the crawler requested a disallowed URL). With the option
      ``ranges`` or ``as_of="log"`` it is ``robots_request(url, user_agent, address, time)``; ``ranges`` adds
      ``verified`` and ``verified_by``.

    All except the last return NULL for NULL, for an invalid URL, and for an agent that is not a product token, such
    as a User-Agent. Functions that were registered earlier are replaced.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        The connection.
    rules : path, dict, text, or Decider
        As for robobatch.Decider, or an existing Decider.
    prefix : str, default "robots_"
        The prefix of the function names.
    **options
        The options of robobatch.Decider.

    Raises
    ------
    ModuleNotFoundError
        NumPy is missing.

    Returns
    -------
    Decider
        The Decider that the functions use; it lives as long as the connection. Its ``warnings()`` are about the rows
        of all queries so far: call them after a query.
    """
    try:
        import_module("numpy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Python functions in DuckDB need numpy: pip install numpy", name="numpy") from None
    decider = rules if isinstance(rules, Decider) and not options else Decider(rules, **options)  # type: ignore[arg-type]
    create: Any = con.create_function  # its types vary between versions

    def make(name: str, function: Callable[..., Any], parameters: list[str], kind: str) -> None:
        with contextlib.suppress(Exception):  # it did not exist
            con.remove_function(prefix + name)
        create(prefix + name, function, parameters, kind, type="arrow", null_handling="special")

    for name, (column, kind) in _FUNCTIONS.items():
        make(name, _function(decider, column), ["VARCHAR", "VARCHAR"], kind)
    make("allowed_list", _list_function(decider), ["VARCHAR", "VARCHAR[]"], "BOOLEAN[]")
    fields = ", ".join(f"{name} {_KINDS.get(name, 'VARCHAR')}" for name in decider.request_columns)
    more = ["VARCHAR", "TIMESTAMPTZ"] if decider.has_times else []
    make("request", _request_function(decider), ["VARCHAR", "VARCHAR", *more], f"STRUCT({fields})")
    return decider


def _list_function(decider: Decider) -> Callable[[Any, Any], Any]:
    def decide(urls: Any, agents: Any) -> Any:
        lists: Any = agents.combine_chunks() if isinstance(agents, pa.ChunkedArray) else agents
        asked, crawlers, ends = flattened(urls, lists)
        found = decider.verdicts(asked, crawlers).column(0)
        return pa.ListArray.from_arrays(ends, found, mask=lists.is_null())

    return decide


def _request_function(decider: Decider) -> Callable[..., Any]:
    def decide(urls: Any, user_agents: Any) -> Any:
        return decider.requests(urls, user_agents)

    def dated(urls: Any, user_agents: Any, clients: Any, times: Any) -> Any:
        return decider.requests(urls, user_agents, clients, times)

    return dated if decider.has_times else decide


def _function(decider: Decider, column: str) -> Callable[[Any, Any], Any]:
    columns = DETAILS if column in DETAILS else (column,)  # so that few processes serve all functions

    def decide(urls: Any, agents: Any) -> Any:  # DuckDB evaluates the annotations
        found = decider.verdicts(urls, agents, columns).column(column)
        return found.dictionary_decode() if isinstance(found, pa.DictionaryArray) else found

    return decide
