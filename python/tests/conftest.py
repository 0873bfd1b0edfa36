"""Shared fixtures: the program, rules, and checks that tests leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from robobatch import process

PATIENCE = 900.0  # seconds after which something hangs: no test depends on how fast the machine is
QUICKSTART = Path(__file__).parents[2] / "testdata" / "quickstart"


@pytest.fixture(autouse=True)
def slow_to_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a program that has closed its pipes more time to exit."""
    monkeypatch.setattr(process, "_GRACE", PATIENCE)


@pytest.fixture(scope="session")
def program() -> str:
    """Return the program that ROBOBATCH_BINARY names; make python builds it."""
    return os.environ["ROBOBATCH_BINARY"]


@pytest.fixture(scope="session")
def pack(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a pack of the rules of the quick start."""
    out = tmp_path_factory.mktemp("pack") / "rules.rbp"
    command = [program, "compile", "-quiet", "-rules", str(QUICKSTART / "rules"), "-out", str(out)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return out


@pytest.fixture(scope="session")
def whole(program: str, pack: Path, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Return the output of a run of the program on the log of the quick start."""
    out = tmp_path_factory.mktemp("whole") / "whole.parquet"
    command = [program, "-quiet", "-rules", str(pack), "-in", str(QUICKSTART / "urls.zst"), "-out", str(out)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return pq.read_table(out)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Return a Spark session in one process."""
    made = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.network.timeout", "3600s")
        .config("spark.python.authenticate.socketTimeout", "3600s")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a directory of simple rules."""
    made = tmp_path / "rules"
    made.mkdir()
    (made / "https_example.com.txt").write_text(
        "User-agent: *\nDisallow: /private\n\nUser-agent: otherbot\nDisallow: /\n"
    )
    return made


@pytest.fixture
def unchanged() -> Iterator[None]:
    """Check that no processes, threads or pipes are left behind."""
    before = pipes()
    yield
    wait_until(lambda: not threads() and pipes() <= before)
    assert threads() == []
    assert pipes() <= before
    assert children() == []


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until a condition is true; fail after a timeout."""
    deadline = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)


def pipes() -> int:
    """Return the number of pipes of this process. Libraries may open other descriptors at any time."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found += str(entry.readlink()).startswith("pipe:")
        except OSError:
            continue
    return found


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("robobatch")]


def children() -> list[str]:
    """Return the robobatch processes, running or ended, that this process has not reaped."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            status = (entry / "stat").read_text()
        except OSError:
            continue
        name, _, rest = status.rpartition(") ")
        if rest.split()[1] == str(os.getpid()) and "(robobatch" in name:
            found.append(status)
    return found
