"""The example of docs/LAKE.md with Ray, on a local cluster."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_docs import examples

# Its processes outlive a test, so this file is run by itself: make python-ray does.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_ray(pack: Path, whole: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    (tmp_path / "rules.rbp").write_bytes(pack.read_bytes())
    pq.write_table(whole.select(["line", "url"]), tmp_path / "urls.parquet")
    monkeypatch.chdir(tmp_path)
    (example,) = (text for text in examples() if "import ray" in text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    try:
        names: dict[str, object] = {"__name__": "__main__"}  # so that Ray sends the class by value
        exec(compile(example, "LAKE.md", "exec"), names)  # noqa: S102 - it is ours
    finally:
        ray.shutdown()
    got = pq.read_table(tmp_path / "by-ray").sort_by("line")
    for name in ("line", "url", "allowed", "rule_line"):
        assert got[name].to_pylist() == whole[name].to_pylist(), name
