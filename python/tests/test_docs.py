"""The examples of the documents run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("page", ["PYTHON.md", "ENGINES.md", "CLUSTER.md"])
def test_examples(
    page: str,
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
    names: dict[str, object] = {}
    if page == "CLUSTER.md":
        names["spark"] = request.getfixturevalue("spark")
    text = (DOCS / page).read_text()
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        said = [
            line.partition("  # ")[2].strip() for line in example.splitlines() if re.search(r"print\(.*\) +# ", line)
        ]
        capsys.readouterr()
        exec(compile(example, page, "exec"), names)  # noqa: S102 - it is ours
        printed = capsys.readouterr().out.splitlines()
        if said:
            assert printed == [line.strip() for line in said]
    if page == "CLUSTER.md":
        assert isinstance(names["spark"], SparkSession)
        assert pq.read_table(tmp_path / "verdicts.parquet").num_rows == whole.num_rows
