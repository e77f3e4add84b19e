"""Progress goes to a function, or to a bar of tqdm where that is installed."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path

import pyarrow
import pytest
from conftest import chat, rows

import chatmill

CHATS = [chat("Hi", "Hello! " * 20)] * 2000


def test_a_function_is_told_up_to_the_end(demo: Path) -> None:
    told: list[tuple[str, int, int]] = []
    pyarrow.table(chatmill.render(demo, progress=lambda *now: told.append(now)))
    assert told and told[-1][0] == "read" and told[-1][1] == told[-1][2] > 0
    done = [now[1] for now in told]
    assert done == sorted(done)


def test_what_the_function_raises_ends_the_work(demo: Path) -> None:
    def tired(stage: str, done: int, total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        for _ in chatmill.render(demo, progress=tired).renderings:
            pass
    with pytest.raises(Exception, match="enough"):
        pyarrow.table(chatmill.render(demo, progress=tired))
    with pytest.raises(LookupError, match="enough"):
        chatmill.check(demo, progress=tired)
    assert chatmill.count("Good morning") == 2


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="tqdm is not installed")
def test_true_is_a_bar_that_reaches_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm.auto

    shown = io.StringIO()
    bars = []

    class Bar(tqdm.auto.tqdm):  # type: ignore[misc, type-arg]
        def __init__(self, **given: object) -> None:
            super().__init__(file=shown, **given)
            bars.append(self)

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    rendered = chatmill.render(CHATS, "chatml", progress=True)
    for readings in (1, 2):
        assert rows(rendered.renderings) == len(CHATS)
        assert len(bars) == readings
    assert all(bar.n == bar.total > 0 for bar in bars) and "100%" in shown.getvalue()


def test_true_without_tqdm_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    assert rows(chatmill.render(CHATS[:2], "chatml", progress=True).renderings) == 2
