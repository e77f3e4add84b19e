"""Whether `[select.decontaminate]` finds what a plain counter finds, and what it costs.

    python3 -B benches/contamination.py CHATMILL FOLDER [--megabytes 20] [--rows 1000] [--time]

Invented rooms and agents, and evaluations in three forms: rows cut from the chats, at any word and of any length, and others. A counter in
plain Python (NFKC, lower case, letters and digits; in scripts without spaces each character) and chatmill must leave out the same
conversations. With `--time` there is no counter: processor time of runs with the evaluations and without is compared.
"""

import argparse
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import chats

RUN = 13
ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
WORD = re.compile(f"[{ALONE}]|[^\\W_{ALONE}]+")
PIPELINE = """name = "contamination"
[[input]]
path = "{corpus}"
{select}
[render]
dialects = ["hf-messages"]
[count]
encodings = [{encodings}]
[output]
path = "{out}"
"""
SELECT = '[select.decontaminate]\nagainst = ["eval.jsonl", "eval.csv", "eval.txt"]\n'


def words(text):
    return WORD.findall(unicodedata.normalize("NFKC", text).lower())


def runs(text):
    found = words(text)
    return {tuple(found[at : at + RUN]) for at in range(len(found) - RUN + 1)}


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def texts(record):
    """The texts of a record's messages, each with whether it is a user's; those in JSON with escapes once more without."""
    for message in record.get("conversation_list") or record["messages"]:
        calls = message.get("tool_calls") or message.get("extra", {}).get("tool_calls") or []
        found = [(message.get("content") or "", message["role"] == "user")]
        found += [(call["function"]["arguments"], False) for call in calls]
        found += [(shown["content"], False) for shown in message.get("refer_list", []) if isinstance(shown, dict) and "content" in shown]
        for text, is_asked in found:
            yield text, is_asked
            if "\\" in text and text.lstrip()[:1] in ("{", "["):
                try:
                    yield from ((inner, False) for inner in strings(json.loads(text)))
                except ValueError:
                    pass


def corpus(folder, megabytes):
    records = []
    (folder / "chats").mkdir(exist_ok=True)
    for kind, seed in (("rooms", 7), ("agents", 8), ("scripts", 9)):
        dice, written, number = random.Random(seed), 0, 0
        with open(folder / "chats" / f"{kind}.jsonl", "w", encoding="utf-8") as file:
            while written < megabytes / 3 * 1e6:
                number += 1
                record = chats.CORPORA[kind](dice, number).record()
                # Rooms of two corpora have the same numbers.
                if "conversation_meta" in record:
                    record["conversation_meta"]["conversation_id"] = f"{kind}-{number}"
                records.append(record)
                written += file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return records


def cut(dice, text):
    """Some of a text, from one of its words to another."""
    places = [match.span() for match in WORD.finditer(text)]
    if not places:
        return text
    first = dice.randrange(len(places))
    last = min(first + dice.choice([5, 11, 12, 13, 20, 40]), len(places) - 1)
    return text[places[first][0] : places[last][1]]


def evaluations(folder, records, rows, share):
    """Writes the evaluations, a share of them cut from the chats, and gives their texts, each with whether it is a question."""
    dice, other = random.Random(1), chats.Words(random.Random(2), (6, 3, 2, 1), 0.1)
    added = []

    def text():
        if dice.random() >= share:
            return " ".join(other.sentence() for _ in range(2))
        said = [text for text, _ in texts(dice.choice(records))]
        return cut(dice, dice.choice(said))

    with open(folder / "eval.jsonl", "w", encoding="utf-8") as file:
        # Two thirds of the rows; the rest is CSV and plain text.
        for number in range(rows * 2 // 3):
            question, answer = text(), text()
            keys = dice.choice([("question", "answer"), ("prompt", "chosen"), ("turns", "choices")])
            row = {"id": number, keys[0]: question, keys[1]: answer}
            if keys[0] == "turns":
                row = {"turns": [question], "choices": [answer]}
            file.write(json.dumps(row, ensure_ascii=dice.random() < 0.5) + "\n")
            added += [(question, True), (answer, False)]
    with open(folder / "eval.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["query", "target"])
        for _ in range(rows // 6):
            question, answer = text(), text()
            table.writerow([question, answer])
            added += [(question, True), (answer, False)]
    with open(folder / "eval.txt", "w", encoding="utf-8") as file:
        for _ in range(rows // 6):
            line = " ".join(text().split()) or "…"
            # A line that begins like JSON would be taken for it.
            line = line.lstrip('{["<') or "…"
            file.write(line + "\n")
            added.append((line, False))
    return added


def expected(records, added):
    known, questions = set(), set()
    for text, is_question in added:
        for text in [text, *decoded(text)]:
            known |= runs(text)
        found = tuple(words(text))
        if is_question and 0 < len(found) < RUN:
            questions.add(found)
    out = set()
    for record in records:
        said = texts(record)
        if any((asked and tuple(words(text)) in questions) or not known.isdisjoint(runs(text)) for text, asked in said):
            out.add(record.get("id") or record["conversation_meta"]["conversation_id"])
    return out


def decoded(text):
    if "\\" in text and text.lstrip()[:1] in ("{", "[", '"'):
        try:
            return list(strings(json.loads(text)))
        except ValueError:
            pass
    return []


def run(chatmill, folder, select, *arguments, encodings=""):
    """Runs a pipeline; its processor seconds."""
    pipeline = folder / "pipeline.toml"
    pipeline.write_text(PIPELINE.format(corpus="chats/*.jsonl", select=select, out="out", encodings=encodings))
    shutil.rmtree(folder / "out", ignore_errors=True)
    before = os.times()
    command = [chatmill, "run", str(pipeline), "--quiet", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("chatmill")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--megabytes", type=float, default=20)
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--time", action="store_true")
    asked = arguments.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    records = corpus(asked.folder, asked.megabytes)
    # What is left out need not be rendered: where time is compared, nearly nothing is.
    added = evaluations(asked.folder, records, asked.rows, 0.0 if asked.time else 0.3)
    if asked.time:
        seconds = lambda select: run(asked.chatmill, asked.folder, select, encodings='"o200k_base"')
        best = [min(seconds(select) for _ in range(3)) for select in ("", SELECT)]
        print(f"without {best[0]:.2f} s, with {best[1]:.2f} s of processor time: {best[1] / best[0]:.2f} times")
        return
    dropped = asked.folder / "dropped.json"
    run(asked.chatmill, asked.folder, SELECT, "--dropped", str(dropped))
    lines = dropped.read_text(encoding="utf-8").splitlines()
    ours = {json.loads(line)["conversation_id"] for line in lines}
    theirs = expected(records, added)
    print(f"{len(records)} conversations, {len(added)} texts of evaluations: {len(ours)} left out by chatmill, {len(theirs)} by the counter")
    for name, difference in (("chatmill alone", ours - theirs), ("the counter alone", theirs - ours)):
        if difference:
            print(f"{name}: {sorted(difference)[:10]}")
    sys.exit(ours != theirs)


if __name__ == "__main__":
    main()
