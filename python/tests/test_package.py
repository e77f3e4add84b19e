"""The package as a whole: its examples, its types, its errors, its command line."""

from __future__ import annotations

import doctest
import importlib
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import chat

import chatmill


@pytest.mark.parametrize("module", ["chatmill", "chatmill._settings"])
def test_examples_in_docstrings_are_true(module: str) -> None:
    tested = doctest.testmod(importlib.import_module(module), extraglobs={"chatmill": chatmill})
    assert tested.attempted > 0 and tested.failed == 0


def test_errors_travel() -> None:
    error = chatmill.RequestError("it is wrong", "value", "limits.depth")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.place) == ("it is wrong", "value", "limits.depth")
    assert issubclass(chatmill.IncompleteError, chatmill.Error) and issubclass(chatmill.RequestError, ValueError)


def test_notebooks_are_shown_what_there_is(demo: Path) -> None:
    archive = chatmill.read(demo)
    assert repr(archive).startswith("<chatmill.Archive with conversations, messages")
    assert "conversation_id" in archive._repr_html_()
    assert repr(archive.messages).startswith("<chatmill.Table messages: ")
    assert repr(chatmill.Counter()) == "<chatmill.Counter of o200k_base>"


def test_nothing_else_is_imported() -> None:
    program = "import sys, chatmill; print(sorted({'pyarrow', 'polars', 'pandas', 'tqdm', 'numpy'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_the_command_line_is_the_module() -> None:
    said = subprocess.run([sys.executable, "-m", "chatmill", "--version"], capture_output=True, text=True)
    version, commit = f"chatmill {chatmill.__version__}\n", ""
    if os.environ.get("CHATMILL_PROFILE", "dev") != "dev":
        # A release of a checkout has its commit on a second line.
        commit = next((line + "\n" for line in said.stdout.splitlines() if re.fullmatch("commit [0-9a-f]{40}", line)), "")
    assert (said.returncode, said.stdout) == (0, version + commit)
    said = subprocess.run([sys.executable, "-m", "chatmill", "certify", "nothing"], capture_output=True, text=True)
    assert said.returncode == 2 and said.stderr.startswith("error: nothing cannot be")


def test_calls_leave_nothing_behind() -> None:
    def memory() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    chats = [chat("Hi", "Hello!" * 100)]

    def call() -> None:
        for _ in chatmill.render(chats, ["chatml", "openai-chat"], threads=1).renderings:
            pass
        chatmill.render(chats, "chatml").__arrow_c_stream__()
        chatmill.count(["a"] * 100)

    for _ in range(100):
        call()
    before = memory()
    for _ in range(400):
        call()
    assert memory() - before < 16 << 20
    threads = len(os.listdir("/proc/self/task"))
    assert threads < 40, threads
