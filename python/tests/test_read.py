"""Reading: files, folders, bytes; tables that stream, and tables that are kept."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import polars
import pyarrow
import pyarrow.parquet
import pytest
from conftest import chat, rows

import chatmill


def test_tables_are_those_of_a_run(demo: Path, tmp_path: Path) -> None:
    pipeline = tmp_path / "p.toml"
    pipeline.write_text(
        f'name = "n"\n[[input]]\npath = "{demo}"\n[render]\ndialects = ["chatml", "openai-chat"]\n'
        '[count]\nencodings = ["o200k_base"]\n'
    )
    chatmill.run(pipeline, tmp_path / "out", output={"path": "unused"})
    rendered = chatmill.render(demo, ["chatml", "openai-chat"], ["o200k_base"])
    for name in ("conversations", "messages", "message_references", "tool_calls", "findings", "rejects", "renderings"):
        written = pyarrow.parquet.read_table(tmp_path / "out" / name)
        read = pyarrow.table(rendered._table(name))
        assert read.column_names == written.column_names, name
        assert read.to_pylist() == written.to_pylist(), name


def test_each_table_can_be_read_again_and_several_at_once(demo: Path) -> None:
    archive = chatmill.read(demo)
    assert len(archive.inputs) == 13
    count = rows(archive.messages)
    assert count > 100 and rows(archive.messages) == count
    kept = archive.collect("messages", "references", "findings")
    assert rows(kept.messages) == count and rows(kept.messages) == count
    assert rows(kept.references) == rows(archive.references) > 0
    assert sum(rows(part.messages) for part in archive.parts("messages", "findings")) == count
    with pytest.raises(AttributeError, match="the table rejects was not asked for, only messages"):
        kept.rejects  # noqa: B018


def test_libraries_take_tables_as_they_are(demo: Path) -> None:
    archive = chatmill.read(demo / "launch-week.json")
    frame = polars.DataFrame(archive.messages)
    table = pyarrow.table(archive.messages)
    assert frame.height == table.num_rows > 0
    assert frame["text"].to_list() == table["text"].to_pylist()
    assert pyarrow.schema(archive.messages).names == archive.messages.column_names
    batch = next(iter(archive.messages))
    assert pyarrow.record_batch(batch).num_rows == len(batch) == batch.num_rows


def test_bytes_are_the_content_of_a_file(demo: Path) -> None:
    for name in ("launch-week.json", "field-notes.zip", "courtyard-bot.db", "help-desk.jsonl.zst"):
        of_file = pyarrow.table(chatmill.read(demo / name).messages)
        of_bytes = pyarrow.table(chatmill.read((demo / name).read_bytes()).messages)
        assert of_bytes == of_file and of_file.num_rows > 0, name
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.json", chat("Hi", "Hello"))
    assert rows(chatmill.read(packed.getbuffer()).messages) == 2


def test_messages_are_counted_where_that_is_wanted(demo: Path) -> None:
    table = pyarrow.table(chatmill.read(demo / "launch-week.json", encodings=["o200k_base", "cl100k_base"]).messages)
    assert {"tokens_o200k_base", "tokens_cl100k_base"} <= set(table.column_names)
    assert table["tokens_o200k_base"].to_pylist() == chatmill.count([text or "" for text in table["text"].to_pylist()])


def test_what_cannot_be_read_is_found_and_raises_nothing() -> None:
    archive = chatmill.read(f"{chat('a', 'b')}\n{{broken\n{chat('c')}\n".encode())
    assert rows(archive.conversations) == 2
    rejects = pyarrow.table(archive.rejects).to_pylist()
    assert [(reject["record"], reject["input"]) for reject in rejects] == [(1, "data")]


def test_sections_of_a_pipeline_file_are_keywords(demo: Path) -> None:
    assert rows(chatmill.read(demo, select={"limit": 1}).conversations) == 1
    with pytest.raises(chatmill.RequestError, match="did you mean `depth`") as caught:
        chatmill.read(demo, limits={"dept": 5})
    assert caught.value.code == "pipeline"
    with pytest.raises(TypeError, match="takes no section `output`"):
        chatmill.read(demo, output={"path": "a"})
    with pytest.raises(chatmill.RequestError, match="only a run compares"):
        chatmill.read(demo, dedup={"exact": "filter"})


def test_a_table_of_ones_own_is_read_by_a_map(tmp_path: Path) -> None:
    file = tmp_path / "bot.csv"
    file.write_text("user,text\nkim,Is it open?\nhelpbot,Until four.\n")
    columns = {"sender": "user", "content": "text"}
    read = pyarrow.table(chatmill.read(file, map=columns, assistant="helpbot").messages)
    assert read["role"].to_pylist() == ["user", "assistant"]
    assert read["text"].to_pylist() == ["Is it open?", "Until four."]
    rendered = chatmill.render(file, ["chatml"], map=columns, assistant=["helpbot"])
    assert "<|im_start|>assistant\nUntil four." in pyarrow.table(rendered.renderings)["content"][0].as_py()
    # A row is a record here, and a whole conversation.
    rows = [{"user": "helpbot", "text": "Until four."}]
    assert rows_of(chatmill.render(rows, ["chatml"], map=columns, assistant="helpbot")) == 1
    assert rows_of(chatmill.render(rows, ["chatml"])) == 0
    assert chatmill.check(file)["summary"]["errors"] == 2
    assert chatmill.check(file, map=columns, assistant="helpbot")["summary"]["errors"] == 0
    with pytest.raises(TypeError, match="for data that is not read yet"):
        chatmill.render(chatmill.read(file), ["chatml"], map=columns)
    with pytest.raises(chatmill.RequestError, match="table_map"):
        chatmill.read(file, map={"words": "text"}).collect("messages")


def test_names_are_in_another_table() -> None:
    shop = Path(__file__).parent / "../../data-samples/first-hour/shop.db"
    senders = {"table": "users", "id": "id", "name": "name", "agent": "is_bot"}
    columns = {"table": "messages", "conversation": "conversation_id", "sender": "user_id", "content": "content", "sender_from": senders}
    read = pyarrow.table(chatmill.read(shop, map=columns).messages)
    assert read["sender_name"].to_pylist() == ["Kim", "helpbot", "Lee", "helpbot"]
    assert chatmill.check(shop, map=columns)["summary"]["errors"] == 0


def rows_of(rendered: chatmill.Rendered) -> int:
    return rows(rendered.renderings)
