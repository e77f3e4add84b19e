"""An archive of mixed sources, with a pipeline file of some tens of lots: the same bytes for the same size.

    python3 .ci/shares/corpus.py MEGABYTES FOLDER

JSON lines, one file of them large enough to be divided; a dump of PostgreSQL with rows that are gathered; zips of exports; and a zip with one huge
document. Some lines are cut off, and some ids occur in several files.
"""

import json
import pathlib
import random
import sys
import uuid
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benches"))

import chats  # noqa: E402
import large  # noqa: E402

LOTS = 40
PIPELINE = """\
name = "archive"

[[input]]
path = "in/logs"
source = "group-chat"

[[input]]
path = "in/workspace.sql"
source = "suna-rows"

[[input]]
path = "in/exports"
source = "chatgpt-export"

[shards]
bytes = {bytes}

[render]
dialects = ["openai-chat", "chatml", "anthropic-messages"]

[count]
encodings = ["o200k_base"]

[limits]
max_reject_ratio = 0.1
max_error_findings = 1_000_000

[output]
path = "out"
"""
DUMP = """\
--
-- PostgreSQL database dump
--

CREATE TABLE public.messages (
    message_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    type text NOT NULL,
    is_llm_message boolean DEFAULT true NOT NULL,
    content jsonb NOT NULL,
    metadata jsonb,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

COPY public.messages (message_id, thread_id, type, is_llm_message, content, metadata, created_at, updated_at) FROM stdin;
"""


def lines(path, size, dice, first):
    """Rooms as JSON lines, numbered from `first`; every two-hundredth is cut off."""
    written, number = 0, first
    with path.open("wb") as out:
        while written < size:
            line = json.dumps(chats.Room(dice, number).record(), ensure_ascii=False, separators=(",", ":")).encode()
            written += out.write((line[:-20] if number % 200 == 199 else line) + b"\n")
            number += 1


def dump(path, size, dice):
    """Threads with rows between those of other threads."""
    open_threads, written = [], 0
    with path.open("w", encoding="utf-8") as out:
        out.write(DUMP)
        while written < size or open_threads:
            if written < size and len(open_threads) < 50:
                open_threads.append([str(uuid.UUID(int=dice.getrandbits(128))), dice.randrange(2, 30), 0])
            thread = dice.choice(open_threads)
            role = "assistant" if thread[2] % 2 else "user"
            content = json.dumps({"role": role, "content": large.text(dice, dice.randint(5, 120))}).replace("\\", "\\\\")
            day, second = divmod(written // 40, 86_400)
            time = f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}+00"
            row = [str(uuid.UUID(int=dice.getrandbits(128))), thread[0], role, "t", content, "{}", time, time]
            written += out.write("\t".join(row) + "\n")
            thread[2] += 1
            if thread[2] == thread[1]:
                open_threads.remove(thread)
        out.write("\\.\n\n--\n-- PostgreSQL database dump complete\n--\n")


def export(path, size, dice, first):
    """A zip of one document, an array of conversations with branches."""
    written, number = 0, first
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # Without an explicit time, an entry would have that of the clock.
        with archive.open(zipfile.ZipInfo("conversations.json", (2026, 1, 1, 0, 0, 0)), "w", force_zip64=True) as out:
            while written < size:
                line = ("," if written else "[") + json.dumps(large.tree(dice, number), separators=(",", ":"))
                written += out.write(line.encode())
                number += 1
            out.write(b"]")


def write(megabytes, folder):
    """Writes `in/` and `archive.toml` below a folder."""
    dice, whole = random.Random(7), megabytes * 1e6
    logs, exports = folder / "in" / "logs", folder / "in" / "exports"
    logs.mkdir(parents=True)
    exports.mkdir()
    lines(logs / "all.jsonl", whole * 0.3, dice, 0)
    for number in range(10):
        lines(logs / f"day-{number:02}.jsonl", whole * 0.02, dice, (number + 1) * 1_000_000)
    # The ids of this file are also in all.jsonl.
    lines(logs / "again.jsonl", whole * 0.003, dice, 0)
    dump(folder / "in" / "workspace.sql", whole * 0.15, dice)
    for number in range(10):
        export(exports / f"export-{number:02}.zip", whole * 0.015, dice, number * 1_000_000)
    export(exports / "huge.zip", whole * 0.2, dice, 100_000_000)
    (folder / "archive.toml").write_text(PIPELINE.format(bytes=int(max(whole / LOTS, 4096))))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(float(sys.argv[1]), pathlib.Path(sys.argv[2]))
