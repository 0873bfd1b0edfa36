"""Processes that stay for the next stream: which stream gets them, and that they end."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import PATIENCE, children, wait_until

import robobatch
from robobatch import kept
from robobatch.question import arguments
from robobatch.verdicts import extended

SITE = "https://www.sba.gov/"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch, unchanged: None) -> Iterator[None]:  # noqa: ARG001 - it checks after this
    """Let idle processes stay until the test ends, even on a slow machine."""
    monkeypatch.setattr(kept, "_SECONDS", 3600.0)
    yield
    with kept._lock:
        left = list(itertools.chain(*kept._waiting.values()))
    for waiting in left:
        waiting.timer.cancel()
        waiting._end()


def ask(rules: Path, urls: Sequence[str | None], question: str = "one") -> tuple[list[bool | None], list[str]]:
    """Return the verdicts and the codes of the warnings."""
    warnings: list[robobatch.InputWarning] = []
    batches = [pa.record_batch({"url": pa.array(urls[i : i + 1], pa.string())}) for i in range(len(urls))]
    process = kept.kept(question, rules, arguments(rules, {"columns": ["allowed"]}))
    decided = extended(batches, process, {}, warnings.append)
    return [allowed for b in decided for allowed in b["allowed"].to_pylist()], [d.code for d in warnings]


def ids() -> list[int]:
    return sorted(int(child.split()[0]) for child in children())


def test_streams_share_a_process(pack: Path) -> None:
    seen = set()
    streams: list[tuple[list[str | None], list[bool | None], list[str]]] = [
        ([SITE, SITE], [True, True], []),
        (["x", None], [None, None], ["no_urls"]),
        ([SITE], [True], []),
        (["https://stray.example/"], [True], ["no_robots"]),
    ]
    for urls, allowed, warnings in streams * 2:
        assert ask(pack, urls) == (allowed, warnings)
        seen.update(ids())
    assert len(seen) == 1


def test_each_question_has_its_own(pack: Path) -> None:
    ask(pack, [SITE])
    ask(pack, [SITE], "two")
    assert len(ids()) == 2


def test_a_changed_file_is_read_again(rules: Path, tmp_path: Path) -> None:
    changing = tmp_path / "https_www.sba.gov.txt"
    for disallowed in ["Disallow: /", "Disallow:   "]:
        changing.write_text(f"User-agent: *\n{disallowed}\n")
        process = kept.kept("one", changing, arguments(changing, {"columns": ["allowed"], "origin": SITE[:-1]}))
        decided = extended([pa.record_batch({"url": [SITE]})], process, {}, print)
        assert [b["allowed"].to_pylist() for b in decided] == [[disallowed != "Disallow: /"]]
    assert len(ids()) == 2
    assert ask(rules, ["https://example.com/private/"]) == ([False], [])  # a directory
    assert len(ids()) == 2


def test_what_goes_wrong_ends_it(pack: Path, tmp_path: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"url": [SITE]})
        raise KeyError("the source")

    ask(pack, [SITE])
    with pytest.raises(KeyError, match="the source"):
        list(extended(broken(), kept.kept("one", pack, arguments(pack, {})), {}, print))
    left = extended([pa.record_batch({"url": [SITE]})] * 9, kept.kept("one", pack, arguments(pack, {})), {}, print)
    next(left)
    left.close()
    assert len(ids()) == 1  # that of the first question, which has other columns
    damaged = tmp_path / "damaged.rbp"
    shutil.copyfile(pack, damaged)
    ask(damaged, [SITE])
    with damaged.open("r+b") as file:
        file.write(b"damage")
    with pytest.raises(robobatch.Error, match=r"damaged\.rbp"):
        ask(damaged, [SITE])


def test_one_that_was_killed_is_replaced(pack: Path) -> None:
    ask(pack, [SITE])
    (process,) = ids()
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)  # until all its threads are gone, and not only the first
    assert ask(pack, [SITE]) == ([True], [])
    assert len(ids()) == 1
    assert ids() != [process]


def test_it_ends_when_nothing_comes(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_SECONDS", 2.0)
    ask(pack, [SITE])
    wait_until(lambda: not children())
    assert children() == []
    assert ask(pack, [SITE]) == ([True], [])


def in_child(then: Callable[[], object]) -> int:
    """Call a function in a child of this process, and return the child's id. It ends with 0 if nothing is raised."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(int(PATIENCE))
            then()
            os._exit(0)
        finally:
            os._exit(1)
    return child


def test_it_ends_though_a_child_was_forked(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_SECONDS", 2.0)
    ask(pack, [SITE])
    child = in_child(signal.pause)
    try:
        wait_until(lambda: not children())
        assert children() == []
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_child_asks_though_another_thread_looked_for_a_process(pack: Path) -> None:
    with kept._lock:
        child = in_child(lambda: ask(pack, [SITE]))
    assert os.waitpid(child, 0)[1] == 0


def test_one_that_cannot_wait_ends(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Timer) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Timer, "start", start)
    with pytest.raises(RuntimeError, match="new thread"):
        ask(pack, [SITE])
    assert ids() == []
