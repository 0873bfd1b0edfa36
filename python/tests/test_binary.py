"""Finding the program after each kind of installation of the wheel."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import robobatch

PACKAGE = Path(robobatch.__file__).parent
FAKE = "#!/bin/sh\necho the program of the wheel, with $*\n"
FIND = "import robobatch; print(robobatch.find_binary())"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel like that of a release: the package, and a program under .data/scripts."""
    made = tmp_path_factory.mktemp("wheel") / "robobatch-1.2.3-py3-none-any.whl"
    files = {f"robobatch/{p.name}": p.read_bytes() for p in PACKAGE.iterdir() if p.is_file()}
    files["robobatch-1.2.3.data/scripts/robobatch"] = FAKE.encode()
    about = "robobatch-1.2.3.dist-info/"
    files[about + "METADATA"] = b"Metadata-Version: 2.1\nName: robobatch\nVersion: 1.2.3\n"
    files[about + "WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items()
    )
    files[about + "RECORD"] = (record + about + "RECORD,,\n").encode()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFREG | (0o755 if "scripts" in name else 0o644)) << 16
            archive.writestr(info, data)
    return made


def python(*arguments: str, executable: str = sys.executable, **environment: str) -> str:
    """Run Python without PATH, and without the environment of this process."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PATH", "PYTHONPATH", "ROBOBATCH_BINARY")}
    done = subprocess.run(
        [executable, *arguments], capture_output=True, text=True, env={**clean, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def install(wheel: Path, *flags: str, executable: str, **environment: str) -> None:
    """Install the wheel for an interpreter, which may lack pip."""
    quiet = ["-q", "--no-index", "--no-warn-script-location", "--disable-pip-version-check"]
    python("-m", "pip", f"--python={executable}", "install", *quiet, *flags, str(wheel), **environment)


def finds(executable: str, *arguments: str, **environment: str) -> Path:
    """Return the program that an interpreter finds; it must run."""
    found = python(*arguments, "-c", FIND, executable=executable, **environment)
    said = python("-m", "robobatch", "a", "b", executable=executable, **environment)
    assert said == "the program of the wheel, with a b"
    return Path(found)


def test_venv(wheel: Path, tmp_path: Path) -> None:
    python("-m", "venv", "--without-pip", str(tmp_path / "venv"))
    inside = str(tmp_path / "venv" / "bin" / "python")
    python(
        "-m", "pip", f"--python={inside}", "install", "-q", "--no-index", "--disable-pip-version-check", str(wheel)
    )
    assert finds(inside) == (tmp_path / "venv" / "bin" / "robobatch").resolve()
    assert "pip install 'pyarrow>=16'" in python(
        "-c", "import robobatch\ntry: robobatch.decide\nexcept ImportError as e: print(e)", executable=inside
    )
    moved = tmp_path / "moved"  # as Spark unpacks an archive
    shutil.copytree(tmp_path / "venv", moved, symlinks=True)
    shutil.rmtree(tmp_path / "venv")
    assert finds(str(moved / "bin" / "python")) == (moved / "bin" / "robobatch").resolve()


@pytest.mark.parametrize("flags", [["--target=HERE"], ["--prefix=HERE"], ["--user"]])
def test_other_schemes(flags: Sequence[str], wheel: Path, tmp_path: Path) -> None:
    base = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    environment = {"PYTHONUSERBASE": str(tmp_path), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    where = [flag.replace("HERE", str(tmp_path)) for flag in flags]
    install(wheel, "--no-deps", "--ignore-installed", *where, executable=base, **environment)
    package = next(tmp_path.rglob("robobatch/__init__.py")).parent.parent
    found = finds(base, **environment) if flags == ["--user"] else finds(base, PYTHONPATH=str(package))
    assert found == (tmp_path / "bin" / "robobatch").resolve()


def test_from_the_wheel_itself(wheel: Path, tmp_path: Path) -> None:
    shipped = tmp_path / "robobatch.zip"  # Spark takes .zip, not .whl
    shutil.copy(wheel, shipped)
    for _ in range(2):
        found = finds(sys.executable, PYTHONPATH=str(shipped))
        assert found.parent == tmp_path
        assert found.read_text() == FAKE
    command = [sys.executable, "-m", "robobatch"]  # a path of Spark's is relative
    relative = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": "./robobatch.zip"}, capture_output=True, text=True, check=False
    )
    assert relative.stdout.startswith("the program of the wheel"), relative.stderr
    others = [p for p in tmp_path.iterdir() if p not in (shipped, found)]
    assert others == []
    found.write_text("cut")  # by a disk that was full
    assert finds(sys.executable, PYTHONPATH=str(shipped)).read_text() == FAKE
    other = FAKE.replace("wheel", "thief")  # of the same size, where all may write
    found.write_text(other)
    found.chmod(0o777)
    assert finds(sys.executable, PYTHONPATH=str(shipped)).read_text() == FAKE
    found.unlink()
    (tmp_path / "thief").write_text(other)
    found.symlink_to(tmp_path / "thief")
    assert finds(sys.executable, PYTHONPATH=str(shipped)).read_text() == FAKE


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.write_text(FAKE)
    monkeypatch.setenv("ROBOBATCH_BINARY", str(other))
    with pytest.raises(robobatch.Error, match="which is not executable"):
        robobatch.find_binary()
    other.chmod(0o755)
    assert robobatch.find_binary() == str(other)
    other.write_bytes(b"\x7fELF of another machine")
    with pytest.raises(robobatch.Error, match="Exec format error: install the wheel for this system"):
        robobatch.decide(["x"], rules="x")


def test_path_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROBOBATCH_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(robobatch.Error, match="nor in PATH: install the wheel"):
        robobatch.find_binary()
    (tmp_path / "robobatch").write_text(FAKE)
    (tmp_path / "robobatch").chmod(0o755)
    assert robobatch.find_binary() == str(tmp_path / "robobatch")
