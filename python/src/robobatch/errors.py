"""Errors, and warnings about the input."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Flags of the program, and their names in this package.
_ARGUMENTS = {
    "-agent": "agents=",
    "-agent-column": "agent_column=",
    "-agent-from-log": "user_agent_column=",
    "-field agent=name": "user_agent_column=",
    "-field client=name": "client_column=",
    "-field time=name": "time_column=",
    "-layout": "layout=",
    "-ranges": "ranges=",
    "-as-of": "as_of=",
    "-accept-damaged-rules": "accept_damaged_rules=True",
    "-columns": "columns=",
    "-dialect": "dialect=",
    "-max-memory": "max_memory=",
    "-missing": "missing=",
    "-origin": "origin=",
    "-prefix": "prefix=",
    "-rules": "rules=",
    "-url-column": "url=",
    "-workers": "workers=",
}
_COMMAND = r"robobatch (?:[a-z]+ )?-[^:;\n]*"  # a command to run, which keeps its flags
_FLAG = re.compile(
    rf'{_COMMAND}|(?<![\w./"-])-field [a-z]+=name|(?<![\w./"-])-[a-z]+(?:-[a-z]+)*(?![\w/-])'
    r"(?: (?P<url>https?://[^\s,;()]*\w))?"
)  # but not quoted text
_PREFIX = re.compile(r"^robobatch: ", re.MULTILINE)
_WARNING = re.compile(r"^robobatch: warning: .*(?:\n {2}.*)*\n?", re.MULTILINE)
_HELP = re.compile(r"^Run robobatch .* for help\.\n?", re.MULTILINE)


def _argument(flag: re.Match[str]) -> str:
    name, _, url = flag[0].partition(" ") if flag["url"] else (flag[0], "", "")
    name = _ARGUMENTS.get(name, name)
    if url:
        return f'{name}"{url}"' if name.endswith("=") else flag[0]
    return name.removesuffix("=") if flag.string.startswith(":", flag.end()) else name


def _in_python(text: str) -> str:
    """Return the text with flags replaced by Python arguments."""
    return _FLAG.sub(_argument, text)


class Error(Exception):
    """The program failed. ``str(error)`` is the reason and a remedy."""

    exit_code: int | None
    """Exit code of the program: 2 for wrong usage or input, 128 + n if signal n ended it; None if it did not run."""

    message: str
    """The message that the program printed to standard error; it ends with the remedy."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        """Create an error from a message, which ends with the remedy."""
        super().__init__(message, exit_code)
        self.message = message
        self.exit_code = exit_code

    @property
    def remedy(self) -> str:
        """The remedy: the last clause of the message, in terms of this package."""
        last = self.message.rsplit("\n", 1)[-1]
        _, colon, clause = last.replace(", for example: ", ", for example:\0").rpartition(": ")
        return _in_python(clause.replace("\0", " ")) if colon else ""

    def __str__(self) -> str:
        """Return the message in terms of this package."""
        return _in_python(self.message)


class InputWarning(UserWarning):
    """The input does not look like its format, or contradicts an argument; the rows have verdicts all the same.

    docs/WARNINGS.md lists the codes.
    """

    def __init__(self, text: str) -> None:
        """Create a warning from the program's output."""
        super().__init__(text)
        found = re.search(r"\[([a-z_]+)\]$", text, re.MULTILINE)
        self.code: str = found[1] if found else ""

    def __str__(self) -> str:
        """Return the text in terms of this package."""
        return _in_python(str(self.args[0]))


def warnings_of(stderr: str) -> list[InputWarning]:
    """Return the warnings that the program printed."""
    return [
        InputWarning(found.removeprefix("robobatch: warning: ").rstrip("\n")) for found in _WARNING.findall(stderr)
    ]


_ROW = re.compile(r"^standard input: record batch (\d+): row (\d+): ")
_WRITTEN = re.compile(r"; the (one|\d+) before it (is|are) written$")  # record batches, which callers do not see


def in_row(error: Error, sizes: Sequence[int]) -> Error:
    """Return an error about a row of a record batch, with the row counted from 0 over all batches of these sizes."""
    found = _ROW.match(error.message)
    if found is None:
        return error
    batch, row = int(found[1]) - 1, int(found[2]) - 1
    said = _WRITTEN.sub("", error.message[found.end() :])
    return Error(f"row {sum(sizes[:batch]) + row}: {said}", error.exit_code)


def error_of(stderr: str, code: int, addresses: int | None = None) -> Error:
    """Return the error that the program printed before it ended with a code; -n is signal n, as in subprocess.

    ``addresses`` is the limit of its address space in bytes; None means no limit.
    """
    if addresses is not None and re.search("^(runtime[:/]|fatal error:)", stderr, re.MULTILINE):
        return Error(
            f"robobatch pipe ran out of address space: the limit of a process is {addresses >> 20} MiB, "
            "but it needs 2 GiB plus the size of the pack: raise ulimit -v, "
            "and leave spark.executor.pyspark.memory unset",
            code,
        )
    message = _PREFIX.sub("", _HELP.sub("", _WARNING.sub("", stderr))).strip("\n")
    if code < 0:
        message = message or f"robobatch pipe was ended by signal {-code}: " + (
            "if memory ran out, set -max-memory, or give the task more memory"
            if code == -9
            else "find out what sent it"
        )
        return Error(message, 128 - code)
    return Error(message or f"robobatch pipe ended with exit code {code} and no message: run it by hand", code)
