"""Rendering: records in columns and lists, and what was read."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pyarrow
import pytest
from conftest import SAMPLES, chat, rows

import chatmill

CHATS = [chat("Hi", "Hello!"), chat("Як справи?", "Добре", "Чудово"), chat("1", "2")]


def contents(rendered: object) -> list[str]:
    return pyarrow.table(rendered)["content"].to_pylist()


@pytest.mark.parametrize(
    "records",
    [
        CHATS,
        [text.encode() for text in CHATS],
        [json.loads(text) for text in CHATS],
        [json.dumps(json.loads(text), indent=2) for text in CHATS],
        (text for text in CHATS),
        pyarrow.array(CHATS),
        polars.Series(CHATS),
        polars.DataFrame({"record": CHATS, "number": [1, 2, 3]}),
        pyarrow.table({"record": pyarrow.chunked_array([CHATS[:1], CHATS[1:]])}),
        "\n".join(CHATS),
        "\n".join(CHATS).encode(),
    ],
    ids=[
        "texts", "bytes", "dicts", "pretty", "generator", "array", "series", "frame", "table", "text", "content",
    ],
)
def test_records_come_in_many_forms(records: object) -> None:
    rendered = chatmill.render(records, "chatml", ["o200k_base"])
    made = contents(rendered)
    assert len(made) == 3 and "Hello!" in made[0] and "Добре" in made[1]
    assert contents(rendered) == made, "once more"
    tokens = pyarrow.table(rendered)["tokens_o200k_base"].to_pylist()
    assert all(count > 0 for count in tokens)


def test_arrays_of_messages_are_records_too() -> None:
    records = [json.dumps(json.loads(text)["messages"]) for text in CHATS]
    assert len(contents(chatmill.render(records, "chatml", source="openai-messages"))) == 3
    assert len(contents(chatmill.render(records[:1], "chatml", source="openai-messages"))) == 1


def test_the_number_of_a_record_is_that_of_its_row() -> None:
    records = [CHATS[0], None, "", "  \n", "{broken", CHATS[1], "[1, 2"]
    rendered = chatmill.render(records, "chatml").collect()
    assert rows(rendered.renderings) == 2
    rejects = pyarrow.table(rendered.rejects).to_pylist()
    assert [reject["record"] for reject in rejects] == [1, 2, 3, 4, 6]
    assert {finding["severity"] for finding in pyarrow.table(rendered.findings).to_pylist()} >= {"error"}


def test_what_was_read_is_rendered_without_naming_it_again(demo: Path) -> None:
    archive = chatmill.read(demo, select={"limit": 3})
    rendered = chatmill.render(archive, ["chatml", "openai-chat"])
    assert rendered.dialects == ["openai-chat", "chatml"] and rendered.encodings == ["o200k_base"]
    direct = chatmill.render(demo, ["chatml", "openai-chat"], select={"limit": 3})
    assert contents(rendered) == contents(direct)
    of_bytes = chatmill.render(chatmill.read("\n".join(CHATS).encode()), "chatml")
    assert len(contents(of_bytes)) == 3


def test_threads_change_nothing(demo: Path) -> None:
    one = pyarrow.table(chatmill.render(demo, threads=1))
    assert one == pyarrow.table(chatmill.render(demo, threads=4))


def test_options_are_those_of_a_pipeline_file() -> None:
    per_turn = chatmill.render([chat("a", "b", "c", "d")], "openai-chat", [], window={"mode": "per_turn"})
    assert len(contents(per_turn)) == 2
    named = chatmill.render(CHATS, "chatml", perspective="nobody-of-this-name")
    assert contents(named) == []
    for wrong, message in [
        ({"dialects": "chatlm"}, "did you mean `chatml`"),
        ({"window": {"mode": "per-turn"}}, "did you mean `per_turn`"),
        ({"policy": {"nmaes": "prefix"}}, "did you mean `names`"),
        ({"encodings": ["o300k"]}, "there is no encoding named `o300k`"),
        ({"source": "auto", "window": {"history": -1}}, "a number of messages from 1 on"),
    ]:
        with pytest.raises(chatmill.RequestError, match=message):
            chatmill.render(CHATS, **wrong)


def test_a_template_is_a_dialect(tmp_path: Path) -> None:
    template = tmp_path / "t.jinja"
    template.write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    rendered = chatmill.render(CHATS, "mine", [], templates={"mine": {"template": template}})
    assert contents(rendered)[0] == "<user>Hi<assistant>Hello!"


def test_rows_are_gathered_into_conversations() -> None:
    rows_of_one = (SAMPLES / "sources" / "suna-rows" / "example" / "suna-rows.jsonl").read_text().splitlines()
    assert len(rows_of_one) > 1
    assert len(contents(chatmill.render(rows_of_one, "chatml"))) == 1


def test_paths_in_options_start_at_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("key").write_text("0123456789abcdef" * 4)
    written = [chat("I am somebody@mail.example", "Hello!")]
    made = contents(chatmill.render(written, "chatml", redact={"mode": "replace", "key_file": Path("key")}))
    assert "Hello!" in made[0] and "somebody@mail.example" not in made[0]
    with pytest.raises(chatmill.RequestError, match="at least 32 bytes") as caught:
        chatmill.render(written, "chatml", redact={"mode": "replace"})
    assert caught.value.place == "redact.key_file"
