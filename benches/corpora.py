"""A corpus made of chats: filters, duplicates, decontamination, division, rows; chatmill and the same steps of datatrove.

    python3 benches/corpora.py CHATMILL WORK [--megabytes MB] [--evaluations ROWS] [--rounds N]

WORK is a folder that may be emptied. Prints processor and wall seconds, and the peak of memory, of each, and the ratio. The Python that runs
this has datatrove and spaCy (`datatrove[io,processing]`, `spacy`).
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys

from whole import Contestant

HERE = pathlib.Path(__file__).resolve().parent
PIPELINE = """
name = "corpus"
[[input]]
path = "chats.jsonl"
[select]
min_turns = 2
[select.decontaminate]
against = "evaluations.jsonl"
ngram = 13
[dedup]
exact = "filter"
near = "filter"
[split]
ngram = 13
ngram_leaks = "move"
[render]
dialects = ["hf-messages"]
[count]
encodings = ["o200k_base"]
[output]
path = "dataset"
"""


def evaluations(chats, rows):
    """Rows with a question and an answer: of 2,000 one is words of the chats, the others are drawn from the same vocabulary."""
    dice, said = random.Random(39), []
    with open(chats, encoding="utf-8") as lines:
        for _, line in zip(range(400), lines):
            said += [message.get("content") or "" for message in json.loads(line)["messages"]]
    said = [text for text in said if len(text.split()) > 20]
    words = " ".join(said).split()
    for place in range(rows):
        drawn = " ".join(dice.choices(words, k=dice.randint(8, 40)))
        yield {"question": drawn if place % 2000 else dice.choice(said), "answer": " ".join(dice.choices(words, k=dice.randint(1, 20)))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("chatmill", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--evaluations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    chats, tests = work / "chats.jsonl", work / "evaluations.jsonl"
    with open(chats, "wb") as file:
        subprocess.run([sys.executable, HERE / "chats.py", str(arguments.megabytes), "39", "agents"], stdout=file, check=True)
    tests.write_text("".join(json.dumps(row) + "\n" for row in evaluations(chats, arguments.evaluations)), encoding="utf-8")
    (work / "corpus.toml").write_text(PIPELINE, encoding="utf-8")
    mill = arguments.chatmill.resolve()
    ours = (
        f"'{mill}' run corpus.toml --threads 1 --replace && '{mill}' export dataset --dialect hf-messages --envelope trl-messages "
        "--format jsonl --split train=95,test=5 --out rows --replace"
    )
    theirs = [sys.executable, HERE / "peer" / "corpora.py", chats, tests, work / "datatrove"]
    found = [
        Contestant("chatmill", "run and export", ["sh", "-c", f"cd '{work}' && {ours}"], arguments.megabytes, work / "none"),
        Contestant("datatrove", "the same steps", [*map(str, theirs)], arguments.megabytes, work / "datatrove"),
    ]
    for _ in range(arguments.rounds):
        for contestant in found:
            contestant.run()
    for contestant in found:
        wall, processor, peak = map(contestant.median, range(3))
        print(f"{contestant.name:10} {processor:8.1f} s of the processor {wall:8.1f} s by the clock {peak / 2**20:6.0f} MiB at most")
    print(f"datatrove / chatmill: {found[1].median(1) / found[0].median(1):.1f}")


main()
