"""The rules: a name that the program opens, or texts in an unnamed file."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from robobatch.errors import Error

Text: TypeAlias = str | bytes
Given: TypeAlias = "str | bytes | os.PathLike[str] | Mapping[str, Text]"


class Rules:
    """Rules as given. It keeps the unnamed file, if there is one, until it is collected."""

    def __init__(self, rules: Given, origin: str | None = None) -> None:
        """Take a path, ``{origin: text}``, or with an origin the text of one robots.txt, which has a line end."""
        self.origin = origin
        self.path: str
        self.files: tuple[int, ...] = ()
        if isinstance(rules, Mapping):
            if origin is not None:
                raise ValueError("rules has origins of its own: leave out origin")
            self._keep(_captures(rules), ".jsonl")
        elif origin is not None and isinstance(rules, str | bytes) and _is_text(rules):
            self._keep(_encoded(rules, origin), ".txt")
        elif isinstance(rules, str | bytes) and _is_text(rules) and not _is_there(rules):
            raise Error(
                "rules is the text of a robots.txt, and nothing says whose: add origin='https://www.example.com', "
                "or give a dict that has it as a key"
            )
        else:
            self.path = os.fsdecode(rules)

    def stamp(self) -> tuple[int, ...]:
        """Return what is another if the file or directory is, as far as one look shows; nothing of a store's."""
        with contextlib.suppress(OSError, ValueError):
            found = Path(self.path).stat()
            return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        return ()

    def _keep(self, text: bytes, suffix: str) -> None:
        """Write a text to a file that, on Linux, disappears with this process in any case."""
        if sys.platform != "linux":  # elsewhere /dev/fd/3 is read from where descriptor 3 stands, and only once
            with tempfile.NamedTemporaryFile(prefix="robobatch-", suffix=suffix, delete=False) as named:
                named.write(text)
            self.path = named.name
            weakref.finalize(self, _remove, named.name)
            return
        file = cast(BinaryIO, tempfile.TemporaryFile(prefix="robobatch-"))  # noqa: SIM115 - it stays open
        file.write(text)
        file.flush()
        weakref.finalize(self, file.close)
        self.files = (file.fileno(),)
        self.path = f"/dev/fd/{file.fileno()}"


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):
        Path(name).unlink()


def _is_there(name: Text) -> bool:
    """Report whether a text with line ends is actually a file name."""
    with contextlib.suppress(OSError, ValueError):
        return Path(os.fsdecode(name)).exists()
    return False


def _is_text(rules: Text) -> bool:
    return b"\n" in rules or b"\r" in rules if isinstance(rules, bytes) else "\n" in rules or "\r" in rules


def _encoded(text: Text, origin: str) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError as err:
        raise ValueError(f"the robots.txt of {origin} has half a surrogate pair: pass bytes") from err


def _captures(rules: Mapping[str, Text]) -> bytes:
    """Return texts as JSON Lines captures for the program."""
    if not rules:
        raise ValueError("rules is an empty dict: give at least one origin and its robots.txt")
    lines = []
    for origin, text in rules.items():
        if not isinstance(origin, str) or not isinstance(text, str | bytes):
            raise TypeError(
                f"rules has {origin!r:.80}: {type(text).__name__}: give an origin such as 'https://www.example.com', "
                "and the str or bytes of its robots.txt"
            )
        if "://" not in origin:
            raise Error(
                f"rules has the origin {origin!r:.80} without a scheme: write 'https://{origin:.80}' or "
                f"'http://{origin:.80}', or both, as each has a robots.txt of its own"
            )
        body = base64.b64encode(_encoded(text, origin)).decode()
        if text and not _is_text(text) and _is_there(text):
            raise Error(
                f"rules has the name of a file, {text!r:.80}, for {origin:.80}: give its text, as open(…).read()"
            )
        lines.append(json.dumps({"origin": origin, "status": 200, "body_b64": body}) + "\n")
    return "".join(lines).encode()
