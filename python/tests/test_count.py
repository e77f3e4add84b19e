"""Counting: one text, many, and columns."""

from __future__ import annotations

import polars
import pyarrow
import pytest

import chatmill

TEXTS = ["Good morning", "", "Доброго ранку, 世界", "<|endoftext|>", "x" * 5000, "a\n\n  b\t"]


def test_a_text_is_a_number_and_a_list_is_a_list() -> None:
    one_by_one = [chatmill.count(text) for text in TEXTS]
    assert chatmill.count(TEXTS) == one_by_one
    assert chatmill.count(tuple(TEXTS)) == one_by_one
    assert chatmill.count(text for text in TEXTS) == one_by_one
    assert one_by_one[0] == 2 and one_by_one[1] == 0 and one_by_one[3] > 1


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array(TEXTS),
        pyarrow.array(TEXTS, pyarrow.large_string()),
        pyarrow.array(TEXTS, pyarrow.string_view()),
        pyarrow.array(TEXTS).dictionary_encode(),
        pyarrow.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pyarrow.array([text.encode() for text in TEXTS]),
        polars.Series(TEXTS),
        polars.DataFrame({"text": TEXTS, "number": range(len(TEXTS))}),
        pyarrow.table({"text": TEXTS}),
    ],
    ids=["string", "large", "view", "dictionary", "chunked", "binary", "series", "frame", "table"],
)
def test_a_column_is_a_column(column: object) -> None:
    counted = chatmill.count(column)
    assert counted.to_list() == chatmill.count(TEXTS)
    assert pyarrow.array(counted).to_pylist() == counted.to_list()
    assert polars.Series(counted).sum() == counted.sum()


def test_a_missing_text_has_no_tokens() -> None:
    assert chatmill.count(pyarrow.array(["a", None, "b"])).to_list() == [1, 0, 1]


def test_of_several_columns_one_is_named() -> None:
    frame = polars.DataFrame({"one": ["a"], "other": ["b c d e"]})
    with pytest.raises(ValueError, match="several columns hold text, name one with column=: `one`, `other`"):
        chatmill.count(frame)
    assert chatmill.count(frame, column="other").to_list() == chatmill.count(["b c d e"])
    with pytest.raises(ValueError, match="there is no column `two`"):
        chatmill.count(frame, column="two")
    with pytest.raises(TypeError, match="must hold text or bytes, not"):
        chatmill.count(polars.Series([1, 2]))


def test_a_counter_keeps_its_encoding() -> None:
    counter = chatmill.Counter("cl100k_base", threads=2)
    assert counter.encoding == "cl100k_base"
    assert counter.count(TEXTS) == chatmill.count(TEXTS, "cl100k_base", threads=1)
    assert counter.count(["a"] * 50_000) == [1] * 50_000


def test_bytes_are_a_text() -> None:
    assert chatmill.count("Добре".encode()) == chatmill.count("Добре")
