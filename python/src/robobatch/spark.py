"""Verdicts in Spark: ``with_verdicts`` for DataFrames, and the SQL functions of ``register``.

They need ``pip install 'pandas>=2.2' 'pyspark>=4'``. Tasks run the Python that the environment
variable PYSPARK_PYTHON names when the session starts, or else ``python3``: install the same packages there.

    >>> import os
    >>> import sys
    >>> os.environ["PYSPARK_PYTHON"] = sys.executable  # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> warnings = robobatch.spark.register(spark, "rules.rbp")  # doctest: +SKIP
    >>> spark.read.parquet("log.parquet").createOrReplaceTempView("log")  # doctest: +SKIP
    >>> spark.sql("select url, robots_allowed(url, 'Googlebot') as allowed from log").show()  # doctest: +SKIP
    >>> warnings.found()  # doctest: +SKIP
    []

A Python worker reuses one process of robobatch for its tasks, and ends it after five idle seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, SparkFiles, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import BinaryType, CharType, DataType, StringType, StructField, StructType, VarcharType

from robobatch.errors import Error, InputWarning
from robobatch.kept import kept
from robobatch.process import Process, started
from robobatch.question import Options, arguments, columns_read, has_times, request_columns
from robobatch.rows import check_names, column_index, flattened, is_text
from robobatch.verdicts import answers, columns_sent, extended, verdict_schema

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Shipped", "Warnings", "register", "ship", "with_verdicts"]


@dataclass(frozen=True)
class Shipped:
    """A pack that Spark copies to each executor once, when its first task needs it."""

    name: str

    def path(self) -> str:
        """Return the copy on the node of this task."""
        found = SparkFiles.get(self.name)
        if not Path(found).exists():
            raise Error(_NOT_SHIPPED)
        return found


_NOT_SHIPPED = (
    "this task has no shipped files, as in a stream of Spark Connect: give with_verdicts a path that all nodes have"
)


def ship(spark: SparkSession, pack: str | os.PathLike[str]) -> Shipped:
    """Copy a pack of ``robobatch compile`` to all executors, and return it for ``with_verdicts`` and ``register``.

    The copy has the hash of its bytes in its name, so a pack that was compiled again under
    the same name is copied again. Spark removes the copy with its temporary files.
    """
    _check_python(spark)
    source = Path(_named(pack))
    if source.is_dir():
        raise Error(f"{source} is a directory: compile it first: robobatch compile -rules {source} -out rules.rbp")
    try:
        with source.open("rb") as file:
            hashed = hashlib.sha256()
            while block := file.read(1 << 20):
                hashed.update(block)
            name = f"{source.stem}-{hashed.hexdigest()[:16]}{source.suffix}"
            file.seek(0)  # another file may have the name of the pack by now
            if _is_remote(spark):  # the server has its own copy then
                with tempfile.TemporaryDirectory(prefix="robobatch-") as directory:
                    spark.addArtifacts(str(_copy(file, Path(directory, name))), file=True)
                return Shipped(name)
            # Executors that start later fetch it by this name; without it, no task runs.
            copy = Path(SparkFiles.getRootDirectory(), "robobatch", name)
            if not copy.exists():
                _copy(file, copy)
    except OSError as err:
        raise Error(f"{source}: {err.strerror}: name a pack that robobatch compile has made") from err
    spark.sparkContext.addFile(str(copy))
    return Shipped(name)


def _named(rules: str | os.PathLike[str]) -> str:
    """Return the name of the file of rules; types are not checked in a notebook."""
    if not isinstance(rules, str | os.PathLike):
        raise TypeError(
            f"rules is {type(rules).__name__}: Spark takes the path of a pack that robobatch compile made"
        )
    return os.fspath(rules)


def _check_python(spark: SparkSession) -> None:
    """Raise an error if the tasks' Python, if it is on this machine, differs and cannot read tables."""
    if _is_remote(spark) or not str(spark.sparkContext.master).startswith("local"):
        return
    program = spark.sparkContext.pythonExec
    if shutil.which(program) in (None, sys.executable):
        return
    done = subprocess.run([program, "-c", "import pyarrow"], stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Error(
            f"{program}, the Python of the tasks, has no pyarrow: "
            f"set PYSPARK_PYTHON to {sys.executable} before the session starts"
        )


def _is_remote(spark: SparkSession) -> bool:
    """Report whether a session uses Spark Connect, which has no SparkContext."""
    return not hasattr(spark, "sparkContext")


def _copy(file: BinaryIO, to: Path) -> Path:
    """Copy a file under a name that appears when the copy is complete. Several threads may do so at once."""
    to.parent.mkdir(mode=0o700, exist_ok=True)
    number, temporary = tempfile.mkstemp(dir=to.parent)
    try:
        with os.fdopen(number, "wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
        return Path(temporary).replace(to)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class Warnings:
    """Collects the warnings of tasks on the driver. Pass it to ``with_verdicts``, run the job, and call ``found``.

    Spark Connect does not support this: executors then print warnings to their standard error.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session; it must not be remote.

    Examples
    --------
    >>> warnings = robobatch.spark.Warnings(spark)  # doctest: +SKIP
    >>> robobatch.spark.with_verdicts(df, rules=pack, warnings=warnings).write.parquet("out")  # doctest: +SKIP
    >>> warnings.found()  # doctest: +SKIP
    []
    """

    def __init__(self, spark: SparkSession) -> None:
        """Create an accumulator."""
        if _is_remote(spark):
            raise Error(
                "Spark Connect has no accumulators: remove warnings=, and read the standard error of the executors"
            )
        self._tasks: Accumulator[dict[str, int]] = spark.sparkContext.accumulator({}, _Tasks())

    def found(self) -> list[InputWarning]:
        """Return the warnings of all tasks that have ended, without duplicates, sorted by number of tasks."""
        return [InputWarning(text) for text, _ in sorted(self._tasks.value.items(), key=lambda found: -found[1])]

    def tasks(self, warning: InputWarning) -> int:
        """Return the number of tasks with the warning; a retried task may count twice."""
        return self._tasks.value.get(str(warning.args[0]), 0)


class _Tasks(AccumulatorParam[dict[str, int]]):
    """Tasks by the text of a warning."""

    def zero(self, value: dict[str, int]) -> dict[str, int]:  # noqa: ARG002 - the interface is Spark's
        return {}

    def addInPlace(self, value1: dict[str, int], value2: dict[str, int]) -> dict[str, int]:  # noqa: N802 - Spark's
        for text, tasks in value2.items():
            value1[text] = value1.get(text, 0) + tasks
        return value1


def with_verdicts(
    df: DataFrame,
    *,
    rules: str | os.PathLike[str] | Shipped,
    warnings: Warnings | None = None,
    **options: Unpack[Options],
) -> DataFrame:
    """Return the DataFrame with the verdict columns after its own.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows; also of a stream.
    rules : Shipped, or path
        The result of ``ship``, a path that exists on all nodes, or an address such as s3://bucket/rules.rbp.
        The tasks read them.
    warnings : Warnings, optional
        It gets the warnings of all tasks. Without it, executors print them to their standard error.
    **options
        The options of decide, which the program on this machine checks. ``workers`` is 1 by default, because a
        task has one core.

    Returns
    -------
    pyspark.sql.DataFrame
        A lazy DataFrame.

    Examples
    --------
    >>> pack = robobatch.spark.ship(spark, "rules.rbp")  # doctest: +SKIP
    >>> decided = robobatch.spark.with_verdicts(df, rules=pack, columns=["allowed", "rule"])  # doctest: +SKIP
    """
    asked: Options = {"workers": 1, **options}
    if isinstance(rules, Shipped) and df.isStreaming and _is_remote(df.sparkSession):
        raise Error(_NOT_SHIPPED)
    added = verdict_schema(asked)
    _check_columns(df, asked, added)
    plain = pa.schema([field.with_type(_plain(field.type)) for field in added])
    fields = [StructField(field.name, from_arrow_type(field.type)) for field in plain]
    names = [*df.columns, *added.names]
    own = df.schema.fields
    if _hard(df.columns):
        read = {arg: f"_{df.columns.index(name)}" for arg, name, _, _ in columns_read(asked)}
        df = df.toDF(*(f"_{i}" for i in range(len(own))))
        own = df.schema.fields
        asked.update(read)  # type: ignore[typeddict-item]
    decided = df.mapInArrow(_task(rules, asked, plain, warnings), StructType([*own, *fields]))
    return decided if decided.columns == names else decided.toDF(*names)


_TEXTS = (StringType, BinaryType, CharType, VarcharType)


def _kind(kind: DataType) -> pa.DataType:
    return pa.string() if isinstance(kind, _TEXTS) else to_arrow_type(kind, timezone="UTC")


def _hard(names: list[str]) -> bool:
    """Report whether mapInArrow cannot find columns by name, because it treats dots as parts of structs."""
    return len(set(map(str.lower, names))) < len(names) or any(sign in name for name in names for sign in ".`")


def _check_columns(df: DataFrame, options: Options, added: pa.Schema) -> None:
    names = df.columns
    read = columns_read(options)
    asked = {name for _, name, _, _ in read}
    schema = pa.schema([(f.name, _kind(f.dataType) if f.name in asked else pa.null()) for f in df.schema])
    for argument, name, what, _ in read:
        column_index(schema, name, argument, what)
    if str(df.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() != "true":
        names = [name.lower() for name in names]
    check_names(names, added.names)


# SQL functions about a crawler: the column of each, and its type.
_FUNCTIONS = {"allowed": ("allowed", "boolean"), "rule": ("rule", "string"), "line": ("rule_line", "int")}
_KINDS = {"allowed": "boolean", "violation": "boolean", "rule_line": "int"}  # fields of a struct; others are texts


def register(
    spark: SparkSession,
    rules: str | os.PathLike[str] | Shipped,
    **options: Unpack[Options],
) -> Warnings | None:
    """Define functions that decide URLs in Spark SQL.

    - ``robots_allowed(url, agent)``; ``robots_rule(url, agent)``, the rule that decides; and
      ``robots_line(url, agent)``, its line. ``agent`` is a product token such as ``'Googlebot'``, or ``'*'``, and
      may be a column. They return NULL for NULL, for an invalid URL, and for an agent that is not a product token,
      such as a User-Agent.
    - ``robots_allowed_list(url, agents)``: the results of ``robots_allowed`` for a list of agents, as a list.
    - ``robots_request(url, user_agent)``: a struct of ``agent``, the crawler that the User-Agent names, ``allowed``,
      ``reason``, ``rule_line``, ``rule`` and ``violation`` (the crawler requested a disallowed URL). With the option
      ``ranges`` or ``as_of="log"`` it is ``robots_request(url, user_agent, address, time)``; ``ranges`` adds
      ``verified`` and ``verified_by``.

    Each function in a query runs its own process on each core; ``with_verdicts`` gives several columns with one.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session, of Spark 4.1 or newer.
    rules : path, or Shipped
        A pack of ``robobatch compile`` on this machine, which is shipped, or the result of ``ship``.
    **options
        ``prefix`` of the function names, by default ``"robots_"``, and options of decide about the rules:
        ``dialect``, ``missing``, ``as_of``, ``ranges`` (paths that exist on all nodes), ``max_memory``, ``flags``.

    Returns
    -------
    Warnings or None
        The warnings of all queries so far; None on Spark Connect.

    Examples
    --------
    >>> robobatch.spark.register(spark, "rules.rbp")  # doctest: +SKIP
    >>> spark.sql("select robots_allowed(url, 'Googlebot') from log")  # doctest: +SKIP
    """
    try:
        made: Any = import_module("pyspark.sql.functions").arrow_udf
    except AttributeError as err:
        raise Error("SQL functions need Spark 4.1: update it, or call with_verdicts") from err
    known = {
        "prefix",
        "dialect",
        "missing",
        "as_of",
        "ranges",
        "accept_damaged_rules",
        "max_memory",
        "workers",
        "flags",
    }
    wrong = sorted(set(options) - known)
    if wrong:
        raise TypeError(f"register has no {wrong[0]}: use {', '.join(sorted(known))}")
    prefix = options.pop("prefix", "robots_")
    shipped = rules if isinstance(rules, Shipped) else ship(spark, rules)
    warnings = None if _is_remote(spark) else Warnings(spark)

    def register_one(name: str, asked: Options, read: list[str], kind: str) -> None:
        asked = {"workers": 1, **asked}
        verdict_schema(asked)  # checks the options
        spark.udf.register(prefix + name, made(_function(prefix + name, shipped, asked, read, warnings), kind))

    own: Options = {  # type: ignore[assignment]
        name: value for name, value in options.items() if name != "ranges" and (name, value) != ("as_of", "log")
    }
    for name, (column, kind) in _FUNCTIONS.items():
        own.update({"agent_column": "agent", "columns": [column]})
        register_one(name, own.copy(), ["url", "agent"], kind)
    own["columns"] = ["allowed"]
    register_one("allowed_list", own, ["url", "agents"], "array<boolean>")
    names, times = request_columns(options), has_times(options)
    asked: Options = {**options, "user_agent_column": "user_agent", "columns": names}
    if "ranges" in options:
        asked["client_column"] = "client"
    if times:
        asked["time_column"] = "time"
    fields = ", ".join(f"{name}: {_KINDS.get(name, 'string')}" for name in names)
    register_one("request", asked, ["url", "user_agent", *(["client", "time"] if times else [])], f"struct<{fields}>")
    return warnings


_USAGE = {  # by the last of the columns that are read
    "agent": "a URL and a crawler: write {}(url, '*')",
    "agents": "a URL and a list of crawlers: write {}(url, array('*'))",
    "user_agent": "a URL and a User-Agent: write {}(url, user_agent)",
    "time": "a URL, a User-Agent, an address and a time: write {}(url, user_agent, address, time)",
}


def _function(
    name: str, rules: Shipped, options: Options, read: list[str], warnings: Warnings | None
) -> Callable[[Iterator[Any]], Iterator[pa.Array[Any]]]:
    """Return the function that a task calls for its rows, whose arguments are the columns that are read."""
    question = uuid.uuid4().hex
    on_warning = _teller(warnings)

    def function(batches: Iterator[Any]) -> Iterator[pa.Array[Any]]:
        lists: deque[tuple[Any, Any]] = deque()  # the end of each row's list in a batch, and the lists
        missing: deque[pa.Array[Any] | None] = deque()  # for batches without a URL or agent

        def sent() -> Iterator[pa.RecordBatch]:
            for given in batches:
                wanted = isinstance(given, tuple) and len(given) == len(read)
                if not wanted or (read[1] == "agents" and not pa.types.is_list(given[1].type)):
                    raise Error(f"{name} takes {_USAGE[read[-1]].format(name)}")
                columns = [_cast(array) for array in given]
                if read[1] == "agents":
                    agents = columns[1]
                    *columns, ends = flattened(*columns)
                    lists.append((ends, agents))
                for array, column in zip(columns, read, strict=True):
                    if column != "time" and not is_text(array.type) and not pa.types.is_null(array.type):
                        raise Error(f"{name} takes strings, but these are {array.type}: cast them to a string")
                names = [column.replace("agents", "agent") for column in read]
                batch = columns_sent(pa.RecordBatch.from_arrays(columns, names=names), options)
                nulls = None
                if names[1] == "agent" and (batch[0].null_count or batch[1].null_count):
                    nulls = pc.or_(batch[0].is_null(), batch[1].is_null())
                    batch = batch.set_column(1, "agent", pc.if_else(nulls, "*", batch[1]))
                missing.append(nulls)
                yield batch

        process = _process(question, rules.path(), options)
        for answer in answers(sent(), process, lambda found: [on_warning(warning) for warning in found]):
            columns, null = [_cast(column) for column in answer.columns], missing.popleft()
            if read[1] == "user_agent":
                yield pa.StructArray.from_arrays(columns, names=answer.schema.names)
                continue
            column = columns[0] if null is None else pc.if_else(null, pa.scalar(None, columns[0].type), columns[0])
            if lists:
                ends, agents = lists.popleft()
                column = pa.ListArray.from_arrays(ends, column, mask=agents.is_null())
            yield column

    # Spark derives the kind of function from these. At run time the type is not generic.
    function.__annotations__ = {
        "batches": Iterator[tuple[(pa.Array,) * len(read)]],  # type: ignore[misc]
        "return": Iterator[pa.Array],  # type: ignore[type-arg]
    }
    return function


_KEPT = 8  # batches kept for error messages: more than are sent ahead


class _Sent:
    """The batches of a partition as they are sent, so that an error can name the row."""

    def __init__(self, batches: Iterable[pa.RecordBatch], options: Options) -> None:
        """Take the batches."""
        self._batches = batches
        self._names = [name for _, name, _, _ in columns_read(options)]
        self._last: deque[tuple[int, pa.RecordBatch]] = deque(maxlen=_KEPT)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches."""
        start = 0
        for batch in self._batches:
            self._last.append((start, batch))
            start += batch.num_rows
            yield batch

    def error(self, error: Error) -> Error:
        """Return an error of a row with its partition and its content."""
        found = re.match(r"row (\d+)", error.message)
        if found is None:
            return error
        row, shown = int(found[1]), ""
        for start, batch in self._last:
            columns = [batch.column(name) for name in self._names]
            if start <= row < start + len(columns[0]):
                values = ", ".join(f"{column[row - start].as_py()!r:.200}" for column in columns)
                shown = f" ({values})"
        context = TaskContext.get()
        of = f" of partition {context.partitionId()}{shown}" if context else shown
        return Error(found[0] + of + error.message[found.end() :], error.exit_code)


def _process(question: str, path: str, options: Options) -> contextlib.AbstractContextManager[Process]:
    """Return a process for one task: an idle one, if workers outlive tasks."""
    asked = arguments(path, options)
    return kept(question, path, asked) if os.environ.get("SPARK_REUSE_WORKER") else started(asked)


def _teller(warnings: Warnings | None) -> Callable[[InputWarning], object]:
    """Return what a task does with a warning. Only the accumulator is sent to the tasks."""
    if warnings is None:
        return _print
    tasks = warnings._tasks
    return lambda warning: tasks.add({str(warning.args[0]): 1})


def _task(
    rules: str | os.PathLike[str] | Shipped, options: Options, plain: pa.Schema, warnings: Warnings | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task calls."""
    where = rules if isinstance(rules, Shipped) else _named(rules)
    question = uuid.uuid4().hex
    on_warning = _teller(warnings)

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        process = _process(question, where.path() if isinstance(where, Shipped) else where, options)
        sent = _Sent(batches, options)
        try:
            for batch in extended(sent, process, options, on_warning):
                own = batch.num_columns - len(plain)
                verdicts = [_cast(column) for column in batch.columns[own:]]
                schema = pa.schema([*list(batch.schema)[:own], *plain])
                yield pa.RecordBatch.from_arrays([*batch.columns[:own], *verdicts], schema=schema)
        except Error as error:
            raise sent.error(error) from error.__cause__

    return task


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type without a dictionary, which Spark does not support."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _cast(column: pa.Array[Any]) -> pa.Array[Any]:
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _print(warning: InputWarning) -> None:
    """Print a warning to the executor's task log."""
    print(f"robobatch: warning: {warning}", file=sys.stderr)
