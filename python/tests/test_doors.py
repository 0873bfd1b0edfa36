"""Input and output: forms of tables, SQL functions, expressions; and the text of help()."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import robobatch
import robobatch.duckdb
import robobatch.polars

HOME = "https://example.com/"
RULES = {"https://example.com": "User-agent: *\nDisallow: /private\n\nUser-agent: GPTBot\nDisallow: /\n"}
URLS = [HOME + "private", HOME, None, "no url"]
ALLOWED = [False, True, None, None]
pytestmark = [pytest.mark.filterwarnings("ignore::robobatch.InputWarning"), pytest.mark.usefixtures("unchanged")]


def decide(rows: Any, **options: Any) -> Any:
    return robobatch.decide(rows, rules=RULES, **options)


def test_pandas() -> None:
    frame = pd.DataFrame(
        {"url": URLS, "n": [1, 2, 3, 4], "when": pd.Timestamp("2026-01-01"), "kind": pd.Categorical(["a"] * 4)},
        index=[7, 7, 8, 9],
    )
    for to in ("pandas", "same"):
        got = decide(frame, to=to)
        pd.testing.assert_frame_equal(got[frame.columns], frame)
        kinds = {name: str(got[name].dtype) for name in got.columns[4:]}
        assert kinds == {
            "origin": "category", "allowed": "boolean", "reason": "category", "rule_line": "Int32",
            "rule": "category",
        }  # fmt: skip
        assert got["allowed"].isna().tolist() == [False, False, True, True]
        assert got["rule_line"].tolist()[:2] == [2, pd.NA]
    assert list(decide(pd.Series(URLS), to="same", columns="allowed").columns) == ["url", "allowed"]
    assert str(decide(URLS, to="pandas")["allowed"].dtype) == "boolean"


def test_polars_frames() -> None:
    frame = pl.DataFrame({"url": URLS, "e": pl.Series(["a"] * 4, dtype=pl.Enum(["a", "b"]))})
    for to in ("polars", "same"):
        got = decide(frame, to=to)
        assert got.select(frame.columns).equals(frame)
        assert got.schema["e"] == frame.schema["e"]
        assert got["allowed"].to_list() == ALLOWED
    lazy = frame.lazy().filter(pl.col("url").is_not_null())
    got = decide(lazy, to="same", columns="allowed")
    assert isinstance(got, pl.LazyFrame)
    assert got.collect()["allowed"].to_list() == [False, True, None]
    assert decide(lazy, columns="allowed")["allowed"].to_pylist() == [False, True, None]
    assert decide(lazy.limit(0)).num_rows == 0
    many = pl.LazyFrame({"url": [HOME, HOME + "private"] * 200_000})
    assert decide(many, columns="allowed")["allowed"].to_pylist() == [True, False] * 200_000


def test_same_is_the_same() -> None:
    table = pa.table({"url": URLS})
    batch, reader = table.to_batches()[0], table.to_reader()
    assert isinstance(decide(table, to="same"), pa.Table)
    assert isinstance(decide(batch, to="same"), pa.RecordBatch)
    assert isinstance(decide(batch.slice(0, 0), to="same"), pa.RecordBatch)
    assert isinstance(decide(reader, to="same"), pa.RecordBatchReader)
    assert decide(URLS[:1], to="same", columns="allowed") == [{"url": URLS[0], "allowed": False}]
    with pytest.raises(TypeError, match="NumPy array, which cannot hold several columns"):
        decide(np.array(URLS[:2]), to="same")
    con = duckdb.connect()
    con.execute("create table log as "
                "select 'https://example.com/' || case when i = 0 then 'private' else '' end as url, i "
                "from range(3) t(i)")  # fmt: skip
    relation = decide(con.sql("select * from log"), to="same")
    assert relation.filter("not allowed").project("url, i, rule").fetchall() == [
        ("https://example.com/private", 0, "Disallow: /private")
    ]
    assert con.sql("select count(*) from relation join log using (i)").fetchall() == [(3,)]
    con.execute("set python_enable_replacements = false")
    with pytest.raises(TypeError, match="python_enable_replacements is off"):
        decide(con.sql("select * from log"), to="same").fetchall()


def test_nulls_of_every_kind() -> None:
    for nothing in (None, float("nan"), np.nan, pd.NA, pd.NaT):
        assert decide([HOME, nothing], columns="allowed")["allowed"].to_pylist() == [True, None]
        assert decide(np.array([HOME, nothing], dtype=object), columns="allowed")["allowed"].to_pylist() == [
            True,
            None,
        ]
    for text in (np.array([HOME, "x"]), np.array([HOME.encode(), b"x"])):
        assert decide(text, columns="allowed")["allowed"].to_pylist() == [True, None]
    for nulls in ([], [float("nan")]):  # numbers, to pandas
        frame = pd.DataFrame({"url": nulls, "ua": nulls, "at": nulls})
        decided = decide(frame, user_agent_column="ua", time_column="at", as_of="log", columns="reason", to="same")
        assert list(decided["reason"]) == ["bad_url"] * len(nulls)
    relation = duckdb.connect().sql("select * from (values ('https://example.com/'), (null)) t(url)")
    assert decide(relation, columns="allowed")["allowed"].to_pylist() == [True, None]


def test_duckdb() -> None:
    con = duckdb.connect()
    decider = robobatch.duckdb.register(con, rules=RULES)
    assert robobatch.duckdb.register(con, rules=decider) is decider
    con.execute("create table log as select * from (values (1, 'https://example.com/private', '*'), "
                "(2, 'https://example.com/', 'GPTBot'), (3, null, '*'), (4, 'https://example.com/', null), "
                "(5, 'no url', '*'), (6, 'https://example.com/', 'nobody')) t(n, url, bot)")  # fmt: skip
    query = "select robots_allowed(url, bot), robots_rule(url, bot), robots_line(url, bot) from log order by n"
    assert con.sql(query).fetchall() == [
        (False, "Disallow: /private", 2), (False, "Disallow: /", 5), (None, None, None), (None, None, None),
        (None, None, None), (True, None, None),
    ]  # fmt: skip
    assert con.sql("select count(*) from log where robots_allowed(url, 'GPTBot')").fetchall() == [(0,)]
    assert con.sql("select robots_allowed(null, '*'), robots_allowed('', '*')").fetchall() == [(None, None)]
    many = """select count(*) filter (robots_allowed(
        'https://example.com/' || case when i % 3 = 0 then 'private' else i::text end,
        case when i % 2 = 0 then '*' else 'GPTBot' end)) from range(300000) t(i)"""
    assert con.sql(many).fetchall() == [(100_000,)]
    named = "select robots_allowed(url, case when n = 2 then 'a b' else '*' end) from log order by n"
    assert [row[0] for row in con.sql(named).fetchall()] == [False, None, None, True, None, True]
    each = "select robots_allowed_list(url, [bot, 'GPTBot', 'a b']), robots_allowed_list(url, []) from log order by n"
    assert con.sql(each).fetchall() == [
        ([False, False, None], []), ([False, False, None], []), ([None] * 3, []), ([None, False, None], []),
        ([None] * 3, []), ([True, False, None], []),
    ]  # fmt: skip
    assert con.sql("select robots_allowed_list(null, null), robots_allowed_list('x', null)").fetchall() == [
        (None, None)
    ]
    assert con.sql(query).fetchall()[0][0] is False
    assert {warning.code for warning in decider.warnings()} == {"rejected_lines"}  # one in four is no URL
    con.sql("select robots_allowed('/x', '*')").fetchall()
    assert [warning.code for warning in decider.warnings()] == ["no_urls"]
    decider.close()
    with pytest.raises(duckdb.Error, match="the Decider is closed"):
        con.sql(query).fetchall()


def test_duckdb_needs_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ModuleNotFoundError, match="need numpy: pip install numpy"):
        robobatch.duckdb.register(duckdb.connect(), rules=RULES)


def test_polars_expressions() -> None:
    frame = pl.DataFrame({"url": URLS, "bot": ["*", "GPTBot", "*", None]})
    with robobatch.Decider(RULES) as decider:
        robots = pl.col("url").robobatch  # type: ignore[attr-defined]
        got = frame.select(
            robots.allowed(rules=decider).alias("star"),
            robots.allowed("GPTBot", rules=decider).alias("gptbot"),
            robots.allowed(pl.col("bot"), rules=decider).alias("own"),
            robots.rule(pl.col("bot"), rules=decider).alias("rule"),
            robots.line(pl.col("bot"), rules=decider).alias("line"),
            robots.reason(rules=decider).alias("reason"),
        )
        assert got.schema == {
            "star": pl.Boolean, "gptbot": pl.Boolean, "own": pl.Boolean, "rule": pl.String, "line": pl.Int32,
            "reason": pl.String,
        }  # fmt: skip
        assert got["star"].to_list() == ALLOWED
        assert got["gptbot"].to_list() == [False, False, None, None]
        assert got["own"].to_list() == [False, False, None, None]
        assert got["rule"].to_list() == ["Disallow: /private", "Disallow: /", None, None]
        assert got["line"].to_list() == [2, 5, None, None]
        assert got["reason"].to_list() == ["rule", "default", None, "bad_url"]
        many = pl.LazyFrame({"url": [HOME, HOME + "private"] * 100_000, "k": range(200_000)})
        left = many.filter(robots.allowed(rules=decider)).select(pl.len())
        assert left.collect().item() == left.collect(engine="streaming").item() == 100_000
        assert frame.clear().select(robots.rule(rules=decider)).dtypes == [pl.String]
    assert frame.select(pl.col("url").robobatch.allowed(rules=RULES))["url"].to_list() == ALLOWED  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", ["", ".decider", ".verdicts", ".duckdb", ".polars", ".summary"])
def test_examples_of_help(module: str) -> None:
    found = doctest.testmod(importlib.import_module("robobatch" + module))
    assert found.failed == 0
    assert found.attempted > 0


def test_help_has_all_options() -> None:
    shown = pydoc.render_doc(
        robobatch,
        renderer=pydoc.plaintext,  # type: ignore[attr-defined]
    )
    for word in ("Decider", "decide(", "robots_request", "user_agent_column", "docs/LAKE.md"):
        assert word in shown
    assert {"Decider", "decide", "stream", "InputWarning", "Error", "find_binary"} <= set(dir(robobatch))
    for function in (robobatch.decide, robobatch.Decider, robobatch.Decider.decide):
        text = inspect.getdoc(function) or ""
        for name in inspect.signature(function).parameters:
            assert name == "self" or name in text, (function, name)


def test_import_is_light() -> None:
    """Large modules are imported only when they are needed."""
    heavy = "{'pyarrow', 'pandas', 'polars', 'numpy', 'pyspark', 'zipfile', 'tempfile', 'importlib.metadata'}"
    code = "import subprocess, sys; before = set(sys.modules); import robobatch; "
    code += f"print({heavy} & set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    decide([HOME] * 3, progress=True)
    assert "3/3" in capsys.readouterr().err.replace(".00", "")
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert decide([HOME], progress=True).num_rows == 1
    assert capsys.readouterr().err == ""


def test_types_are_exported() -> None:
    assert (Path(robobatch.__file__).parent / "py.typed").exists()


AGENTS = ["Mozilla/5.0 (compatible; GPTBot/1.2)", "Googlebot/2.1", "-", None]
FOUND = [("GPTBot", False, True), ("Googlebot", True, False), ("*", None, None), ("*", None, None)]


def test_requests() -> None:
    """The User-Agents of a log in all functions: crawler, verdict and violation."""
    table = pa.table({"url": URLS, "ua": AGENTS})
    named = ["agent", "allowed", "violation"]
    got = decide(table, user_agent_column="ua")
    assert got.column_names == [
        "url", "ua", "origin", "agent", "allowed", "reason", "rule_line", "rule", "violation",
    ]  # fmt: skip
    assert list(zip(*(got[name].to_pylist() for name in named), strict=True)) == FOUND
    assert str(robobatch.summary(got)).splitlines()[1].split() == ["*", "bad_url", "2", "0", "0", "0"]
    assert (
        "<td>GPTBot</td><td>rule</td><td>1</td><td>0</td><td>1</td><td>1</td>" in robobatch.summary(got)._repr_html_()
    )
    with pytest.raises(ValueError, match='no column "p_allowed": summary'):
        robobatch.summary(got, prefix="p_")
    con = duckdb.connect()
    con.register("log", table)
    decider = robobatch.duckdb.register(con, rules=RULES)
    query = "select r.agent, r.allowed, r.violation from (select robots_request(url, ua) as r from log)"
    assert con.sql(query).fetchall() == FOUND
    same = decider.decide(con.sql("select * from log"), user_agent_column="ua", to="same")
    assert same.project("agent, allowed, violation").fetchall() == FOUND
    frame = pl.DataFrame(table)
    struct = pl.col("url").robobatch.request(pl.col("ua"), rules=decider)  # type: ignore[attr-defined]
    for engine in ("in-memory", "streaming"):
        rows = frame.lazy().select(struct).unnest("url").select(named).collect(engine=engine)
        assert rows.rows() == FOUND
    series = frame["url"].robobatch  # type: ignore[attr-defined]
    assert series.request(frame["ua"], rules=RULES).struct.unnest().select(named).rows() == FOUND
    assert series.allowed("GPTBot", rules=decider).to_list() == [False, False, None, None]
    assert series.reason(pl.Series(["*", "GPTBot", "*", None]), rules=decider).to_list() == [
        "rule", "rule", None, None,
    ]  # fmt: skip
    assert series.rule(rules=decider).name == series.line(rules=decider).name == "url"
    for wrong, said in {
        "client_column": "has no effect", "ranges": "without user_agent_column", "as_of": "without time_column",
        "agent_column": "exclude each other", "on_bad_agent": 'use "null" or "raise"',
        "layout": 'use "long" or "wide"',
    }.items():  # fmt: skip
        value = {"as_of": "log", "layout": "x", "on_bad_agent": "x"}.get(
            wrong, "ua" if wrong != "client_column" else "c"
        )
        own = {} if wrong in ("ranges", "as_of") else {"user_agent_column": "ua" if wrong != "agent_column" else "x"}
        with pytest.raises(ValueError, match=said):
            decide(table, **own, **{wrong: value})
    decider.close()
