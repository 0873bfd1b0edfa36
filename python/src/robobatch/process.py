"""One process of robobatch pipe: record batches go in, and come out with verdicts, one stream after another.

Each batch that is sent has a slot for its answer. A thread reads the answers and fills the slots. So the program
never waits for its reader, several threads may send one after the other, and each waits only for its own answer.
A caller that sends one batch more than it reads cannot deadlock.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import queue
import re
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import cast

import pyarrow as pa

from robobatch.binary import find_binary
from robobatch.errors import Error, InputWarning, error_of, warnings_of

_PIPE_BYTES = 1 << 20  # Linux's default limit, so that a batch takes few writes
_SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ
_STDERR_BYTES = 1 << 20  # bytes of output kept per stream; the rest is read and dropped
_END = re.compile(rb"robobatch: end of stream \d+\n")  # the last line of a stream's output
_GRACE = 10.0  # seconds for a program to exit after it has closed its pipes

_running: weakref.WeakSet[Process] = weakref.WeakSet()


class LostError(Exception):
    """There is no answer: the process has ended, or its answer is invalid."""

    def __init__(self, error: Error, *, first: bool) -> None:
        """Keep what ended the process. ``first`` marks the first question without an answer."""
        super().__init__(error)
        self.error = error
        self.first = first


@dataclass
class Sent:
    """A record batch that was sent, or the end of a stream, with the destination of its answer."""

    schema: pa.Schema | None
    rows: int
    slot: queue.SimpleQueue[pa.RecordBatch | BaseException | None] = field(default_factory=queue.SimpleQueue)
    first: bool = False  # the first without an answer


class Process:
    """A process as a context manager: at the end of the block it is ended and reaped."""

    def __init__(
        self, arguments: list[str], *, several: bool = False, alone: bool = False, files: Sequence[int] = ()
    ) -> None:
        """Start the program, for one stream or for several.

        If ``alone``, it runs in its own session, where Ctrl-C in a terminal or notebook does not reach it.
        ``files`` are descriptors that it may use.
        """
        self._several = several
        program = find_binary()
        try:
            self._process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=alone,
                pass_fds=files,
            )
        except OSError as err:
            raise cannot_start(program, err) from err
        self._stdin = cast(io.BufferedWriter, self._process.stdin)
        self._stdout = cast(io.BufferedReader, self._process.stdout)
        self._stderr = cast(io.BufferedReader, self._process.stderr)
        self._said = b""  # output since the end of the last stream
        self._reports: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # output by stream
        self._order = threading.Lock()  # protects the next two
        self._waiting: deque[Sent] = deque()  # questions without an answer
        self._broken: BaseException | None = None  # why there are no more answers
        self._blamed = False  # the first question without an answer is known
        self._own: deque[Sent] = deque()  # answers for receive
        self._sending = threading.Lock()  # protects standard input
        self._ending = threading.Lock()
        self._error: Error | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None
        _widen(self._stdin, self._stdout)
        self._threads = [
            threading.Thread(target=self._listen, name="robobatch stderr", daemon=True),
            threading.Thread(target=self._read, name="robobatch stdout", daemon=True),
        ]
        _running.add(self)
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Process:
        """Return the process."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process if it still runs, and reap it."""
        self.end()

    @property
    def runs(self) -> bool:
        """Return whether the process is still running."""
        return self._process.poll() is None

    @property
    def unanswered(self) -> int:
        """Return the number of record batches sent, minus those whose answer receive has returned."""
        return len(self._own)

    def send(self, batch: pa.RecordBatch) -> None:
        """Send a record batch that begins with a column of URLs. receive returns its answer."""
        sent = self.submit(batch)
        self._own.append(sent)

    def receive(self) -> pa.RecordBatch:
        """Wait for and return the verdicts for the oldest unanswered record batch."""
        try:
            return self.answer(self._own[0])
        except LostError as lost:
            raise lost.error from lost.__cause__
        finally:
            self._own.popleft()

    def submit(self, batch: pa.RecordBatch) -> Sent:
        """Send a record batch. Only one thread at a time may do so; another thread may detect a fault."""
        sent = self._expect(Sent(batch.schema, batch.num_rows))
        with self._sending, contextlib.suppress(OSError):  # the reader finds the cause
            if self._stdin.closed:
                return sent
            if self._writer is None:
                self._writer = pa.ipc.new_stream(self._stdin, batch.schema)
            self._writer.write_batch(batch)
            self._stdin.flush()
        return sent

    def answer(self, sent: Sent) -> pa.RecordBatch:
        """Wait for and return the verdicts of what was sent. Raises LostError."""
        answer = sent.slot.get()
        if isinstance(answer, pa.RecordBatch) and answer.schema != sent.schema:
            rows = answer.num_rows  # several rows for each, if requested
            if rows == sent.rows or (sent.rows > 0 and rows > 0 and rows % sent.rows == 0):
                return answer
        error = self.fault()
        cause = (
            answer if isinstance(answer, BaseException) and error.exit_code is None else None
        )  # it printed no reason
        raise LostError(error, first=sent.first) from cause

    def end_stream(self) -> None:
        """End the stream. The next record batch begins another one, if several are allowed."""
        self._end = self._expect(Sent(None, 0))
        with self._sending, contextlib.suppress(OSError):
            if self._stdin.closed:
                return
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            if self._several:
                self._stdin.flush()
            else:
                self._stdin.close()

    def warnings(self) -> list[InputWarning]:
        """Wait for the end of the stream and all answers, and return the warnings about it."""
        if self._end.slot.get() is not None:
            raise self.fault()
        report = self._reports.get()
        if report is None:
            raise self.fault()
        return warnings_of(report.decode("utf-8", "replace"))

    def finish(self) -> None:
        """Send no more, and wait for the exit code."""
        self._close_stdin()
        if self._process.wait() != 0:
            raise self.fault()
        self._join()

    def _expect(self, sent: Sent) -> Sent:
        """Record that something needs an answer."""
        with self._order:
            if self._broken is None:
                self._waiting.append(sent)
            else:
                sent.slot.put(self._broken)
        return sent

    def _read(self) -> None:
        """Read the answers, to the end of all streams or to a fault."""
        broken: BaseException = EOFError("the stream of answers ended")
        try:
            while self._stdout.peek(1):
                with pa.ipc.open_stream(self._stdout) as answers:
                    for batch in answers:
                        self._give(batch)
                self._give(None)
        except BaseException as err:  # noqa: BLE001 - it is raised where the answer is asked for
            broken = err
        with self._order:
            self._broken = broken
            for sent in self._waiting:
                self._blame(sent)
                sent.slot.put(broken)
            self._waiting.clear()

    def _give(self, answer: pa.RecordBatch | None) -> None:
        with self._order:
            if not self._waiting:
                raise ValueError("an answer without a question")
            sent = self._waiting.popleft()
            if answer is None and sent.schema is not None:  # the stream was cut off where a batch might end
                self._blame(sent)
            sent.slot.put(answer)

    def _blame(self, sent: Sent) -> None:
        """Mark the first question without an answer."""
        sent.first, self._blamed = not self._blamed, True

    def _listen(self) -> None:
        """Read the program's standard error."""
        while line := self._stderr.readline(1 << 16):
            if _END.fullmatch(line):
                self._reports.put(self._said)
                self._said = b""
            elif len(self._said) < _STDERR_BYTES:
                self._said += line
        self._reports.put(None)

    def fault(self) -> Error:
        """Return what ended the process. If it still runs, it is killed."""
        with self._ending:
            if self._error is None:
                self._error = self._reason()
            return self._error

    def _reason(self) -> Error:
        self._close_stdin()
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            code = 0
        self._join()
        if code == 0:
            return Error("robobatch pipe gave an invalid answer: check that PATH has no old version")
        return error_of(self._said.decode("utf-8", "replace"), code, _address_limit())

    def end(self) -> None:
        """End the process if it still runs, and reap it. Further calls do nothing."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._close_stdin()
        self._join()
        self._stdout.close()
        self._stderr.close()
        _running.discard(self)

    def _close_stdin(self) -> None:
        """Close standard input. A program that answers wrongly and does not read it is killed first."""
        if not self._sending.acquire(timeout=_GRACE):
            self._process.kill()
            self._sending.acquire()
        try:
            self._writer = None
            with contextlib.suppress(OSError):  # what is left in the buffer cannot be written
                self._stdin.close()
        finally:
            self._sending.release()

    def _join(self) -> None:
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():  # as in a finalizer
                thread.join()

    def _let_go(self) -> None:
        """Release a process of the parent: its pipes must close when the parent closes them."""
        self._process.returncode = 0  # must not be signalled from here
        with open(os.devnull, "r+b", buffering=0) as nothing:  # noqa: PTH123 - a descriptor is what is needed
            for pipe in (self._stdin, self._stdout, self._stderr):
                with contextlib.suppress(OSError, ValueError):
                    os.dup2(nothing.fileno(), pipe.fileno(), inheritable=False)


def cannot_start(program: str, err: OSError) -> Error:
    """Return the error for a program that does not start."""
    if err.errno in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM):
        return Error(f"{program}: {err.strerror}: use fewer processes, or raise the limits that ulimit -a shows")
    if err.errno == errno.E2BIG:
        return Error(f"{program}: {err.strerror}: for so many crawlers, use a column and agent_column=")
    return Error(
        f"{program}: {err.strerror}: install the wheel for this system, or set ROBOBATCH_BINARY to another program"
    )


@contextlib.contextmanager
def started(arguments: list[str], files: Sequence[int] = ()) -> Iterator[Process]:
    """Start a process for one stream. At the end of the block, a non-zero exit code is an error."""
    with Process(arguments, files=files) as process:
        yield process
        process.finish()


def _address_limit() -> int | None:
    """Return the limit of a process's address space in bytes, if there is one."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _widen(*pipes: io.BufferedIOBase) -> None:
    """Enlarge pipes if the system supports it."""
    if sys.platform != "linux":
        return
    import fcntl

    for pipe in pipes:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)


def _after_fork() -> None:
    """Release the parent's processes in a child process, which shares their pipes."""
    for process in list(_running):
        process._let_go()
    _running.clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
