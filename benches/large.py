"""Large inputs in the forms that people hold, for measuring time and memory: always the same bytes for the same numbers.

    python3 benches/large.py chatgpt MEGABYTES FILE      a ChatGPT export: one array of conversations with branches
    python3 benches/large.py slack DAYS FOLDER           a Slack export: that many day files in 100 channels
    python3 benches/large.py parquet MEGABYTES FOLDER    a Parquet set of conversations (needs pyarrow)
"""

import datetime
import json
import pathlib
import random
import sys

WORDS = (
    "the a river house water light when nobody asked for it again because every morning she went to see whether "
    "boats had come back from where they were sent and what they carried home in boxes of wood with a lid"
).split()
START = 1_767_225_600


def text(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def node(own, parent, role, said, time):
    message = {
        "id": own,
        "author": {"role": role},
        "create_time": time,
        "content": {"content_type": "text", "parts": [said]},
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": "all",
        "metadata": {"model_slug": "small-1"} if role == "assistant" else {},
    }
    return {"id": own, "parent": parent, "children": [], "message": message}


def tree(rng, number):
    """A conversation of 4 to 40 turns; one answer of five was asked for again."""
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    above, time = "root", START + number * 60

    def add(own, role, words):
        mapping[own] = node(own, above, role, text(rng, words), time)
        mapping[above]["children"].append(own)
        return own

    for turn in range(rng.randint(4, 40)):
        time += 20
        if turn % 2 == 0:
            above = add(f"{number}-q{turn}", "user", rng.randint(5, 60))
            continue
        if rng.random() < 0.2:
            add(f"{number}-a{turn}-old", "assistant", rng.randint(20, 200))
        above = add(f"{number}-a{turn}", "assistant", rng.randint(20, 300))
    return {
        "title": text(rng, 4),
        "create_time": START + number * 60,
        "conversation_id": f"c{number}",
        "current_node": above,
        "mapping": mapping,
    }


def chatgpt(megabytes, path):
    rng, written = random.Random(7), 0
    with open(path, "w", encoding="utf-8") as out:
        out.write("[")
        number = 0
        while written < megabytes * 1_000_000:
            line = ("," if number else "") + json.dumps(tree(rng, number), separators=(",", ":"))
            out.write(line)
            written += len(line)
            number += 1
        out.write("]")


def slack(days, folder):
    rng, root = random.Random(7), pathlib.Path(folder)
    users = [
        {"id": f"U{n}", "name": f"person{n}", "deleted": False, "is_bot": False, "profile": {"real_name": f"Person {n}"}}
        for n in range(200)
    ]
    members = [user["id"] for user in users]
    channels = [
        {"id": f"C{n}", "name": f"channel-{n}", "created": START, "creator": "U0", "is_archived": False, "members": members}
        for n in range(min(100, days))
    ]
    root.mkdir(parents=True, exist_ok=True)
    (root / "users.json").write_text(json.dumps(users))
    (root / "channels.json").write_text(json.dumps(channels))
    for channel in channels:
        (root / channel["name"]).mkdir(exist_ok=True)
    for number in range(days):
        channel = channels[number % len(channels)]["name"]
        day = number // len(channels)
        at = START + day * 86_400
        messages = []
        for turn in range(rng.randint(1, 8)):
            stamp = f"{at + turn * 60}.{number % 1_000_000:06}"
            message = {"type": "message", "user": f"U{rng.randrange(200)}", "text": text(rng, rng.randint(3, 40)), "ts": stamp}
            if messages and rng.random() < 0.3:
                message["thread_ts"] = messages[0]["ts"]
            messages.append(message)
        name = datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%d.json")
        (root / channel / name).write_text(json.dumps(messages))


def parquet(megabytes, folder):
    import pyarrow
    import pyarrow.parquet

    rng, root = random.Random(7), pathlib.Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    turn = pyarrow.struct([("role", pyarrow.string()), ("content", pyarrow.string())])
    schema = pyarrow.schema([("id", pyarrow.string()), ("model", pyarrow.string()), ("conversation", pyarrow.list_(turn))])
    written, number, part = 0, 0, 0
    while written < megabytes * 1_000_000:
        path = root / f"part-{part:05}.parquet"
        with pyarrow.parquet.ParquetWriter(path, schema, compression="snappy") as out:
            for _ in range(8):
                rows = []
                for _ in range(1_000):
                    said = [
                        {"role": "user" if n % 2 == 0 else "assistant", "content": text(rng, rng.randint(10, 150))}
                        for n in range(rng.randint(2, 12))
                    ]
                    rows.append({"id": f"c{number}", "model": "small-1", "conversation": said})
                    number += 1
                out.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
        written += path.stat().st_size
        part += 1


if __name__ == "__main__":
    makers = {"chatgpt": chatgpt, "slack": slack, "parquet": parquet}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    makers[sys.argv[1]](int(sys.argv[2]), sys.argv[3])
