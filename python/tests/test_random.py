"""Random tables in every function, compared row by row with the command.

ROBOBATCH_TABLES is their number (40); `make python-tables` uses 10,000. A failure names the number of its table;
ROBOBATCH_FIRST begins there. The command decides all URLs of the tables once per agent, from a Parquet file.
"""

from __future__ import annotations

import datetime
import json
import os
import random as chance
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import robobatch
import robobatch.duckdb
import robobatch.polars
import robobatch.spark

TABLES = int(os.environ.get("ROBOBATCH_TABLES", "40"))
FIRST = int(os.environ.get("ROBOBATCH_FIRST", "0"))
COLUMNS = ("origin", "allowed", "reason", "rule_line", "rule")
NAMELESS = [None, "", "a b", "@ai", "x" * 129]
AGENTS = ["*", "Googlebot", "GPTBot", "gptbot/1.0", "otherbot", "nobody"]
Verdict = tuple[Any, ...]  # in the order of COLUMNS
Text = str | bytes | None
Said = dict[tuple[Text, str], Verdict]  # what the command says of a URL to an agent
pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::robobatch.InputWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
    ),
    pytest.mark.usefixtures("unchanged"),
]

RULES = {
    "https://a.example": "User-agent: *\nDisallow: /private\nAllow: /private/open$\n\n"
    "User-agent: GPTBot\nDisallow: /\n",
    "http://a.example:8080": "User-agent: Googlebot\nDisallow: /*.pdf$\nDisallow: /q?*s=\n\n"
    "User-agent: *\nDisallow:\n",
    "https://b.example": "User-agent: otherbot\nUser-agent: GPTBot\n"
    "Disallow: /a%2fb\nDisallow: /\u00fc\nAllow: /\u00fc/x\n",
    "https://xn--bcher-kva.example": "User-agent: *\nDisallow: /*/x/*/y\nCrawl-delay: 2\n",
}
HOSTS = [*RULES, "HTTPS://A.Example:443", "https://b\u00fccher.example", "https://elsewhere.example"]
PATHS = [
    "", "/", "/private", "/private/open", "/private/open/", "/a.pdf", "/a.pdf?x", "/q?a=1&s=2", "/a/b", "/a%2Fb",
    "/\u00fc", "/%C3%BC/x", "/1/x/2/y", "/x/y", "/%", "?q", "#f", "/a\tb", "/a\nb", "/a\0b", "/" + "long/" * 300,
    "/\U0001f4a9", "/private\u202e",
]  # fmt: skip
ODD: list[Text] = [
    "", " ", "x", "no url", "https://", "https://[::1]/", "https://a.example:99999/", "mailto:a@a.example",
    b"https://a.example/private\xff", b"https://a.example/\xc3", b"\xff\xfe", bytes(range(256)),
]  # fmt: skip
POOL: list[Text] = [None, *ODD, *(host + path for host in HOSTS for path in PATHS)]


@pytest.fixture(scope="module")
def rules(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a pack of the rules."""
    directory, out = tmp_path_factory.mktemp("random"), tmp_path_factory.mktemp("random") / "rules.rbp"
    for origin, text in RULES.items():
        name = origin.replace("://", "_").replace(":", "_")
        (directory / f"{name}.txt").write_text(text)
    command = [program, "compile", "-quiet", "-rules", str(directory), "-out", str(out)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return out


@pytest.fixture(scope="module")
def command(program: str, rules: Path, tmp_path_factory: pytest.TempPathFactory) -> Said:
    """Return the verdicts of the command for each URL and agent."""
    said: Said = {}
    directory = tmp_path_factory.mktemp("command")
    log, out = directory / "log.parquet", directory / "out.parquet"
    pq.write_table(pa.table({"url": pa.array([_bytes(text) for text in POOL], pa.binary())}), log)
    for agent in AGENTS:
        asked = [program, "-quiet", "-rules", str(rules), f"-agent={agent}", "-columns", ",".join(["line", *COLUMNS])]
        subprocess.run([*asked, "-in", str(log), "-out", str(out)], check=True, stderr=subprocess.DEVNULL)
        found = pq.read_table(out)
        out.unlink()
        lines = dict(zip(found["line"].to_pylist(), rows_of(found.select(COLUMNS)), strict=True))
        assert set(range(1, len(POOL) + 1)) - set(lines) <= {1 + POOL.index(text) for text in (None, "", " ")}
        rejected = (None, None, "bad_url", None, None)  # what the command leaves out
        said |= {(text, agent): lines.get(1 + i, rejected) for i, text in enumerate(POOL)}
    every = {line for text in RULES.values() for line in text.splitlines() if re.match("(Disa|A)llow: .", line)}
    assert {verdict[4] for verdict in said.values()} == {None, *every}
    return said


def _bytes(text: Text) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def _is_utf8(text: Text) -> bool:
    return not isinstance(text, bytes)


@dataclass
class Case:
    """A random table: URLs, the agent of each, and their Arrow types."""

    number: int
    url: str = ""
    bot: str = ""
    urls: list[Text] = field(default_factory=list)
    bots: list[str | None] = field(default_factory=list)
    agent: str = "*"
    table: Any = None  # a pyarrow.Table
    random: chance.Random = field(default_factory=chance.Random)
    fault: str = ""  # what an error must say of the agents, if one is no name and that is not allowed

    def __post_init__(self) -> None:
        """Create the table with this number."""
        if self.table is not None:
            return
        pick = self.random
        pick.seed(self.number)
        rows = pick.choice([0, 1, 2, 7, 50, 300, pick.randrange(1000), 3000 if self.number % 10 == 0 else 30])
        binary = pick.random() < 0.3
        pool = pick.sample([text for text in POOL if binary or _is_utf8(text)], pick.choice([1, 5, 40, 150]))
        nulls = pick.choice([0, 0, 0.1, 0.9, 1])
        self.urls = [None if pick.random() < nulls else pick.choice(pool) for _ in range(rows)]
        self.bots = [pick.choice(AGENTS) for _ in range(rows)]
        self.agent = pick.choice(AGENTS)
        self.url, self.bot = pick.choice([("url", "bot"), ("URL", "url"), ("a.b", "\u00fc \"'`"), ("-rules", "a,b")])
        if pick.random() < 0.4:
            share = pick.choice([0.01, 0.3, 1])
            self.bots = [pick.choice(NAMELESS) if pick.random() < share else bot for bot in self.bots]
        wrong = [i for i, bot in enumerate(self.bots) if bot in NAMELESS]
        self.fault = f"row {wrong[0]}: no name of a crawler: " if wrong else ""
        columns = {self.url: self.column(self.urls), self.bot: self.column(self.bots)}
        columns |= {f"other {i}": self.other(rows) for i in range(pick.randrange(3))}
        names = pick.sample(list(columns), len(columns))
        self.table = pa.table({name: columns[name] for name in names}).replace_schema_metadata(
            pick.choice([None, {"a": "b"}])
        )

    def column(self, texts: list[Any]) -> pa.ChunkedArray[Any]:
        """Return texts in a random type, in random chunks and slices."""
        pick = self.random
        if texts and all(text is None for text in texts) and pick.random() < 0.3:
            return self.chunks(texts, lambda part: pa.nulls(len(part)))
        kinds: list[pa.DataType] = [pa.binary(), pa.large_binary(), pa.binary_view()]
        if all(_is_utf8(text) for text in texts):
            kinds = [pa.string(), pa.large_string(), pa.string_view(), *kinds]
        kind = pick.choice(kinds)
        values = [_bytes(text) for text in texts] if "binary" in str(kind) else texts
        if pick.random() < 0.25 and "view" not in str(kind):
            index = pick.choice([pa.int16(), pa.int32(), pa.int64(), pa.uint16(), pa.uint32(), pa.uint64()])
            return self.chunks(values, lambda part: self.dictionary(part, index, kind))
        return self.chunks(values, lambda part: self.slice(part, kind))

    def chunks(self, values: list[Any], make: Callable[[list[Any]], pa.Array[Any]]) -> pa.ChunkedArray[Any]:
        """Return the values in chunks, some of which are empty."""
        cuts = sorted(self.random.randrange(len(values) + 1) for _ in range(self.random.choice([0, 0, 1, 3, 8])))
        parts = [values[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
        return pa.chunked_array([make(part) for part in parts])

    def slice(self, values: list[Any], kind: pa.DataType) -> pa.Array[Any]:
        """Return the values as a part of a longer array."""
        before, after = self.random.choice([0, 0, 1, 9, 64]), self.random.choice([0, 0, 5])
        filler = values[:1] or [None]
        return pa.array(filler * before + values + filler * after, kind).slice(before, len(values))

    def dictionary(self, values: list[Any], index: pa.DataType, kind: pa.DataType) -> pa.Array[Any]:
        """Return the values in an unsorted dictionary, which may contain a null, duplicates and unused values."""
        pick = self.random
        words = [*dict.fromkeys(values), *pick.sample(values, min(3, len(values)))]
        if pick.random() < 0.5:
            words = [word for word in words if word is not None]
        pick.shuffle(words)
        places: dict[Any, list[int]] = {}
        for i, word in enumerate(words):
            places.setdefault(word, []).append(i)
        at = [pick.choice(places[v]) if v in places else None for v in values]
        return pa.DictionaryArray.from_arrays(self.slice(at, index), self.slice(words, kind))

    def other(self, rows: int) -> pa.ChunkedArray[Any]:
        """Return a column that robobatch does not read."""
        makers: list[Callable[[int], pa.Array[Any]]] = [
            lambda n: pa.array(range(n), pa.int64()),
            lambda n: pa.array([{"a": [1, None]}] * n, pa.struct([("a", pa.list_(pa.int8()))])),
            lambda n: pa.array([[("k", 1.5)]] * n, pa.map_(pa.string(), pa.float64())),
            lambda n: pa.array([None, *["x"] * n], pa.large_string()).dictionary_encode()[1:],
            lambda n: pa.nulls(n, pa.decimal128(20, 3)),
            lambda n: pa.array([0] * n, pa.timestamp("ns", "UTC")),
            lambda n: pa.array([b"0123456789abcdef"] * n, pa.binary(16)),
        ]
        make = self.random.choice(makers)
        return self.chunks([None] * rows, lambda part: make(len(part)))

    def want(self, said: Said, agents: list[Any]) -> list[Verdict]:
        """Return the verdicts of the command."""
        return [said_of(said, text, agent) for text, agent in zip(self.urls, agents, strict=True)]

    def want_of_functions(self, said: Said) -> list[Verdict]:
        """Return the verdicts for each row's agent; null if the URL or the agent is null."""
        both = zip(self.urls, self.bots, strict=True)
        return [NOTHING if None in (text, bot) else said_of(said, text, bot) for text, bot in both]

    def check(self, got: list[Verdict], want: list[Verdict], columns: tuple[str, ...] = COLUMNS) -> None:
        """Compare row by row."""
        assert len(got) == len(want), f"table {self.number}"
        indexes = [COLUMNS.index(name) for name in columns]
        for row, (is_, should) in enumerate(zip(got, want, strict=True)):
            expected = tuple(should[i] for i in indexes)
            assert tuple(is_) == expected, f"table {self.number}, row {row}: {self.urls[row]!r}, {self.bots[row]!r}"

    def check_table(self, decided: pa.Table, want: list[Verdict]) -> None:
        """Compare a table with verdicts; its other columns must be unchanged."""
        names = self.table.column_names
        assert decided.column_names[: len(names)] == names
        assert decided.select(names).equals(self.table, check_metadata=True), f"table {self.number}"
        self.check(rows_of(decided.select(len(names) + i for i in range(len(COLUMNS)))), want)


NOTHING = (None,) * len(COLUMNS)


def said_of(said: Said, text: Text, agent: Any) -> Verdict:
    """Return the verdict of the command, or for an agent without a name a null verdict with the origin of the URL."""
    if agent not in NAMELESS:
        return said[text, agent]
    origin, _, reason, _, _ = said[text, "*"]
    return (origin, None, "bad_url" if reason == "bad_url" else "bad_agent", None, None)


def rows_of(table: pa.Table | pa.RecordBatch) -> list[Verdict]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def cases() -> Iterator[Case]:
    return (Case(number) for number in range(FIRST, FIRST + TABLES))


def refused(case: Case, ask: Callable[[], object]) -> bool:
    """Report whether the agents must cause an error, and check that it names the row."""
    if not case.fault:
        return False
    with pytest.raises(robobatch.Error, match="^" + re.escape(case.fault)):
        ask()
    return True


def test_decide(rules: Path, command: Said) -> None:
    for case in cases():
        want = case.want(command, [case.agent] * len(case.urls))
        case.check_table(robobatch.decide(case.table, rules=rules, url=case.url, agents=case.agent), want)
        own: dict[str, Any] = {"rules": rules, "url": case.url, "agent_column": case.bot, "on_bad_agent": "raise"}
        if case.fault and case.number % 4 == 0:
            assert refused(case, lambda: robobatch.decide(case.table, **own))  # noqa: B023 - it is this one
            assert refused(case, lambda: list(robobatch.stream(case.table.to_batches(), **own)))  # noqa: B023


def test_stream(rules: Path, command: Said) -> None:
    for case in cases():
        want = case.want(command, [case.agent] * len(case.urls))
        batches = robobatch.stream(case.table.to_batches(), rules=rules, url=case.url, agents=case.agent)
        decided = pa.Table.from_batches(batches) if case.urls else case.table
        if case.urls:
            case.check_table(decided, want)


def test_decider(rules: Path, command: Said) -> None:
    """Deciders accept a crawler per row, one for all rows, or several at once."""
    with robobatch.Decider(rules) as decider:
        for case in cases():
            want = case.want(command, [case.agent] * len(case.urls))
            case.check_table(decider.decide(case.table, url=case.url, agents=case.agent), want)

            def own(bad: str, case: Case = case) -> pa.Table:
                return decider.decide(case.table, url=case.url, agent_column=case.bot, on_bad_agent=bad)

            case.check_table(own("null"), case.want(command, case.bots))
            if not refused(case, lambda: own("raise")):
                case.check_table(own("raise"), case.want(command, case.bots))
            both = ["*", "GPTBot"]
            wide = decider.decide(
                case.table.select([case.url]), url=case.url, agents=both, columns=COLUMNS, layout="wide"
            )
            long = decider.decide(case.table, url=case.url, agents=both, columns=["agent", *COLUMNS], prefix="v_")
            assert long["v_agent"].to_pylist() == both * len(case.urls)
            assert long[case.url].to_pylist() == [text for text in case.table[case.url].to_pylist() for _ in both]
            for i, agent in enumerate(both):
                of = long.select([f"v_{name}" for name in COLUMNS]).take(
                    pa.array(range(i, len(long), len(both)), pa.int64())
                )
                case.check(rows_of(of), case.want(command, [agent] * len(case.urls)))
            for agent, end in (("*", "_star"), ("GPTBot", "_gptbot")):
                names = [name if name == "origin" else name + end for name in COLUMNS]
                case.check(rows_of(wide.select(names)), case.want(command, [agent] * len(case.urls)))


def test_arrays(rules: Path, command: Said) -> None:
    """Arrays as in functions of query engines: a null gives a null verdict, and is not sent."""
    with robobatch.Decider(rules) as decider:
        for case in cases():
            urls, bots = case.table[case.url], case.table[case.bot]

            case.check(rows_of(decider.verdicts(urls, bots, COLUMNS)), case.want_of_functions(command))
            for row in range(0, len(case.urls), 1 + len(case.urls) // 8):
                found = decider.allowed(case.urls[row], case.agent)
                assert found == command[case.urls[row], case.agent][1], f"table {case.number}, row {row}"


def test_lists(rules: Path, command: Said) -> None:
    """Lists, NumPy and pandas, with their different null values."""
    with robobatch.Decider(rules) as decider:
        for case in cases():
            pick = case.random
            want = case.want(command, [case.agent] * len(case.urls))
            nothing = pick.choice([None, float("nan"), pd.NA, pd.NaT])
            texts: list[Any] = [nothing if text is None else text for text in case.urls]
            objects = np.empty(len(texts), dtype=object)
            objects[:] = texts
            series = pd.Series(objects, dtype=object)
            for rows in (texts, iter(texts), objects, series):
                decided = decider.decide(rows, agents=case.agent)
                case.check(rows_of(decided.select(COLUMNS)), want)
            column = case.table[case.url]
            if isinstance(column.type, pa.DictionaryType):
                column = column.cast(column.type.value_type)
            types: Any = pick.choice([None, None if "view" in str(column.type) else pd.ArrowDtype])
            frame = pa.table({case.url: column}).to_pandas(types_mapper=types)
            frame.index = pick.sample(range(len(frame)), len(frame))
            decided = decider.decide(frame, url=case.url, agents=case.agent, to="same")
            pd.testing.assert_frame_equal(decided[[case.url]], frame)
            found = [[None if pd.isna(value) else value for value in decided[name]] for name in COLUMNS]
            case.check(list(zip(*found, strict=True)), want)
            if texts:
                at = pick.randrange(len(texts))
                texts[at] = wrong = pick.choice([1.5, 3, ["x"], {}, object()])
                with pytest.raises(TypeError, match=f"^URL {at} is {type(wrong).__name__}"):
                    decider.decide(texts)


def test_duckdb(rules: Path, command: Said) -> None:
    """SQL functions over the table, and its relation."""
    con = duckdb.connect()
    decider = robobatch.duckdb.register(con, rules=rules)
    for case in cases():
        both = case.table.select([case.url, case.bot]).rename_columns(["u", "b"])
        con.register("log", both)
        decided = decider.decide(con.sql("select * from log"), url="u", agents=case.agent)
        want = case.want(command, [case.agent] * len(case.urls))
        case.check(rows_of(decided.select(COLUMNS)), want)
        if all(map(_is_utf8, case.urls)):
            plain = pa.table({name: both[name].cast(pa.string()) for name in "ub"})
            con.register("log", plain)
            query = con.sql("select robots_allowed(u, b), robots_rule(u, b), robots_line(u, b) from log")
            case.check(query.fetchall(), case.want_of_functions(command), ("allowed", "rule", "rule_line"))
            each = con.sql("select unnest(robots_allowed_list(u, [b, b])) from log").fetchall()
            twice = [verdict[1] for verdict in case.want_of_functions(command) for _ in range(2)]
            assert [row[0] for row in each] == twice
    con.close()
    decider.close()


def test_polars(rules: Path, command: Said) -> None:
    """Frames, lazy ones, and expressions."""
    with robobatch.Decider(rules) as decider:
        for case in cases():
            frame = pl.DataFrame(case.table.select([case.url, case.bot]))
            want = case.want(command, [case.agent] * len(case.urls))
            for rows in (frame, frame.lazy()):
                decided = decider.decide(rows, url=case.url, agents=case.agent)
                case.check(rows_of(decided.select(COLUMNS)), want)
            if not all(map(_is_utf8, case.urls)):
                continue
            robots = pl.col(case.url).cast(pl.String).robobatch  # type: ignore[attr-defined]
            bots = pl.col(case.bot).cast(pl.String)
            query = frame.lazy().select(
                allowed=robots.allowed(bots, rules=decider),
                rule=robots.rule(bots, rules=decider),
                line=robots.line(bots, rules=decider),
            )
            own = case.want_of_functions(command)
            series = frame[case.url].cast(pl.String).robobatch  # type: ignore[attr-defined]
            assert series.allowed(frame[case.bot].cast(pl.String), rules=decider).to_list() == [row[1] for row in own]
            for engine in ("in-memory", "streaming"):
                case.check(query.collect(engine=engine).rows(), own, ("allowed", "rule", "rule_line"))


def test_spark(spark: SparkSession, rules: Path, command: Said, tmp_path: Path) -> None:
    """The rows of all tables, in a DataFrame of strings with SQL functions, and in one of bytes."""
    made = list(cases())
    robobatch.spark.register(spark, rules)
    sizes = "spark.sql.execution.arrow.maxRecordsPerBatch"
    own = ["robots_allowed(url, bot) as f0", "robots_rule(url, bot) as f1", "robots_line(url, bot) as f2"]
    own.append("robots_allowed_list(url, array(bot, bot)) as f3")
    for kind in ("string", "binary"):
        chosen = [case for case in made if kind == "binary" or all(map(_is_utf8, case.urls))]
        rows = [(text, bot) for case in chosen for text, bot in zip(case.urls, case.bots, strict=True)]
        texts = [_bytes(text) if kind == "binary" else text for text, _ in rows]
        columns = {
            "n": pa.array(range(len(rows))),
            "url": pa.array(texts, pa.binary() if kind == "binary" else pa.string()),
            "bot": pa.array([bot for _, bot in rows], pa.string()),
        }
        pq.write_table(pa.table(columns), tmp_path / kind)
        df = spark.read.parquet(str(tmp_path / kind))
        named = df.selectExpr("n", "url", "bot as agent", *(own if kind == "string" else []))
        spark.conf.set(sizes, "777")
        try:
            decided = robobatch.spark.with_verdicts(named, rules=rules, agent_column="agent").orderBy("n").toArrow()
        finally:
            spark.conf.unset(sizes)
        want = [said_of(command, text, bot) for text, bot in rows]
        whole = Case(FIRST, urls=[text for text, _ in rows], bots=[bot for _, bot in rows], table=decided)
        whole.check(rows_of(decided.select(COLUMNS)), want)
        if kind == "string":
            want = [NOTHING if None in row else verdict for row, verdict in zip(rows, want, strict=True)]
            whole.check(rows_of(decided.select(["f0", "f1", "f2"])), want, ("allowed", "rule", "rule_line"))
            assert decided["f3"].to_pylist() == [[verdict[1]] * 2 for verdict in want]


LAYOUTS = {"long": ("agent", *COLUMNS), "wide": ("origin", "allowed", "reason", "rule_line", "rule")}


@pytest.fixture(scope="module")
def by_layout(program: str, rules: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return the column names and rows of the command by URL, for several agents."""
    made = tmp_path_factory.mktemp("layouts")
    log, out = made / "log.parquet", made / "out.parquet"
    pq.write_table(pa.table({"url": pa.array([_bytes(text) for text in POOL], pa.binary())}), log)

    @cache
    def said(agents: tuple[str, ...], layout: str) -> tuple[list[str], dict[Text, list[Verdict]]]:
        asked = [program, "-quiet", "-rules", str(rules), *(f"-agent={agent}" for agent in agents)]
        asked += [f"-layout={layout}", "-columns", ",".join(["line", *LAYOUTS[layout]])]
        subprocess.run([*asked, "-in", str(log), "-out", str(out)], check=True, stderr=subprocess.DEVNULL)
        found = pq.read_table(out).drop_columns("line")
        lines = pq.read_table(out)["line"].to_pylist()
        out.unlink()
        rows: dict[Text, list[Verdict]] = {text: [] for text in POOL}
        for line, row in zip(lines, rows_of(found), strict=True):
            rows[POOL[int(line or 0) - 1]].append(row)
        for text in POOL:  # of what the command leaves out, all but the reason is null
            if not rows[text] and layout == "long":
                rows[text] = [(agent, None, None, "bad_url", None, None) for agent in agents]
            elif not rows[text]:
                rows[text] = [tuple("bad_url" if "reason" in name else None for name in found.column_names)]
        return found.column_names, rows

    return said


def test_layouts(rules: Path, by_layout: Callable[..., Any], spark: SparkSession) -> None:
    """Several agents, in each layout and function; each returns the type of its input."""
    con = duckdb.connect()
    decider = robobatch.Decider(rules)
    for case in cases():
        pick = case.random
        agents = pick.sample([agent for agent in AGENTS if "/" not in agent], pick.choice([2, 2, 3]))
        layout, prefix = pick.choice(list(LAYOUTS)), pick.choice(["", "v_"])
        names, said = by_layout(tuple(agents), layout)
        want = [row for text in case.urls for row in said[text]]
        asked: dict[str, Any] = {"url": case.url, "agents": agents, "layout": layout, "columns": LAYOUTS[layout]}
        added = [prefix + name for name in names]

        def check(door: str, got: Any, want: list[Verdict] = want, added: list[str] = added) -> None:
            table = got if isinstance(got, pa.Table) else pa.table(got)
            assert table.column_names[-len(added) :] == added, door
            assert rows_of(table.select(added)) == want, f"{door}, table {case.number}"  # noqa: B023 - it is this one

        table = case.table.select([case.url])
        decided = decider.decide(table, prefix=prefix, **asked)
        check("Decider", decided)
        each = len(want) // max(1, len(case.urls))
        assert decided[case.url].to_pylist() == [text for text in table[case.url].to_pylist() for _ in range(each)]
        if case.number % 4 == 0:
            check("decide", robobatch.decide(table, rules=rules, prefix=prefix, **asked))
            batches = list(robobatch.stream(table.to_batches(), rules=rules, prefix=prefix, **asked))
            check("stream", pa.Table.from_batches(batches) if batches else decided)
        frame = pl.DataFrame(table)
        same = decider.decide(frame, prefix=prefix, to="same", **asked)
        assert isinstance(same, pl.DataFrame)
        check("Polars", same)
        con.register("log", table.rename_columns(["u"]))
        relation = decider.decide(con.sql("from log"), prefix=prefix, to="same", **{**asked, "url": "u"})
        assert isinstance(relation, duckdb.DuckDBPyRelation)
        check("DuckDB", relation.to_arrow_table())
        if case.number % 50 == 0:
            df = spark.createDataFrame(pa.table({
                "n": range(len(case.urls)), "url": pa.array([_bytes(text) for text in case.urls], pa.binary()),
            }))  # fmt: skip
            of_spark = {**asked, "url": "url"}
            found = robobatch.spark.with_verdicts(df, rules=rules, prefix=prefix, **of_spark).coalesce(1).toArrow()
            check("Spark", found.take(pc.sort_indices(found["n"])))
    con.close()
    decider.close()


# The requests of a log: User-Agents, addresses and times, by captures of two moments and lists of addresses.
ABOUT = ("agent", "allowed", "reason", "rule_line", "rule", "violation", "verified", "verified_by")
BOTS = [
    None, "-", "Mozilla/5.0 (X11; Linux) Firefox/140.0", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://x)",
    "GPTBot/1.2",
    "otherbot/2.0", "Mozilla/5.0 (compatible; GPTBot/1.2)", "curl/8", "x" * 2000 + " Googlebot/2.1",
]  # fmt: skip
ADDRESSES = [
    None,
    "",
    "66.249.66.1",
    "66.249.66.1:443",
    "45.33.32.156",
    "2001:4860:4801:10::1",
    "10.0.0.1",
    "host.example",
]
TIMES = [None, 1_600_000_000, 1_700_000_000, 1_700_003_600, 1_735_689_600, 1_767_400_000, 1_790_000_000]
CAPTURES = [(1_650_000_000, ""), (1_700_000_000, "User-agent: *\nDisallow: /\n\n"), (1_720_000_000, None)]
Request = tuple[Text, "str | None", "str | None", "int | None"]


OPTIONS = [(), ("ranges",), ("as_of",), ("ranges", "as_of")]
Asked = tuple[dict[str, Any], dict[str, Any], list[Request], list[Verdict]]  # the arguments, and what a run says


@pytest.fixture(scope="module")
def requests(program: str, tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    """Return for each choice of options: rules, options, columns, requests, and the rows of a run."""
    made = tmp_path_factory.mktemp("requests")
    lists, rules = made / "lists", made / "rules.rbp"
    lists.mkdir()
    for name in ("googlebot.json", "gptbot.json"):
        prefixes = [{"ipv4Prefix": "66.249.64.0/19"}, {"ipv6Prefix": "2001:4860:4801:10::/64"}]
        (lists / name).write_text(json.dumps({"creationTime": "2026-01-02T00:00:00", "prefixes": prefixes}))
    with (made / "rules.jsonl").open("w") as file:
        for origin, text in RULES.items():
            for moment, other in CAPTURES:
                body = text if other is None else other
                time = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).isoformat()
                print(json.dumps({"origin": origin, "status": 200, "body": body, "fetched_at": time}), file=file)
    compile_ = [program, "compile", "-quiet", "-rules", str(made / "rules.jsonl"), "-out", str(rules)]
    subprocess.run(compile_, check=True, stderr=subprocess.DEVNULL)
    pick = chance.Random(7)
    all_ = [(pick.choice(POOL), pick.choice(BOTS), pick.choice(ADDRESSES), pick.choice(TIMES)) for _ in range(6000)]
    columns = {
        "url": pa.array([_bytes(text) for text, _, _, _ in all_], pa.binary()),
        "ua": pa.array([bot for _, bot, _, _ in all_]),
        "ip": pa.array([address for _, _, address, _ in all_]),
        "moment": pa.array([time for _, _, _, time in all_], pa.timestamp("s", "UTC")),
    }
    pq.write_table(pa.table(columns), made / "log.parquet")
    found: list[Asked] = []
    for names in OPTIONS:
        about = ABOUT if "ranges" in names else ABOUT[:-2]
        asked = [program, "-quiet", "-rules", str(rules), "-in", str(made / "log.parquet"), "-agent-from-log"]
        asked += ["-columns", ",".join(["line", *about]), "-out", str(made / "out.parquet")]
        fields = ["agent=ua"]
        options: dict[str, Any] = {"rules": rules}
        given: dict[str, Any] = {"user_agent_column": "ua"}
        if "ranges" in names:
            asked += ["-ranges", str(lists)]
            fields, options["ranges"], given["client_column"] = [*fields, "client=ip"], str(lists), "ip"
        if "as_of" in names:
            asked += ["-as-of", "log"]
            options["as_of"] = "log"
        if names:
            fields, given["time_column"] = [*fields, "time=moment"], "moment"
        subprocess.run([*asked, "-field", ",".join(fields)], check=True, stderr=subprocess.DEVNULL)
        out = pq.read_table(made / "out.parquet")
        (made / "out.parquet").unlink()
        lines = dict(zip(out["line"].to_pylist(), rows_of(out.select(about)), strict=True))
        for violation in (True, False, None):
            assert violation in {row[5] for row in lines.values()}
        assert "ranges" not in names or {"yes", "no"} <= {row[6] for row in lines.values()}
        bad = ("*", None, "bad_url", *[None] * (len(about) - 3))
        kept = [i for i, (text, *_) in enumerate(all_) if text not in (None, "", " ")]  # of these the run has no row
        said = [lines.get(1 + i, bad) for i in kept]
        found.append((options, {**given, "columns": about}, [all_[i] for i in kept], said))
    return found


def times(pick: chance.Random, moments: list[int | None]) -> pa.Array[Any]:
    """Return times in one of the types of a log."""
    stamps = pa.array(moments, pa.timestamp("s", "UTC"))
    kind = pick.choice([None, "s", "ms", "us", "ns", "text", "seconds"])
    if kind == "text":
        return pa.array([None if m is None else f"{datetime.datetime.fromtimestamp(m, datetime.timezone.utc):%FT%TZ}"
                         for m in moments], pa.string())  # fmt: skip
    if kind == "seconds":
        return pa.array(moments, pa.int64())
    return stamps if kind is None else stamps.cast(pa.timestamp(kind, pick.choice([None, "UTC", "Europe/Berlin"])))


def test_requests(requests: list[Asked], spark: SparkSession) -> None:
    """Each function with User-Agents, addresses and times returns the columns of a run."""
    con = duckdb.connect()
    deciders = [robobatch.duckdb.register(con, prefix=f"r{i}_", **said[0]) for i, said in enumerate(requests)]
    chosen: dict[tuple[int, str], list[int]] = {}  # rows for Spark, by options and type of the times
    for number in range(FIRST, FIRST + TABLES):
        pick = chance.Random(number)
        at = pick.randrange(len(requests))
        options, columns, all_, said = requests[at]
        decider, about = deciders[at], columns["columns"]
        assert decider.request_columns == about
        utf8 = pick.random() < 0.7
        texts = [i for i, (text, *_) in enumerate(all_) if _is_utf8(text)]
        rows = pick.choices(texts if utf8 else range(len(all_)), k=pick.choice([0, 1, 30, 300]))
        case = Case(number, random=pick, table=pa.table({}))
        table = pa.table({
            "url": case.column([all_[i][0] for i in rows]), "ua": case.column([all_[i][1] for i in rows]),
            "ip": case.column([all_[i][2] for i in rows]), "moment": times(pick, [all_[i][3] for i in rows]),
        })  # fmt: skip
        want = [said[i] for i in rows]

        def check(door: str, got: list[Verdict], want: list[Verdict] = want, number: int = number) -> None:
            assert len(got) == len(want), f"{door}, table {number}"
            for row, (is_, should) in enumerate(zip(got, want, strict=True)):
                assert is_ == should, f"{door}, table {number}, row {row}"

        check("Decider", rows_of(decider.decide(table, **columns).select(about)))
        if number % 4 == 0:
            check("decide", rows_of(robobatch.decide(table, **options, **columns).select(about)))
        if rows and number % 4 == 1:
            batches = robobatch.stream(table.to_batches(), **options, **columns)
            check("stream", rows_of(pa.Table.from_batches(batches).select(about)))
        given = ["url", "ua", *(["ip", "moment"] if decider.has_times else [])]
        structs: Any = decider.requests(*(table[name] for name in given))
        check("requests", [tuple(row.values()) for row in structs.to_pylist()])
        if not utf8:
            continue
        chosen.setdefault((at, pick.choice(["timestamp", "timestamp_ntz", "string"])), []).extend(rows)
        plain = pa.table({name: table[name].cast(pa.string()) for name in ("url", "ua", "ip")})
        plain = plain.append_column("moment", pa.array([all_[i][3] for i in rows], pa.timestamp("s", "UTC")))
        con.register("log", plain)
        shown = ", ".join(f"r.{name}" for name in about)
        query = f"select {shown} from (select r{at}_request({', '.join(given)}) as r from log)"  # noqa: S608 - it is ours
        check("DuckDB", con.sql(query).fetchall())
        same = decider.decide(con.sql("from log"), to="same", **columns)
        check("relation", same.select(", ".join(about)).fetchall())
        frame = pl.DataFrame(plain)
        robots = pl.col("url").robobatch  # type: ignore[attr-defined]
        parts = dict(zip(("user_agent", "client", "time"), map(pl.col, given[1:]), strict=False))
        check("Polars", frame.select(robots.request(**parts, rules=decider)).unnest("url").rows())
        check("frame", decider.decide(frame, to="same", **columns).select(about).rows())
    for decider in deciders:
        decider.close()
    con.close()
    for (at, kind), rows in chosen.items():
        options, columns, all_, said = requests[at]
        about, times_ = columns["columns"], deciders[at].has_times
        robobatch.spark.register(spark, options["rules"], prefix=f"r{at}_",
                                 **{name: value for name, value in options.items() if name != "rules"})  # fmt: skip
        seconds: Any = pa.array([all_[i][3] for i in rows], pa.timestamp("s", "UTC")).cast(pa.timestamp("us", "UTC"))
        table = pa.table({
            "n": range(len(rows)), "url": [all_[i][0] for i in rows], "ua": [all_[i][1] for i in rows],
            "ip": [all_[i][2] for i in rows],
            "moment": pc.strftime(seconds.cast(pa.timestamp("s", "UTC")), "%Y-%m-%dT%H:%M:%SZ") if kind == "string"
            else seconds.cast(pa.timestamp("us")) if kind == "timestamp_ntz" else seconds,
        })  # fmt: skip
        df = spark.createDataFrame(table, f"n long, url string, ua string, ip string, moment {kind}")
        call = f"r{at}_request({'url, ua, ip, moment' if times_ else 'url, ua'}) as r"
        got = robobatch.spark.with_verdicts(df.selectExpr("*", call), **options, **columns).orderBy("n").toArrow()
        want = [said[i] for i in rows]
        structs = got["r"].combine_chunks()
        for door, found in (
            ("frame", rows_of(got.select(about))),
            ("SQL", rows_of(pa.Table.from_struct_array(structs))),
        ):
            for i, is_, should in zip(rows, found, want, strict=True):
                assert is_ == should, f"Spark, {door}, {kind}, {all_[i]}"
