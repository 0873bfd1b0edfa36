"""Processes that stay for the next stream: in a Spark worker, one task follows another.

A process that has answered a stream has loaded its rules, which is most of the cost of a task of some 100,000
rows. It waits a few seconds for another stream with the same question, and then ends, so that none stays where no
more tasks come. If this process dies, its standard input ends, and so does the program.
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
        with self.process:  # ends it even if a child of this process holds its standard input open
            pass


@contextlib.contextmanager
def kept(question: str, rules: str | os.PathLike[str], arguments: list[str]) -> Iterator[Process]:
    """Take an idle process, or start one. At the end of the block it is idle again, unless there was an exception.

    An idle process is not used for another question, if the rules file has changed, or after a fork. Changes of rules
    that are not one file cannot be detected, so these get a new process for each stream.
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
