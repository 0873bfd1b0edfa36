"""Measures the CPU and wall time of a row in each function, in the command and in protego.

    python doors.py --robobatch ./robobatch --rules rules.rbp --captures rules.jsonl.zst --log urls.zst --work DIR

Each function runs in its own process, measured with all its children, on one table in memory or, for the
command and Spark, in a Parquet file. The first round warms up; the minimum of the others counts. `make python-doors`
creates the rules and the log.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import subprocess
import sys
import time
import urllib.parse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import robobatch

TEN = ["*", "Googlebot", "GPTBot", "Bingbot", "CCBot", "ClaudeBot", "Bytespider", "Amazonbot", "nobody", "Applebot"]
FIVE = ["origin", "allowed", "reason", "rule_line", "rule"]
SINGLE = 20_000  # questions that are asked one by one
ONE_IN = 10  # rows for protego, which takes too long for all
TICKS = os.sysconf("SC_CLK_TCK")


def cpu() -> float:
    """Return the CPU seconds of this process and its children, including those that were reaped."""
    fields: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                fields[int(entry.name)] = (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
    own = [os.getpid()]
    for pid in own:
        own += [child for child, its in fields.items() if int(its[1]) == pid]
    return sum(sum(int(ticks) for ticks in fields[pid][11:15]) for pid in own if pid in fields) / TICKS


def command(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:
    out = ask.work / "command.parquet"
    asked = [ask.robobatch, "-quiet", "-rules", ask.rules, "-in", str(ask.work / "urls.parquet"), "-out", str(out)]

    def run() -> None:
        out.unlink(missing_ok=True)
        subprocess.run([*asked, "-columns", ",".join(columns)], check=True, stderr=subprocess.DEVNULL)

    return run


def decide(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:
    table = pq.read_table(ask.work / "urls.parquet")
    return lambda: robobatch.decide(table, rules=ask.rules, columns=columns)


def decider(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:
    table = pq.read_table(ask.work / "urls.parquet")
    made = robobatch.Decider(ask.rules)
    return lambda: made.decide(table, columns=columns)


def decider_of_ten(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:
    table = pq.read_table(ask.work / "urls.parquet")
    made = robobatch.Decider(ask.rules)
    return lambda: made.decide(table, agent_column="bot", columns=columns)


def of_pandas(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:
    import pandas as pd

    frame = pd.read_parquet(ask.work / "urls.parquet")
    made = robobatch.Decider(ask.rules)
    return lambda: made.decide(frame, columns=columns, to="pandas")


def of_duckdb(ask: argparse.Namespace, agent: str) -> Callable[[], object]:
    import duckdb

    import robobatch.duckdb

    table = pq.read_table(ask.work / "urls.parquet")
    con = duckdb.connect()
    con.register("log", table)
    robobatch.duckdb.register(con, rules=ask.rules)
    return lambda: con.sql(f"select robots_allowed(url, {agent}) as allowed from log").fetch_arrow_table()  # noqa: S608


def requests(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:
    table = pq.read_table(ask.work / "urls.parquet")
    return lambda: robobatch.decide(table, rules=ask.rules, user_agent_column="ua", columns=columns)


def requests_of_duckdb(ask: argparse.Namespace, column: str) -> Callable[[], object]:
    import duckdb

    import robobatch.duckdb

    con = duckdb.connect()
    con.register("log", pq.read_table(ask.work / "urls.parquet"))
    robobatch.duckdb.register(con, rules=ask.rules)
    return lambda: con.sql(f"select (robots_request(url, ua)).{column} as found from log").fetch_arrow_table()  # noqa: S608


def one_by_one(ask: argparse.Namespace, agent: str) -> Callable[[], object]:
    urls = pq.read_table(ask.work / "urls.parquet")["url"].to_pylist()[:SINGLE]
    made = robobatch.Decider(ask.rules)
    return lambda: [made.allowed(url, agent) for url in urls]


def of_polars(ask: argparse.Namespace, agent: str) -> Callable[[], object]:
    import polars as pl

    import robobatch.polars

    frame = pl.read_parquet(ask.work / "urls.parquet")
    robots = pl.col("url").robobatch  # type: ignore[attr-defined]
    made = robobatch.Decider(ask.rules)
    return lambda: frame.select(robots.allowed("*" if agent == "'*'" else pl.col(agent), rules=made))


def of_spark(ask: argparse.Namespace, columns: list[str] | None) -> Callable[[], object]:
    """Return a job that reads Parquet and discards the result; without columns, it is an identity."""
    df, pack = _spark(ask)
    if columns is None:
        decided = df.mapInArrow(lambda batches: batches, df.schema)
    else:
        decided = robobatch.spark.with_verdicts(df, rules=pack, columns=columns)
    return lambda: decided.write.format("noop").mode("overwrite").save()


def of_spark_sql(ask: argparse.Namespace, function: str) -> Callable[[], object]:
    """Return a query with the named function, by default an Arrow function that returns a constant."""
    import pyspark.sql.functions

    arrow_udf: Any = pyspark.sql.functions.arrow_udf  # type: ignore[attr-defined]
    df, pack = _spark(ask)
    session = df.sparkSession
    robobatch.spark.register(session, pack)

    def constant(urls: pa.Array, agents: pa.Array) -> pa.Array:  # type: ignore[type-arg]  # noqa: ARG001
        return pa.repeat(pa.scalar(value=True), len(urls))

    session.udf.register("constant", arrow_udf(constant, "boolean"))
    df.createOrReplaceTempView("log")
    query = session.sql(f"select url, {function}(url, '*') as allowed from log")  # noqa: S608
    return lambda: query.write.format("noop").mode("overwrite").save()


def _spark(ask: argparse.Namespace) -> tuple[Any, Any]:
    from pyspark.sql import SparkSession

    import robobatch.spark

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = spark.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "2g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(str(ask.work / "urls.parquet")), robobatch.spark.ship(session, ask.rules)


def protego(ask: argparse.Namespace, columns: list[str]) -> Callable[[], object]:  # noqa: ARG001
    """Return a function that parses each robots.txt once, and decides a sample of the rows."""
    from protego import Protego

    texts: dict[str, str] = {}
    with pa.input_stream(ask.captures, compression="zstd") as file:
        for line in file.read().splitlines():
            capture = json.loads(line)
            body = (
                base64.b64decode(capture["body_b64"]) if "body_b64" in capture else capture.get("body", "").encode()
            )
            texts[capture["origin"]] = body.decode("utf-8", "replace")
    urls = pq.read_table(ask.work / "urls.parquet")["url"].to_pylist()[::ONE_IN]

    def run() -> None:
        parsed: dict[str, Any] = {}
        for url in urls:
            parts = urllib.parse.urlsplit(str(url))
            origin = f"{parts.scheme}://{parts.netloc}"
            rules = parsed.get(origin)
            if rules is None:
                rules = parsed[origin] = Protego.parse(texts.get(origin, ""))
            rules.can_fetch(str(url), "*")

    return run


DOORS: dict[str, tuple[Callable[[argparse.Namespace, Any], Callable[[], object]], Any]] = {
    "command": (command, ["allowed"]),
    "decide": (decide, ["allowed"]),
    "Decider": (decider, ["allowed"]),
    "Decider, ten agents": (decider_of_ten, ["allowed"]),
    "DuckDB": (of_duckdb, "'*'"),
    "DuckDB, ten agents": (of_duckdb, "bot"),
    "decide, User-Agents": (requests, ["agent", "allowed", "violation"]),
    "DuckDB, User-Agents": (requests_of_duckdb, "violation"),
    "one by one": (one_by_one, "Googlebot"),
    "Polars": (of_polars, "'*'"),
    "Polars, ten agents": (of_polars, "bot"),
    "pandas": (of_pandas, ["allowed"]),
    "Spark, identity": (of_spark, None),
    "Spark, with_verdicts": (of_spark, ["allowed"]),
    "Spark SQL, constant": (of_spark_sql, "constant"),
    "Spark SQL": (of_spark_sql, "robots_allowed"),
    "command, five columns": (command, FIVE),
    "decide, five columns": (decide, FIVE),
    "Decider, five columns": (decider, FIVE),
    "pandas, five columns": (of_pandas, FIVE),
    "Spark, five columns": (of_spark, FIVE),
    "protego": (protego, []),
}


def measure(ask: argparse.Namespace) -> None:
    """Print the wall and CPU seconds of one function."""
    make, argument = DOORS[ask.door]
    run = make(ask, argument)
    least = (float("inf"), float("inf"))
    for round_ in range(ask.rounds + 1):
        before, start = cpu(), time.monotonic()
        run()
        took = time.monotonic() - start, cpu() - before
        if round_ or ask.door == "protego":  # the first one warms up
            least = min(least[0], took[0]), min(least[1], took[1])
        if ask.door == "protego":
            break
    print(*least)
    sys.stdout.flush()


def prepare(ask: argparse.Namespace) -> int:
    """Write the log as a Parquet file, and return its number of rows."""
    with pa.input_stream(ask.log, compression="zstd") as file:
        urls = pa.array(file.read().decode("latin-1").split("\n")[:-1], pa.string())  # DuckDB takes text alone
    bots = pa.DictionaryArray.from_arrays(pa.array([i % len(TEN) for i in range(len(urls))], pa.int8()), TEN)
    agents = pa.array([f"Mozilla/5.0 (compatible; {bot}/1.0)" for bot in TEN])
    uas = pa.DictionaryArray.from_arrays(bots.indices, agents).cast(pa.string())
    pq.write_table(
        pa.table({"url": urls, "bot": bots.cast(pa.string()), "ua": uas}),
        ask.work / "urls.parquet",
        row_group_size=1 << 18,
    )
    return len(urls)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robobatch", required=True, help="the program")
    parser.add_argument("--rules", required=True, help="a pack")
    parser.add_argument("--captures", required=True, help="the rules of the pack, as JSON Lines")
    parser.add_argument("--log", required=True, help="a list of URLs")
    parser.add_argument("--work", type=Path, required=True, help="a directory")
    parser.add_argument("--rounds", type=int, default=3, help="besides one to warm up")
    parser.add_argument("--only", default="", help="doors whose names contain this")
    parser.add_argument("--door", help=argparse.SUPPRESS)
    ask = parser.parse_args()
    warnings.simplefilter("ignore")
    if ask.door:
        measure(ask)
        return 0
    ask.work.mkdir(exist_ok=True)
    rows = prepare(ask)
    print(f"{rows:,} rows, load {os.getloadavg()[0]:.1f}; a row: wall, CPU")
    for door in DOORS:
        if ask.only not in door:
            continue
        done = subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--door", door], check=True, stdout=subprocess.PIPE, text=True
        )
        by = {"protego": rows // ONE_IN, "one by one": min(rows, SINGLE)}.get(door, rows)
        wall, used = (float(seconds) / by * 1e6 for seconds in done.stdout.split()[-2:])
        print(f"{door:24} {wall:7.3f} µs {used:7.3f} µs", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
