"""Fixtures of all tests: the samples of the repository, and drawn chats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "data-samples"


@pytest.fixture
def demo() -> Path:
    """A folder with archives of several sources."""
    return SAMPLES / "demo"


def chat(*texts: str) -> str:
    """A request of a model API, with these texts from both sides in turn."""
    roles = ["user", "assistant"]
    turns = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return json.dumps({"messages": turns}, ensure_ascii=False)


def rows(table: object) -> int:
    """How many rows a table has."""
    return sum(batch.num_rows for batch in table)  # type: ignore[attr-defined]
