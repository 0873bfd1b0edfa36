"""The command, as ``python -m robobatch``."""

from __future__ import annotations

import os
import subprocess
import sys

from robobatch.binary import find_binary
from robobatch.errors import Error


def main() -> int:
    """Become the program, or run it where a process cannot become another."""
    try:
        program = find_binary()
    except Error as err:
        print(f"robobatch: {err.message}", file=sys.stderr)
        return 2
    if os.name == "nt":
        return subprocess.call([program, *sys.argv[1:]])
    return os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 - it is the program that was asked for


if __name__ == "__main__":
    sys.exit(main())
