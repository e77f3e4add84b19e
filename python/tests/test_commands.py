"""Functions that do as commands do."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import chat

import chatmill


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(chat("Hi", "Hello!") + "\n" + chat("1", "2") + "\n")
    file = tmp_path / "p.toml"
    file.write_text(
        'name = "small"\n[[input]]\npath = "in"\n[render]\ndialects = ["openai-chat"]\n[output]\npath = "out"\n'
    )
    return file


def test_a_run_is_certified_compared_and_exported(pipeline: Path, tmp_path: Path) -> None:
    told: list[str] = []
    summary = chatmill.run(pipeline, progress=lambda stage, done, total: told.append(stage))
    assert summary["exit_code"] == 0 and told
    out = tmp_path / "out"
    certificate = chatmill.certify(out)
    assert certificate and "certified" in certificate.text
    other = chatmill.run(pipeline, tmp_path / "other", policy={"names": "prefix"}, threads=1)
    assert other["exit_code"] == 0
    compared = chatmill.diff(out, tmp_path / "other", fail_if=["messages < 100"])
    assert compared["exit_code"] == 1 and compared["objections"][0]["condition"].startswith("messages")
    exported = chatmill.export(out, tmp_path / "train", dialect="openai-chat", envelope="openai-sft", valid=True)
    assert exported["kept"] == 2
    with pytest.raises(chatmill.RequestError, match="window.session_gap"):
        parts = {"train": 1, "test": 1}
        chatmill.export(out, tmp_path / "parts", dialect="openai-chat", split=parts, split_by="session", distinct=True)
    key = tmp_path / "key.jsonl"
    key.write_text('{"messages": [{"role": "user", "content": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}]}\n')
    found = [len(chatmill.check(key, secrets=secrets)["findings"]) for secrets in (False, True)]
    assert found == [0, 1]
    greeting = tmp_path / "greeting.jsonl"
    greeting.write_text('{"messages": [{"role": "assistant", "content": "Good day, what can I do for you?"}]}\n')
    pipeline.with_name("greeting.toml").write_text(
        f'[[input]]\npath = "{greeting}"\n[render]\ndialects = ["openai-chat"]\n[output]\npath = "{tmp_path / "greeted"}"\n'
    )
    chatmill.run(pipeline.with_name("greeting.toml"))
    kept = [
        chatmill.export(
            tmp_path / "greeted",
            tmp_path / f"greeted-{keep}",
            dialect="openai-chat",
            envelope="openai-sft",
            keep_unasked=keep,
        )["kept"]
        for keep in (False, True)
    ]
    assert kept == [0, 1]
    (out / "messages" / "part-00000.parquet").write_bytes(b"PAR1")
    assert not chatmill.certify(out)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_tables_of_a_run_and_parts_of_an_export_are_frames(pipeline: Path, tmp_path: Path, form: str) -> None:
    ran = chatmill.run(pipeline)
    assert ran.polars("messages").collect().height == 4 and ran.polars().collect()["dialect"].to_list() == ["openai-chat"] * 2
    with pytest.raises(chatmill.RequestError, match="no table `?lots`?; it has alternatives"):
        ran.polars("lots")
    made = chatmill.export(
        tmp_path / "out", tmp_path / "train", dialect="openai-chat", format=form, columns=["source", "input"]
    )
    assert made.polars().collect()["input"].to_list() == ["a.jsonl"] * 2
    assert made.polars().collect().height == made.polars("data").collect().height == made["kept"] == 2
    with pytest.raises(chatmill.RequestError, match="name one of the parts: data"):
        made.polars("test")


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_tables_of_a_run_and_parts_of_an_export_are_datasets(pipeline: Path, tmp_path: Path, form: str) -> None:
    pytest.importorskip("datasets")
    ran = chatmill.run(pipeline)
    assert len(ran.datasets("messages")) == 4
    made = chatmill.export(
        tmp_path / "out", tmp_path / "train", dialect="openai-chat", format=form, split={"train": 1, "test": 1}
    )
    parts = made.datasets()
    assert set(parts) == {"train", "test"} and sum(len(rows) for rows in parts.values()) == 2
    row = next(row for rows in parts.values() for row in rows)
    assert [message["role"] for message in row["messages"]] == ["user", "assistant"]


def test_what_runs_and_exports_leave_out_is_listed(pipeline: Path, tmp_path: Path) -> None:
    left_out = tmp_path / "left-out.jsonl"
    chatmill.run(pipeline, dropped=left_out, select={"min_turns": 3})
    assert left_out.read_text().count('"reason":"select.min_turns"') == 2
    chatmill.run(pipeline, replace=True)
    chatmill.export(
        tmp_path / "out", tmp_path / "x", dialect="openai-chat", dropped=left_out, max_tokens="1@o200k_base"
    )
    assert left_out.read_text().count('"reason":"too-long') == 2


def test_files_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(chat("Hi", "Hello!") + "\n{broken\n")
    report = chatmill.check(file, now="2026-01-01")
    assert report["exit_code"] == 1
    assert [finding["code"] for finding in report["findings"]] == ["IN001"]
    assert chatmill.check([file], ignore=["IN"], now="2026-01-01")["exit_code"] == 0


def test_what_is_wrong_is_said_as_the_command_says_it(pipeline: Path, tmp_path: Path) -> None:
    with pytest.raises(chatmill.RequestError, match="cannot read the pipeline file") as caught:
        chatmill.run(tmp_path / "missing.toml")
    assert caught.value.code == "unreadable-pipeline"
    with pytest.raises(chatmill.RequestError, match="did you mean `names`"):
        chatmill.run(pipeline, policy={"nmaes": "prefix"})
    with pytest.raises(chatmill.RequestError, match="is not a dataset"):
        chatmill.certify(tmp_path)
    with pytest.raises(chatmill.RequestError, match="did you mean `openai-sft`"):
        chatmill.run(pipeline)
        chatmill.export(tmp_path / "out", tmp_path / "x", dialect="openai-chat", envelope="openai-stf")
    with pytest.raises(chatmill.RequestError, match="--fail-if"):
        chatmill.diff(tmp_path / "out", tmp_path / "out", fail_if=["nonsense"])
    with pytest.raises(chatmill.RequestError, match="no input matches"):
        chatmill.check(tmp_path / "missing")
