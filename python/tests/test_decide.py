"""decide: all kinds of rows, with the verdicts of the program."""

from __future__ import annotations

import datetime
import os
import resource
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import robobatch

DEFAULT = ["origin", "allowed", "reason", "rule_line", "rule"]
URLS = ["https://example.com/private/x", "https://example.com/y", None, "", "no url"]
VERDICTS = [
    (False, "rule", 2),
    (True, "default", None),
    (None, "bad_url", None),
    (None, "bad_url", None),
    (None, "bad_url", None),
]
pytestmark = [pytest.mark.filterwarnings("ignore::robobatch.InputWarning"), pytest.mark.usefixtures("unchanged")]


def test_equal_to_a_run(pack: Path, whole: pa.Table) -> None:
    decided = robobatch.decide(whole.select(["url"]), rules=pack)
    assert decided.column_names == ["url", *DEFAULT]
    for name in DEFAULT:
        assert decided[name].to_pylist() == whole[name].to_pylist(), name


KINDS: dict[str, Callable[[list[str | None]], Any]] = {
    "list": lambda urls: urls,
    "tuple": tuple,
    "generator": iter,
    "bytes": lambda urls: [u and u.encode() for u in urls],
    "mixed": lambda urls: [urls[0] and urls[0].encode(), *urls[1:]],
    "numpy": lambda urls: np.array(urls, dtype=object),
    "array": pa.array,
    "large": lambda urls: pa.array(urls, pa.large_string()),
    "view": lambda urls: pa.array(urls, pa.string_view()),
    "binary": lambda urls: pa.array(urls, pa.binary()),
    "dictionary": lambda urls: pa.array(urls).dictionary_encode(),
    "chunked": lambda urls: pa.chunked_array([urls[:2], urls[2:]], pa.string()),
    "table": lambda urls: pa.table({"url": urls}),
    "batch": lambda urls: pa.record_batch({"url": pa.array(urls)}),
    "reader": lambda urls: pa.table({"url": urls}).to_reader(),
    "pandas": lambda urls: pd.DataFrame({"url": urls}),
    "pandas objects": lambda urls: pd.DataFrame({"url": pd.Series(urls, dtype=object)}),
    "pandas categories": lambda urls: pd.DataFrame({"url": pd.Series(urls, dtype="category")}),
    "pandas series": pd.Series,
    "Polars": lambda urls: pl.DataFrame({"url": urls}),
    "Polars categories": lambda urls: pl.DataFrame({"url": pl.Series(urls, dtype=pl.Categorical)}),
    "Polars series": pl.Series,
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_rows(kind: str, rules: Path) -> None:
    decided = robobatch.decide(KINDS[kind](URLS), rules=rules, columns=["allowed", "reason", "rule_line"])
    assert decided.column_names == ["url", "allowed", "reason", "rule_line"]
    rows = [(row["allowed"], row["reason"], row["rule_line"]) for row in decided.to_pylist()]
    assert rows == VERDICTS


def test_no_rows(rules: Path) -> None:
    nothing: list[Any] = [[], pa.table({"url": pa.array([], pa.string())}), pl.DataFrame({"url": []})]
    for none in [*nothing, pd.DataFrame({"url": []}, dtype=str)]:
        decided = robobatch.decide(none, rules=rules)
        assert decided.num_rows == 0
        assert decided.column_names == ["url", *DEFAULT]


def test_all_null(rules: Path) -> None:
    assert robobatch.decide([None, None], rules=rules)["reason"].to_pylist() == ["bad_url"] * 2
    assert robobatch.decide(pa.table({"url": pa.nulls(2)}), rules=rules)["reason"].to_pylist() == ["bad_url"] * 2


def test_other_columns_stay(rules: Path) -> None:
    table = pa.table({
        "n": [1, 2, 3],
        "link": ["https://example.com/private", "https://example.com/", None],
        "lists": [[{"a": 1}], [], None],
        "words": pa.array(["a", "b", "a"]).dictionary_encode(),
    }).replace_schema_metadata({"of": "the rows"})  # fmt: skip
    decided = robobatch.decide(table, rules=rules, url="link", columns=["allowed"], prefix="may_be_")
    assert decided.select(table.column_names).equals(table, check_metadata=True)
    assert decided["may_be_allowed"].to_pylist() == [False, True, None]


def test_agents(rules: Path) -> None:
    urls = ["https://example.com/x"]
    decided = robobatch.decide(urls, rules=rules, agents=["*", "otherbot"], columns=["agent", "allowed"]).to_pylist()
    assert decided == [
        {"url": urls[0], "agent": "*", "allowed": True}, {"url": urls[0], "agent": "otherbot", "allowed": False},
    ]  # fmt: skip
    wide = robobatch.decide(urls, rules=rules, agents=["*", "otherbot"], columns="allowed", layout="wide").to_pylist()
    assert wide == [{"url": urls[0], "allowed_star": True, "allowed_otherbot": False}]
    assert robobatch.decide(urls, rules=rules, agents="otherbot")["allowed"].to_pylist() == [False]


def test_options(rules: Path) -> None:
    there, elsewhere = "https://example.com/private", "https://elsewhere.example/"
    text = rules / "https_example.com.txt"
    decided = robobatch.decide([there], rules=text, origin="https://example.com", dialect="rfc9309", workers=1)
    assert decided["allowed"].to_pylist() == [False]
    decided = robobatch.decide([elsewhere], rules=rules, missing="null", max_memory="128MiB")
    assert decided["allowed"].to_pylist() == [None]
    for moment in (
        "2100-01-31",
        datetime.date(2100, 1, 31),
        datetime.datetime(2100, 1, 31, tzinfo=datetime.timezone.utc),
    ):
        assert robobatch.decide([there], rules=rules, as_of=moment)["allowed"].to_pylist() == [False]
    with pytest.raises(ValueError, match="without a time zone"):
        robobatch.decide([there], rules=rules, as_of=datetime.datetime(2026, 1, 31))
    decided = robobatch.decide([there], rules=rules, flags=["-url-as-is"])
    assert decided["allowed"].to_pylist() == [False]


HOSTILE = [
    "https://example.com/private\n/x",
    "https://example.com/\x00",
    "robobatch: warning: not one [no_urls]",
    "https://example.com/" + "a" * 100_000,
    "https://example.com/\u202e\U0001f4a9",
    "https://[::1",
    "https://" + "a." * 5_000 + "example/",
    "//example.com/private",
    "https://example.com:99999/",
    " https://example.com/private ",
    "https://a.example\nrobobatch: end of stream 1\n/",
    "https://b.example/\nrobobatch: end of stream 1\n",
]


def test_hostile_rows(rules: Path) -> None:
    decided = robobatch.decide(HOSTILE, rules=rules)
    assert decided["url"].to_pylist() == HOSTILE
    assert decided["reason"].to_pylist()[3] == "bad_url"
    garbage = [b"\xff\xfe", b"https://example.com/private\xff", bytes(range(256))]
    decided = robobatch.decide(garbage, rules=rules)
    assert decided["url"].to_pylist() == garbage
    assert decided["allowed"].to_pylist() == [None, False, None]


def test_huge_rows(rules: Path) -> None:
    """A text is copied through two pipes at once, both far smaller than the text."""
    rows = ["https://example.com/" + "x" * (32 << 20), "https://example.com/private"]
    assert robobatch.decide(rows, rules=rules)["reason"].to_pylist() == ["bad_url", "rule"]


@pytest.mark.parametrize(
    ("rows", "kind", "said"),
    [
        ("https://example.com/", TypeError, "write a list"),
        (b"https://example.com/", TypeError, "write a list"),
        ([1], TypeError, "URL 0 is int, 1: use str, bytes or None"),
        (["https://example.com/", 1.5], TypeError, "URL 1 is float"),
        (["a", "\ud800"], ValueError, "URL 1 has half a surrogate pair"),
        ({"url": ["x"]}, TypeError, "rows is dict"),
        (None, TypeError, "rows is NoneType"),
        (np.array([["x"]]), TypeError, r"of 2 dimensions: .* rows\[:, 0\]"),
        (np.array([1.5]), TypeError, "URL 0 is float64"),
        (pa.table({"u": ["x"], "v": [1]}), robobatch.Error, 'no such column: "url": the columns are u, v'),
        (pa.Table.from_arrays([pa.array(["x"])] * 2, ["url", "url"]), robobatch.Error, '2 columns are named "url"'),
        (pa.table({"url": [1]}), robobatch.Error, 'not a type of text: column "url" is int64: cast it .* with url='),
        (pd.DataFrame({"url": [1]}), robobatch.Error, 'column "url" is int64'),
        (pd.DataFrame({"url": ["x", 7]}), TypeError, "URL 1 is int"),
        (pd.DataFrame({"url": ["x", "x"], "n": [1, "a"]}), TypeError, "a column of rows .* for column n .*cast it"),
        (pl.DataFrame({"url": [["x"]]}), robobatch.Error, 'column "url" is large_list'),
        (
            pa.table({"url": ["x"], "rule": ["y"]}),
            robobatch.Error,
            'already have a column "rule": .* prefix=, or .* columns=',
        ),
    ],
)
def test_wrong_rows(rows: object, kind: type[Exception], said: str, rules: Path) -> None:
    with pytest.raises(kind, match=said):
        robobatch.decide(rows, rules=rules)


def test_wrong_questions(rules: Path) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'agent'"):
        robobatch.decide(["x"], rules=rules, agent="x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unknown argument 'agent': use rules, url, agents"):
        robobatch.stream([], rules=rules, agent="x")  # type: ignore[call-arg]
    for name in ("agents", "columns"):
        with pytest.raises(ValueError, match=f"{name} is empty: name at least one"):
            robobatch.decide(["x"], rules=rules, **{name: []})  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="to is 'json': use one of arrow, pandas"):
        robobatch.decide(["x"], rules=rules, to="json")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="as_of is int, 5: use a str, a date or a datetime"):
        robobatch.decide(["x"], rules=rules, as_of=5)  # type: ignore[call-overload]
    with pytest.raises(robobatch.Error, match=r'unknown origin: add origin="https://www.example.com", or name'):
        robobatch.decide(["x"], rules=__file__)
    with pytest.raises(robobatch.Error) as caught:
        robobatch.decide(["x"], rules=rules, columns=["allowd"], agents=["a", "a"], dialect="bing")
    assert caught.value.exit_code == 2
    assert str(caught.value).splitlines() == [
        'dialect: unknown dialect "bing": use one of rfc9309, google, google-2010, yandex',
        'agents: "a" is named twice: name it once',
        'columns: column "allowd" is unknown: '
        "choose from origin,agent,allowed,reason,rule_line,rule,canonical_url,violation,binding,verified,"
        "verified_by,content_usage,content_usage_line,"
        "content_signal,content_signal_line,license,use_train_ai,use_search,use_ai_input,"
        "policy_train_ai,policy_train_ai_line; did you mean allowed?",
    ]
    assert caught.value.message.startswith("-dialect: ")
    with pytest.raises(robobatch.Error, match='column "-rules" is unknown'):
        robobatch.decide(["x"], rules=rules, columns=["-rules"])


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nosuch.rbp", 2),
        ("-rules", 2),
        ("two\nlines", None),
        ("\u202e", 2),
        ("a: b", 2),
        ("", 2),
    ],  # None: no program ran
)
def test_rules_that_are_not_there(
    name: str, code: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(robobatch.Error) as caught:
        robobatch.decide(["https://example.com/"], rules=name)
    assert caught.value.exit_code == code
    assert "\u202e" not in str(caught.value)


def test_rules_named_by_bytes(rules: Path) -> None:
    named: Any = os.fsencode(rules)
    assert robobatch.decide(["https://example.com/private"], rules=named)["allowed"].to_pylist() == [False]


def test_no_more_open_files(rules: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) - 1, hard))
    try:
        with pytest.raises(robobatch.Error, match="Too many open files: use fewer processes"):
            robobatch.decide(["https://example.com/"], rules=rules)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_damaged_pack(pack: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.rbp"
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    data[-10] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(robobatch.Error, match=r"damaged\.rbp") as caught:
        robobatch.decide(["https://www.sba.gov/"], rules=damaged)
    assert caught.value.exit_code == 2
    assert caught.value.remedy


def test_warnings(rules: Path) -> None:
    with pytest.warns(robobatch.InputWarning, match="1 of 2 rows were rejected") as caught:
        robobatch.decide(["https://example.com/", "x"], rules=rules)
    assert [(w.message.code, w.filename) for w in caught if isinstance(w.message, robobatch.InputWarning)] == [
        ("rejected_lines", __file__)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(robobatch.InputWarning, match="name the URL column with url="):
            robobatch.decide(["x"], rules=rules)


def test_polars(pack: Path, whole: pa.Table) -> None:
    """The example of docs/LAKE.md."""
    log = pl.DataFrame({"url": whole["url"].to_pylist()})
    decided = pl.DataFrame(robobatch.decide(log, rules=pack, columns=["allowed", "reason"]))
    counts = decided.group_by("reason", "allowed").len().sort("len").rows()
    assert counts[-1] == ("default", True, 24372)


def test_dask(pack: Path, whole: pa.Table) -> None:
    """The example of docs/LAKE.md."""
    log = dask.dataframe.from_pandas(whole.select(["url"]).to_pandas(), npartitions=4)

    def verdicts(part: pd.DataFrame) -> pd.DataFrame:
        return robobatch.decide(part, rules=pack, columns=["allowed", "rule_line"], workers=1).to_pandas()

    decided = log.map_partitions(verdicts, meta=verdicts(log.head(0))).compute()
    assert (
        decided["rule_line"].astype("Int32").to_list()
        == pd.Series(whole["rule_line"].to_pylist(), dtype="Int32").to_list()
    )
    assert decided["allowed"].to_list() == whole["allowed"].to_pylist()
