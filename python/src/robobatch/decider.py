"""Rules that are loaded once and used repeatedly."""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import pyarrow as pa
import pyarrow.compute as pc

from robobatch.asker import Asker
from robobatch.binary import find_binary
from robobatch.convert import check, convert
from robobatch.errors import Error, InputWarning, error_of, in_row
from robobatch.lane import EndedError, Lane
from robobatch.question import (
    Options,
    about_rules,
    arguments,
    columns_read,
    has_times,
    list_of,
    request_columns,
)
from robobatch.rows import is_text, table_of
from robobatch.rules import Given, Rules
from robobatch.verdicts import columns_sent, decide, decided, with_columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

DEFAULT_COLUMNS = ("origin", "allowed", "reason", "rule_line", "rule")
_ALLOWED = ("allowed",)
_SINGLE = ("single",)  # key of the Asker for single questions
_WORKERS = min(4, os.cpu_count() or 1)  # rows of a process for small questions; more would wait for Python
_PLAIN_AGENT = 128  # bytes of a name that needs no check
_MOST_LANES = 6  # maximum number of processes of a Decider
_MOST_BYTES = 2**31 - 1  # of the texts of one array, whose offsets have 32 bits
_FIELDS: list[pa.Field[Any]] = [pa.field("url", pa.binary()), pa.field("agent", pa.string())]
_SMALL = pa.schema(_FIELDS)  # of small questions

_deciders: weakref.WeakSet[Decider] = weakref.WeakSet()


@dataclass(frozen=True)
class Explanation:
    """The explanation of a verdict. ``print`` it to read it.

    Attributes
    ----------
    allowed : bool or None
        The verdict.
    reason : str
        The kind of verdict, as in the column ``reason``.
    data : dict
        All details, as in docs/explain.schema.json.
    text : str
        The same as text.
    """

    allowed: bool | None
    reason: str
    data: dict[str, Any]
    text: str

    def __str__(self) -> str:
        """Return the text."""
        return self.text


class _Warnings:
    """Unread warnings. Lanes refer to them and not to their Decider, which may be collected."""

    def __init__(self) -> None:
        """Begin with none."""
        self.known: set[str] = set()  # warnings about the rules, which come with each stream
        self.kept: list[InputWarning] = []

    def new(self, found: list[InputWarning]) -> list[InputWarning]:
        """Return the warnings that are not about the rules."""
        return [warning for warning in found if str(warning) not in self.known]

    def keep(self, found: list[InputWarning]) -> None:
        """Keep the warnings that are not about the rules."""
        self.kept.extend(self.new(found))


class Decider:
    r"""Rules that are loaded once, for any number of questions, also from several threads at once.

    A Decider runs up to six processes of the program: one for ``allowed`` and SQL functions, one for tables, and
    others for other choices of columns. They end with ``close``, at the end of a ``with`` block, when the Decider
    is garbage-collected, and with this process. A forked child and a pickled copy have their own processes.
    Ctrl-C does not reach them.

    Parameters
    ----------
    rules : path, dict, or text
        A pack of ``robobatch compile``, a directory of robots.txt files, or captures; ``{origin: text}``; or, with
        ``origin``, the text of one robots.txt.
    origin, dialect, missing, as_of, accept_damaged_rules, ranges, max_memory, workers, flags
        As for robobatch.decide. ``as_of="log"`` and ``ranges`` apply to rows with times and addresses.
        ``max_memory`` limits each process.

    Raises
    ------
    Error
        The rules cannot be read.

    Warns
    -----
    InputWarning
        The rules do not look like their format, or contradict an argument.

    Examples
    --------
    >>> import robobatch
    >>> decider = robobatch.Decider({"https://example.com": "User-agent: *\nDisallow: /private\n"})
    >>> decider.allowed("https://example.com/private", "Googlebot")
    False
    >>> decider.decide(["https://example.com/"], columns="allowed", to="same")
    [{'url': 'https://example.com/', 'allowed': True}]
    >>> decider.close()
    """

    def __init__(
        self,
        rules: Given,
        *,
        origin: str | None = None,
        dialect: str | None = None,
        missing: str | None = None,
        as_of: str | datetime.date | datetime.datetime | None = None,
        accept_damaged_rules: bool = False,
        ranges: str | Sequence[str] | None = None,
        max_memory: str | None = None,
        workers: int | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        """Load the rules."""
        self._given = (rules, {
            "origin": origin, "dialect": dialect, "missing": missing, "as_of": as_of,
            "accept_damaged_rules": accept_damaged_rules, "ranges": ranges, "max_memory": max_memory,
            "workers": workers,
            "flags": tuple(list_of(flags, "flags")) if flags else (),
        })  # fmt: skip
        self._rules = Rules(rules, origin)
        self._stamp = self._rules.stamp()
        self._options: Options = {  # type: ignore[assignment]
            name: value for name, value in self._given[1].items() if value is not None
        }
        self._lanes: dict[tuple[object, ...], Lane | Asker] = {}
        self._checked: set[str] = set()  # agents that are product tokens
        self._closed = False
        self._warnings = _Warnings()
        self._begin()
        self._asker().start()
        warned, self._warnings.kept = self._warnings.kept, []
        self._warnings.known.update(str(warning) for warning in warned)
        for warning in warned:
            warnings.warn(warning, stacklevel=2)

    def _begin(self) -> None:
        """Create the state of a single process, also after a fork."""
        self._lock = threading.Lock()  # of the lanes
        self._finalizer = weakref.finalize(self, _kill, self._lanes)
        _deciders.add(self)

    def __reduce__(self) -> tuple[Callable[..., Decider], tuple[Any, ...]]:
        """Return what is needed to create a Decider of the same rules in another process."""
        return _again, self._given

    def __enter__(self) -> Decider:
        """Return the Decider."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Describe the rules."""
        rules, options = self._given
        shown = f"{len(rules)} origins" if isinstance(rules, dict) else f"{rules!r:.60}"
        given = "".join(f", {name}={value!r}" for name, value in options.items() if value not in (None, False, ()))
        return f"Decider({shown}{given})"

    def close(self) -> None:
        """End the processes, and issue the warnings about the questions to ``allowed`` and SQL functions."""
        if self._closed:
            return
        try:
            left = self.warnings()
        finally:
            self._closed = True
            with self._lock:
                lanes = list(self._lanes.values())
                self._lanes.clear()
            for lane in lanes:
                lane.end()
        for warning in left:
            warnings.warn(warning, stacklevel=2)

    def warnings(self) -> list[InputWarning]:
        """Return the warnings about the questions to ``allowed`` and SQL functions since the last call.

        A warning is about all of these rows together, so a single bad URL gives none. There are no duplicates.
        """
        with self._lock:
            lanes = list(self._lanes.values())
        for lane in lanes:
            lane.end_stream()
        with self._lock:
            left, self._warnings.kept = self._warnings.kept, []
        return list({str(warning): warning for warning in left}.values())

    def allowed(self, url: str | bytes | None, agent: str = "*") -> bool | None:
        r"""Return whether a crawler may fetch a URL; None if the URL is invalid, or the verdict unknown.

        Parameters
        ----------
        url : str, bytes or None
            The URL.
        agent : str, default "*"
            The product token of the crawler, such as ``"Googlebot"``.

        Returns
        -------
        bool or None
            The same as the column ``allowed`` of ``decide``. A call takes about 20 µs of CPU time, half of it in the
            program; calls from several threads take turns. A row of ``decide`` takes less than 1 µs.

        Examples
        --------
        >>> import robobatch
        >>> with robobatch.Decider({"https://example.com": "User-agent: GPTBot\nDisallow: /"}) as decider:
        ...     decider.allowed("https://example.com/"), decider.allowed("https://example.com/", "GPTBot")
        (True, False)
        """
        if url is not None and not isinstance(url, str | bytes):
            raise TypeError(
                f"url is {type(url).__name__}, {url!r:.80}: use str, bytes or None; for several URLs, call decide"
            )
        if not isinstance(agent, str):
            raise TypeError(
                f"agent is {type(agent).__name__}, {agent!r:.80}: use a product token, such as 'Googlebot'"
            )
        self._check_agent(agent)
        data = url.encode("utf-8", "surrogatepass") if isinstance(url, str) else url
        while data is not None:
            try:
                asker = self._asker()
                if not asker.takes(data):
                    break
                return asker.ask(data, agent)
            except EndedError:
                continue  # the limit of processes was exceeded
        batch = pa.RecordBatch.from_arrays(
            [pa.array([data], pa.binary()), pa.array([agent], pa.string())], schema=_SMALL
        )
        answer: bool | None = self._ask(batch, _ALLOWED).column(0)[0].as_py()
        return answer

    @overload
    def decide(self, rows: Any, *, url: str = ..., agents: str | Sequence[str] = ..., agent_column: str | None = ...,
               on_bad_agent: str = ..., user_agent_column: str | None = ..., client_column: str | None = ...,
               time_column: str | None = ..., layout: str = ..., columns: str | Sequence[str] | None = ...,
               prefix: str = ..., to: Literal["arrow"] | None = None,
               progress: bool = ...) -> pa.Table: ...  # fmt: skip
    @overload
    def decide(self, rows: Any, *, url: str = ..., agents: str | Sequence[str] = ..., agent_column: str | None = ...,
               on_bad_agent: str = ..., user_agent_column: str | None = ..., client_column: str | None = ...,
               time_column: str | None = ..., layout: str = ..., columns: str | Sequence[str] | None = ...,
               prefix: str = ..., to: Literal["pandas"],
               progress: bool = ...) -> pd.DataFrame: ...  # fmt: skip
    @overload
    def decide(self, rows: Any, *, url: str = ..., agents: str | Sequence[str] = ..., agent_column: str | None = ...,
               on_bad_agent: str = ..., user_agent_column: str | None = ..., client_column: str | None = ...,
               time_column: str | None = ..., layout: str = ..., columns: str | Sequence[str] | None = ...,
               prefix: str = ..., to: Literal["polars"],
               progress: bool = ...) -> pl.DataFrame: ...  # fmt: skip
    @overload
    def decide(self, rows: Any, *, url: str = ..., agents: str | Sequence[str] = ..., agent_column: str | None = ...,
               on_bad_agent: str = ..., user_agent_column: str | None = ..., client_column: str | None = ...,
               time_column: str | None = ..., layout: str = ..., columns: str | Sequence[str] | None = ...,
               prefix: str = ..., to: Literal["same"],
               progress: bool = ...) -> Any: ...  # fmt: skip
    def decide(
        self,
        rows: Any,
        *,
        url: str = "url",
        agents: str | Sequence[str] = "*",
        agent_column: str | None = None,
        on_bad_agent: str = "null",
        user_agent_column: str | None = None,
        client_column: str | None = None,
        time_column: str | None = None,
        layout: str = "long",
        columns: str | Sequence[str] | None = None,
        prefix: str = "",
        to: str | None = None,
        progress: bool = False,
    ) -> Any:
        r"""Decide for each row whether a crawler may fetch its URL.

        Parameters
        ----------
        rows : table, array, or list
            As for robobatch.decide.
        url, agents, agent_column, on_bad_agent, user_agent_column, client_column, time_column, layout
            As for robobatch.decide.
        columns, prefix, to, progress
            As for robobatch.decide.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            The rows in order, with the verdict columns after their own.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import robobatch
        >>> table = pa.table({"url": ["https://example.com/"] * 2, "bot": ["Googlebot", "GPTBot"]})
        >>> with robobatch.Decider({"https://example.com": "User-agent: GPTBot\nDisallow: /"}) as decider:
        ...     decider.decide(table, agent_column="bot", columns="allowed")["allowed"].to_pylist()
        [True, False]
        """
        check(rows, to)
        table = table_of(rows, url)
        given = {"agent_column": agent_column, "user_agent_column": user_agent_column, "client_column": client_column,
                 "time_column": time_column}  # fmt: skip
        asked: Options = {"url": url, "layout": layout, "on_bad_agent": on_bad_agent}
        asked.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
        tokens = list_of(agents, "agents")
        own = agent_column is not None or user_agent_column is not None
        if agents != "*":
            asked["agents"] = tokens
        arguments("", {**self._about_log(asked), **asked})  # checks them
        sent = columns_sent(table, asked)
        asked.update({arg: name for arg, _, _, name in columns_read(asked)})  # type: ignore[typeddict-item]
        single = len(tokens) == 1 and not tokens[0].startswith("@") and "," not in tokens[0] and not own
        single = single and time_column is None
        if single:
            self._check_agent(tokens[0])
            sent = sent.append_column("agent", _constant(tokens[0], sent))
            asked["agent_column"] = "agent"
        elif not own:
            asked["agents"] = tokens
        if single or (tokens == ["*"] and not own):
            asked.pop("agents", None)
        if columns is not None:
            asked["columns"] = tuple(list_of(columns, "columns"))
        elif single or agent_column is not None:
            asked["columns"] = DEFAULT_COLUMNS
        asked.pop("url")
        again = True
        while True:
            lane = self._lane(asked)
            try:
                answers, warned = decided(sent, lane.stream(), progress=progress)
                break
            except EndedError:
                continue  # the limit of processes was exceeded
            except Error as error:  # a process ended by a signal, perhaps before the question, is replaced once
                if not again or error.exit_code is None or error.exit_code < 128:
                    raise
                again = False
        answers = answers.rename_columns([prefix + name for name in answers.column_names])
        added = with_columns(table, answers)
        for warning in self._warnings.new(warned):
            warnings.warn(warning, stacklevel=2)
        return convert(added, rows, to, answers.column_names)

    def verdicts(self, urls: Any, agents: Any = "*", columns: Sequence[str] = ("allowed",)) -> pa.RecordBatch:
        r"""Return verdicts for arrays of some thousand URLs, as query engines pass them to functions.

        Parameters
        ----------
        urls : pyarrow.Array or pyarrow.ChunkedArray
            URLs. A null gives a null verdict.
        agents : str, pyarrow.Array or pyarrow.ChunkedArray, default "*"
            The crawler of each URL, or of all. A null, empty or invalid one gives a null verdict.
        columns : sequence of str, default ("allowed",)
            The columns to return.

        Returns
        -------
        pyarrow.RecordBatch
            The columns, in the order of the URLs. ``warnings`` returns the warnings.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import robobatch
        >>> with robobatch.Decider({"https://example.com": "User-agent: GPTBot\nDisallow: /"}) as decider:
        ...     decider.verdicts(pa.array(["https://example.com/", None]), "GPTBot").column("allowed").to_pylist()
        [False, None]
        """
        if isinstance(agents, str):
            self._check_agent(agents)
            agents = pa.repeat(pa.scalar(agents, pa.string()), len(urls))
        urls, agents = _texts_of(urls, pa.binary(), "URLs"), _texts_of(agents, pa.string(), "crawlers")
        asked = pa.RecordBatch.from_arrays([urls, agents], schema=_SMALL)
        if not urls.null_count and not agents.null_count:
            return self._ask(asked, tuple(columns))
        there = pc.and_(urls.is_valid(), agents.is_valid())  # ask only for these: a null is not a bad URL
        answer = self._ask(asked.filter(there), tuple(columns))
        places = pc.subtract(pc.cumulative_sum(there.cast(pa.int32())), pa.scalar(1, pa.int32()))
        places = pc.if_else(there, places, pa.scalar(None, pa.int32()))
        return pa.RecordBatch.from_arrays([_plain(a).take(places) for a in answer.columns], names=answer.schema.names)

    def requests(self, urls: Any, user_agents: Any, clients: Any = None, times: Any = None) -> pa.StructArray:
        r"""Return verdicts for arrays of requests with User-Agents, as query engines pass them to functions.

        Parameters
        ----------
        urls, user_agents, clients : pyarrow.Array or pyarrow.ChunkedArray
            Texts. The client addresses are for a Decider with ``ranges``.
        times : pyarrow.Array or pyarrow.ChunkedArray, optional
            Timestamps or texts, for a Decider with ``as_of="log"`` or ``ranges``.

        Returns
        -------
        pyarrow.StructArray
            The columns ``agent``, ``allowed``, ``reason``, ``rule_line``, ``rule``, ``violation``, and with
            ``ranges`` ``verified`` and ``verified_by``.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import robobatch
        >>> with robobatch.Decider({"https://example.com": "User-agent: GPTBot\nDisallow: /"}) as decider:
        ...     found = decider.requests(pa.array(["https://example.com/"]), pa.array(["Mozilla/5.0 (GPTBot/1.2)"]))
        >>> found.field("agent").to_pylist(), found.field("violation").to_pylist()
        (['GPTBot'], [True])
        """
        given = {"url": urls, "user_agent_column": user_agents}
        if "ranges" in self._options:
            given["client_column"] = clients if clients is not None else pa.nulls(len(urls), pa.string())
        if self.has_times:
            times = pa.nulls(len(urls)) if times is None else times
            if pa.types.is_timestamp(times.type) or pa.types.is_null(times.type):
                times = times.cast(pa.timestamp("us", "UTC"), safe=False)  # so that few processes serve all of them
            given["time_column"] = times
        table = pa.table({name: value if name == "time_column" else _texts_of(value, pa.binary(), name)
                          for name, value in given.items()})  # fmt: skip
        asked: Options = {name: name for name in given}  # type: ignore[assignment]
        asked["columns"] = self.request_columns
        sent = columns_sent(table, asked).combine_chunks()
        batch = sent.to_batches()[0] if sent.num_rows else pa.RecordBatch.from_pylist([], schema=sent.schema)
        answer = self._ask_lane(batch, asked)
        return pa.StructArray.from_arrays(
            [_plain(column) for column in answer.columns], names=list(self.request_columns)
        )

    @property
    def has_times(self) -> bool:
        """Whether ``requests`` reads addresses and times."""
        return has_times(self._options)

    @property
    def request_columns(self) -> tuple[str, ...]:
        """The columns of ``requests``."""
        return request_columns(self._options)

    def explain(self, url: str, agent: str = "*") -> Explanation:
        r"""Return the explanation of a verdict: why a crawler may or may not fetch a URL.

        Parameters
        ----------
        url : str
            The URL.
        agent : str, default "*"
            The product token of the crawler.

        Returns
        -------
        Explanation
            It contains the group that binds the crawler, and the rules that match.

        Examples
        --------
        >>> import robobatch
        >>> with robobatch.Decider({"https://example.com": "User-agent: *\nDisallow: /private"}) as decider:
        ...     why = decider.explain("https://example.com/private/a", "Googlebot")
        >>> why.allowed, why.reason
        (False, 'rule')
        """
        if not isinstance(url, str):
            raise TypeError(f"url is {type(url).__name__}, {url!r:.80}: use str")
        with self._lock:
            self._check_open()
        asked = [f"-rules={self._rules.path}", *about_rules(self._options), *self._options.get("flags", ())]
        command = [find_binary(), "explain", "-quiet", *asked, f"-agent={agent}"]
        said = []
        for form in ("json", "text"):
            done = subprocess.run(
                [*command, f"-print={form}", "--", url], capture_output=True, pass_fds=self._rules.files, check=False
            )
            if done.returncode != 0:
                raise error_of(done.stderr.decode("utf-8", "replace"), done.returncode)
            text = done.stdout.decode()
            said.append(text.replace(self._rules.path, "rules") if self._rules.files else text)
        data = json.loads(said[0])
        return Explanation(data["allowed"], data["reason"], data, said[1])

    def _check_agent(self, agent: str) -> None:
        """Raise the program's error about an agent that is not a product token, without the row."""
        if agent in self._checked or (
            len(agent) <= _PLAIN_AGENT and re.fullmatch(r"\*|[A-Za-z][A-Za-z0-9_./-]*", agent)
        ):
            return
        one = pa.table({"url": ["https://example.com/"], "agent": [agent]})
        try:
            decide(one, rules={"https://example.com": ""}, agent_column="agent", on_bad_agent="raise")
        except Error as error:
            said = error.message.removeprefix("row 0: no name of a crawler: ")
            raise Error(f"-agent: {said}", error.exit_code) from None
        self._checked.add(agent)

    def _about_log(self, asked: Options) -> Options:
        """Return the options of the Decider for rows with times and addresses, if they have these."""
        own = self._options.copy()
        if "user_agent_column" not in asked:
            own.pop("ranges", None)
        if own.get("as_of") == "log" and "time_column" not in asked:
            own.pop("as_of")
        return own

    def _ask(self, batch: pa.RecordBatch, columns: tuple[str, ...]) -> pa.RecordBatch:
        return self._ask_lane(batch, {"agent_column": "agent", "columns": columns})

    def _ask_lane(self, batch: pa.RecordBatch, asked: Options) -> pa.RecordBatch:
        kinds = [str(kind) for kind in batch.schema.types]  # all small questions of a lane share a schema
        while True:
            try:
                return self._lane(asked, *kinds, small=True).ask(batch)
            except EndedError:
                continue  # the limit of processes was exceeded
            except Error as error:
                raise in_row(error, []) from error.__cause__

    def _check_open(self) -> None:
        """Check that close was not called. The caller must hold the lock."""
        if self._closed:
            raise ValueError("the Decider is closed: create another")

    def _asker(self) -> Asker:
        """Return the Asker for single questions."""
        found = self._lanes.get(_SINGLE)
        if not isinstance(found, Asker):
            found = self._kept(
                _SINGLE, lambda: Asker(self._rules, self._arguments({"workers": 1}), self._warnings.keep)
            )
        return cast(Asker, found)

    def _arguments(self, asked: Options) -> list[str]:
        return arguments(self._rules.path, {**self._about_log(asked), **asked})

    def _lane(self, asked: Options, *kinds: str, small: bool = False) -> Lane:
        """Return the Lane for a question."""
        key = (
            small,
            *kinds,
            *((name, tuple(value) if isinstance(value, list) else value) for name, value in sorted(asked.items())),
        )
        if small:
            asked = {"workers": self._options.get("workers", _WORKERS), **asked}
        return cast(Lane, self._kept(key, lambda: Lane(self._rules, self._arguments(asked), self._warnings.keep)))

    def _kept(self, key: tuple[object, ...], make: Callable[[], Lane | Asker]) -> Lane | Asker:
        """Return the Lane or Asker for a kind of question."""
        dropped, changed = None, False
        with self._lock:
            self._check_open()
            lane = self._lanes.pop(key, None)
            if lane is None:
                changed = self._rules.stamp() != self._stamp
                lane = make()
            self._lanes[key] = lane  # the last one is the latest
            if len(self._lanes) > _MOST_LANES:
                dropped = self._lanes.pop(next(iter(self._lanes)))
        if dropped is not None:
            dropped.end_stream()
            dropped.end()
        if changed:
            text = "the rules have changed since this Decider was created, and some answers follow the old ones: "
            warnings.warn(InputWarning(text + "create another"), stacklevel=4)
        return lane

    def _after_fork(self) -> None:
        """Forget the processes of the parent."""
        self._finalizer.detach()
        self._lanes = {}
        self._warnings.kept = []
        self._begin()


def _again(rules: Given, options: dict[str, Any]) -> Decider:
    return Decider(rules, **options)


def _kill(lanes: dict[Any, Lane | Asker]) -> None:
    for lane in list(lanes.values()):
        lane.kill()
    lanes.clear()


def _constant(agent: str, table: pa.Table) -> pa.ChunkedArray[Any]:
    """Return one agent for all rows of a table, stored compactly."""
    name = pa.array([agent], pa.string())
    chunks = [
        pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int8()), batch.num_rows), name)
        for batch in table.to_batches()
    ]
    return pa.chunked_array(chunks or [pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), name)])


def _texts_of(values: Any, kind: pa.DataType, what: str) -> pa.Array[Any]:
    """Return values as one array of a type. ``what`` names them in messages."""
    try:
        return _array(values, kind)
    except pa.ArrowInvalid as err:
        if getattr(values, "nbytes", 0) > _MOST_BYTES:
            raise ValueError(
                f"{len(values)} {what} are too long for one array: pass fewer at once, or call decide"
            ) from err
        raise ValueError(f"{what} are not Arrow strings: {err}: pass an array of strings") from err


def _array(values: Any, kind: pa.DataType) -> pa.Array[Any]:
    """Return values as one array of a type."""
    if isinstance(values, pa.ChunkedArray):
        if isinstance(values.type, pa.DictionaryType):  # dictionaries with nulls cannot be combined
            values = values.cast(values.type.value_type)
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # of no chunks, in some versions
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], kind)
    elif not isinstance(values, pa.Array):
        values = pa.array(values)
    array: pa.Array[Any] = _plain(values)
    if array.type == kind:
        return array
    if not is_text(array.type) and not pa.types.is_null(array.type):
        raise TypeError(f"URLs and crawlers must be strings, but these are {array.type}: cast them to a string")
    return array.view(kind) if pa.types.is_string(array.type) and kind == pa.binary() else array.cast(kind)


def _plain(column: pa.Array[Any]) -> pa.Array[Any]:
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _after_fork() -> None:
    for decider in list(_deciders):
        decider._after_fork()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
