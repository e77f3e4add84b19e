"""Ctrl-C: whatever goes on ends at once with ``KeyboardInterrupt``, and the next call works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import chat

# After the error that a library raises during Ctrl-C, the interrupt itself follows as soon as Python goes on.
PROGRAM = """
import sys, time
from pathlib import Path
import chatmill

file, pipeline = Path("chats.jsonl"), Path("p.toml")
chats = file.read_text().splitlines()
print("begun", flush=True)
try:
    try:
        {work}
    except Exception:
        while True:
            time.sleep(0.01)
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
assert chatmill.count("Good morning") == 2
assert len(chatmill.render(chats[:2], "chatml").dialects) == 1
assert sum(batch.num_rows for batch in chatmill.render(chats[:2], "chatml").renderings) == 2
assert sum(batch.num_rows for batch in chatmill.read(chats[0].encode()).messages) == 2
print("works")
"""

WORK = {
    "render": "for batch in chatmill.render(chats, threads=1).renderings: pass",
    "render as a stream": "import pyarrow; pyarrow.table(chatmill.render(chats, threads=1))",
    "render into Polars": "import polars; polars.DataFrame(chatmill.render(chats, threads=1))",
    "render collected": "chatmill.render(chats, threads=1).collect()",
    "render in parts": "for part in chatmill.render(chats, threads=1).parts(): pass",
    "read": "while True:\n            for batch in chatmill.read(file, threads=1).messages: pass",
    "count": "while True: chatmill.count(chats, threads=1)",
    "run": "chatmill.run(pipeline, threads=1)",
    "check": "while True: chatmill.check(file, threads=1)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    (folder / "chats.jsonl").write_text((chat("word " * 50, "an answer " * 50) + "\n") * 100_000)
    (folder / "p.toml").write_text(
        'name = "long"\n[[input]]\npath = "chats.jsonl"\n[render]\ndialects = ["all"]\n[output]\npath = "out"\n'
    )
    return folder


@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_ctrl_c_ends_what_goes_on(work: str, folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(work=work)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(1)
    assert process.poll() is None, process.communicate()
    begun = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    said, complained = process.communicate(timeout=120)
    assert process.returncode == 0 and said.endswith("works\n"), (said, complained)
    took = float(said.split()[1]) - begun
    # It takes a tenth of a second; a busy machine is given more.
    assert 0 < took < 5, took
    assert not (folder / "out").exists()


def test_ctrl_c_ends_a_generator_that_is_gone_through(folder: Path) -> None:
    program = PROGRAM.format(work="chatmill.render(time.sleep(0.01) for _ in range(1_000_000))")
    process = subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and said.startswith("interrupted") and said.endswith("works\n"), said
