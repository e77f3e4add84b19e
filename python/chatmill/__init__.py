"""Reads chats from archives and records, and returns renderings in every dialect, exact token counts and Arrow tables.

>>> import chatmill
>>> chatmill.count("Good morning")
2
>>> chat = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]}'
>>> rendered = chatmill.render(chat, dialects=["chatml"]).collect()
>>> sum(batch.num_rows for batch in rendered.renderings)
1

Tables are streams of Arrow batches: pyarrow, Polars, DuckDB and pandas take them as they are, and none of them is needed.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _settings
from ._chatmill import Batch, Column, Table, Work, __version__, answer
from ._chatmill import Counter as _Counter
from ._errors import Error, IncompleteError, InternalError, RequestError
from ._progress import Progress, callback
from ._results import Export, Run
from ._tables import Archive, Part, Rendered, RenderedPart

if TYPE_CHECKING:
    from typing import Union

    Path = Union[str, os.PathLike[str]]

__all__ = [
    "Archive",
    "Batch",
    "Certificate",
    "Column",
    "Counter",
    "Error",
    "Export",
    "IncompleteError",
    "InternalError",
    "Part",
    "Rendered",
    "RenderedPart",
    "RequestError",
    "Run",
    "Table",
    "__version__",
    "certify",
    "check",
    "count",
    "diff",
    "export",
    "read",
    "render",
    "run",
]

_BYTES = (bytes, bytearray, memoryview)


def read(
    data: Path | Iterable[Path] | bytes | bytearray | memoryview,
    source: str = "auto",
    *,
    map: Mapping[str, Any] | None = None,
    assistant: str | Iterable[str] = (),
    encodings: Iterable[str | Mapping[str, str]] = (),
    threads: int = 0,
    progress: Progress = None,
    **sections: Any,
) -> Archive:
    """Reads conversations from files, folders, globs and archives, or from the bytes of one file.

    Nothing is read before a table is asked for, and what is read is never held as a whole. Each table that is
    asked for reads the data again; :meth:`Archive.parts` and :meth:`Archive.collect` give several in one.
    What cannot be read is in ``findings`` and ``rejects``, and raises nothing.

    ``map`` maps the columns of a table or of rows, ``{"sender": "user", "content": "text"}``, and ``assistant`` names the senders
    that are agents. ``encodings`` are those in which the table ``messages`` has token counts. Other keywords are sections of a
    pipeline file: ``limits={"depth": 50}``, ``select={"min_messages": 2}``, ``input={"tables": "suna"}``.

    >>> archive = chatmill.read(b'{"messages": [{"role": "user", "content": "Hi"}]}')
    >>> sum(batch.num_rows for batch in archive.messages)
    1
    """
    made = _mapped(_sections(sections, "read"), map, assistant)
    made["count"] = {"encodings": _settings.words("encodings", encodings)}
    told, threads = callback(progress), _settings.number("threads", threads)
    if isinstance(data, _BYTES):
        made["input"] = _inputs(made.get("input"), source, ["data"])
        work = Work.of_bytes(_settings.assignments(made), ".", bytes(data), threads, told)
    else:
        made["input"] = _inputs(made.get("input"), source, _paths("data", data))
        work = Work.of_paths(_settings.assignments(made), ".", threads, told)
    return Archive(work, made)


def render(
    data: Any,
    dialects: str | Iterable[str] = ("all",),
    encodings: Iterable[str | Mapping[str, str]] = ("o200k_base",),
    perspective: str | Iterable[str] | Mapping[str, Any] | None = None,
    window: Mapping[str, Any] | None = None,
    policy: Mapping[str, Any] | None = None,
    *,
    source: str = "auto",
    map: Mapping[str, Any] | None = None,
    assistant: str | Iterable[str] = (),
    column: str | None = None,
    threads: int = 0,
    progress: Progress = None,
    **sections: Any,
) -> Rendered:
    """Renders conversations in dialects, counts their tokens, and declares what was lost.

    ``data`` is what :func:`read` gave, a :class:`pathlib.Path`, the text or the bytes of one file, or records: a
    column of Arrow (``column`` names one of several), or a list of texts, bytes or dicts, one record each. The
    number of a record in ``findings`` and ``rejects`` is that of its row. ``map`` and ``assistant`` are those of :func:`read`. A row that cannot be read is found there, and
    raises nothing.

    >>> chats = ['{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]}', "broken"]
    >>> rendered = chatmill.render(chats, ["openai-chat", "chatml"], encodings=["o200k_base", "cl100k_base"])
    >>> rendered.dialects
    ['openai-chat', 'chatml']
    >>> sum(batch.num_rows for batch in rendered.renderings)
    2
    >>> sum(batch.num_rows for batch in rendered.rejects)
    1
    """
    made = _mapped(_sections(sections, "render"), map, assistant)
    made["render"] = {"dialects": _settings.words("dialects", dialects)}
    made["count"] = {"encodings": _settings.words("encodings", encodings)}
    if perspective is not None:
        made["perspective"] = _perspective(perspective)
    if window is not None:
        made["window"] = _settings.section("window", window)
    if policy is not None:
        made["policy"] = _settings.section("policy", policy)
    told, threads = callback(progress), _settings.number("threads", threads)
    if column is not None:
        column = _settings.text("column", column)
    if isinstance(data, (Archive, Rendered)):
        if source != "auto" or column is not None or map is not None or assistant:
            raise TypeError("source, column, map and assistant are for data that is not read yet")
        made = {**data._sections, **made}
        return Rendered(data._work.again(_settings.assignments(made), ".", threads, told), made)
    if isinstance(data, os.PathLike):
        made["input"] = _inputs(made.get("input"), source, _paths("data", data))
        return Rendered(Work.of_paths(_settings.assignments(made), ".", threads, told), made)
    made["input"] = _inputs(made.get("input"), source, ["data"])
    settings = _settings.assignments(made)
    if isinstance(data, str):
        if len(data) < 4096 and not set("\n\0") & set(data) and os.path.exists(data):
            raise RequestError("this is the path of a file: give it as a pathlib.Path, or what chatmill.read gives", "input", data)
        data = data.encode("utf-8", "surrogatepass")
    if isinstance(data, _BYTES):
        work = Work.of_bytes(settings, ".", bytes(data), threads, told)
    elif data is None:
        raise TypeError("records must be text, bytes, an Arrow column or a list of them, not None")
    else:
        work = Work.of_records(settings, ".", data, column, threads, told)
    return Rendered(work, made)


class Counter:
    """Counts tokens in one encoding: exactly, offline, and on all cores.

    >>> counter = chatmill.Counter("cl100k_base")
    >>> counter.count("Good morning")
    2
    >>> counter.count(["Good morning", "", "<|endoftext|>"])
    [2, 0, 7]

    ``encoding`` is a name, or your own vocabulary: ``{"name": "mine", "tokenizer": "tokenizer.json"}``. Control tokens
    in a text are text, as they are in a chat.
    """

    def __init__(self, encoding: str | Mapping[str, str] = "o200k_base", *, threads: int = 0) -> None:
        if not isinstance(encoding, (str, Mapping)):
            raise TypeError(f"encoding must be a name or a dict, not {type(encoding).__name__}")
        threads = _settings.number("threads", threads)
        self._counter = _Counter(_settings.assignments({"count": {"encodings": [encoding]}}), threads)

    @property
    def encoding(self) -> str:
        """The name of the encoding."""
        return self._counter.encoding

    @overload
    def count(self, texts: str, *, column: None = None) -> int: ...
    @overload
    def count(self, texts: list[str] | tuple[str, ...], *, column: None = None) -> list[int]: ...
    @overload
    def count(self, texts: Any, *, column: str | None = None) -> Any: ...

    def count(self, texts: Any, *, column: str | None = None) -> Any:
        """The tokens of a text, of each text of a list, or of each row of an Arrow column.

        A column gives a :class:`Column`, which is one of Arrow again.
        """
        if isinstance(texts, (str, bytes)):
            return self._counter.count_one(texts)
        counted = self._counter.count_all(texts, None if column is None else _settings.text("column", column))
        if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
            return counted
        return counted.to_list()

    def __repr__(self) -> str:
        return f"<chatmill.Counter of {self.encoding}>"


@functools.lru_cache(maxsize=16)
def _counter(encoding: str, threads: int) -> Counter:
    return Counter(encoding, threads=threads)


@overload
def count(texts: str, encoding: str | Mapping[str, str] = ..., *, column: None = None, threads: int = 0) -> int: ...
@overload
def count(
    texts: list[str] | tuple[str, ...],
    encoding: str | Mapping[str, str] = ...,
    *,
    column: None = None,
    threads: int = 0,
) -> list[int]: ...
@overload
def count(texts: Any, encoding: str | Mapping[str, str] = ..., *, column: str | None = None, threads: int = 0) -> Any: ...


def count(
    texts: Any, encoding: str | Mapping[str, str] = "o200k_base", *, column: str | None = None, threads: int = 0
) -> Any:
    """The tokens of a text, of each text of a list, or of each row of an Arrow column.

    >>> chatmill.count(["Good morning", "Good night"], "cl100k_base")
    [2, 2]
    """
    if isinstance(encoding, str) and isinstance(threads, int):
        counter = _counter(encoding, threads)
    else:
        counter = Counter(encoding, threads=threads)
    return counter.count(texts, column=column)


def run(
    pipeline: Path,
    out: Path | None = None,
    *,
    inputs: Path | Iterable[Path] = (),
    threads: int = 0,
    replace: bool = False,
    limit: int | None = None,
    dropped: Path | None = None,
    progress: Progress = None,
    **overrides: Any,
) -> Run:
    """Runs a pipeline file, and returns the summary, with the dataset's tables as ``.polars(table)`` and ``.datasets(table)``.

    Other keywords replace keys of the file: ``policy={"names": "prefix"}``. ``summary["exit_code"]`` is 1 where there
    are more rejects or errors than the file allows. ``dropped`` is a file for the conversations that are left out, with their reasons.
    """
    arguments = ["run", "--format", "json", "--threads", str(_settings.number("threads", threads))]
    arguments += ["--out", _settings.path("out", out)] if out is not None else []
    arguments += [f"--input={path}" for path in _settings.paths("inputs", inputs)]
    arguments += ["--replace"] if replace else []
    arguments += ["--limit", str(_settings.number("limit", limit))] if limit is not None else []
    arguments += ["--dropped", _settings.path("dropped", dropped)] if dropped is not None else []
    arguments += [f"--set={assignment}" for assignment in _settings.assignments(overrides)]
    summary = _json([*arguments, "--", _settings.path("pipeline", pipeline)], progress)
    return Run(summary, summary["dataset"])


def check(
    paths: Path | Iterable[Path],
    source: str = "auto",
    *,
    map: Mapping[str, Any] | None = None,
    assistant: str | Iterable[str] = (),
    dialects: Iterable[str] = (),
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    config: Path | None = None,
    now: str | None = None,
    secrets: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, Any]:
    """Checks files as a linter does: ``findings``, a verdict for each of ``files``, and a ``summary``.

    ``map`` and ``assistant`` are those of :func:`read`. ``dialects`` adds what their consumers would refuse. ``config`` is a file of settings; without it there are none. ``secrets`` looks for keys and
    tokens, too.
    """
    arguments = ["check", "--output-format", "json", f"--source={_settings.text('source', source)}"]
    arguments += ["--threads", str(_settings.number("threads", threads))]
    arguments += ["--config", _settings.path("config", config)] if config is not None else ["--no-config"]
    arguments += [f"--map={word}" for word in _settings.map_words(map)]
    arguments += [f"--assistant={name}" for name in _settings.words("assistant", assistant)]
    arguments += [f"--for={dialect}" for dialect in _settings.words("dialects", dialects)]
    arguments += [f"--select={code}" for code in _settings.words("select", select)]
    arguments += [f"--ignore={code}" for code in _settings.words("ignore", ignore)]
    arguments += ["--now", _settings.text("now", now)] if now is not None else []
    arguments += ["--secrets"] if secrets else []
    return _json([*arguments, "--", *_paths("paths", paths)], progress)


class Certificate(NamedTuple):
    """Whether a dataset is what its manifest describes."""

    holds: bool
    text: str

    def __bool__(self) -> bool:
        return self.holds


def certify(dataset: Path, *, progress: Progress = None) -> Certificate:
    """Reads a dataset back and proves that it is what its manifest describes; false, with the faults, where it is not."""
    code, text = answer(["certify", "--", _settings.path("dataset", dataset)], callback(progress))
    return Certificate(code == 0, text.rstrip())


def diff(
    before: Path,
    after: Path,
    *,
    fail_if: Iterable[str] = (),
    prices: Path | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Compares two datasets: the ``comparison``, and the ``objections`` of the conditions ``fail_if`` that are true."""
    arguments = ["diff", "--format", "json"]
    arguments += [f"--fail-if={condition}" for condition in _settings.words("fail_if", fail_if)]
    arguments += ["--prices", _settings.path("prices", prices)] if prices is not None else []
    return _json([*arguments, "--", _settings.path("before", before), _settings.path("after", after)], progress)


def export(
    dataset: Path,
    out: Path,
    *,
    dialect: str,
    format: str = "jsonl",
    envelope: str | None = None,
    valid: bool = False,
    split: Mapping[str, int] | None = None,
    split_by: str | None = None,
    split_like: Path | None = None,
    split_against: Path | Iterable[Path] = (),
    columns: Iterable[str] = (),
    dropped: Path | None = None,
    max_tokens: str | None = None,
    without: Iterable[str] = (),
    keep_unasked: bool = False,
    distinct: bool = False,
    media_root: str | None = None,
    replace: bool = False,
    progress: Progress = None,
) -> Export:
    """Writes training and evaluation files of a dataset into a folder, and returns the content of its ``export.json``, with the parts as ``.polars(part)``
    and ``.datasets()``. Where no row is kept, no folder is written.

    ``split={"train": 95, "test": 5}`` divides the rows, ``split_by="session"`` by time within a room, and ``split_like`` names an earlier export that decides for its own, ``split_against`` its dataset;
    ``columns=["source", "extra.language"]`` adds columns; ``dropped`` is a file for the rows that are left out, with their reasons; ``max_tokens="4096@o200k_base"`` leaves out what is longer; ``keep_unasked``
    keeps answers before which nobody speaks, which envelopes of conversations leave out; ``distinct`` leaves out rows that are equal to an earlier one;
    ``media_root`` is put before relative paths of pictures, videos and sounds.
    """
    arguments = ["export", "--dialect", _settings.text("dialect", dialect), "--format", _settings.text("format", format)]
    arguments += ["--out", _settings.path("out", out)]
    arguments += ["--envelope", _settings.text("envelope", envelope)] if envelope is not None else []
    arguments += ["--valid"] if valid else []
    shares = _settings.section("split", split).items()
    arguments += ["--split", ",".join(f"{part}={share}" for part, share in shares)] if shares else []
    arguments += ["--split-by", _settings.text("split_by", split_by)] if split_by is not None else []
    arguments += ["--split-like", _settings.path("split_like", split_like)] if split_like is not None else []
    arguments += [f"--split-against={run}" for run in _settings.paths("split_against", split_against)]
    added = _settings.words("columns", columns)
    arguments += ["--columns", ",".join(added)] if added else []
    arguments += ["--dropped", _settings.path("dropped", dropped)] if dropped is not None else []
    arguments += ["--max-tokens", _settings.text("max_tokens", max_tokens)] if max_tokens is not None else []
    arguments += [f"--without={code}" for code in _settings.words("without", without)]
    arguments += ["--keep-unasked"] if keep_unasked else []
    arguments += ["--distinct"] if distinct else []
    arguments += [f"--media-root={_settings.text('media_root', media_root)}"] if media_root is not None else []
    arguments += ["--replace"] if replace else []
    # Without a row no folder is written and an earlier one is kept, so the figures are read from the output of the command.
    _, text = answer([*arguments, "--json", "--", _settings.path("dataset", dataset)], callback(progress))
    return Export(json.loads(text), os.fspath(out))


def _json(arguments: list[str], progress: Progress) -> dict[str, Any]:
    code, text = answer(arguments, callback(progress))
    made: dict[str, Any] = json.loads(text)
    made.setdefault("exit_code", code)
    return made


_TAKEN = {"count", "render", "output", "name", "check", "night", "resources"}


def _sections(sections: dict[str, Any], function: str) -> dict[str, Any]:
    for name in _TAKEN & sections.keys():
        raise TypeError(f"{function}() takes no section `{name}`: it has keywords for it, or it is for runs")
    return dict(sections)


def _mapped(sections: dict[str, Any], map: object, assistant: str | Iterable[str]) -> dict[str, Any]:
    if map is not None:
        sections["table_map"] = {"map": {"table": "*", **_settings.section("map", map)}}
    names = _settings.words("assistant", assistant)
    if names:
        sections["input"] = {**_settings.section("input", sections.get("input")), "assistants": names}
    return sections


def _perspective(given: str | Iterable[str] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, str):
        rules = {"auto", "none", "each-agent", "each-participant"}
        return {"as": given if given in rules else [given]}
    return {"as": _settings.words("perspective", given)}


def _paths(name: str, given: object) -> list[str]:
    paths = _settings.paths(name, given)
    if not paths:
        raise RequestError("there is no path to read", "value", name)
    return paths


def _inputs(given: object, source: str, paths: Iterable[str]) -> list[dict[str, Any]]:
    like = _settings.section("input", given)
    return [{"source": _settings.text("source", source), **like, "path": path} for path in paths]
