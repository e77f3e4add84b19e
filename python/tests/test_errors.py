"""A wrong request raises one error at once, which names what is wrong; a bad record is a row, and raises nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pyarrow
import pytest
from conftest import chat, rows

import chatmill

CHAT = chat("Hi", "Hello!")
NAMED = {"name": "mine", "tokenizer": "missing.json"}


class Broken:
    """An iterable, or a stream of Arrow, that fails as soon as it is asked."""

    def __iter__(self) -> Iterator[str]:
        raise LookupError("no more")


class BrokenStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise LookupError("no stream")


class NoStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return 3


def deep(depth: int) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for _ in range(depth):
        record = {"a": record}
    return record


WRONG_TYPES = {
    "data must be a path": lambda: chatmill.read(3),
    "data must be a path or a list of paths, not dict": lambda: chatmill.read({"a": 1}),
    "data 1 must be text or a path, not int": lambda: chatmill.read(["a", 3]),
    "source must be text, not int": lambda: chatmill.read(b"", source=3),
    "encodings must be a list of names, not int": lambda: chatmill.read(b"", encodings=3),
    "threads must be a number, not str": lambda: chatmill.read(b"", threads="4"),
    "limits: its keys must be text, not int": lambda: chatmill.read(b"", limits={3: 1}),
    "takes no section `output`": lambda: chatmill.read(b"", output={"path": "a"}),
    "a table's name must be text, not list": lambda: chatmill.read(b"").parts(["messages"]),
    "records must be text, bytes, an Arrow column or a list of them, not None": lambda: chatmill.render(None),
    "records must be text, bytes, an Arrow column or a list of them, not <class 'int'>": lambda: chatmill.render(12),
    "records must be text, bytes, an Arrow column or a list of them, not <class 'dict'>": lambda: chatmill.render(deep(1)),
    "an Arrow column or a list of them, not <class 'polars.*LazyFrame'>": lambda: chatmill.render(polars.LazyFrame()),
    "record 1 must be text, bytes, a dict or None, not <class 'float'>": lambda: chatmill.render([CHAT, 1.5]),
    "record 1 cannot be written as JSON: Object of type set": lambda: chatmill.render([CHAT, {"a": {1}}]),
    "record 0 cannot be written as JSON: maximum recursion": lambda: chatmill.render([deep(100_000)]),
    "the column `a` must hold text or bytes, not": lambda: chatmill.render(polars.DataFrame({"a": [1]}), column="a"),
    "column must be text, not int": lambda: chatmill.render([CHAT], column=3),
    "'int' object is not an instance of 'PyCapsule'": lambda: chatmill.render(NoStream()),
    "dialects must be a list of names, not int": lambda: chatmill.render([CHAT], 3),
    "perspective must be a list of names, not int": lambda: chatmill.render([CHAT], perspective=3),
    "an option must be text, a number, a bool": lambda: chatmill.render([CHAT], policy={"names": object()}),
    "progress must be a function": lambda: chatmill.render([CHAT], progress="yes"),
    "source, column, map and assistant are for data that is not read yet": lambda: chatmill.render(chatmill.read(b""), column="a"),
    "texts must be text, bytes, an Arrow column or a list of them, not <class 'int'>": lambda: chatmill.count(7),
    "texts must be text, bytes, an Arrow column or a list of them, not <class 'dict'>": lambda: chatmill.count({"a": 1}),
    "text 1 must be text, not <class 'int'>": lambda: chatmill.count(["a", 2]),
    "text 1 must be text, not <class 'NoneType'>": lambda: chatmill.count(["a", None]),
    "encoding must be a name or a dict, not int": lambda: chatmill.count("a", 3),
    "encoding must be a name or a dict, not NoneType": lambda: chatmill.Counter(None),
    "must hold text or bytes, not Int64": lambda: chatmill.count(polars.Series([1, 2])),
    "pipeline must be text or a path, not int": lambda: chatmill.run(3),
    "out must be text or a path, not int": lambda: chatmill.run("p.toml", 3),
    "inputs must be a path or a list of paths, not int": lambda: chatmill.run("p.toml", inputs=3),
    "limit must be a number, not str": lambda: chatmill.run("p.toml", limit="3"),
    "dataset must be text or a path, not int": lambda: chatmill.certify(3),
    "paths must be a path or a list of paths, not int": lambda: chatmill.check(3),
    "select must be a list of names, not int": lambda: chatmill.check("a", select=3),
    "before must be text or a path, not int": lambda: chatmill.diff(1, "b"),
    "dialect must be text, not int": lambda: chatmill.export("a", "b", dialect=3),
    "max_tokens must be text, not int": lambda: chatmill.export("a", "b", dialect="chatml", max_tokens=3),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_a_wrong_type_is_named(message: str) -> None:
    with pytest.raises(TypeError, match=message):
        WRONG_TYPES[message]()


WRONG_VALUES = {
    ("input", "no input matches `missing.json`"): lambda: chatmill.read("missing.json"),
    ("value", "there is no path to read"): lambda: chatmill.read([]),
    ("value", "data: the path is empty"): lambda: chatmill.read(""),
    ("value", r"'caf\\udce9.json' is no valid Unicode"): lambda: chatmill.read("caf\udce9.json"),
    ("value", "threads: -1 is not a number from 0 on"): lambda: chatmill.read(b"", threads=-1),
    ("value", "threads: .* is not a number from 0 on"): lambda: chatmill.count("a", threads=10**30),
    ("unknown-word", "there is no source named `opnai-chat`"): lambda: chatmill.read(b"", source="opnai-chat"),
    ("value", "input: it must be a dict of keys"): lambda: chatmill.read(b"", input=3),
    ("value", "window: it must be a dict of keys"): lambda: chatmill.render([CHAT], window="per_turn"),
    ("value", "only a run compares"): lambda: chatmill.read(b"", dedup={"exact": "filter"}),
    ("pipeline", "did you mean `depth`"): lambda: chatmill.read(b"", limits={"dept": 5}),
    ("pipeline", "unknown field `polcy`"): lambda: chatmill.render([CHAT], polcy={"names": "prefix"}),
    ("pipeline", "invalid type: integer `3`, expected struct Limits"): lambda: chatmill.read(b"", limits=3),
    ("value", "the list is empty"): lambda: chatmill.render([CHAT], []),
    ("unknown-word", "there is no table 'mesages' here, only"): lambda: chatmill.read(b"").parts("mesages"),
    ("unknown-word", "there is no table 'renderings' here, only"): lambda: chatmill.read(b"").collect("renderings"),
    ("unknown-word", "did you mean `o200k_base`"): lambda: chatmill.count("a", "o200k_bse"),
    ("vocabulary", "cannot read .*missing.json"): lambda: chatmill.count("a", NAMED),
    ("arguments", "--format"): lambda: chatmill.export("a", "b", dialect="chatml", format="csw"),
    ("value", "split: it must be a dict of keys"): lambda: chatmill.export("a", "b", dialect="chatml", split=3),
}


@pytest.mark.parametrize(("code", "message"), WRONG_VALUES)
def test_a_wrong_value_has_a_code_and_a_message(code: str, message: str) -> None:
    with pytest.raises(chatmill.RequestError, match=message) as caught:
        WRONG_VALUES[code, message]()
    assert caught.value.code == code
    assert isinstance(caught.value, chatmill.Error) and isinstance(caught.value, ValueError)


def test_a_path_is_not_taken_for_a_record(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(CHAT)
    with pytest.raises(chatmill.RequestError, match="pathlib.Path") as caught:
        chatmill.render(str(path))
    assert caught.value.place == str(path)


@pytest.mark.parametrize("taken", [chatmill.render, chatmill.count], ids=["render", "count"])
def test_what_a_generator_raises_is_raised(taken: Any) -> None:
    def broken() -> Iterator[str]:
        yield CHAT
        raise LookupError("no more")

    for data in (broken(), Broken()):
        with pytest.raises(LookupError, match="no more"):
            taken(data)
    with pytest.raises(LookupError, match="no stream"):
        taken(BrokenStream())


@pytest.mark.parametrize("taken", [chatmill.render, chatmill.count], ids=["render", "count"])
def test_what_a_stream_raises_ends_it_as_not_done(taken: Any) -> None:
    def broken() -> Iterator[pyarrow.RecordBatch]:
        yield pyarrow.record_batch({"record": [CHAT]})
        raise LookupError("no more")

    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("record", pyarrow.string())]), broken())
    with pytest.raises(chatmill.IncompleteError, match="no more") as caught:
        taken(reader)
    assert caught.value.code == "stream"


def test_a_stream_of_batches_is_records() -> None:
    chats = [chat("Hi", str(number)) for number in range(3)]
    batches = (pyarrow.record_batch({"record": [text]}) for text in chats)
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("record", pyarrow.string())]), batches)
    assert rows(chatmill.render(reader, "chatml").renderings) == 3


def test_a_bad_record_is_a_reject_beside_the_good_ones() -> None:
    records = [CHAT, "\ud800", {"a": "\ud800"}, b"\xff", {"a": float("nan")}, deep(500), "\0", CHAT]
    made = chatmill.render(records, "chatml").collect("renderings", "rejects")
    assert rows(made.renderings) == 2
    assert [reject["record"] for reject in pyarrow.table(made.rejects).to_pylist()] == [1, 2, 3, 4, 5, 6]


def test_a_text_without_bytes_is_named() -> None:
    with pytest.raises(ValueError, match="text 1 is no valid Unicode: .*surrogates not allowed"):
        chatmill.count(["a", "\ud800"])
    with pytest.raises(ValueError, match="surrogates not allowed"):
        chatmill.count("\ud800")


def test_errors_of_other_threads_are_errors_too() -> None:
    def tired(stage: str, done: int, total: int) -> None:
        raise LookupError("enough")

    raised: list[BaseException] = []

    def work() -> None:
        try:
            for _ in chatmill.render([CHAT] * 20_000, progress=tired).renderings:
                pass
        except LookupError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and len(raised) == 1
