"""Verdicts in Spark on a local standalone cluster of two workers, compared with a run without Spark.

    python spark_cluster.py --robobatch ./robobatch --rules rules.rbp --log urls.zst --work DIR

It reads the log with robobatch, divides its rows into Parquet files, decides them with Spark, and compares every row;
again while a worker is killed, and with a pack that is damaged on one executor. --measure also measures the
verdicts, an identity and a copy. At the end, it stops all processes that it started, by their ids.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from pyspark import SparkFiles, TaskContext
from pyspark.sql import DataFrame, SparkSession

import robobatch
import robobatch.spark

COLUMNS = ["origin", "allowed", "reason", "rule_line", "rule"]
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 900.0  # seconds after which something hangs: nothing depends on how fast the machine is


def say(text: str) -> None:
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", flush=True)


STARTED = time.monotonic()


@dataclass
class Cluster:
    """A master and its workers, each the leader of a session, so that its executors end with it."""

    work: Path
    url: str = ""  # of the master
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a Spark class, and write its output to a file."""
        home = Path(pyspark.__file__).parent
        # The nodes have pyarrow, and nothing of robobatch.
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "ROBOBATCH_BINARY")}
        environment.update(SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1", SPARK_NO_DAEMONIZE="1")
        environment.update(SPARK_MASTER_OPTS="-Dspark.worker.timeout=3600")
        with (self.work / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def master(self) -> None:
        """Start the master on a free port, and wait until it prints the port."""
        process = self.start(
            "master", "org.apache.spark.deploy.master.Master",
            "--host", "127.0.0.1", "--port", "0", "--webui-port", "0",
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            said = re.search(r"Starting Spark master at (spark://\S+)", (self.work / "master.log").read_text())
            if said:
                self.url = said[1]
                return
            time.sleep(0.1)
        raise TimeoutError("the master does not listen")

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker of one core."""
        return self.start(
            name, "org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", "2g", "--host", "127.0.0.1",
            "--webui-port", "0", "-d", str(self.work / name), self.url,
        )  # fmt: skip

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Simulate the loss of a node: kill all processes of the worker at once."""
        for pid in [*descendants(process.pid), process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()

    def end(self) -> None:
        """End all processes."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill(process)


def stat(pid: str) -> list[str] | None:
    """Return the fields of /proc/PID/stat behind the name."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None


def descendants(pid: int) -> list[int]:
    """Return all descendants of a process."""
    parents = {int(p.name): int(s[1]) for p in Path("/proc").iterdir() if p.name.isdigit() and (s := stat(p.name))}
    found = [pid]
    for parent in found:
        found += [child for child, its in parents.items() if its == parent]
    return found[1:]


def cpu(processes: Iterable[subprocess.Popen[bytes]]) -> float:
    """Return the CPU seconds of processes and their descendants, including those that have ended."""
    pids = [
        pid for process in processes if process.poll() is None for pid in [process.pid, *descendants(process.pid)]
    ]
    return sum(sum(int(t) for t in s[11:15]) for pid in pids if (s := stat(str(pid)))) / TICKS


def pipes(work: Path) -> list[int]:
    """Return the processes of robobatch on the workers, orphans included."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit():
                continue
            program = (entry / "exe").readlink()
        except OSError:
            continue
        if program.is_relative_to(work) and program.name.removesuffix(" (deleted)").endswith("robobatch"):
            found.append(int(entry.name))
    return found


def no_pipes(work: Path) -> None:
    """Wait until no process of robobatch is left, and all have been reaped."""
    deadline = time.monotonic() + PATIENCE
    while left := [*pipes(work), *zombies()]:
        if time.monotonic() > deadline:
            raise AssertionError(f"processes of robobatch are left: {left}")
        time.sleep(0.1)


def zombies() -> list[int]:
    """Return the ended robobatch descendants of this process that were not reaped."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            text = Path("/proc", str(pid), "stat").read_text()
        except OSError:
            continue
        name, _, fields = text.rpartition(") ")
        if fields.startswith("Z") and "robobatch" in name:
            found.append(pid)
    return found


def wheel(program: str, work: Path) -> None:
    """Write the package and the program in the layout of a wheel, under a name that Spark accepts."""
    with zipfile.ZipFile(work / "robobatch.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in Path(robobatch.__file__).parent.glob("*.py"):
            archive.write(file, f"robobatch/{file.name}")
        archive.write(program, "robobatch-0.0.0.data/scripts/robobatch")


def session(cluster: Cluster, cache: Path, failures: int) -> SparkSession:
    """Return a session on the cluster, whose jobs end after the given number of failures of a task."""
    spark = (
        SparkSession.builder.master(cluster.url)
        .appName("robobatch")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "1g")
        .config("spark.task.maxFailures", str(failures))
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", str(cache))
        .config("spark.sql.files.openCostInBytes", str(128 << 20))  # a file is a partition
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.network.timeout", "3600s")
        .config("spark.python.authenticate.socketTimeout", "3600s")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    spark.sparkContext.addPyFile(str(cluster.work / "robobatch.zip"))
    return spark


def prepare(ask: argparse.Namespace) -> pa.Table:
    """Decide the log without Spark, divide its rows into Parquet files, and return the verdicts."""
    whole = ask.work / "whole.parquet"
    names = ",".join(["line", "url", *COLUMNS])
    command = [ask.robobatch, "-quiet", "-rules", ask.rules, "-in", ask.log, "-columns", names, "-out", whole]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    table = pq.read_table(whole, read_dictionary=[])
    step = -(-table.num_rows // ask.partitions)
    (ask.work / "in").mkdir()
    for i in range(ask.partitions):
        part = table.select(["line", "url"]).slice(i * step, step)
        pq.write_table(part.replace_schema_metadata(None), ask.work / "in" / f"{i:05}.parquet", compression="snappy")
    return table


def compare(out: Path, whole: pa.Table, columns: list[str]) -> None:
    """Compare the files that Spark has written with the verdicts of one run."""
    rows = 0
    for file in sorted(out.glob("part-*.parquet")):
        got = pq.read_table(file)
        want = whole.slice(got["line"][0].as_py() - 1, got.num_rows)
        for name in ["line", "url", *columns]:
            a, b = got[name].combine_chunks(), pc.cast(want[name], got[name].type).combine_chunks()
            if not a.equals(b):
                raise AssertionError(f"{file}: column {name} differs")
        rows += got.num_rows
    if rows != whole.num_rows:
        raise AssertionError(f"{out} has {rows} rows, the run without Spark {whole.num_rows}")
    say(f"equal: {rows:,} rows, all columns")


@dataclass
class Bench:
    """The state that all jobs share."""

    ask: argparse.Namespace
    cluster: Cluster
    whole: pa.Table

    def job(self, spark: SparkSession, make: Callable[[DataFrame], DataFrame], name: str) -> tuple[float, float]:
        """Run a job from Parquet to Parquet. Return its seconds and the CPU seconds of the workers."""
        rows = spark.read.parquet(str(self.ask.work / "in"))
        before, start = cpu(self.cluster.processes), time.monotonic()
        make(rows).write.mode("overwrite").parquet(str(self.ask.work / name))
        took, used = time.monotonic() - start, cpu(self.cluster.processes) - before
        say(f"{name}: {took:.1f} s" + (f", {used:.1f} s of CPU" if used > 0 else ""))  # of those that live
        return took, used

    def verdicts(self, spark: SparkSession, columns: list[str] | None = None) -> Callable[[DataFrame], DataFrame]:
        """Return a function that decides a DataFrame."""
        pack = robobatch.spark.ship(spark, self.ask.rules)
        return lambda df: robobatch.spark.with_verdicts(df, rules=pack, columns=columns or COLUMNS)

    def measure(self, spark: SparkSession) -> None:
        """Print the cost of verdicts, a copy and an identity: the minimum of some alternating rounds."""
        jobs: dict[str, Callable[[DataFrame], DataFrame]] = {
            "copy": lambda df: df,
            "identity": lambda df: df.mapInArrow(identity, df.schema),
            "constants": lambda df: df.mapInArrow(constants, CONSTANTS_SCHEMA),
            "allowed": self.verdicts(spark, ["allowed"]),
            "two": self.verdicts(spark, ["allowed", "rule_line"]),
            "all": self.verdicts(spark),
        }
        least: dict[str, tuple[float, float]] = {}
        for round_ in range(self.ask.rounds + 1):
            for name, make in jobs.items():
                took = self.job(spark, make, name)
                if round_:  # the first one warms up
                    known = least.get(name, took)
                    least[name] = min(known[0], took[0]), min(known[1], took[1])
        load = os.getloadavg()[0]
        print(f"least of {self.ask.rounds} rounds, load {load:.1f}: s, CPU s, to identity, CPU to identity")
        for name, (took_, used) in least.items():
            by = least["identity"]
            print(f"{name:9} {took_:6.1f} {used:6.1f} {took_ / by[0]:5.2f} {used / by[1]:5.2f}")

    def lose_a_worker(self, spark: SparkSession, worker: subprocess.Popen[bytes]) -> None:
        """Decide all rows, and kill a worker after a third of the tasks, while the others wait."""
        killed: list[int] = []
        lost, third = self.ask.work / "lost", -(-self.ask.partitions // 3)
        verdicts = self.verdicts(spark)

        def patient(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            task = TaskContext.get()
            while task is not None and task.partitionId() >= third and not lost.exists():
                time.sleep(0.02)
            yield from batches

        def kill() -> None:
            tracker = spark.sparkContext.statusTracker()
            while not done.wait(0.02):
                for stage in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(stage)
                    if info and info.numTasks == self.ask.partitions and info.numCompletedTasks >= third:
                        self.cluster.kill(worker)
                        killed.append(info.numCompletedTasks)
                        return

        def kill_and_tell() -> None:
            try:
                kill()
            finally:
                lost.touch()

        done = threading.Event()
        killer = threading.Thread(target=kill_and_tell)
        killer.start()
        try:
            self.job(spark, lambda df: verdicts(df.mapInArrow(patient, df.schema)), "killed")
        finally:
            done.set()
            killer.join()
        if not killed:
            raise AssertionError("the job ended before a worker was killed")
        say(f"a worker was killed when {killed[0]} of {self.ask.partitions} tasks were done")
        compare(self.ask.work / "killed", self.whole, COLUMNS)

    def damage_a_pack(self, spark: SparkSession) -> None:
        """Damage the copy of the pack on one executor. The job must fail with the message of the program."""
        pack = robobatch.spark.ship(spark, self.ask.rules)

        def roots(_: Iterable[int]) -> Iterator[str]:
            yield SparkFiles.get(pack.name)

        # With a barrier, both tasks run at the same time, and so on both executors, once both are there.
        copies = sorted(set(spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(roots).collect()))
        if len(copies) < 2:
            raise AssertionError(f"one executor has done all: {copies}")
        with Path(copies[0]).open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            for i in range(1, 4096):
                file.seek(size * i // 4096)
                file.write(b"damage")
        try:
            self.job(spark, self.verdicts(spark), "damaged")
        except Exception as err:  # Spark wraps it, in one class or another
            lines = [line for line in str(err).splitlines() if "robobatch.errors.Error" in line]
            if not lines or pack.name not in lines[0]:
                raise
            say("failed as it must: " + lines[0])
        else:
            raise AssertionError("a damaged pack went unnoticed")

    def stop_early(self, spark: SparkSession) -> None:
        """Read a few rows of many, and cancel a job. No process may be left."""
        rows = spark.read.parquet(str(self.ask.work / "in"))
        few = self.verdicts(spark)(rows).limit(5).collect()
        if len(few) != 5:
            raise AssertionError(f"a LIMIT of 5 gives {few}")
        no_pipes(self.ask.work)
        say("LIMIT 5: no process is left")
        context = spark.sparkContext
        seen: list[BaseException] = []
        # The program runs on the driver, too, and before the job.
        decided = self.verdicts(spark)(rows.mapInArrow(endless, rows.schema))

        def run() -> None:
            context.setJobGroup("cancelled", "to be cancelled", interruptOnCancel=True)
            try:
                self.job(spark, lambda _: decided, "cancelled")
            except Exception as err:  # noqa: BLE001 - it is looked at below
                seen.append(err)

        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive() and not (
            context.statusTracker().getJobIdsForGroup("cancelled") and pipes(self.ask.work)
        ):
            time.sleep(0.01)
        context.cancelJobGroup("cancelled")
        thread.join()
        if not seen or "ancel" not in str(seen[0]):
            raise AssertionError(f"the job was not cancelled: {seen}")
        no_pipes(self.ask.work)
        say("cancelled: no process is left")


def endless(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the first batch repeatedly, so that the job does not end before it is cancelled."""
    for batch in batches:
        while True:
            yield batch


def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches unchanged."""
    yield from batches


CONSTANTS: dict[str, Any] = {
    "origin": pa.scalar("https://www.example.com"),
    "allowed": pa.scalar(value=False),
    "reason": pa.scalar("rule"),
    "rule_line": pa.scalar(17, pa.int32()),
    "rule": pa.scalar("Disallow: /private/"),
}
CONSTANTS_SCHEMA = (
    "line bigint, url string, origin string, allowed boolean, reason string, rule_line int, rule string"
)


def constants(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add constant columns with the types of verdicts: the difference to an identity is the cost in Spark."""
    for batch in batches:
        columns = [pa.repeat(value, batch.num_rows) for value in CONSTANTS.values()]
        yield pa.RecordBatch.from_arrays([*batch.columns, *columns], names=[*batch.schema.names, *CONSTANTS])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robobatch", type=lambda p: str(Path(p).resolve()), required=True, help="the program")
    parser.add_argument("--rules", required=True, help="a pack")
    parser.add_argument("--log", required=True, help="a list of URLs")
    parser.add_argument("--work", type=lambda p: Path(p).resolve(), required=True, help="a directory; it is emptied")
    parser.add_argument("--partitions", type=int, default=50)
    parser.add_argument("--measure", action="store_true", help="compare with an identity and a copy")
    parser.add_argument("--rounds", type=int, default=2, help="of the measurements, besides one to warm up")
    ask = parser.parse_args()
    shutil.rmtree(ask.work, ignore_errors=True)
    (ask.work / "local").mkdir(parents=True)
    os.environ.update(ROBOBATCH_BINARY=ask.robobatch, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    wheel(ask.robobatch, ask.work)
    whole = prepare(ask)
    say(f"{whole.num_rows:,} rows in {ask.partitions} files")
    cluster = Cluster(ask.work)
    try:
        cluster.master()
        first, _ = cluster.worker("first"), cluster.worker("second")
        spark = session(
            cluster, ask.work / "local", 1
        )  # a damaged pack must fail, not be tried on the other executor
        say(f"Spark {spark.version} on {cluster.url}")
        bench = Bench(ask, cluster, whole)
        if ask.measure:
            bench.measure(spark)
            compare(ask.work / "all", whole, COLUMNS)
        else:
            bench.job(spark, bench.verdicts(spark), "all")
            compare(ask.work / "all", whole, COLUMNS)
        no_pipes(ask.work)
        bench.stop_early(spark)
        bench.damage_a_pack(spark)
        no_pipes(ask.work)
        spark.stop()
        spark = session(cluster, ask.work / "local", 4)
        bench.lose_a_worker(spark, first)
        no_pipes(ask.work)
        spark.stop()
    finally:
        cluster.end()
        shutil.rmtree(ask.work / "local", ignore_errors=True)
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
