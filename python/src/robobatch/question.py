"""Questions as arguments of the program."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

DETAILS = ("reason", "rule_line", "rule")


class Options(TypedDict, total=False):
    """The options of a question, except the rules. docs/FLAGS.md describes flags with the same names."""

    url: str
    """The column of the URLs; "url" by default."""
    agents: str | Sequence[str]
    """Crawlers to decide for. Several give one row each, or with layout="wide" columns."""
    agent_column: str
    """The column with the crawler of each row, instead of agents: product tokens, such as Googlebot."""
    on_bad_agent: str
    """What to do with a value of agent_column that is null, empty or invalid: "null" or "raise"."""
    user_agent_column: str
    """The column of User-Agents, instead of agents: each row is decided for the crawler that it names."""
    client_column: str
    """The column of the client addresses, for ranges."""
    time_column: str
    """The column of the request times, for as_of="log"."""
    ranges: str | Sequence[str]
    """Published lists of crawler addresses, to verify the crawlers of user_agent_column."""
    layout: str
    """For several agents: "long" is one row per URL and agent, "wide" has columns such as allowed_googlebot."""
    columns: str | Sequence[str]
    """The columns to add, in this order: origin, allowed, reason, rule_line, rule, canonical_url, usage (drafts)."""
    prefix: str
    """Text before the names of the added columns."""
    dialect: str
    """How to read robots.txt: rfc9309, google, google-2010 or yandex."""
    missing: str
    """The verdict for an origin without a robots.txt: allow, disallow or null."""
    as_of: str | datetime.date | datetime.datetime
    """Use the captures that were in force at a time, which must have a time zone; "log" is the time of each row."""
    origin: str
    """The origin of the rules, if they are a single robots.txt."""
    accept_damaged_rules: bool
    """Use the intact part of damaged capture files."""
    max_memory: str
    """The memory limit of the program, such as 256MiB."""
    workers: int
    """The number of worker goroutines; 0 is one per processor."""
    flags: Sequence[str]
    """Other flags of robobatch pipe, as on the command line."""


def arguments(rules: str | os.PathLike[str], options: Options) -> list[str]:
    """Return the arguments of robobatch pipe."""
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        known = ", ".join(Options.__annotations__)
        raise TypeError(f"unknown argument {unknown[0]!r}: use rules, {known}")
    asked = [
        "pipe",
        "-quiet",
        "-per-stream",
        "-verdicts-only",
        f"-rules={os.fsdecode(rules)}",
    ]
    for name in (*_COLUMNS, "on_bad_agent", "layout", "prefix", "dialect", "missing", "origin", "max_memory"):
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} is {type(value).__name__}, {value!r:.80}: use str")
    agents = options.get("agents")
    if agents is not None:
        asked += [f"-agent={agent}" for agent in list_of(agents, "agents")]
    columns = options.get("columns")
    if columns is not None:
        asked.append("-columns=" + ",".join(list_of(columns, "columns")))
    asked += [*about_rules(options), *_about_rows(options)]
    for name, flag in (("prefix", "-prefix"), ("max_memory", "-max-memory")):
        if options.get(name):
            asked.append(f"{flag}={options.get(name)}")
    workers = options.get("workers")
    if workers is not None:
        asked.append(f"-workers={workers}")
    flags = options.get("flags")
    return asked + list_of(flags, "flags") if flags else asked


# The columns that the program reads, by argument: their contents, and the names under which they are sent.
_COLUMNS = {
    "url": ("the URLs", "url"),
    "agent_column": ("the crawlers", "agent"),
    "user_agent_column": ("the User-Agents", "user_agent"),
    "client_column": ("the addresses", "client"),
    "time_column": ("the times", "time"),
}


def columns_read(options: Options) -> list[tuple[str, str, str, str]]:
    """Return the columns that the program reads: argument, name, contents, and the name under which it is sent."""
    names = {**options, "url": url_column(options)}
    found = [(arg, str(names[arg]), *about) for arg, about in _COLUMNS.items() if names.get(arg) is not None]
    for i, (arg, name, _, _) in enumerate(found):
        if name in [other[1] for other in found[:i]]:
            raise ValueError(
                f"{arg} is {name!r}, a column that already has another role: name the column of {found[i][2]}"
            )
    return found


def _about_rows(options: Options) -> list[str]:
    """Return the arguments that describe the columns of the rows."""
    given = [arg for arg, _, _, _ in columns_read(options)]
    wanted = {
        "client_column": "ranges" in options,
        "time_column": "ranges" in options or options.get("as_of") == "log",
    }
    for arg, used in wanted.items():
        if arg in given and not used:
            raise ValueError(f'{arg} has no effect: add ranges= or as_of="log", or remove it')
    for arg, flag, name in (
        ("ranges", "user_agent_column", "User-Agents"), ("ranges", "client_column", "addresses"),
    ):  # fmt: skip
        if arg in options and flag not in given:
            raise ValueError(f"{arg} is given without {flag}: name the column of the {name}")
    if options.get("as_of") == "log" and "time_column" not in given:
        raise ValueError('as_of is "log" without time_column: name the column of the times')
    if len({"agents", "agent_column", "user_agent_column"} & set(options)) > 1:
        raise ValueError("agents, agent_column and user_agent_column exclude each other: use one of them")
    bad, layout = options.get("on_bad_agent", "null"), options.get("layout", "long")
    if bad not in ("null", "raise"):
        raise ValueError(f'on_bad_agent is {bad!r}: use "null" or "raise"')
    if layout not in ("long", "wide"):
        raise ValueError(f'layout is {layout!r}: use "long" or "wide"')
    asked = [f"-layout={layout}"]
    if "agent_column" in given:
        asked += ["-agent-column=agent", *(["-bad-agents=fail"] if bad == "raise" else [])]
    if "user_agent_column" in given:
        asked += ["-agent-from-log", "-field=agent=user_agent"]
    asked += [f"-field={name}={name}" for name in ("client", "time") if f"{name}_column" in given]
    ranges = options.get("ranges")
    return asked if ranges is None else [*asked, *(f"-ranges={path}" for path in list_of(ranges, "ranges"))]


def has_times(options: Options) -> bool:
    """Report whether functions of requests take addresses and times."""
    return "ranges" in options or options.get("as_of") == "log"


def request_columns(options: Options) -> tuple[str, ...]:
    """Return the columns that functions of requests return."""
    more = ("verified", "verified_by") if "ranges" in options else ()
    return ("agent", "allowed", *DETAILS, "violation", *more)


def about_rules(options: Options) -> list[str]:
    """Return the arguments about reading rules, which all commands share."""
    asked = []
    for name, flag in (("dialect", "-dialect"), ("missing", "-missing"), ("origin", "-origin")):
        value = options.get(name)
        if value is not None:
            asked.append(f"{flag}={value}")
    moment = options.get("as_of")
    if moment is not None:
        asked.append("-as-of=" + _moment(moment))
    if options.get("accept_damaged_rules"):
        asked.append("-accept-damaged-rules")
    return asked


def list_of(names: str | Iterable[str], argument: str) -> list[str]:
    """Return names as a list; a str is a list of one name, but not for flags. ``argument`` names them in errors."""
    if isinstance(names, str) and argument != "flags":
        return [names]
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} is {type(names).__name__}, {names!r:.80}: use a list of str")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{argument} has {type(name).__name__}, {name!r:.80}: use str")
    if not found:
        raise ValueError(f"{argument} is empty: name at least one, or remove it")
    return found


def url_column(options: Options) -> str:
    """Return the name of the column of the URLs."""
    name = options.get("url")
    return "url" if name is None else name


def _moment(moment: str | datetime.date | datetime.datetime) -> str:
    if isinstance(moment, str):
        return moment
    if isinstance(moment, datetime.datetime):
        if moment.tzinfo is None:
            raise ValueError(
                f"as_of is {moment}, without a time zone: add tzinfo=datetime.timezone.utc, or use a str"
            )
        return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if not isinstance(moment, datetime.date):
        raise TypeError(f"as_of is {type(moment).__name__}, {moment!r:.80}: use a str, a date or a datetime")
    return moment.isoformat()
