"""A process that answers one kind of question for several threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import pyarrow as pa

from robobatch.errors import InputWarning
from robobatch.process import LostError, Process
from robobatch.rules import Rules


class EndedError(Exception):
    """The lane can no longer be used: its Decider was closed or has replaced it."""


class Lane:
    """A process, or its replacement if it has ended.

    Small questions of all threads are record batches of one open stream, so none waits for the answer to
    another. A large question has its own stream. If a process ends, another one gets the unanswered questions. The
    first of these may be the cause, so it is asked only once more, or not at all after an error.
    """

    def __init__(
        self, rules: Rules, arguments: list[str], on_warnings: Callable[[list[InputWarning]], object]
    ) -> None:
        """Store how to start it. ``on_warnings`` gets the warnings about small questions when their stream ends."""
        self._rules = rules  # keeps the file in the arguments alive
        self._arguments = arguments
        self._on_warnings = on_warnings
        self._lock = threading.Lock()  # of what is sent
        self._process: Process | None = None
        self._open = False  # a stream of small questions
        self._ended = False

    def ask(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the verdicts for a record batch, whose schema all small questions share."""
        again = True
        while True:
            with self._lock, self._dropping():
                process = self._started()
                self._open = True
                sent = process.submit(batch)
            try:
                return process.answer(sent)
            except LostError as lost:
                with self._lock:
                    if self._process is process:
                        self._drop()
                if lost.first and (not again or lost.error.exit_code == 2):
                    raise lost.error from lost.__cause__
                again = again and not lost.first

    @contextlib.contextmanager
    def stream(self) -> Iterator[Process]:
        """Provide the process for one stream, while others wait. After an exception it is not reused."""
        with self._lock, self._dropping():
            self._end_stream()
            yield self._started()

    def end_stream(self) -> None:
        """End the stream of small questions, so that its warnings are known."""
        with self._lock, self._dropping():
            self._end_stream()

    def end(self) -> None:
        """End the process, if it runs, and prevent further starts."""
        with self._lock:
            self._ended = True
            self._drop()

    def kill(self) -> None:
        """End the process without waiting for other threads: for finalizers, which may interrupt any code."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _started(self) -> Process:
        if self._ended:
            raise EndedError
        if self._process is not None and not self._process.runs:
            self._drop()
        if self._process is None:
            self._process = Process(self._arguments, several=True, alone=True, files=self._rules.files)
        return self._process

    def _end_stream(self) -> None:
        if self._open and self._process is not None and self._process.runs:
            self._process.end_stream()
            self._on_warnings(self._process.warnings())
        self._open = False

    @contextlib.contextmanager
    def _dropping(self) -> Iterator[None]:
        """Drop the process if the block fails: its state is unknown then."""
        try:
            yield
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        process, self._process, self._open = self._process, None, False
        if process is not None:
            process.end()
