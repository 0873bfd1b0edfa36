"""Prints how often libraries for robots.txt answer the cases of testdata/rep/conformance as each class of them expects (README.md).

    python3 bench/peers/matrix.py [NAME...]

The libraries are the files of bench/peers/libraries and those in peer.go; NAME is one of them. They are installed in a temporary folder.
"""

import base64
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
go = ["robobatch-reference", "robobatch-rfc9309", "grobotstxt", "temoto-robotstxt", "benjaminestes-robots"]
patience = 100  # seconds
few = 8  # a class with fewer cases joins the last one


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def class_of(case, rules):
    """Returns what a case tests, by the first line that fits."""
    if case["dialect"] == "yandex":
        return "Yandex: its documentation and its own tester"
    if case["tier"] == "normative" and case["dialect"] == "google-2010":
        return "Google's documentation of 2010"
    if case.get("class"):
        return "differs: " + case["class"].split("-", 1)[1].replace("-", " ")
    if case["source"].startswith("RFC 9309"):
        return "examples of RFC 9309"
    if case.get("agent_token") and case["agent"] != "*":
        return "names with digits, spaces or versions"
    values = b"".join(re.findall(rb"(?im)^\s*(?:dis)?allow\s*:([^#\r\n]*)", rules))
    if re.search(rb"[%\x80-\xff]", values + case["url"].encode()):
        return "escapes and letters beyond ASCII"
    if b"*" in values or b"$" in values:
        return "wildcards and ends"
    if len(re.findall(rb"(?im)^\s*user-?agent", rules)) > 1:
        return "choice of a group"
    if re.search(rb"(?im)^\s*allow", rules) and re.search(rb"(?im)^\s*disallow", rules):
        return "Allow against Disallow"
    return "plain rules, lines and names"


def read_cases():
    """Yields the class of each case, the question as three texts, and the answer that is expected."""
    for name in sorted(glob.glob(os.path.join(here, "../../testdata/rep/conformance/*.jsonl.gz"))):
        for line in gzip.open(name):
            case = json.loads(line)
            if case.get("allow") is None or "multi" in case or not case.get("url", "").startswith(("http://", "https://")):
                continue
            rules = base64.b64decode(case.get("robots_b64", ""))
            rules = rules or case.get("robots", "").encode("utf-8", "surrogatepass")
            expected = case["allow"]
            if case.get("class"):
                expected = (case.get("google_oracle_token") or case["google_oracle"]) == "allow"
            yield class_of(case, rules), (rules, case["agent"].encode(), case["url"].encode()), "01"[expected]


def install(path, folder):
    """Installs the library of an adapter. Returns the command that answers, and what was installed."""
    with open(path) as file:
        registry, package, *version = re.match(r"(?:#|//) library: (.*)", file.readline())[1].split()
    name, ending = os.path.splitext(os.path.basename(path))
    os.mkdir(folder)
    if ending == ".py":
        run(sys.executable, "-m", "venv", folder)
        python = os.path.join(folder, "bin", "python")
        if registry == "pypi":
            run(python, "-m", "pip", "-q", "install", f"{package}=={version[0]}")
        script = os.path.join(folder, "adapter.py")  # a name that hides no package
        run("cp", path, script)
        run("cp", os.path.join(here, "libraries", "answer.py"), folder)
        return [python, script], [registry, package, *(version or [sys.version.split()[0]])]
    if ending == ".mjs":
        run("npm", "install", "--silent", "--no-audit", "--no-fund", f"{package}@{version[0]}", cwd=folder)
        script = os.path.join(folder, name + ending)
        run("cp", path, script)
        return ["node", script], [registry, package, *version]
    if ending == ".rs":
        with open(os.path.join(folder, "Cargo.toml"), "w") as file:
            file.write(f'[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2021"\n[[bin]]\nname = "peer"\npath = "{path}"\n[dependencies]\n{package} = "={version[0]}"\n')
        run("cargo", "build", "--quiet", cwd=folder, env={**os.environ, "CARGO_TARGET_DIR": os.path.join(folder, "target")})
        return [os.path.join(folder, "target", "debug", "peer")], [registry, package, *version]
    group, artifact, version = package.split(":")
    with open(os.path.join(folder, "pom.xml"), "w") as file:
        dependency = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        file.write(f"<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>0</version><dependencies><dependency>{dependency}</dependency></dependencies></project>")
    run("mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classes", cwd=folder)
    with open(os.path.join(folder, "classes")) as file:
        return ["java", "-cp", file.read(), path], [registry, group + ":" + artifact, version]


def ask(command, questions):
    """Returns the answers. A case that ends the library, or takes it longer than patience, has none."""
    answers = []
    while len(answers) < len(questions):
        try:
            done = subprocess.run(command, input="".join(questions[len(answers) :]).encode(), timeout=patience, capture_output=True)
        except subprocess.TimeoutExpired as error:
            done = error
        some = (done.stdout or b"").decode().split()
        if not some and answers[-1:] in ([], ["-"]):
            sys.exit(f"{command} does not answer\n{(done.stderr or b'').decode(errors='replace')[-2000:]}")
        answers += some
        answers += ["-"] * (len(answers) < len(questions))
    return answers


def main(names):
    cases = list(read_cases())
    questions = ["\t".join(text.hex() for text in question) + "\n" for _, question, _ in cases]
    expected = collections.Counter(name for name, _, _ in cases)
    rare = {name for name, count in expected.items() if count < few}
    cases = [("differs: other points" if name in rare else name, question, answer) for name, question, answer in cases]
    expected = collections.Counter(name for name, _, _ in cases)
    with open(os.path.join(here, "go.mod")) as file:
        modules = dict(re.findall(r"(\S*robots\S*) v(\S+)\n", file.read()))
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "peers")
        run("go", "build", "-o", binary, ".", cwd=here)
        peers = [(name, lambda name=name: ([binary, "-answer", name], ["go", name, *(v for m, v in modules.items() if m.endswith(name.replace("-", "/")) or m.endswith("/" + name))])) for name in go]
        for path in sorted(glob.glob(os.path.join(here, "libraries", "*.*"))):
            name = os.path.splitext(os.path.basename(path))[0]
            if name != "answer":
                peers.append((name, lambda path=path, name=name: install(path, os.path.join(folder, name))))
        for name, prepare in peers:
            if names and name not in names:
                continue
            command, what = prepare()
            answers = ask(command, questions)
            equal = collections.Counter(c for (c, _, answer), got in zip(cases, answers) if got == answer)
            columns.append((equal, answers.count("-")))
            print(f"{len(columns):2} {' '.join(what)}")
    print(f"\nEqual answers in per cent of the cases, by library\n\n{'class':52}{'cases':>6}" + "".join(f"{i + 1:6}" for i in range(len(columns))))
    for name in sorted(expected, key=lambda name: (name.startswith("differs"), -expected[name])):
        print(f"{name:52}{expected[name]:6}" + "".join(f"{100 * equal[name] / expected[name]:6.1f}" for equal, _ in columns))
    print(f"{'no answer: an exception, or none by the library':52}{'':6}" + "".join(f"{missing:6}" for _, missing in columns))


main(sys.argv[1:])
