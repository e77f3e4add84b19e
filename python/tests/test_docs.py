"""The examples of docs/python.md are run unchanged, each section after the page's first."""

from __future__ import annotations

import ast
import importlib.util
import re
import zipfile
from pathlib import Path

import polars
import pytest
from conftest import chat

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def snippets() -> list[tuple[str, str]]:
    """The Python of the page, with what it is about: its section, and the library that it imports first."""
    found = []
    for section in re.split(r"^##? ", PAGE.read_text(), flags=re.MULTILINE):
        title = section.partition("\n")[0]
        for code in SNIPPET.findall(section):
            found.append((f"{title}: {'+'.join(imported(code)) or len(found)}", code))
    return found


def imported(code: str) -> list[str]:
    """The modules that a snippet imports."""
    names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return [alias.name for node in names if isinstance(node, ast.Import) for alias in node.names]


SNIPPETS = snippets()
FIRST = SNIPPETS[0][1]


def test_the_page_has_an_example_for_each_library() -> None:
    said = " ".join(title for title, _ in SNIPPETS)
    assert all(name in said for name in ("pyarrow", "polars", "duckdb", "pandas", "daft")), said


@pytest.mark.parametrize(("title", "code"), SNIPPETS, ids=[title for title, _ in SNIPPETS])
def test_examples_of_the_page_are_run(title: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "chatmill.spark" in code or "chatmill.ray" in code:
        pytest.skip("it needs a cluster: .ci/engines")
    for name in imported(code):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    chats = [chat("Hi", "Hello!"), chat("1", "2", "3")]
    Path("exports").mkdir()
    with zipfile.ZipFile("exports/a.zip", "w") as archive:
        archive.writestr("chats.jsonl", "\n".join(chats))
    polars.DataFrame({"record": chats}).write_parquet("chats.parquet")
    Path("shop.db").symlink_to(PAGE.parents[1] / "data-samples/first-hour/shop.db")
    Path("pipeline.toml").write_text(
        'name = "p"\n[[input]]\npath = "exports"\n[render]\ndialects = ["hf-messages"]\n[output]\npath = "out"\n'
    )
    known: dict[str, object] = {}
    for snippet in [FIRST] if code == FIRST else [FIRST, code]:
        run(snippet, known)


def run(code: str, known: dict[str, object]) -> None:
    """Runs a snippet, and compares each expression that is a line with the value in its comment."""
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        comment = re.search(r"# ([\[\d'TF].*)$", lines[(statement.end_lineno or 1) - 1])
        if isinstance(statement, ast.Expr) and comment:
            value = eval(compile(ast.Expression(statement.value), str(PAGE), "eval"), known)
            assert value == ast.literal_eval(comment[1])
        else:
            exec(compile(ast.Module([statement], []), str(PAGE), "exec"), known)
