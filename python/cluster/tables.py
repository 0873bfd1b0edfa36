"""Iceberg and Delta tables of docs/cluster/tables.py, killed in the middle and run again, compared with the command.

    python tables.py --robobatch ./robobatch --rules rules.rbp --log urls.zst --work DIR

A day's rows are added to a table by a process that is killed while it writes, and by another. Then they are replaced
by one that is killed, and by another. After each, DuckDB reads the table: it has the rows of the command, or is as it
was.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

STARTED = time.monotonic()
SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "cluster" / "tables.py"
ICEBERG = "spark.sql.catalog.lake"
DAY = "2026-01-02"


def say(text: str) -> None:
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", flush=True)


def settings(kind: str, work: Path) -> list[str]:
    """Return the arguments of spark-submit: those that the script names, and two cores."""
    packages = [line.split()[-2] for line in SCRIPT.read_text().splitlines() if "--packages" in line]
    conf = {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2"}
    if kind == "iceberg":
        conf |= {ICEBERG: "org.apache.iceberg.spark.SparkCatalog", f"{ICEBERG}.type": "hadoop"}
        conf[f"{ICEBERG}.warehouse"] = str(work / "iceberg")
    else:
        conf["spark.sql.extensions"] = "io.delta.sql.DeltaSparkSessionExtension"
        conf["spark.sql.catalog.spark_catalog"] = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        conf["spark.databricks.delta.snapshotPartitions"] = "2"
    package = next(p for p in packages if kind in p)
    pairs = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    return ["--master", "local[2]", "--packages", package, *pairs]


def place(kind: str, work: Path) -> Path:
    """Return where a table lies."""
    return work / "iceberg" / "crawl" / "verdicts" if kind == "iceberg" else work / "delta"


def add(kind: str, work: Path, name: str, arguments: argparse.Namespace, *, kill: bool) -> None:
    """Run the script. To kill it, wait until it has data files that no version of the table has."""
    table = place(kind, work)
    before = set(table.rglob("*.parquet"))
    environment = dict(os.environ, PYSPARK_SUBMIT_ARGS=" ".join([*settings(kind, work), "pyspark-shell"]))
    with (work / "spark.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), kind, name, DAY, str(work / "log"), arguments.rules],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment,
        )  # fmt: skip
        while kill and process.poll() is None:
            if sum(f.stat().st_size for f in set(table.rglob("*.parquet")) - before if f.exists()) > 1 << 20:
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.02)
        code = process.wait()
    if code != (-signal.SIGKILL if kill else 0):
        raise SystemExit(f"{kind}: the script ends with {code}:\n{(work / 'spark.log').read_text()[-3000:]}")


def check(kind: str, work: Path, want: Path, *, there: bool) -> None:
    """Compare a table, as DuckDB reads it, with the rows of the command, or hold that there is none."""
    table = place(kind, work)
    if not there:
        if [*table.glob("metadata/v*.json"), *table.glob("_delta_log/*.json")]:
            raise SystemExit(f"{kind}: the script was killed, and there is a table")
        return
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", kind):
        found = importlib.util.find_spec(f"duckdb_extension_{name}")
        assert found is not None
        assert found.origin is not None
        con.execute(f"load '{next(Path(found.origin).parent.glob('extensions/*/*.duckdb_extension'))}'")
    columns = "line, url, allowed, reason, rule_line, rule"
    con.execute(f"create view got as select {columns}, day from {kind}_scan('{table}')")
    con.execute(f"create view want as select {columns} from '{want}'")
    counts = con.execute(
        f"""select (select count(*) from got), (select count(distinct line) from got), (select count(*) from want),
            (select count(*) from (select {columns} from got except all select {columns} from want)),
            (select count(distinct day) from got)"""
    ).fetchone()
    if counts is None or not (counts[0] == counts[1] == counts[2] > 0) or counts[3:] != (0, 1):
        raise SystemExit(f"{kind}: rows, lines, rows of the command, other rows, days: {counts}")
    say(f"{kind}: {counts[0]:,} rows, each once, equal to the command's")


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("robobatch", "rules", "log", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    work = Path(arguments.work)
    (work / "log").mkdir(parents=True)
    want = work / "want.parquet"
    columns = "line,url,allowed,reason,rule_line,rule"
    command = [arguments.robobatch, "-quiet", "-rules", arguments.rules, "-in", arguments.log, "-out", str(want)]
    subprocess.run([*command, "-columns", columns], check=True, stderr=subprocess.DEVNULL)
    file = pq.ParquetFile(want)
    for i, batch in enumerate(file.iter_batches(200_000, columns=["line", "url"])):
        pq.write_table(pa.Table.from_batches([batch]), work / "log" / f"{i:03}.parquet")
    for kind, name in (("iceberg", "lake.crawl.verdicts"), ("delta", str(work / "delta"))):
        there = False
        for what in ("added", "replaced"):
            add(kind, work, name, arguments, kill=True)
            say(f"{kind}: killed while the day is {what}")
            check(kind, work, want, there=there)
            add(kind, work, name, arguments, kill=False)
            there = True
            check(kind, work, want, there=there)


if __name__ == "__main__":
    main()
