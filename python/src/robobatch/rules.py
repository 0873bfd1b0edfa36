"""Rules: a file name for the program, or texts in an unnamed file."""

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
    """Rules as the caller passed them. The unnamed file, if any, exists until the object is garbage-collected."""

    def __init__(self, rules: Given, origin: str | None = None) -> None:
        """Accept a path, ``{origin: text}``, or with an origin the text of one robots.txt, with a line end."""
        self.origin = origin
        self.path: str
        self.files: tuple[int, ...] = ()
        if isinstance(rules, Mapping):
            if origin is not None:
                raise ValueError("rules already contains origins: remove origin")
            self._keep(_captures(rules), ".jsonl")
        elif origin is not None and isinstance(rules, str | bytes) and _is_text(rules):
            self._keep(_encoded(rules, origin), ".txt")
        elif isinstance(rules, str | bytes) and _is_text(rules) and not _is_there(rules):
            raise Error(
                "rules is the text of a robots.txt without an origin: add origin='https://www.example.com', "
                "or pass a dict with the origin as a key"
            )
        else:
            self.path = os.fsdecode(rules)

    def stamp(self) -> tuple[int, ...]:
        """Return a value that changes with the file or directory, as far as stat shows; () for object storage."""
        with contextlib.suppress(OSError, ValueError):
            found = Path(self.path).stat()
            return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        return ()

    def _keep(self, text: bytes, suffix: str) -> None:
        """Write a text to a file that, on Linux, always disappears with this process."""
        if (
            sys.platform != "linux"
        ):  # elsewhere /dev/fd/3 shares the position of descriptor 3, so it can be read only once
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
        raise ValueError("rules is an empty dict: pass at least one origin and its robots.txt")
    lines = []
    for origin, text in rules.items():
        if not isinstance(origin, str) or not isinstance(text, str | bytes):
            raise TypeError(
                f"rules has {origin!r:.80}: {type(text).__name__}: pass an origin such as 'https://www.example.com', "
                "and the str or bytes of its robots.txt"
            )
        if "://" not in origin:
            raise Error(
                f"rules has the origin {origin!r:.80} without a scheme: write 'https://{origin:.80}' or "
                f"'http://{origin:.80}', or both, because each has its own robots.txt"
            )
        body = base64.b64encode(_encoded(text, origin)).decode()
        if text and not _is_text(text) and _is_there(text):
            raise Error(f"rules has a file name, {text!r:.80}, for {origin:.80}: pass its text, as in open(…).read()")
        lines.append(json.dumps({"origin": origin, "status": 200, "body_b64": body}) + "\n")
    return "".join(lines).encode()
