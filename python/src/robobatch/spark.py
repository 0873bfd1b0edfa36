"""Verdicts for DataFrames of Spark: by mapInArrow, and one process of robobatch a worker of Python."""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import BinaryType, CharType, StringType, StructField, StructType, VarcharType

from robobatch.errors import Doubt, Error
from robobatch.kept import kept
from robobatch.process import started
from robobatch.question import Options, arguments, url_column
from robobatch.rows import check_names
from robobatch.verdicts import extended, verdict_schema

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Shipped:
    """A pack that Spark copies to each executor, once, when the first task there needs it."""

    name: str

    def path(self) -> str:
        """Return the copy on the node of this task."""
        return SparkFiles.get(self.name)


_copies: dict[str, Path] = {}  # of packs that were shipped, by digest


def ship(spark: SparkSession, pack: str | os.PathLike[str]) -> Shipped:
    """Give a pack of ``robobatch compile`` to all executors, and return the rules to name.

    The file is copied first, under a name that has the hash of its bytes. So a pack that is compiled again under
    the same name is shipped again.
    """
    source = Path(pack)
    if source.is_dir():
        raise Error(
            f"{source} is a directory: compile it first, as in: robobatch compile -rules {source} -out rules.rbp"
        )
    try:
        with source.open("rb") as file:
            hashed = hashlib.sha256()
            while block := file.read(1 << 20):
                hashed.update(block)
            digest = hashed.hexdigest()[:16]
            if digest not in _copies:
                directory = tempfile.mkdtemp(prefix="robobatch-")
                atexit.register(shutil.rmtree, directory, ignore_errors=True)
                _copies[digest] = Path(directory, f"{source.stem}-{digest}{source.suffix}")
            copy = _copies[digest]
            if not copy.exists():  # it is new, or a cleaner of temporary files has removed it
                file.seek(0)  # another file may have the name by now
                _copy(file, copy)
    except OSError as err:
        raise Error(f"{source}: {err.strerror}: name a pack that robobatch compile has made") from err
    try:
        spark.sparkContext.addFile(str(copy))
    except NotImplementedError:  # Spark Connect has no SparkContext
        spark.addArtifacts(str(copy), file=True)
    return Shipped(copy.name)


def _copy(file: BinaryIO, to: Path) -> None:
    """Copy a file under a name in a directory that nobody else may write to, which is made if it is gone.

    Executors that come later fetch what was shipped by that name, and no task runs if it is not there.
    """
    to.parent.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "geteuid") and to.parent.lstat().st_uid != os.geteuid():
        raise PermissionError(errno.EACCES, f"{to.parent}, which has its copies, is another user's")
    with to.open("xb") as out:
        shutil.copyfileobj(file, out, 1 << 20)


def with_verdicts(df: DataFrame, *, rules: str | os.PathLike[str] | Shipped, **options: Unpack[Options]) -> DataFrame:
    """Return the DataFrame with the columns of the verdicts behind its own.

    ``rules`` is what ``ship`` returned, or a path that all nodes have, or an address as s3://bucket/rules.rbp,
    if the program reads such. The options are those of ``decide``; ``workers`` is 1 if it is not given, as a task
    has one core. They are checked here, by the program of this machine; the rules are read by the tasks.
    """
    asked: Options = {"workers": 1, **options}
    added = verdict_schema(asked)
    _check_columns(df, url_column(asked), added)
    plain = pa.schema([field.with_type(_plain(field.type)) for field in added])
    fields = [StructField(field.name, from_arrow_type(field.type)) for field in plain]
    names = [*df.columns, *added.names]
    own = df.schema.fields
    if _hard(df.columns):
        index = df.columns.index(url_column(asked))
        df = df.toDF(*(f"_{i}" for i in range(len(own))))
        own, asked = df.schema.fields, {**asked, "url": f"_{index}"}
    decided = df.mapInArrow(_task(rules, asked, plain), StructType([*own, *fields]))
    return decided if decided.columns == names else decided.toDF(*names)


def _hard(names: list[str]) -> bool:
    """Report whether mapInArrow would not find columns by their names: dots are parts of structs to it."""
    return len(set(map(str.lower, names))) < len(names) or any(sign in name for name in names for sign in ".`")


def _check_columns(df: DataFrame, url: str, added: pa.Schema) -> None:
    names = df.columns
    if names.count(url) != 1:
        trouble = f'{names.count(url)} columns are named "{url}"' if url in names else f'no such column: "{url}"'
        raise Error(f"{trouble}: the DataFrame has {', '.join(names)}: name the column of the URLs with -url-column")
    kind = df.schema[url].dataType
    if not isinstance(kind, StringType | BinaryType | CharType | VarcharType):
        raise Error(
            f'not a type of text: column "{url}" is {kind.simpleString()}: '
            "cast it to a string, or name another with -url-column"
        )
    if str(df.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() != "true":
        names = [name.lower() for name in names]
    check_names(names, added.names)


def _task(
    rules: str | os.PathLike[str] | Shipped, options: Options, plain: pa.Schema
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task calls."""
    where = rules if isinstance(rules, Shipped) else os.fspath(rules)
    question = uuid.uuid4().hex

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        path = where.path() if isinstance(where, Shipped) else where
        asked = arguments(path, options)
        process = kept(question, path, asked) if os.environ.get("SPARK_REUSE_WORKER") else started(asked)
        for batch in extended(batches, process, url_column(options), _print):
            own = batch.num_columns - len(plain)
            verdicts = [_cast(column) for column in batch.columns[own:]]
            schema = pa.schema([*list(batch.schema)[:own], *plain])
            yield pa.RecordBatch.from_arrays([*batch.columns[:own], *verdicts], schema=schema)

    return task


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type without a dictionary, which Spark does not read."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _cast(column: pa.Array[Any]) -> pa.Array[Any]:
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _print(doubt: Doubt) -> None:
    """Print a doubt where the executor keeps what tasks print."""
    print(f"robobatch: doubt: {doubt}", file=sys.stderr)
