"""Decider: many questions from many threads; nothing must be left, however it ends."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import PATIENCE, children, wait_until
from jupyter_client.manager import KernelManager
from test_kept import ids, in_child

import robobatch
from robobatch.process import Process

RULES = {"https://example.com": "User-agent: *\nDisallow: /private\n\nUser-agent: GPTBot\nDisallow: /\n"}
HOME = "https://example.com/"
resource_tracker.ensure_running()  # it has a pipe, and is for all tests
pytestmark = [pytest.mark.filterwarnings("ignore::robobatch.InputWarning"), pytest.mark.usefixtures("unchanged")]


def test_questions() -> None:
    with robobatch.Decider(RULES) as decider:
        assert decider.allowed(HOME) is True
        assert decider.allowed(HOME + "private") is False
        assert decider.allowed(HOME, "GPTBot") is False
        assert decider.allowed(HOME.encode() + b"\xff", "gptbot/1.0") is False
        for nothing in (None, "", "no url", "x" * 100_000):
            assert decider.allowed(nothing) is None
        table = pa.table({"n": [1, 2, 3], "link": [HOME, None, HOME + "private"], "bot": ["GPTBot", "*", "nobody"]})
        decided = decider.decide(table, url="link", agent_column="bot", prefix="p_")
        assert decided.select(table.column_names).equals(table)
        assert decided["p_allowed"].to_pylist() == [False, None, False]
        assert decided["p_rule_line"].to_pylist() == [5, None, 2]
        wide = decider.decide([HOME], agents=["*", "GPTBot"], columns="allowed", layout="wide").to_pylist()
        assert wide == [{"url": HOME, "allowed_star": True, "allowed_gptbot": False}]
        assert decider.decide([HOME], agents="GPTBot")["rule"].to_pylist() == ["Disallow: /"]
        assert decider.decide([HOME], agents="@ai", columns="allowed", layout="wide").num_columns > 5
        long = decider.decide([HOME, None], agents=["*", "GPTBot"], columns="agent,allowed").to_pydict()
        assert long == {
            "url": [HOME, HOME, None, None], "agent": ["*", "GPTBot"] * 2, "allowed": [True, False, None, None],
        }  # fmt: skip
        assert decider.decide([]).column_names == ["url", "origin", "allowed", "reason", "rule_line", "rule"]
        assert len(ids()) <= 6
    assert children() == []


def test_rules_of_every_kind(rules: Path, pack: Path) -> None:
    text, there = (rules / "https_example.com.txt").read_text(), HOME + "private"
    same: list[tuple[Any, dict[str, Any]]] = [
        (rules, {}), (str(rules), {}), (os.fsencode(rules), {}),
        ({HOME[:-1]: text}, {}), ({HOME[:-1]: text.encode()}, {}),
        (text, {"origin": HOME[:-1]}), (text.encode(), {"origin": HOME[:-1]}),
        (rules / "https_example.com.txt", {"origin": HOME[:-1]}),
    ]  # fmt: skip
    for given, options in same:
        with robobatch.Decider(given, **options) as decider:
            assert (decider.allowed(there), decider.allowed(HOME, "otherbot")) == (False, False), decider
        assert robobatch.decide([there], rules=given, columns="allowed", to="same", **options) == [
            {"url": there, "allowed": False}
        ]
    with robobatch.Decider(pack) as decider:
        assert decider.allowed("https://www.sba.gov/") is True
    with robobatch.Decider({HOME[:-1]: b"\xff\xfe\ndisallow: /x"}) as decider:
        assert decider.allowed(HOME) is True


@pytest.mark.parametrize(
    ("given", "options", "kind", "said"),
    [
        ("lost.rbp", {}, robobatch.Error, "lost.rbp: no such file or directory"),
        ({}, {}, ValueError, "empty dict"),
        ({"example.com": ""}, {}, robobatch.Error, "'example.com' without a scheme: write 'https://example.com'"),
        ("User-agent: *\nDisallow: /", {}, robobatch.Error, "text of a robots.txt without an origin: add"),
        (b"User-agent: *\n" * 300, {}, robobatch.Error, "text of a robots.txt without an origin"),
        ({"example.com": 1}, {}, TypeError, "'example.com': int"),
        ({"example.com": "x\n"}, {}, robobatch.Error, "example.com"),
        ({HOME: "\ud800"}, {}, ValueError, "half a surrogate pair"),
        (RULES, {"origin": HOME}, ValueError, "remove origin"),
        (RULES, {"dialect": "bing"}, robobatch.Error, "unknown dialect"),
        (3, {}, TypeError, "int"),
    ],
)
def test_wrong_rules(given: Any, options: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        robobatch.Decider(given, **options)
    assert children() == []


def test_rules_that_change(rules: Path) -> None:
    """A process that starts later may read changed rules: there is a warning."""
    with robobatch.Decider(rules) as decider:
        (rules / "https_other.example.txt").write_text("User-agent: *\nDisallow: /\n")
        assert decider.allowed("https://other.example/") is True
        with pytest.warns(robobatch.InputWarning, match="the rules have changed .* create another"):
            decider.decide(["https://other.example/"])
    (rules / "one").write_text("User-agent: *\nDisallow: /\n")
    with pytest.raises(robobatch.Error, match=r"a file name, .*one', for https://a: pass its text"):
        robobatch.Decider({"https://a": str(rules / "one")})


def test_wrong_questions() -> None:
    with robobatch.Decider(RULES) as decider:
        with pytest.raises(TypeError, match="url is list"):
            decider.allowed([HOME])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="agent is NoneType"):
            decider.allowed(HOME, None)  # type: ignore[arg-type]
        with pytest.raises(
            robobatch.Error, match=r"^agents: .*\(X11\).* is not a crawler's name: give its product token"
        ):
            decider.allowed(HOME, "Mozilla/5.0 (X11)")
        for agent in ("GPTBot\n", "GPTBot\tx", "@ai", "x" * 129, ""):  # a line end would be the end of a question
            with pytest.raises(robobatch.Error, match=r"^agents: "):
                decider.allowed(HOME, agent)
        assert decider.allowed(HOME) is not None
        bots = pa.table({"url": [HOME] * 100_000, "bot": ["x"] * 70_000 + ["a b"] + ["x"] * 29_999})
        with pytest.raises(robobatch.Error, match=r'^row 70000: no name of a crawler: "a b"'):
            decider.decide(bots, agent_column="bot", on_bad_agent="raise")
        nameless = pa.table({"url": [HOME] * 4, "bot": ["x", None, "", "a b"]})
        with pytest.raises(robobatch.Error, match=r"^row 1: no name of a crawler: the agent is null"):
            decider.decide(nameless, agent_column="bot", on_bad_agent="raise")
        with pytest.warns(robobatch.InputWarning, match="3 of 4 rows were rejected.* bad_agent 3"):
            decided = decider.decide(nameless, agent_column="bot", columns="allowed,reason,origin")
        assert decided["allowed"].to_pylist() == [True, None, None, None]
        assert decided["reason"].to_pylist() == ["default", *["bad_agent"] * 3]
        assert set(decided["origin"].to_pylist()) == {HOME[:-1]}
        with pytest.raises(
            robobatch.Error, match=r'no such column: "robot": the columns are url, bot: .* agent_column='
        ):
            decider.decide(bots, agent_column="robot")
        with pytest.raises(robobatch.Error, match='column "n" is int64'):
            decider.decide(pa.table({"url": [HOME], "n": [1]}), agent_column="n")
        with pytest.raises(ValueError, match="agents, agent_column and user_agent_column exclude"):
            decider.decide(bots, agent_column="bot", agents="x")
        with pytest.raises(ValueError, match="another role: name the column of the crawlers"):
            decider.decide(bots, agent_column="url")
        with pytest.raises(ValueError, match="columns is empty"):
            decider.decide(bots, columns=[])
        with pytest.raises(robobatch.Error, match='column "allowd" is unknown'):
            decider.decide(bots, columns="allowd")
        assert decider.allowed(HOME) is True
    with pytest.raises(ValueError, match="is closed"):
        decider.allowed(HOME)
    with pytest.raises(ValueError, match="is closed"):
        decider.explain(HOME)
    decider.close()


def test_explain() -> None:
    with robobatch.Decider(RULES, missing="null") as decider:
        why = decider.explain(HOME + "private", "Googlebot")
        assert "/dev/fd" not in why.text
        assert "rules:" in why.text
        assert (why.allowed, why.reason) == (False, "rule")
        assert "Disallow: /private" in str(why)
        assert why.data["origin"] == HOME[:-1]
        assert decider.explain("https://elsewhere.example/").allowed is None
        with pytest.raises(robobatch.Error, match="neither a URL nor a path"):
            decider.explain("no-url at all")
        with pytest.raises(TypeError, match="url is bytes"):
            decider.explain(HOME.encode())  # type: ignore[arg-type]


def test_what_is_no_array_of_texts() -> None:
    with robobatch.Decider(RULES) as decider:
        with pytest.raises(ValueError, match=r"^URLs are not Arrow strings: .*: pass an array of strings$"):
            decider.verdicts([1, HOME])
        with pytest.raises(ValueError, match=r"^crawlers are not Arrow strings: .*: pass an array of strings$"):
            decider.verdicts([HOME, HOME], pa.array([b"x", b"\xff"]))


def test_verdicts_of_arrays() -> None:
    urls = pa.chunked_array([[HOME, None], [HOME + "private"]], pa.large_string())
    agents = pa.array(["GPTBot", "*", None]).dictionary_encode()
    with robobatch.Decider(RULES) as decider:
        for rows in (urls, urls.combine_chunks(), urls.cast(pa.string()).combine_chunks().dictionary_encode()):
            found = decider.verdicts(rows, agents, ("allowed", "rule", "rule_line"))
            assert found.column(0).to_pylist() == [False, None, None]
            assert found.column(1).to_pylist() == ["Disallow: /", None, None]
            assert found.column(2).to_pylist() == [5, None, None]
        assert decider.verdicts(urls.slice(2)).column(0).to_pylist() == [False]
        assert decider.verdicts(pa.chunked_array([], pa.string())).num_rows == 0
        assert decider.verdicts(pa.nulls(2), pa.nulls(2)).column(0).to_pylist() == [None, None]
        for arrays in ([pa.array([1])], [pa.array(["x"]), pa.array([1])]):
            with pytest.raises(TypeError, match="must be strings, but these are int64: cast them to a string"):
                decider.verdicts(*arrays)


def test_warnings_are_about_all() -> None:
    decider = robobatch.Decider(RULES)
    for url in [HOME] * 20 + ["x"]:
        decider.allowed(url)
    assert decider.warnings() == []
    for url in ["x", "y"]:
        decider.allowed(url)
    assert [warning.code for warning in decider.warnings()] == ["no_urls"]
    assert decider.warnings() == []
    decider.allowed("x")
    with pytest.warns(robobatch.InputWarning, match="no row has a URL") as caught:
        decider.close()
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(robobatch.InputWarning, match="does not name a valid robots.txt"):
        page = robobatch.Decider("<html>\n<body>hello</body>\n</html>\n", origin=HOME[:-1])
    with page, pytest.warns(robobatch.InputWarning) as caught:
        page.decide(["https://elsewhere.example/"])
    assert [w.message.code for w in caught if isinstance(w.message, robobatch.InputWarning)] == ["no_robots"]


def test_threads() -> None:
    """Each of sixteen threads gets the answers to its own rows, for questions of all sizes at once."""
    with robobatch.Decider(RULES) as decider:

        def ask(i: int) -> bool:
            n = (1, 7, 2048, 70_000)[i % 4]
            private = [(i + k) % 3 == 0 for k in range(n)]
            urls = [f"{HOME}{'private' if p else 'open'}/{i}/{k}" for k, p in enumerate(private)]
            want = [not p for p in private]
            if i % 8 == 0:
                return bool(decider.decide(urls, columns="allowed")["allowed"].to_pylist() == want)
            if n == 1:
                return decider.allowed(urls[0]) == want[0]
            return bool(decider.verdicts(pa.array(urls)).column(0).to_pylist() == want)

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(ask, range(160)))
        assert len(ids()) <= 3


def test_killed_and_damaged_processes() -> None:
    with robobatch.Decider(RULES) as decider:
        for _ in range(3):
            assert decider.allowed(HOME) is True
            for process in ids():
                os.kill(process, signal.SIGKILL)
            assert decider.allowed(HOME, "GPTBot") is False
            assert decider.decide([HOME])["allowed"].to_pylist() == [True]


def test_a_table_for_a_process_that_was_just_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may seem to run although a signal has ended it: the table is sent once more."""
    with robobatch.Decider(RULES) as decider:
        assert decider.decide([HOME])["allowed"].to_pylist() == [True]
        for process in ids():
            os.kill(process, signal.SIGKILL)
        with monkeypatch.context() as seeming:
            seeming.setattr(Process, "runs", property(lambda _: True))
            assert decider.decide([HOME])["allowed"].to_pylist() == [True]


def test_one_fault_among_many_threads() -> None:
    """Only the thread with the wrong question gets an error; the others get their answers."""
    with robobatch.Decider(RULES) as decider:

        def ask(i: int) -> object:
            try:
                return decider.allowed(HOME, "a b" if i % 33 == 5 else "GPTBot")
            except robobatch.Error as error:
                return error.message[:7]

        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(ask, range(100)))
        assert got == ["-agent:" if i % 33 == 5 else False for i in range(100)]


def test_collected() -> None:
    decider = robobatch.Decider(RULES)
    assert decider.allowed(HOME) is True
    decider.decide([HOME])
    assert len(children()) == 2
    del decider
    gc.collect()
    assert children() == []


def test_a_fork_has_its_own() -> None:
    with robobatch.Decider(RULES) as decider:
        assert decider.allowed(HOME) is True

        def ask() -> None:
            assert decider.allowed(HOME, "GPTBot") is False
            assert decider.decide([HOME])["allowed"].to_pylist() == [True]
            decider.close()
            assert children() == []

        with decider._lock, next(iter(decider._lanes.values()))._lock:  # as another thread might hold them
            child = in_child(ask)
        assert os.waitpid(child, 0)[1] == 0
        assert decider.allowed(HOME) is True
        waiting = in_child(signal.pause)  # it holds no pipe open
        try:
            decider.close()
            assert children() == []
        finally:
            os.kill(waiting, signal.SIGKILL)
            os.waitpid(waiting, 0)


def in_pool(asked: tuple[robobatch.Decider, str]) -> bool | None:
    decider, url = asked
    return decider.allowed(url)


def test_no_rows() -> None:
    """A column without rows may have a type from which Arrow cannot make an array."""
    kind = pa.dictionary(pa.uint32(), pa.string_view())
    empty = pa.table({"url": pa.nulls(0, kind)})
    with robobatch.Decider(RULES) as decider:
        assert decider.decide(empty)["url"].type == kind
        assert decider.decide(empty.schema.empty_table().to_reader(), to="same").read_all().num_rows == 0
        batch = pa.RecordBatch.from_arrays([pa.nulls(0, kind)], ["url"])
        assert decider.decide(batch, to="same").num_rows == 0


def test_too_many_agents_for_a_command() -> None:
    with (
        robobatch.Decider(RULES) as decider,
        pytest.raises(robobatch.Error, match="for so many crawlers, use a column and agent_column="),
    ):
        decider.decide([HOME], agents=["x" * 100_000] * 100)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str) -> None:
    with robobatch.Decider(RULES) as decider:
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(in_pool, [(decider, HOME), (decider, HOME + "private")] * 4) == [True, False] * 4
            pool.close()
            pool.join()
        copy = pickle.loads(pickle.dumps(decider))  # noqa: S301 - it is ours
        with copy:
            assert copy.allowed(HOME) is True


SCRIPT = """
import os, signal, sys, threading, time
import pyarrow as pa
import robobatch
decider = robobatch.Decider({"https://example.com": "User-agent: *\\nDisallow: /private\\n"})
assert decider.allowed("https://example.com/") is True
decider.decide(["https://example.com/"])
"""
ENDS = {
    "it ends": "",
    "an exception": "raise SystemExit(0)",
    "os._exit": "os._exit(0)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "killed in the middle": """
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
while True:
    decider.verdicts(pa.array(["https://example.com/"] * 5000))
""",
    "killed in decide": """
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
while True:
    robobatch.decide(["https://example.com/"] * 50_000, rules={"https://example.com": "User-agent: *\\nDisallow:"})
""",
    "killed in stream": """
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
rules = os.environ["ROBOBATCH_BINARY"] + ".rules"
os.mkdir(rules)
open(rules + "/https_example.com.txt", "w").close()
endless = iter(lambda: pa.record_batch({"url": ["https://example.com/"] * 5000}), None)
for _ in robobatch.stream(endless, rules=rules):
    pass
""",
    "killed in a query": """
import duckdb, robobatch.duckdb
con = duckdb.connect()
robobatch.duckdb.register(con, rules=decider)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
con.sql("select count(*) from range(100_000_000) where robots_rule('https://example.com/', '*') = 'x'").fetchall()
""",
    "killed in an expression": """
import polars as pl, robobatch.polars
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
while True:
    pl.DataFrame({"url": ["https://example.com/"] * 100_000}).select(pl.col("url").robobatch.allowed(rules=decider))
""",
    "killed while it loads": """
threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
while True:
    robobatch.Decider({f"https://{i}.example": "User-agent: *\\nDisallow: /\\n" for i in range(3000)})
""",
}


@pytest.fixture
def own(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the program, so that its processes can be identified, and check that none is left."""
    copy = tmp_path / "robobatch"
    shutil.copyfile(program, copy)
    copy.chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("ROBOBATCH_BINARY", str(copy))
    monkeypatch.setenv("TMPDIR", str(temporary))
    yield copy
    wait_until(lambda: not running(copy))
    assert running(copy) == []
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.usefixtures("own")
def test_nothing_is_left(end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT + ENDS[end]], check=False, timeout=PATIENCE, capture_output=True
    )
    assert done.returncode <= 0, done.stderr  # it ended as it was told, and not by a fault


def test_nothing_is_left_beside_a_child(own: Path) -> None:
    """A child that outlives its killed parent keeps none of the parent's processes alive."""
    script = """
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    signal.alarm(900)
    signal.pause()
print(child, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + script], check=False, timeout=PATIENCE, stdout=subprocess.PIPE
    )
    child = int(done.stdout)
    try:
        wait_until(lambda: not running(own))
        assert running(own) == []
        os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)


CELLS = """
import threading, time
import duckdb, polars as pl, pyarrow as pa
import robobatch, robobatch.duckdb, robobatch.polars
rules = {"https://example.com": "User-agent: *\\nDisallow: /private\\n"}
decider = robobatch.Decider(rules)
con = duckdb.connect()
robobatch.duckdb.register(con, rules=decider)
def begin():
    print("begun", flush=True)
    return time.monotonic() + 900
# cell
end = begin()
while time.monotonic() < end:
    decider.decide(["https://example.com/"] * 100_000, columns="allowed")
# cell
end = begin()
while time.monotonic() < end:
    decider.allowed("https://example.com/")
# cell
end = begin()
while time.monotonic() < end:
    robobatch.decide(["https://example.com/"] * 100_000, rules=rules)
# cell
end = begin()
while time.monotonic() < end:
    con.sql("select count(*) from range(50_000) where robots_allowed('https://example.com/', '*')").fetchall()
# cell
end = begin()
while time.monotonic() < end:
    pl.DataFrame({"url": ["https://example.com/"] * 100_000}).select(pl.col("url").robobatch.allowed(rules=decider))
# cell
end = begin()
batches = iter(lambda: pa.record_batch({"url": ["https://example.com/"] * 5000}), None)
for _ in robobatch.stream(batches, rules="rules"):
    assert time.monotonic() < end
"""


@pytest.mark.usefixtures("rules")
def test_a_notebook(own: Path, tmp_path: Path) -> None:
    """After an interrupted cell the Decider works, and kernels that are killed or end leave nothing behind."""
    kernel = KernelManager()
    kernel.start_kernel(cwd=str(tmp_path), independent=False)
    try:
        client = kernel.blocking_client()
        client.start_channels()
        client.wait_for_ready(PATIENCE)
        first, *cells = CELLS.split("# cell\n")
        assert run_cell(client, first, lambda _: None) == "ok"
        for cell in cells:
            # DuckDB 2.0.1 alone makes a RuntimeError of every third interrupt, and loses every fourth.
            assert interrupt_cell(kernel, client, cell) in ("KeyboardInterrupt", "RuntimeError")
            again = "assert decider.decide(['https://example.com/private'])['allowed'].to_pylist() == [False]"
            assert (
                run_cell(client, f"{again}; assert decider.allowed('https://example.com/')", lambda _: None) == "ok"
            )
        assert len(running(own)) >= 2
        kernel.restart_kernel(now=True)
        client.wait_for_ready(PATIENCE)
        wait_until(lambda: not running(own))
        assert running(own) == []
        assert run_cell(client, first, lambda _: None) == "ok"
        client.stop_channels()
    finally:
        kernel.shutdown_kernel()


def run_cell(client: Any, cell: str, on_print: Callable[[str], object]) -> str:
    """Run a cell of a notebook. Returns ok, or the name of the exception."""

    def hook(message: Any) -> None:
        if message["msg_type"] == "stream":
            on_print(message["content"]["text"])

    reply = client.execute_interactive(cell, timeout=PATIENCE, output_hook=hook, allow_stdin=False)["content"]
    return str(reply["status"] if reply["status"] == "ok" else reply["ename"])


def interrupt_cell(kernel: KernelManager, client: Any, cell: str) -> str:
    """Run a cell, and interrupt it once it has begun, every ten seconds until it ends."""
    begun, ended = threading.Event(), threading.Event()

    def interrupt() -> None:
        begun.wait()
        while not ended.is_set():
            kernel.interrupt_kernel()
            ended.wait(10)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        return run_cell(client, cell, lambda _: begun.set())
    finally:
        ended.set()
        begun.set()
        thread.join()


def running(program: Path) -> list[str]:
    """Return the processes of a program by its name."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().startswith(os.fsencode(program) + b"\0"):
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_ctrl_c() -> None:
    """After an interrupt that a notebook sends to its kernel and all its children, the Decider works."""
    script = (
        SCRIPT
        + """
def interrupt():
    time.sleep(0.3)
    os.killpg(os.getpid(), signal.SIGINT)

seen = 0
for ask in (lambda: decider.decide(["https://example.com/"] * 2_000_000, columns="allowed"),
            lambda: [decider.allowed("https://example.com/") for _ in range(1_000_000)],
            lambda: robobatch.decide(["https://example.com/"] * 2_000_000,
                                     rules={"https://example.com": "User-agent: *\\nDisallow: /private\\n"})):
    threading.Thread(target=interrupt).start()
    try:
        while True:
            ask()
    except KeyboardInterrupt:
        seen += 1
    assert decider.allowed("https://example.com/private") is False
    assert decider.decide(["https://example.com/private"], columns="allowed")["allowed"].to_pylist() == [False]
print(seen)
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, start_new_session=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_a_thread_that_asks_while_it_is_closed() -> None:
    decider = robobatch.Decider(RULES)
    seen: list[str] = []

    def ask() -> None:
        try:
            while True:
                assert decider.allowed(HOME) is True
        except ValueError as err:
            seen.append(str(err))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.05)
    decider.close()
    thread.join()
    assert seen == ["the Decider is closed: create another"]
    assert children() == []
