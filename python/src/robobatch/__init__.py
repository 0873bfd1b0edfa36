"""Decide for every URL of a table whether robots.txt lets a crawler fetch it.

The work is done by the program robobatch, which comes with the wheel. ``decide`` and ``stream`` need pyarrow;
``robobatch.spark`` has Spark. docs/LAKE.md has examples.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from robobatch.binary import find_binary
from robobatch.errors import Doubt, Error

if TYPE_CHECKING:
    from robobatch.verdicts import decide, stream

__all__ = ["Doubt", "Error", "decide", "find_binary", "stream"]

try:
    __version__ = metadata.version("robobatch")
except metadata.PackageNotFoundError:  # a source tree
    __version__ = "0.0.0.dev0"


def __getattr__(name: str) -> object:
    """Import what needs pyarrow when it is first used, so that the command does not need it."""
    if name not in ("decide", "stream"):
        raise AttributeError(f"module 'robobatch' has no attribute {name!r}")
    try:
        from robobatch import verdicts
    except ModuleNotFoundError as err:
        if err.name != "pyarrow":
            raise
        raise ModuleNotFoundError(
            f"robobatch.{name} needs pyarrow: pip install 'pyarrow>=16'", name="pyarrow"
        ) from err
    return getattr(verdicts, name)
