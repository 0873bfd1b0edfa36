"""Compares the verdicts of the filter of Apertus (robots-checker 1.2.3 on PyPI) with those of robobatch, for its crawlers.

    python bench/published/filter.py ./robobatch RULES URLS

RULES is a directory of https_HOST.txt, and URLS a text with one https URL per line.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlparse

from url_checker import core  # of robots-checker

binary, rules, urls = sys.argv[1:]
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
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "x.csv")
    command = [binary, "-quiet", "-rules", rules, "-in", urls, "-agent", ",".join(tokens), "-out", out]
    subprocess.run([*command, "-columns", "agent,allowed", "-format", "urls"], check=True)
    used = os.times()
    with open(out, newline="", encoding="utf-8") as f:
        allowed = [row["allowed"] == "true" for row in csv.DictReader(f)]
ours = [dict(zip(tokens, allowed[i:], strict=False)) for i in range(0, len(allowed), len(tokens))]
cpu = used.children_user + used.children_system
print(f"robobatch: {sum(not all(row.values()) for row in ours):,} URLs dropped; {cpu:.2f} s of CPU, files read and rows written")

differ = {}
for url, row in zip(lines, ours, strict=True):
    parser = checker._get_parser(urlparse(url).netloc)
    for name in crawlers:
        if (parser is None or parser.can_fetch(url, name)) != row[name.split("/")[0]]:
            key = (name, urlparse(url).netloc)
            differ[key] = differ.get(key, 0) + 1
total = len(lines) * len(crawlers)
print(f"{total - sum(differ.values()):,} of {total:,} verdicts are equal; the others by crawler and host: {differ}")
