"""Runs by lots: `chatmill.spark.run` and `chatmill.ray.run`, with stand-ins for the engines; `just engines` has the engines themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest
from conftest import chat

import chatmill
import chatmill.ray
import chatmill.spark

LOTS = {"bytes": 4096}
Told = Callable[[str, int, int], object]
By = Callable[..., dict[str, Any]]


class Spark:
    """A session that does each task at once, and the first one again, as speculative execution does."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.before = before

    def range(self, start: int, end: int, step: int, partitions: int) -> Spark:
        assert partitions == max(end, 1)
        self.lots = [*range(start, end, step)]
        return self

    def mapInArrow(self, work: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> SimpleNamespace:
        def collect() -> list[dict[str, Any]]:
            self.before()
            batches = [pyarrow.record_batch({"id": [lot]}) for lot in [0, *self.lots]]
            rows = [row for batch in batches for made in work(iter([batch])) for row in made.to_pylist()]
            assert all(list(row) == [field.split()[0] for field in schema.split(", ")] for row in rows)
            return rows[1:]

        return SimpleNamespace(collect=collect)


class Ray:
    """The parts of Ray that are used: tasks that are done when their result is asked for, and the error of the first that fails."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.before = before
        self.cancelled: list[object] = []

    def remote(self, **options: Any) -> Callable[[Callable[..., Any]], SimpleNamespace]:
        assert chatmill.IncompleteError in options["retry_exceptions"] and options["max_retries"] > 0
        return lambda work: SimpleNamespace(remote=lambda *given: (work, given))

    def wait(self, left: list[Any]) -> tuple[list[Any], list[Any]]:
        self.before()
        return left[-1:], left[:-1]

    def get(self, ready: list[Any]) -> list[Any]:
        return [work(*given) for work, given in ready]

    def cancel(self, task: object, force: bool) -> None:
        assert force
        self.cancelled.append(task)


@pytest.fixture(params=["spark", "ray"])
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., By]:
    """One of the engines, with an action before its tasks begin."""

    def made(before: Callable[[], object] = lambda: None) -> By:
        if request.param == "spark":
            return lambda *given, **options: chatmill.spark.run(Spark(before), *given, **options)  # type: ignore[arg-type]
        monkeypatch.setitem(sys.modules, "ray", Ray(before))
        return chatmill.ray.run

    return made


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    lines = "".join(chat(f"Question {number}?", "yes, " * number) + "\n" for number in range(60))
    (tmp_path / "in" / "a.jsonl").write_text(lines)
    (tmp_path / "in" / "b.json").write_text(chat("Hi", "Hello!"))
    file = tmp_path / "p.toml"
    file.write_text('name = "shared"\n[[input]]\npath = "in"\n[render]\ndialects = ["openai-chat"]\n[output]\npath = "out"\n')
    return file


def test_lots_in_an_engine_make_the_files_of_a_run(by: Callable[..., By], pipeline: Path, tmp_path: Path) -> None:
    alone = chatmill.run(pipeline, tmp_path / "alone", shards=LOTS)
    told: list[tuple[str, int, int]] = []
    summary = by()(pipeline, tmp_path / "shared", shards=LOTS, progress=lambda *said: told.append(said))
    manifests = [(tmp_path / out / "manifest.json").read_bytes() for out in ("alone", "shared")]
    assert manifests[0] == manifests[1]
    assert summary["exit_code"] == alone["exit_code"] == 0
    assert {*summary} == {*alone}
    lots = [(done, total) for stage, done, total in told if stage == "lots"]
    assert lots[-1][0] == lots[-1][1] > 3 and lots.count(lots[-1]) == 1
    assert not (tmp_path / ".shared.staging").exists()
    again = by()(pipeline, tmp_path / "shared", shards=LOTS)
    assert again["exit_code"] == 0 and (tmp_path / "shared" / "manifest.json").read_bytes() == manifests[0]


def test_lots_that_are_compared_first_make_the_files_of_a_run(by: Callable[..., By], pipeline: Path, tmp_path: Path) -> None:
    again = "".join((pipeline.parent / "in" / "a.jsonl").read_text().splitlines(keepends=True)[:9])
    (tmp_path / "in" / "c.jsonl").write_text(again)
    compared = {"shards": LOTS, "dedup": {"exact": "filter"}}
    alone = chatmill.run(pipeline, tmp_path / "alone", **compared)
    assert alone["exit_code"] == 0
    told: list[tuple[str, int, int]] = []
    by()(pipeline, tmp_path / "shared", progress=lambda *said: told.append(said), **compared)
    manifests = [(tmp_path / out / "manifest.json").read_bytes() for out in ("alone", "shared")]
    assert manifests[0] == manifests[1]
    lots = [(done, total) for stage, done, total in told if stage == "lots"]
    assert lots[-1][0] == lots[-1][1] > 3


def test_an_input_that_changes_before_it_is_compared_is_the_error_of_the_run(by: Callable[..., By], pipeline: Path) -> None:
    text = (pipeline.parent / "in" / "b.json").read_text()

    def change() -> None:
        (pipeline.parent / "in" / "b.json").write_text(text.replace("Hello!", "Howdy!"))

    with pytest.raises(chatmill.IncompleteError, match=r"lot \d+ failed: changed since it was planned: b.json"):
        by(change)(pipeline, shards=LOTS, dedup={"exact": "filter"})


def test_an_input_that_changes_meanwhile_is_the_error_of_the_run(by: Callable[..., By], pipeline: Path) -> None:
    text = (pipeline.parent / "in" / "b.json").read_text()

    def change() -> None:
        (pipeline.parent / "in" / "b.json").write_text(text.replace("Hello!", "Howdy!"))

    with pytest.raises(chatmill.IncompleteError, match=r"lot \d+ failed: changed since it was planned: b.json") as caught:
        by(change)(pipeline, shards=LOTS)
    assert caught.value.code == "lot" and not (pipeline.parent / "out").exists()
    # The plan of the changed input is another.
    assert by()(pipeline, shards=LOTS)["exit_code"] == 0


def test_a_pipeline_file_that_changes_meanwhile_is_a_wrong_request(by: Callable[..., By], pipeline: Path) -> None:
    def change() -> None:
        pipeline.write_text(pipeline.read_text().replace("openai-chat", "chatml"))

    with pytest.raises(chatmill.RequestError, match="changed since"):
        by(change)(pipeline, shards=LOTS)
    with pytest.raises(chatmill.RequestError, match="did you mean `names`"):
        by()(pipeline, policy={"nmaes": "prefix"})
    with pytest.raises(chatmill.RequestError, match="threads"):
        by()(pipeline, threads=-1)
    with pytest.raises(TypeError, match="inputs"):
        by()(pipeline, inputs=5)


def test_what_fails_a_task_of_ray_ends_the_others(pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    ray = Ray(interrupt)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(KeyboardInterrupt):
        chatmill.ray.run(pipeline, shards=LOTS)
    assert len(ray.cancelled) > 3
    assert chatmill.run(pipeline, shards=LOTS)["exit_code"] == 0
