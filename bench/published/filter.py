"""Compares the verdicts of the filter of Apertus (robots-checker 1.2.3 on PyPI) with those of robobatch, for its crawlers.

    python bench/published/filter.py ./robobatch RULES URLS [CAPTURES MOMENT]

RULES is a directory of https_HOST.txt, and URLS a text with one https URL per line. With CAPTURES (of the command published), it compares the
verdicts by the rules that were in force at a moment, such as that of the fetch, with those by the newest.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlparse

from url_checker import core  # of robots-checker

binary, rules, urls, *dated = sys.argv[1:]
crawlers = core._DEFAULT_REMOVE_USER_AGENTS
checker = core.RobotsTxtComplianceChecker.__new__(core.RobotsTxtComplianceChecker)  # without its data set
checker.robots_dict = {}
for name in os.listdir(rules):
    with open(os.path.join(rules, name), "rb") as f:
        checker.robots_dict[name.removeprefix("https_").removesuffix(".txt").replace("_", ":")] = f.read()
with open(urls, encoding="utf-8", errors="surrogateescape") as f:
    lines = f.read().splitlines()

start = time.process_time()
dropped = sum(checker.is_compliant(url) == "NonCompliant" for url in lines)
print(f"filter: {dropped:,} of {len(lines):,} URLs dropped; {time.process_time() - start:.2f} s of CPU")

tokens = sorted({name.split("/")[0] for name in crawlers})  # CCBot/2.0 is CCBot


def ask(rules, urls, *flags):
    """Returns the verdicts of robobatch for each URL: by crawler whether it is allowed, without those that have no rules."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "x.csv")
        command = [binary, "-quiet", "-rules", rules, "-in", urls, "-agent", ",".join(tokens), "-out", out, *flags]
        subprocess.run([*command, "-columns", "agent,allowed,reason", "-format", "urls"], check=True)
        with open(out, newline="", encoding="utf-8") as f:
            rows = [(row["agent"], row["allowed"] == "true", row["reason"]) for row in csv.DictReader(f)]
    urls = [rows[i : i + len(tokens)] for i in range(0, len(rows), len(tokens))]
    return [{name: allowed for name, allowed, reason in row if reason != "no_robots"} for row in urls]


used = os.times()
ours = ask(rules, urls)
cpu = os.times().children_user + os.times().children_system - used.children_user - used.children_system
print(f"robobatch: {sum(not all(row.values()) for row in ours):,} URLs dropped; {cpu:.2f} s of CPU, files read and rows written")

differ = {}
for url, row in zip(lines, ours, strict=True):
    parser = checker._get_parser(urlparse(url).netloc)
    for name in crawlers:
        if (parser is None or parser.can_fetch(url, name)) != row.get(name.split("/")[0], True):
            key = (name, urlparse(url).netloc)
            differ[key] = differ.get(key, 0) + 1
total = len(lines) * len(crawlers)
print(f"{total - sum(differ.values()):,} of {total:,} verdicts are equal; the others by crawler and host: {differ}")

if dated:
    captures, moment = dated
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="surrogateescape", suffix=".txt") as f:
        f.write("".join(url.replace("https://", "http://", 1) + "\n" for url in lines))  # the archive has asked by http
        f.flush()
        pairs = [pair for pair in zip(ask(captures, f.name, "-as-of", moment), ask(captures, f.name), strict=True) if all(pair)]
    dropped = [[not all(row.values()) for row in pair] for pair in pairs]
    print(f"{len(pairs):,} URLs have captures until {moment}: {sum(old for old, _ in dropped):,} dropped by the rules of then, ", end="")
    print(f"{sum(new for _, new in dropped):,} by the newest; {sum(old and not new for old, new in dropped):,} only then, ", end="")
    print(f"{sum(new and not old for old, new in dropped):,} only now; ", end="")
    changed = sum(old[name] != new[name] for old, new in pairs for name in tokens)
    print(f"{changed:,} of {len(pairs) * len(tokens):,} verdicts differ")
