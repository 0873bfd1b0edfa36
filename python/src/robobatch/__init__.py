r"""Decide whether robots.txt allows a crawler to fetch a URL, for one URL or for each row of a table.

The program robobatch, which comes with the wheel, does the work. The package, but not the command, needs pyarrow:
``pip install 'pyarrow>=16'``.

For one table
    >>> import robobatch
    >>> rules = {"https://example.com": "User-agent: *\nDisallow: /private\n"}
    >>> robobatch.decide(["https://example.com/private"], rules=rules, columns="allowed", to="same")
    [{'url': 'https://example.com/private', 'allowed': False}]

    ``rules`` may also be a path: a directory with files such as ``https_example.com.txt``, captures, or a pack
    of ``robobatch compile``, which opens at once. ``rows`` is a list, or a table of pyarrow, pandas, Polars or
    DuckDB; ``to="pandas"``, ``to="polars"`` or ``to="same"`` selects the type of the result.

For a log with User-Agents
    >>> log = [{"url": "https://example.com/private", "ua": "Mozilla/5.0 (compatible; GPTBot/1.2)"}]
    >>> import pyarrow as pa
    >>> decided = robobatch.decide(pa.Table.from_pylist(log), rules=rules, user_agent_column="ua")
    >>> print(robobatch.summary(decided))
    agent   reason  rows  allowed  disallowed  violations
    GPTBot  rule    1     0        1           1

    Each row is decided for the crawler that its User-Agent names, with the columns ``agent`` and ``violation``. URLs
    need scheme and host: if the log has paths, prepend the site, as in ``'https://example.com' || path`` in SQL.

For many questions
    >>> with robobatch.Decider(rules) as decider:
    ...     decider.allowed("https://example.com/private", "Googlebot")
    False

    ``decider.decide(table, agent_column="bot")`` decides each row for its own crawler, and
    ``print(decider.explain(url, agent))`` explains a verdict.

In SQL and expressions
    ``robobatch.duckdb.register(con, rules=...)`` defines ``robots_allowed(url, agent)``, ``robots_rule(url, agent)``,
    ``robots_line(url, agent)`` and ``robots_request(url, user_agent)`` in DuckDB, and
    ``robobatch.spark.register(spark, "rules.rbp")`` in Spark, for
    a pack that the command ``robobatch compile -rules robots/ -out rules.rbp`` made. With
    ``import robobatch.polars``, Polars has ``pl.col("url").robobatch.allowed("Googlebot", rules=...)``.

For more rows than fit in memory
    ``robobatch.stream(batches, rules=...)`` takes record batches and yields them with verdicts.

Errors raise ``robobatch.Error``, with a remedy. Warnings are ``robobatch.InputWarning``.
docs/LAKE.md has more examples.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robobatch.binary import find_binary
    from robobatch.decider import Decider, Explanation
    from robobatch.errors import Error, InputWarning
    from robobatch.summary import Summary
    from robobatch.summary import summary as summary
    from robobatch.verdicts import decide, stream

    __version__: str

__all__ = ["Decider", "Error", "Explanation", "InputWarning", "Summary", "decide", "find_binary", "stream", "summary"]

# The module of each name. A name is imported on first use, so that the command works without pyarrow.
_MODULES = {
    "Decider": "decider",
    "InputWarning": "errors",
    "Error": "errors",
    "Explanation": "decider",
    "decide": "verdicts",
    "find_binary": "binary",
    "stream": "verdicts",
    "Summary": "summary",
    "summary": "summary",
}


def __getattr__(name: str) -> object:
    """Import a name on first use; without pyarrow, raise an error that says how to install it."""
    if name == "__version__":
        return _version()
    if name in ("duckdb", "polars", "spark"):
        return import_module(f"robobatch.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'robobatch' has no attribute {name!r}")
    try:
        found = getattr(import_module(f"robobatch.{_MODULES[name]}"), name)
    except ModuleNotFoundError as err:
        if err.name != "pyarrow":
            raise
        raise ModuleNotFoundError(
            f"robobatch.{name} needs pyarrow: pip install 'pyarrow>=16'", name="pyarrow"
        ) from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return all names, including those that are not imported yet."""
    return sorted({*globals(), *_MODULES, "__version__"})


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("robobatch")
    except metadata.PackageNotFoundError:  # a source tree
        return "0.0.0.dev0"
