"""One process of robobatch pipe: record batches go in, and come out with verdicts, one stream after another.

Only the thread of the caller touches what it sends, so the iterator that makes it may be anything. Another thread
reads the answers, and holds them until they are asked for. So the program never waits for its reader, and a caller
that sends one batch more than it reads never waits for ever.
"""

from __future__ import annotations

import contextlib
import errno
import io
import queue
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import cast

import pyarrow as pa

from robobatch.binary import find_binary
from robobatch.errors import Doubt, Error, doubts_of, error_of

_PIPE_BYTES = 1 << 20  # the most that Linux gives everybody: a batch then takes few turns
_SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ
_STDERR_BYTES = 1 << 20  # of what the program says about a stream; the rest is read and dropped
_END = re.compile(rb"robobatch: end of stream \d+\n")  # the last that it says about it
_GRACE = 10.0  # seconds for a program that has closed its ends to exit


class Process:
    """A process, in the manner of a context manager: at the end of the block it is gone and reaped."""

    def __init__(self, arguments: list[str], *, several: bool = False) -> None:
        """Start the program, for one stream or for several."""
        self._several = several
        program = find_binary()
        try:
            self._process = subprocess.Popen(
                [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as err:
            if err.errno in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM):
                raise Error(f"{program}: {err.strerror}: ask less at once, or raise what ulimit -a shows") from err
            raise Error(
                f"{program}: {err.strerror}: install the wheel of this machine's system, "
                "or name another program by ROBOBATCH_BINARY"
            ) from err
        self._stdin = cast(io.BufferedWriter, self._process.stdin)
        self._stdout = cast(io.BufferedReader, self._process.stdout)
        self._stderr = cast(io.BufferedReader, self._process.stderr)
        self._said = b""  # since the end of the last stream
        self._reports: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # what was said about each stream
        self._answers: queue.SimpleQueue[pa.RecordBatch | BaseException | None] = queue.SimpleQueue()
        self._sent: deque[tuple[str, int]] = deque()  # name and rows of what has no answer yet
        self._writer: pa.RecordBatchStreamWriter | None = None
        _widen(self._stdin, self._stdout)
        self._threads = [
            threading.Thread(target=self._listen, name="robobatch stderr", daemon=True),
            threading.Thread(target=self._read, name="robobatch stdout", daemon=True),
        ]
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Process:
        """Return the process."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process if it still runs, and reap it."""
        self._end()

    @property
    def runs(self) -> bool:
        """Return whether the process has not ended by itself."""
        return self._process.poll() is None

    @property
    def unanswered(self) -> int:
        """Return how many record batches were sent and have no answer yet."""
        return len(self._sent)

    def send(self, batch: pa.RecordBatch) -> None:
        """Send a record batch of a column of URLs."""
        self._sent.append((batch.schema.names[0], batch.num_rows))
        try:
            if self._writer is None:
                self._writer = pa.ipc.new_stream(self._stdin, batch.schema)
            self._writer.write_batch(batch)
            self._stdin.flush()
        except OSError as err:
            raise self._fault() from err

    def receive(self) -> pa.RecordBatch:
        """Return the verdicts for the first record batch that has none yet. Waits for them."""
        answer = self._answers.get()
        if isinstance(answer, pa.RecordBatch):
            url, rows = self._sent.popleft()
            if answer.num_rows == rows and answer.num_columns > 1 and answer.schema.names[0] == url:
                return answer.select(range(1, answer.num_columns))
            raise self._fault()
        raise self._fault() from answer

    def end_stream(self) -> None:
        """Say that the stream has no more record batches. What is sent next begins another, if there may be one."""
        try:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            if self._several:
                self._stdin.flush()
            else:
                self._stdin.close()
        except OSError as err:
            raise self._fault() from err

    def doubts(self) -> list[Doubt]:
        """Return the doubts about the stream, once it has ended and all answers are there. Waits for them."""
        if self._answers.get() is not None:
            raise self._fault()
        report = self._reports.get()
        if report is None:
            raise self._fault()
        return doubts_of(report.decode("utf-8", "replace"))

    def finish(self) -> None:
        """Send no more, and wait for the exit code."""
        self._close_stdin()
        if self._process.wait() != 0:
            raise self._fault()
        self._join()

    def _read(self) -> None:
        """Read the answers, to the end of all streams or to a fault."""
        try:
            while self._stdout.peek(1):
                with pa.ipc.open_stream(self._stdout) as answers:
                    for batch in answers:
                        self._answers.put(batch)
                self._answers.put(None)
        except BaseException as err:  # noqa: BLE001 - it is raised where the answer is asked for
            self._answers.put(err)
        else:
            self._answers.put(EOFError("there are no more answers"))

    def _listen(self) -> None:
        """Read what the program says."""
        while line := self._stderr.readline(1 << 16):
            if _END.fullmatch(line):
                self._reports.put(self._said)
                self._said = b""
            elif len(self._said) < _STDERR_BYTES:
                self._said += line
        self._reports.put(None)

    def _fault(self) -> Error:
        """Return what ended the process. One that stays is killed."""
        self._close_stdin()
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            code = 0
        self._join()
        if code == 0:
            return Error(
                "robobatch pipe answered with something else than was asked: look whether PATH has an old one"
            )
        return error_of(self._said.decode("utf-8", "replace"), code, _address_limit())

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._close_stdin()
        self._join()
        self._stdout.close()
        self._stderr.close()

    def _close_stdin(self) -> None:
        self._writer = None
        with contextlib.suppress(OSError):  # what is left in the buffer cannot be written
            self._stdin.close()

    def _join(self) -> None:
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()


@contextlib.contextmanager
def started(arguments: list[str]) -> Iterator[Process]:
    """Start a process for one stream. Its exit code is obeyed at the end of the block."""
    with Process(arguments) as process:
        yield process
        process.finish()


def _address_limit() -> int | None:
    """Return how many bytes of addresses a process may have, if that is limited."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _widen(*pipes: io.BufferedIOBase) -> None:
    """Make pipes larger where the system can."""
    if sys.platform != "linux":
        return
    import fcntl

    for pipe in pipes:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
