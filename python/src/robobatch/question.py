"""What is asked, as arguments of the program."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict


class Options(TypedDict, total=False):
    """What can be asked, besides the rules. docs/FLAGS.md says more, under the flags of the same names."""

    url: str
    """The column of the URLs; "url" if it is not given."""
    agents: str | Sequence[str]
    """Crawlers to decide for. Several give columns for each, as in allowed_googlebot, and still one row."""
    agent_column: str
    """The column of each row's own crawler, in place of agents: any number of product tokens, such as Googlebot."""
    columns: str | Sequence[str]
    """The columns to add, in this order: origin, allowed, reason, rule_line, rule, canonical_url, usage (drafts)."""
    prefix: str
    """Text before the names of the added columns."""
    dialect: str
    """How to read robots.txt: rfc9309, google, google-2010 or yandex."""
    missing: str
    """The answer for an origin that has no robots.txt: allow, disallow or null."""
    as_of: str | datetime.date | datetime.datetime
    """Use the captures that were in force at a moment, which must have a time zone."""
    origin: str
    """The origin of the one robots.txt that the rules are."""
    accept_damaged_rules: bool
    """Use what is left of damaged files of captures."""
    max_memory: str
    """The memory that the program may take, such as 256MiB."""
    workers: int
    """Goroutines that work; 0 is one per processor."""
    flags: Sequence[str]
    """Other flags of robobatch pipe, as they are written."""


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
        f"-url-column={url_column(options)}",
    ]
    for name in ("url", "agent_column", "prefix", "dialect", "missing", "origin", "max_memory"):
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} is {type(value).__name__}, {value!r:.80}: use str")
    agents = options.get("agents")
    if agents is not None:
        asked += [f"-agent={agent}" for agent in list_of(agents, "agents")]
    columns = options.get("columns")
    if columns is not None:
        asked.append("-columns=" + ",".join(list_of(columns, "columns")))
    asked += about_rules(options)
    for name, flag in (("agent_column", "-agent-column"), ("prefix", "-prefix"), ("max_memory", "-max-memory")):
        if options.get(name):
            asked.append(f"{flag}={options.get(name)}")
    workers = options.get("workers")
    if workers is not None:
        asked.append(f"-workers={workers}")
    flags = options.get("flags")
    return asked + list_of(flags, "flags") if flags else asked


def about_rules(options: Options) -> list[str]:
    """Return the arguments that say how rules are read: those that all commands have."""
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
    """Return names as a list; one stands for itself, unless it is a flag. ``argument`` is what they were given as."""
    if isinstance(names, str) and argument != "flags":
        return [names]
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} is {type(names).__name__}, {names!r:.80}: use a list of str")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{argument} has {type(name).__name__}, {name!r:.80}: use str")
    if not found:
        raise ValueError(f"{argument} is empty: name at least one, or leave it out")
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
            raise ValueError(f"as_of is {moment}, in no time zone: add tzinfo=datetime.timezone.utc, or write a text")
        return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return moment.isoformat()
