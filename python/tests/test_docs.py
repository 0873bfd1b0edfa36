"""Runs the examples of docs/LAKE.md."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import children
from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.filterwarnings("ignore")


def examples() -> list[str]:
    """Return the Python examples."""
    return re.findall(r"^```python\n(.*?)^```", (DOCS / "LAKE.md").read_text(), re.MULTILINE | re.DOTALL)


def test_examples(
    pack: Path,
    whole: pa.Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    (tmp_path / "rules.rbp").write_bytes(pack.read_bytes())
    pq.write_table(whole.select(["line", "url"]), tmp_path / "urls.parquet")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"spark": request.getfixturevalue("spark")}
    here = [example for example in examples() if "import ray" not in example]  # test_ray runs that
    assert len(here) == 9
    for example in here:
        said = [
            line.partition("  # ")[2].strip() for line in example.splitlines() if re.search(r"print\(.*\) +# ", line)
        ]
        capsys.readouterr()
        exec(compile(example, "LAKE.md", "exec"), names)  # noqa: S102 - it is ours
        printed = capsys.readouterr().out.splitlines()
        if said:
            assert printed == [line.strip() for line in said]
    assert isinstance(names["spark"], SparkSession)
    assert pq.read_table(tmp_path / "verdicts.parquet").num_rows == whole.num_rows
    names.clear()  # the functions of the examples hold each other, and a Decider
    gc.collect()
    assert children() == []
