"""Runs the Python of docs/export.md unchanged, over exports of invented rooms.

    python by_snippets.py CHATMILL RUN FOLDER
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from exports import call

PAGE = Path(__file__).resolve().parents[2] / "docs" / "export.md"
EXPORTS = {"trl": ("hf-messages", "trl-messages", "parquet"), "lines": ("openai-chat", "openai-sft", "jsonl")}


def main():
    chatmill, run, folder = map(Path, sys.argv[1:4])
    folder.mkdir(parents=True)
    for name, (dialect, envelope, form) in EXPORTS.items():
        command = [chatmill.resolve(), "export", run.resolve(), "--dialect", dialect, "--envelope", envelope]
        command += ["--format", form, "--valid", "--split", "train=80,test=20", "--out", folder / name]
        call(command, (0, 1))
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    if len(snippets) < 3:
        sys.exit("the page has lost its examples")
    for snippet in snippets:
        quiet = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
        ended = subprocess.run([sys.executable, "-c", snippet], cwd=folder, env=quiet, capture_output=True, text=True)
        if ended.returncode:
            sys.exit(f"{snippet}\n{ended.stderr}")
        print(ended.stdout.strip().splitlines()[-1] if ended.stdout.strip() else "nothing printed")
    kept = [line for path in (folder / "filtered").rglob("*.jsonl") for line in path.read_text().splitlines()]
    if not kept:
        sys.exit("the filter kept nothing")
    print(len(kept), "rows kept by the filter")


main()
