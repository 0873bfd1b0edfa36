r"""Functions of SQL for DuckDB.

``pip install 'robobatch[duckdb]'`` adds what they need to the package.

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

from robobatch.decider import DETAILS, Decider
from robobatch.errors import Error, in_part
from robobatch.rules import Given

if TYPE_CHECKING:
    import duckdb

__all__ = ["register"]

_FUNCTIONS = {"allowed": ("allowed", "BOOLEAN"), "rule": ("rule", "VARCHAR"), "line": ("rule_line", "INTEGER")}


def register(
    con: duckdb.DuckDBPyConnection, *, rules: Given | Decider, prefix: str = "robots_", **options: Any
) -> Decider:
    """Make functions that decide URLs in SQL.

    They are ``robots_allowed(url, agent)``, ``robots_rule(url, agent)``, the rule that decides, and
    ``robots_line(url, agent)``, its line. All return NULL for a NULL, and for what is no URL. ``agent`` is a product
    token such as ``'Googlebot'``, or ``'*'``, and may be a column. Functions that were registered before are
    replaced.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        The connection.
    rules : path, dict, text, or Decider
        As for robobatch.Decider, or one that is there.
    prefix : str, default "robots_"
        How the names of the functions begin.
    **options
        Those of robobatch.Decider.

    Raises
    ------
    ModuleNotFoundError
        NumPy is missing, which functions of DuckDB need.

    Returns
    -------
    Decider
        What decides. It lives as long as the connection. Its ``warnings()`` are about the rows of all queries so far:
        look at them after a query.
    """
    try:
        import_module("numpy")
    except ModuleNotFoundError as err:
        raise ModuleNotFoundError(
            "functions of DuckDB in Python need numpy: pip install numpy, or 'robobatch[duckdb]'", name="numpy"
        ) from err
    decider = rules if isinstance(rules, Decider) and not options else Decider(rules, **options)  # type: ignore[arg-type]
    create: Any = con.create_function  # its types differ from version to version
    for name, (column, kind) in _FUNCTIONS.items():
        with contextlib.suppress(Exception):  # there was none
            con.remove_function(prefix + name)
        create(
            prefix + name,
            _function(decider, column),
            ["VARCHAR", "VARCHAR"],
            kind,
            type="arrow",
            null_handling="special",
        )
    return decider


def _function(decider: Decider, column: str) -> Callable[[Any, Any], Any]:
    columns = DETAILS if column in DETAILS else (column,)  # so that few processes serve all functions

    def decide(urls: Any, agents: Any) -> Any:  # DuckDB evaluates the annotations
        try:
            found = decider.verdicts(urls, agents, columns).column(column)
        except Error as error:
            raise in_part(error, 0, len(urls)) from error.__cause__
        return found.dictionary_decode() if isinstance(found, pa.DictionaryArray) else found

    return decide
