"""Writes group chats with pieces of the text files of a machine as messages: a harder corpus for counting than invented words.

    python3 mixed.py --mb 20 --seed 7 --out mixed.jsonl FOLDER...

Manual pages, documentation, sources and translation catalogues under the folders, compressed or not, are shuffled and cut into
messages. About a third of the pieces are JSON strings inside the message, a quarter of those in \\uXXXX escapes. The same files, seed
and size give the same bytes. Nothing of the result belongs into the repository: it is other people's text.
"""

import argparse
import gzip
import json
import os
import random

KINDS = {
    "manual": (".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8"),
    "prose": (".md", ".rst", ".txt"),
    "rust": (".rs",),
    "python": (".py",),
    "catalogue": (".po", ".mo", ".msg", ".ini"),
}
MOST_OF_ONE_FILE = 40_000
SHARE_OF_JSON = 0.35
SHARE_OF_ESCAPES = 0.25


def kind_of(path):
    name = path[:-3] if path.endswith(".gz") else path
    kind = next((kind for kind, ends in KINDS.items() if name.endswith(ends)), None)
    # Manual pages of another language are one folder deeper: man/ja/man1/ls.1.
    folders = path.split(os.sep)
    return "translated" if kind == "manual" and len(folders) > 3 and folders[-4] == "man" else kind


def text_of(path):
    try:
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rb") as file:
            raw = file.read(MOST_OF_ONE_FILE * 4)
    except (OSError, EOFError):
        return ""
    if path.endswith(".mo"):
        # Strings of a compiled catalogue are separated by zeros; the second half of the file is the translation.
        strings = [part.decode("utf-8", "ignore") for part in raw[len(raw) // 2 :].split(b"\0")]
        return "\n".join(part for part in strings if len(part) > 3)[:MOST_OF_ONE_FILE]
    try:
        return raw.decode("utf-8", "strict")[:MOST_OF_ONE_FILE]
    except UnicodeDecodeError as error:
        return raw[: error.start].decode("utf-8")[:MOST_OF_ONE_FILE]


def files(folders):
    found = {kind: [] for kind in [*KINDS, "translated"]}
    for folder in folders:
        for root, names, entries in os.walk(folder):
            names.sort()
            for entry in sorted(entries):
                path = os.path.join(root, entry)
                kind = kind_of(path)
                if kind and os.path.isfile(path) and not os.path.islink(path):
                    found[kind].append(path)
    return found


def pieces(random, found):
    """Pieces of all kinds, other languages twice as often; a kind that runs out starts again at another place in its files."""
    for paths in found.values():
        random.shuffle(paths)
    kinds = [kind for kind, paths in found.items() if paths]
    foreign = [kind for kind in ("translated", "catalogue") if kind in kinds]
    turn = dict.fromkeys(kinds, 0)
    while True:
        kind = random.choice(kinds + foreign)
        paths = found[kind]
        text = text_of(paths[turn[kind] % len(paths)])
        turn[kind] += 1
        at = 0
        for _ in range(12):
            length = min(int(random.lognormvariate(5.2, 1.1)) + 8, 8_000)
            piece = text[at : at + length].strip("\x00")
            at += length
            if not piece.strip():
                break
            if random.random() < SHARE_OF_JSON:
                value = {"kind": kind, "lines": piece.split("\n"), "bytes": len(piece)}
                piece = json.dumps(value, ensure_ascii=random.random() < SHARE_OF_ESCAPES)
            yield piece


def chat(random, number, source):
    people = [f"user_{random.randrange(10_000):04}" for _ in range(random.randrange(1, 5))]
    names = dict(zip(people, random.sample(["Ann", "Борис", "小林", "Zoë", "Іванка", "Max P."], len(people))))
    details = {person: {"full_name": names[person], "role": "user"} for person in people}
    details["robot_1"] = {"full_name": "Helper", "role": "assistant"}
    messages = []
    for index in range(random.randrange(4, 80)):
        speaker = "robot_1" if index % 2 else random.choice(people)
        message = {
            "message_id": f"m_{number}_{index:03}",
            "create_time": f"2025-{number % 12 + 1:02}-{index % 28 + 1:02}T{index % 24:02}:{number % 60:02}:{index * 7 % 60:02}+00:00",
            "sender": speaker,
            "role": "assistant" if speaker == "robot_1" else "user",
            "type": "text",
            "content": next(source),
            "refer_list": [],
        }
        if messages and random.random() < 0.2:
            target = random.choice(messages)
            message["refer_list"] = [{"type": "message", "message_id": target["message_id"]}]
        messages.append(message)
    return {
        "version": "1.0.0",
        "conversation_meta": {"conversation_id": f"mixed-{number}", "user_details": details},
        "conversation_list": messages,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--mb", type=float, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", required=True)
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    source = pieces(chance, files(options.folders))
    written, number = 0, 0
    with open(options.out, "w", encoding="utf-8") as out:
        while written < options.mb * 1e6:
            line = json.dumps(chat(chance, number, source), ensure_ascii=False, separators=(",", ":")) + "\n"
            out.write(line)
            written += len(line.encode())
            number += 1
    print(f"{number} conversations, {written} bytes")


if __name__ == "__main__":
    main()
