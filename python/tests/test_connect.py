"""Spark Connect: a server in its own process, and a client without a JVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from conftest import PATIENCE

# It is a program of its own, as a Python that has a Spark of its own refuses to be a client.
CLIENT = """
import sys, warnings
import pytest
from pyspark.sql import SparkSession
import robobatch, robobatch.spark as rs

warnings.simplefilter("ignore")
pack, log, out = sys.argv[1:]
spark = (SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
         .config("spark.sql.shuffle.partitions", "2").getOrCreate())
assert not hasattr(spark, "sparkContext")
assert rs.register(spark, pack) is None
shipped = rs.ship(spark, pack)
rows = spark.read.parquet(log)
decided = rs.with_verdicts(rows, rules=shipped).selectExpr("*", "robots_allowed(url, '*') as again")
decided.coalesce(1).write.parquet(out)
stream = spark.readStream.schema(rows.schema).parquet(log)
with pytest.raises(robobatch.Error, match="no shipped files, as in a stream of Spark Connect: give"):
    rs.with_verdicts(stream, rules=shipped)
query = rs.with_verdicts(stream, rules=pack, columns="allowed").writeStream.format("parquet")
query = query.option("checkpointLocation", out + ".checkpoint").trigger(availableNow=True).start(out + ".stream")
query.awaitTermination()
with pytest.raises(robobatch.Error, match="Spark Connect has no accumulators: remove warnings="):
    rs.Warnings(spark)
assert spark.sql("select robots_allowed('https://www.sba.gov/', 'a b')").collect()[0][0] is None
spark.stop()
print("done")
"""


def test_connect(pack: Path, whole: pa.Table, tmp_path: Path) -> None:
    """Batches, SQL functions and a stream: each row must equal that of the command."""
    log, out = tmp_path / "log", tmp_path / "out"
    log.mkdir()
    pq.write_table(whole.select(["line", "url"]).replace_schema_metadata(None), log / "log.parquet")
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(pack), str(log), str(out)], timeout=PATIENCE, check=False, text=True,
        capture_output=True,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr
    got = pq.read_table(out).sort_by("line")
    for name in ("line", "url", "origin", "allowed", "reason", "rule_line", "rule"):
        assert got[name].to_pylist() == whole[name].to_pylist(), name
    streamed = pq.read_table(f"{out}.stream").sort_by("line")
    assert got["again"].to_pylist() == streamed["allowed"].to_pylist() == whole["allowed"].to_pylist()
