"""Processes that are kept for the next stream: a task of Spark follows another in the same worker.

A process that has answered a stream has its rules loaded, and to load them is most of what a task of some 100,000
rows costs. It waits a few seconds for another stream of the same question, and is ended then, so that nothing stays
where no task comes any more. If this process dies, its standard input ends, and so does it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
from collections.abc import Hashable, Iterator
from pathlib import Path

from robobatch.process import Process, started

_SECONDS = 5.0  # how long an idle process waits

_lock = threading.Lock()
_waiting: dict[Hashable, list[_Waiting]] = {}  # idle processes by question


class _Waiting:
    """An idle process, with the timer that ends it."""

    def __init__(self, process: Process, key: Hashable) -> None:
        """Create it; its timer is not started yet."""
        self.process = process
        self._key = key
        self.timer = threading.Timer(_SECONDS, self._end)
        self.timer.name = "robobatch timer"
        self.timer.daemon = True

    def _end(self) -> None:
        with _lock:
            waiting = _waiting.get(self._key, [])
            if self not in waiting:
                return  # another thread was faster
            waiting.remove(self)
            if not waiting:
                del _waiting[self._key]
        with self.process:  # ends it, though a child of this process may hold its standard input open
            pass


@contextlib.contextmanager
def kept(question: str, rules: str | os.PathLike[str], arguments: list[str]) -> Iterator[Process]:
    """Take a process that waits, or start one. At the end of the block it waits again, unless there was an exception.

    None is taken for another question, nor if the file of the rules has changed, nor after a fork. Rules that are
    something else than one file may change and nobody sees it: they have a process for each stream.
    """
    key = _key(question, rules, arguments)
    if key is None:
        with started(arguments) as process:
            yield process
        return
    process = _take(key) or Process(arguments, several=True)
    with contextlib.ExitStack() as unless_waiting:
        unless_waiting.enter_context(process)
        yield process
        _wait(process, key)
        unless_waiting.pop_all()


def _wait(process: Process, key: Hashable) -> None:
    waiting = _Waiting(process, key)
    with _lock:  # so that the timer cannot find it too early
        waiting.timer.start()
        _waiting.setdefault(key, []).append(waiting)


def _key(question: str, rules: str | os.PathLike[str], arguments: list[str]) -> Hashable:
    try:
        found = Path(rules).stat()
    except OSError:  # in object storage, or missing according to the program
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    file = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    return os.getpid(), question, tuple(arguments), file


def _take(key: Hashable) -> Process | None:
    """Return an idle process that still runs."""
    while True:
        with _lock:
            waiting = _waiting.get(key)
            if not waiting:
                return None
            found = waiting.pop()
            if not waiting:
                del _waiting[key]
        found.timer.cancel()
        if found.process.runs:
            return found.process
        with found.process:
            continue


def _after_fork() -> None:
    """Replace the lock in a child process, because a thread of the parent may hold it."""
    global _lock
    _lock = threading.Lock()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
