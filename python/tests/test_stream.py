"""stream and its process: it never hangs, and leaves nothing behind."""

from __future__ import annotations

import itertools
import os
import signal
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import children

import robobatch

pytestmark = [pytest.mark.filterwarnings("ignore::robobatch.InputWarning"), pytest.mark.usefixtures("unchanged")]


def batch(first: int, rows: int = 1000) -> pa.RecordBatch:
    urls = [f"https://example.com/{'private' if i % 3 else 'public'}/{i}" for i in range(first, first + rows)]
    return pa.record_batch(
        {"n": pa.array(range(first, first + rows), pa.int64()), "url": pa.array(urls, pa.string())}
    )


def numbers(rows: pa.RecordBatch | pa.Table) -> list[int]:
    return [int(str(n)) for n in rows["n"].to_pylist()]


def test_batches_keep_their_rows(rules: Path) -> None:
    sizes = [1000, 0, 1, 70_000, 0, 3]
    firsts = list(itertools.accumulate(sizes, initial=0))
    batches = [batch(first, rows) for first, rows in zip(firsts, sizes, strict=False)]
    decided = list(robobatch.stream(batches, rules=rules, columns=["allowed"]))
    assert [b.num_rows for b in decided] == sizes
    for b in decided:
        assert b["allowed"].to_pylist() == [not n % 3 for n in numbers(b)]


def test_no_batches(rules: Path) -> None:
    assert list(robobatch.stream([], rules=rules)) == []


def test_warnings_are_given(rules: Path) -> None:
    warnings: list[robobatch.InputWarning] = []
    list(robobatch.stream([pa.record_batch({"url": ["x"]})], rules=rules, on_warning=warnings.append))
    assert [d.code for d in warnings] == ["no_urls"]


def test_few_batches_are_read_ahead(rules: Path) -> None:
    read = 0

    def endless() -> Iterator[pa.RecordBatch]:
        nonlocal read
        while True:
            read += 1
            yield batch(read, 10_000)

    decided = robobatch.stream(endless(), rules=rules)
    for _ in range(5):
        next(decided)
    assert read <= 8
    decided.close()
    assert children() == []


def test_a_reader_that_goes_away(rules: Path) -> None:
    for taken in range(4):
        decided = robobatch.stream((batch(i, 50_000) for i in itertools.count()), rules=rules)
        for _ in range(taken):
            next(decided)
        del decided
        assert children() == []


def test_a_source_that_fails(rules: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield batch(0)
        yield batch(1000)
        raise KeyError("the source")

    with pytest.raises(KeyError, match="the source"):
        list(robobatch.stream(broken(), rules=rules))
    assert children() == []


def test_another_schema(rules: Path) -> None:
    with pytest.raises(robobatch.Error, match="use one schema for all"):
        list(robobatch.stream([batch(0), pa.record_batch({"url": [1]})], rules=rules))
    with pytest.raises(TypeError, match=r"batches has str: pass record batches"):
        list(robobatch.stream(["https://example.com/"], rules=rules))  # type: ignore[list-item]
    with pytest.raises(robobatch.Error, match=r"the columns are x"):
        list(robobatch.stream([pa.record_batch({"x": [1]})], rules=rules))


def test_a_killed_process(rules: Path) -> None:
    decided = robobatch.stream((batch(i) for i in itertools.count()), rules=rules)
    next(decided)
    (process,) = children()
    os.kill(int(process.split()[0]), signal.SIGKILL)
    with pytest.raises(robobatch.Error, match=r"ended by signal 9.*max_memory=") as caught:
        for _ in decided:
            pass
    assert caught.value.exit_code == 137


def test_a_stopped_process_is_reaped(rules: Path) -> None:
    decided = robobatch.stream((batch(i) for i in itertools.count()), rules=rules)
    next(decided)
    (process,) = children()
    os.kill(int(process.split()[0]), signal.SIGSTOP)
    decided.close()
    assert children() == []


def test_a_hundred_calls_at_once(rules: Path) -> None:
    def one(i: int) -> bool:
        decided = robobatch.decide(
            pa.Table.from_batches([batch(i, 20_000)]), rules=rules, columns=["allowed"], workers=1
        )
        return bool(decided["allowed"].to_pylist() == [not n % 3 for n in numbers(decided)])

    with ThreadPoolExecutor(100) as pool:
        assert all(pool.map(one, range(100)))


PROGRAMS = {
    "dies at once": ("echo 'robobatch: x: broken: mend it' >&2; exit 2", "x: broken: mend it", 2),
    "has few addresses": (
        "echo 'fatal error: failed to reserve page summary memory' >&2; exit 2",
        "limit of a process is 900 MiB",
        2,
    ),
    "says nothing": ("exit 3", "ended with exit code 3 and no message", 3),
    "says very much": ("yes 'robobatch: much' | head -c 30000000 >&2; exit 2", "much", 2),
    "answers with something else": ("echo hello; cat >/dev/null", "gave an invalid answer", 0),
    "answers nothing": ("cat >/dev/null", "gave an invalid answer", 0),
    "echoes": ("cat", "gave an invalid answer", 0),
    "closes its input": ("exec <&-; sleep 0.2; echo 'robobatch: late' >&2; exit 2", "late", 2),
    "is killed": ("kill -9 $$", "ended by signal 9", 137),
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_programs_that_misbehave(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, said, code = PROGRAMS[kind]
    fake = tmp_path / "robobatch"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ROBOBATCH_BINARY", str(fake))
    if kind == "has few addresses":  # as in a task of Spark, if spark.executor.pyspark.memory is set
        monkeypatch.setattr("resource.getrlimit", lambda _: (900 << 20, 900 << 20))
    with pytest.raises(robobatch.Error, match=said) as caught:
        list(robobatch.stream((batch(i, 10_000) for i in range(2 if "answers" in kind else 50)), rules="x"))
    assert (caught.value.exit_code or 0) == code


def test_an_error_names_the_row(rules: Path) -> None:
    """It counts from the first row of all batches."""
    good = pa.record_batch({"url": ["https://example.com/"] * 3, "bot": ["*"] * 3})
    bad = pa.record_batch({"url": ["https://example.com/"] * 2, "bot": ["*", "a b"]})
    with pytest.raises(robobatch.Error, match=r"^row 7: no name of a crawler: [^;]*$"):
        list(robobatch.stream([good, good, bad, good], rules=rules, agent_column="bot", on_bad_agent="raise"))
