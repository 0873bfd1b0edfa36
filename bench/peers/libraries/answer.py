"""What the adapters in Python share: it reads the cases and writes the answers."""

import sys


def all(ask):
    for line in sys.stdin:
        robots, crawler, url = (bytes.fromhex(text).decode(errors="replace") for text in line.split("\t"))
        try:
            answer = "1" if ask(robots, crawler, url) else "0"
        except Exception:
            answer = "-"
        print(answer, flush=True)
