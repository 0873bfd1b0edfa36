"""with_verdicts on Spark in one process. python/cluster has a cluster."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import wait_until
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

import robobatch
import robobatch.spark as rs

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


@pytest.fixture
def log(spark: SparkSession, whole: pa.Table) -> DataFrame:
    """Return the log of the quick start in four partitions, with a column that robobatch does not read."""
    rows = whole.select(["line", "url"]).append_column("tags", pa.array([["a", None]] * whole.num_rows))
    return spark.createDataFrame(rows.replace_schema_metadata(None)).repartition(4)


def test_equal_to_a_run(spark: SparkSession, log: DataFrame, pack: Path, whole: pa.Table) -> None:
    decided = rs.with_verdicts(log, rules=rs.ship(spark, pack))
    assert decided.columns == ["line", "url", "tags", "origin", "allowed", "reason", "rule_line", "rule"]
    got = decided.orderBy("line").toArrow()
    for name in ["line", "url", "origin", "allowed", "reason", "rule_line", "rule"]:
        assert got[name].to_pylist() == whole[name].to_pylist(), name
    assert got["tags"][0].as_py() == ["a", None]


def test_agents_columns_and_other_url(spark: SparkSession, rules: Path) -> None:
    df = spark.createDataFrame([("https://example.com/x",), (None,)], "link string")
    decided = rs.with_verdicts(
        df, rules=rules, url="link", agents=["*", "otherbot"], columns=["allowed"], prefix="p_", layout="wide"
    )
    assert decided.schema.simpleString() == "struct<link:string,p_allowed_star:boolean,p_allowed_otherbot:boolean>"
    assert sorted(map(tuple, decided.collect()), key=str) == [
        ("https://example.com/x", True, False),
        (None, None, None),
    ]


def test_names_that_spark_does_not_find(spark: SparkSession, rules: Path) -> None:
    """Spark reads a name with a dot as a field of a struct, and mapInArrow fails."""
    names = ["a", "the.url", "A", "a'b\"`c", "\u00fc ,"]
    df = spark.createDataFrame([("x", "https://example.com/private", "y", "z", 1)], names)
    decided = rs.with_verdicts(df, rules=rules, url="the.url", columns=["allowed"])
    assert decided.columns == [*names, "allowed"]
    assert [tuple(row) for row in decided.collect()] == [("x", "https://example.com/private", "y", "z", 1, False)]
    same = df.toDF("q", "url", "q", "r", "s")
    assert rs.with_verdicts(same, rules=rules, columns=["allowed"]).columns == [*same.columns, "allowed"]


def test_no_rows(spark: SparkSession, rules: Path) -> None:
    empty = spark.createDataFrame([], "url string")
    assert rs.with_verdicts(empty, rules=rules).collect() == []


@pytest.mark.parametrize(
    ("schema", "options", "said"),
    [
        ("u string", {}, 'no such column: "url": the columns are u: name .* with url='),
        ("url int", {}, 'not a type of text: column "url" is int32'),
        ("url string, RULE string", {}, 'already have a column "rule": .* prefix='),
        ("url string", {"columns": ["allowd"]}, "did you mean allowed"),
        ("url string", {"agents": ["a-b", "A_B"], "layout": "wide"}, "would share the column allowed_a_b"),
    ],
)
def test_wrong_questions_are_told_at_once(
    schema: str, options: Any, said: str, spark: SparkSession, rules: Path
) -> None:
    with pytest.raises(robobatch.Error, match=said):
        rs.with_verdicts(spark.createDataFrame([], schema), rules=rules, **options)


def test_the_message_is_in_the_exception(log: DataFrame, tmp_path: Path) -> None:
    lost = tmp_path / "lost.rbp"
    with pytest.raises(Exception, match=r"robobatch\.errors\.Error: .*lost\.rbp: no such file or directory: check"):
        rs.with_verdicts(log, rules=lost).count()


def test_shipping(spark: SparkSession, pack: Path, rules: Path, tmp_path: Path) -> None:
    """A pack that was compiled again under the same name is shipped again; an unchanged pack is not."""
    copy = tmp_path / "rules.rbp"
    copy.write_bytes(pack.read_bytes())
    first = rs.ship(spark, copy)
    assert rs.ship(spark, str(pack)).name == first.name
    held = Path(SparkFiles.getRootDirectory(), "robobatch", first.name)
    shutil.rmtree(held.parent)  # as a cleaner of temporary files does
    assert rs.ship(spark, copy).name == first.name
    assert held.read_bytes() == copy.read_bytes()
    copy.write_bytes(copy.read_bytes()[:-100])
    second = rs.ship(spark, copy)
    assert second.name != first.name
    df = spark.createDataFrame([("https://www.sba.gov/",)], "url string")
    assert rs.with_verdicts(df, rules=first).collect()[0]["reason"] == "default"
    with pytest.raises(Exception, match=second.name):
        rs.with_verdicts(df, rules=second).collect()
    with pytest.raises(
        robobatch.Error, match=f"is a directory: compile it first: robobatch compile -rules {rules} -out"
    ):
        rs.ship(spark, rules)
    with pytest.raises(robobatch.Error, match=r"lost: No such file or directory: name a pack"):
        rs.ship(spark, tmp_path / "lost")


def test_functions_of_sql(spark: SparkSession, log: DataFrame, pack: Path, whole: pa.Table, program: str) -> None:
    """Each row has the verdict for its own agent, equal to a run for only this agent."""
    warnings = rs.register(spark, pack)
    bots = ["*", "Googlebot", "GPTBot", "nobody"]
    own = log.selectExpr("line", "url", f"array({str(bots)[1:-1]})[line % {len(bots)}] as bot")
    own.createOrReplaceTempView("log")
    columns = "robots_allowed(url, bot) as allowed, robots_rule(url, bot) as rule, robots_line(url, bot) as rule_line"
    got = spark.sql(f"select line, bot, {columns} from log order by line").toArrow()  # noqa: S608 - it is ours
    by_agent = {bot: robobatch.decide(whole.select(["url"]), rules=pack, agents=bot) for bot in bots}
    for name in ("allowed", "rule", "rule_line"):
        each: dict[Any, list[Any]] = {bot: decided[name].to_pylist() for bot, decided in by_agent.items()}
        assert got[name].to_pylist() == [each[bot][row] for row, bot in enumerate(got["bot"].to_pylist())], name
    nulls = "select * from values (null, '*'), (null, 'a b'), ('https://www.sba.gov/', null), "
    nulls += "('https://www.sba.gov/', 'a b') t(url, bot)"
    found = spark.sql(nulls).selectExpr("robots_allowed(url, bot)", "robots_rule(url, bot)").collect()
    assert [tuple(row) for row in found] == [(None, None)] * 4
    assert warnings is not None
    spark.sql("select robots_allowed('not a URL', '*')").collect()
    assert "no_urls" in [warning.code for warning in warnings.found()]
    assert [row[0] for row in spark.sql("select robots_allowed(null, '*')").collect()] == [None]
    agent = "Mozilla/5.0 (compatible; GPTBot/1.2)"
    for call, said in {
        "('https://www.sba.gov/')": r"robots_allowed takes a URL and a crawler: write robots_allowed\(url, '\*'\)",
        "('https://www.sba.gov/', '*', '*')": "robots_allowed takes a URL and a crawler",
        "(7, '*')": "robots_allowed takes strings, but these are int32: cast them to a string",
    }.items():
        with pytest.raises(Exception, match=said):
            spark.sql(f"select robots_allowed{call}").collect()
    asked = ", ".join(f"robots_request(url, '{agent}').{name}" for name in ("agent", "allowed", "violation"))
    urls = "values ('https://www.sba.gov/'), (null) t(url)"
    requests = spark.sql(f"select {asked} from {urls}").collect()  # noqa: S608 - it is ours
    assert [tuple(row) for row in requests] == [("GPTBot", True, False), ("GPTBot", None, None)]
    lists = "values (array('*', null, 'a b')), (array()), (null) t(bots)"
    found_lists = spark.sql(f"select robots_allowed_list('https://www.sba.gov/', bots) from {lists}").collect()  # noqa: S608 - it is ours
    assert [row[0] for row in found_lists] == [[True, None, None], [], None]
    rs.register(spark, pack, prefix="other_")
    assert spark.sql("select other_allowed('https://www.sba.gov/', '*')").collect()[0][0] is True
    with pytest.raises(TypeError, match="register has no agents"):
        rs.register(spark, pack, agents="x")
    with pytest.raises(TypeError, match="rules is dict: Spark takes the path of a pack"):
        rs.register(spark, {"https://www.sba.gov": ""})  # type: ignore[arg-type]
    wait_until(lambda: not running(program))
    assert running(program) == []


def test_another_python(spark: SparkSession, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If tasks cannot run, one line reports it before they start."""
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o700)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(other))
    with pytest.raises(
        robobatch.Error, match=f"{other}, the Python of the tasks, has no pyarrow: set PYSPARK_PYTHON to "
    ):
        rs.ship(spark, pack)


def test_agents_of_rows(spark: SparkSession, rules: Path) -> None:
    df = spark.createDataFrame(
        [("https://example.com/x", "*"), ("https://example.com/x", "otherbot")], "url string, bot string"
    )
    decided = rs.with_verdicts(df, rules=rules, agent_column="bot", columns=["allowed"])
    assert sorted((row["bot"], row["allowed"]) for row in decided.collect()) == [("*", True), ("otherbot", False)]


def test_an_error_names_the_row(spark: SparkSession, rules: Path) -> None:
    df = spark.createDataFrame(
        [("https://example.com/x", "*")] * 2 + [("https://example.com/x", "a b")], "url string, bot string"
    )
    with pytest.raises(
        Exception, match=r"Error: row 2 of partition 0 \('https://example.com/x', 'a b'\): no name of"
    ):
        rs.with_verdicts(df.coalesce(1), rules=rules, agent_column="bot", on_bad_agent="raise").collect()
    decided = rs.with_verdicts(df, rules=rules, agent_column="bot", columns="allowed,reason").collect()
    assert sorted(row["reason"] for row in decided) == ["bad_agent", "default", "default"]


def test_user_agents(spark: SparkSession, rules: Path) -> None:
    df = spark.createDataFrame(
        [("https://example.com/private", "Mozilla/5.0 (compatible; Googlebot/2.1)"), ("https://example.com/", None)],
        "`the.url` string, ua string",
    )
    decided = rs.with_verdicts(
        df, rules=rules, url="the.url", user_agent_column="ua", columns="agent,violation"
    ).collect()
    assert sorted(map(tuple, decided), key=str) == [
        ("https://example.com/", None, "*", None),
        ("https://example.com/private", "Mozilla/5.0 (compatible; Googlebot/2.1)", "Googlebot", True),
    ]
    both = rs.with_verdicts(df, rules=rules, url="the.url", agents=["*", "otherbot"], columns="agent,allowed")
    assert sorted((row[0], row["agent"], row["allowed"]) for row in both.collect()) == [
        ("https://example.com/", "*", True), ("https://example.com/", "otherbot", False),
        ("https://example.com/private", "*", False), ("https://example.com/private", "otherbot", False),
    ]  # fmt: skip


def test_warnings_reach_the_driver(spark: SparkSession, rules: Path) -> None:
    warnings = rs.Warnings(spark)
    df = spark.createDataFrame([("x",), ("y",)] * 4, "url string").repartition(2)
    assert rs.with_verdicts(df, rules=rules, warnings=warnings).count() == 8
    (warning,) = warnings.found()
    assert warning.code == "no_urls"
    assert warnings.tasks(warning) == 2


def test_a_stream(spark: SparkSession, pack: Path, whole: pa.Table, tmp_path: Path) -> None:
    """Structured Streaming works with DataFrames and SQL functions."""
    (tmp_path / "in").mkdir()
    pq.write_table(whole.select(["line", "url"]).replace_schema_metadata(None), tmp_path / "in" / "a.parquet")
    rs.register(spark, pack)
    rows = spark.readStream.schema("line long, url string").parquet(str(tmp_path / "in"))
    decided = rs.with_verdicts(rows, rules=rs.ship(spark, pack), columns=["allowed"])
    decided = decided.selectExpr("*", "robots_allowed(url, '*') as again")
    query = decided.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
    got = spark.read.parquet(str(tmp_path / "out")).orderBy("line").toArrow()
    assert got["allowed"].to_pylist() == got["again"].to_pylist() == whole["allowed"].to_pylist()


def test_a_limit_leaves_nothing(spark: SparkSession, log: DataFrame, pack: Path, program: str) -> None:
    decided = rs.with_verdicts(log, rules=rs.ship(spark, pack))
    assert len(decided.limit(3).collect()) == 3
    wait_until(lambda: not running(program))
    assert running(program) == []


def test_tasks_share_processes(spark: SparkSession, log: DataFrame, pack: Path, program: str) -> None:
    seen: set[str] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.005):
            seen.update(running(program))

    decided = rs.with_verdicts(log.repartition(40), rules=rs.ship(spark, pack))
    looker = threading.Thread(target=look)
    looker.start()
    try:
        decided.write.format("noop").mode("overwrite").save()
    finally:
        done.set()
        looker.join()
    assert 1 <= len(seen) < 10
    wait_until(lambda: not running(program))
    assert running(program) == []


def running(program: str) -> list[str]:
    """Return the processes of the program, with any parent."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "exe").resolve() == Path(program).resolve():
                found.append(entry.name)
        except OSError:
            continue
    return found
