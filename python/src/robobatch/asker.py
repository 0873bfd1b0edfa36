"""A process that answers single questions as lines of text, in a tenth of the time of a record batch."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import BinaryIO, cast

from robobatch.binary import find_binary
from robobatch.errors import InputWarning, error_of, warnings_of
from robobatch.lane import EndedError
from robobatch.process import cannot_start
from robobatch.rules import Rules

_ANSWERS = {b"true\n": True, b"false\n": False, b"null\n": None}
_LONGEST = 60_000  # bytes of a URL; longer ones are sent in a record batch

_running: weakref.WeakSet[_Program] = weakref.WeakSet()


class _Program:
    """The program, its ends of two pipes, and what it prints on standard error."""

    def __init__(self, rules: Rules, arguments: list[str]) -> None:
        """Start it in a new session, so that Ctrl-C in a terminal does not reach it."""
        command = [find_binary(), *arguments, "-format=lines"]
        self.said = cast(BinaryIO, tempfile.TemporaryFile(prefix="robobatch-", buffering=0))  # noqa: SIM115 - it stays
        try:
            self.process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
                start_new_session=True, pass_fds=rules.files,
            )  # fmt: skip
        except OSError as err:
            self.said.close()
            raise cannot_start(command[0], err) from err
        self._pipes = [cast(BinaryIO, self.process.stdin), cast(BinaryIO, self.process.stdout)]
        self.into, self.out = (pipe.fileno() for pipe in self._pipes)
        self.read = 0  # bytes of said
        _running.add(self)

    def ask(self, line: bytes) -> bytes:
        """Return the answer to a line; an incomplete line if the program has ended."""
        try:
            while line:
                line = line[os.write(self.into, line) :]
            answer = os.read(self.out, 64)
            while answer and not answer.endswith(b"\n"):
                more = os.read(self.out, 64)
                answer = answer + more if more else b""
        except OSError:
            return b""
        return answer

    def report(self) -> str:
        """Return what it printed since the last call."""
        size = os.fstat(self.said.fileno()).st_size
        text, self.read = os.pread(self.said.fileno(), size - self.read, self.read), size
        return text.decode("utf-8", "replace")

    def end(self) -> None:
        """End it if it still runs, and reap it. Further calls do nothing."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Close this process's ends."""
        _running.discard(self)
        for file in (*self._pipes, self.said):
            with contextlib.suppress(OSError):
                file.close()


class Asker:
    """The program for single questions, restarted if it has ended: another kind of Lane."""

    def __init__(
        self, rules: Rules, arguments: list[str], on_warnings: Callable[[list[InputWarning]], object]
    ) -> None:
        """Store how to start it. ``on_warnings`` gets the warnings about the questions when their stream ends."""
        self._rules = rules
        self._arguments = arguments
        self._on_warnings = on_warnings
        self._lock = threading.Lock()
        self._program: _Program | None = None
        self._open = False  # a stream
        self._ended = False

    def ask(self, url: bytes, agent: str) -> bool | None:
        """Return whether an agent, which is a product token, may fetch a URL."""
        return _ANSWERS[self._ask(b"%b\t%b\n" % (url, agent.encode()), _ANSWERS)]

    def takes(self, url: bytes) -> bool:
        """Report whether a URL can be sent as a line."""
        return b"\n" not in url and b"\t" not in url and 0 < len(url) <= _LONGEST

    def end_stream(self) -> None:
        """End the stream of questions, so that its warnings are known."""
        with self._lock:
            if not self._open:
                return
        self.start()

    def start(self) -> None:
        """End a stream, which may be empty: then the rules are loaded first."""
        self._ask(b"\n", (b"\n",))
        with self._lock:
            found = warnings_of(self._program.report()) if self._program is not None else []
            self._open = False
        self._on_warnings(found)

    def end(self) -> None:
        """End the program, if it runs, and prevent further starts."""
        with self._lock:
            self._ended = True
            self.kill()

    def kill(self) -> None:
        """End the program without waiting for other threads: for finalizers, which may interrupt any code."""
        program, self._program, self._open = self._program, None, False
        if program is not None:
            program.end()

    def _ask(self, line: bytes, known: object) -> bytes:
        with self._lock:
            for again in (True, False):  # a program that has ended is replaced once
                if self._ended:
                    raise EndedError
                if self._program is None:
                    self._program = _Program(self._rules, self._arguments)
                program = self._program
                self._open = True
                try:
                    answer = program.ask(line)
                except BaseException:  # its next answer would be unknown
                    self.kill()
                    raise
                if answer in known:  # type: ignore[operator]
                    return answer
                self._program = None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.process.wait(1 if answer else 10)
                code, said = program.process.poll(), program.report()
                program.end()
                if not again or code == 2:
                    raise error_of(said, code if code is not None else 0)
        raise EndedError


def _after_fork() -> None:
    """Release the parent's programs in a child process, which shares their pipes."""
    for program in list(_running):
        program.process.returncode = 0  # must not be signalled from here
        program.let_go()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
