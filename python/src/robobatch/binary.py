"""Finding the program."""

from __future__ import annotations

import os
import shutil
import site
import stat
import sysconfig
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath

from robobatch.errors import Error

_NAME = "robobatch.exe" if os.name == "nt" else "robobatch"


def find_binary() -> str:
    """Return the path of the program.

    It is, in this order, the one in the environment variable ROBOBATCH_BINARY, the one that was installed with this
    package (even if its directory is not in PATH), the one in the wheel that this package is imported from, or the
    first in PATH.
    """
    named = os.environ.get("ROBOBATCH_BINARY")
    if named:
        if not _runs(Path(named)):
            raise Error(f"ROBOBATCH_BINARY is {named}, which {_trouble(Path(named))}, or unset it")
        return str(Path(named).absolute())
    idle = None  # found, but not executable
    for candidate in (*_recorded(), *_beside()):
        if _runs(candidate):
            return str(candidate)
        if candidate.is_file():
            idle = idle or candidate
    zipped = _from_wheel()
    if zipped:
        return zipped
    in_path = shutil.which("robobatch")
    if in_path:
        return str(Path(in_path).absolute())
    if idle is not None:
        raise Error(f"the program is {idle}, which {_trouble(idle)}, or set ROBOBATCH_BINARY to another program")
    raise Error(
        f"the program robobatch is neither beside {Path(__file__).parent} nor in PATH: "
        "install the wheel for this system, or set ROBOBATCH_BINARY to the program"
    )


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _trouble(path: Path) -> str:
    """Return why a file cannot run, and what to do."""
    if not path.is_file():
        return "is not a program: name the file robobatch"
    if not path.stat().st_mode & 0o111:
        return f"is not executable: run chmod +x {path}"
    return (
        "cannot be executed there: the file system is mounted noexec, or belongs to another user: copy it elsewhere"
    )


def _recorded() -> list[Path]:
    """Return the program listed in the record of the installed wheel, for any installation scheme."""
    here = Path(__file__).resolve()
    for dist in metadata.distributions(name="robobatch"):
        files = dist.files or []
        if any(Path(str(dist.locate_file(f))).resolve() == here for f in files if f.name == here.name):
            return [Path(str(dist.locate_file(f))).resolve() for f in files if f.name == _NAME]
    return []


def _beside() -> list[Path]:
    """Return the script directories that belong to the location of this package."""
    here = Path(__file__).resolve().parent.parent
    schemes = [sysconfig.get_default_scheme()]
    if site.ENABLE_USER_SITE:
        schemes.append(sysconfig.get_preferred_scheme("user"))
    found = [
        Path(paths["scripts"]) / _NAME
        for paths in (sysconfig.get_paths(scheme) for scheme in schemes)
        if Path(paths["purelib"]).resolve() == here
    ]
    return [*found, here / "bin" / _NAME]  # pip install --target


def _from_wheel() -> str | None:
    """Return the program of the wheel that this package is imported from, unpacked beside the wheel.

    Spark imports wheels so with --py-files. Files beside the wheel are as trustworthy as the wheel itself.
    """
    wheel = Path(__file__).absolute().parent.parent  # Spark's path has ./robobatch.zip
    if not wheel.is_file() or not zipfile.is_zipfile(wheel):
        return None
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            path = PurePosixPath(info.filename)
            if path.name != _NAME or path.parent.name != "scripts":
                continue
            target = wheel.with_name(f"{wheel.name}.{info.CRC:08x}.{_NAME}")
            if not _unpacked(target, info.file_size):
                _unpack(archive, info, target)
            if not _runs(target):
                raise Error(f"the program is {target}, which {_trouble(target)}, and set ROBOBATCH_BINARY to it")
            return str(target)
    return None


def _unpacked(target: Path, size: int) -> bool:
    """Report whether the program exists and only trusted users can have written it, unlike in /tmp."""
    try:
        found = target.lstat()
    except OSError:
        return False
    if os.name != "nt" and (found.st_uid not in (0, os.getuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size and os.access(target, os.X_OK)


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> None:
    """Write a member of the archive. Several processes may do so at once; the last one replaces the file."""
    try:
        number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(number, "wb") as out, archive.open(info) as member:
                shutil.copyfileobj(member, out, 1 << 20)
            temporary.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as err:
        raise Error(
            f"the program cannot be unpacked from {archive.filename}: {err.strerror}: "
            "install the wheel, or set ROBOBATCH_BINARY to the program"
        ) from err
