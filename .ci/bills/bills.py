"""Compares the bills of chatmill with SQL and tiktoken, to the token and the cent, for every key.

    python bills.py CHATMILL RANKS FOLDER

CHATMILL is the program, RANKS the file `o200k_base.tiktoken`, FOLDER is made anew. Two dumps of Suna's, two databases of gryag's and a log
of requests are drawn at random (the seed is printed); DuckDB adds up what tiktoken counts in their own rows, and every bill has to
have the same sums: from the files, and from a dataset that was made of them. For the chats, each answer's request is put together anew from
the rows, with all the history that was sent again.
"""

import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
from bisect import bisect_left
from datetime import datetime, timedelta, timezone
from itertools import accumulate

import duckdb
import tiktoken
import tiktoken_ext.openai_public as public
from tiktoken.load import load_tiktoken_bpe

PROGRAM, RANKS, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 20261123
INPUT, OUTPUT, CACHED, REQUEST, DISCOUNT = 2.5, 10.0, 1.25, 0.001, 0.5
PRICES = f"""[[price]]
model = "large"
encoding = "o200k_base"
currency = "USD"
per_million = {INPUT}
per_million_output = {OUTPUT}
per_million_cached_input = {CACHED}
per_request = {REQUEST}
batch_discount = {DISCOUNT}
date = "2026-11-23"
source = "made up"
"""
WORDS = "the roof привіт 梅の木 🌱 {\"a\": 1} quote\" \\n tab\t bread, opens 06:30 <|end|> naïve don't 12345 ſtreet".split(" ")

public.load_tiktoken_bpe = lambda *_, **__: load_tiktoken_bpe(str(RANKS))
ENCODING = tiktoken.Encoding(**public.o200k_base())
RANDOM = random.Random(SEED)
# One row for each text: input, conversation, day, person, role, tool, model, whether it is a call or a result, the text. No title
# is drawn, so that each conversation is a room.
COLUMNS = "input, conversation, day, participant, role, tool, model, is_call, text"
START = datetime(2026, 1, 30, 20, tzinfo=timezone.utc)


def tokens(text):
    return len(ENCODING.encode_ordinary(text))


def says():
    return " ".join(RANDOM.choice(WORDS) for _ in range(RANDOM.randint(1, 40)))


def day(time):
    return time.astimezone(timezone.utc).strftime("%Y-%m-%d")


def quoted(text):
    """The inside of a JSON string, as compact JSON has it."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Chat:
    """A conversation as it would be sent to Chat Completions, in pieces: words of the assistant's answers, and all else."""

    def __init__(self):
        self.pieces, self.days, self.roles = [[('{"messages":[', False)]], [], []

    def add(self, role, day, text, name=None, call=None, result=None):
        comma, self.days, self.roles = "," if self.days else "", [*self.days, day], [*self.roles, role]
        head, own = [(f'{comma}{{"role":"{role}"', False)], role == "assistant"
        rest = [(f',"name":"{name}"', False)] if name else []
        rest += [(f',"tool_call_id":"{result}"', False)] if result else []
        rest += [(',"content":"', False), (quoted(text), own), ('"', False)]
        if call:
            tool, number, arguments = call
            rest += [(f',"tool_calls":[{{"id":"{number}","type":"function","function":{{"name":"', False), (tool, True)]
            rest += [('","arguments":"', False), (quoted(arguments), True), ('"}}]', False)]
        self.pieces += [head, [*rest, ("}", False)]]

    def rendered(self):
        return "".join(text for pieces in self.pieces for text, _ in pieces) + "]}"

    def requests(self):
        """For each answer its day, the tokens that begin before it, those written in it, and those since the answer before; then
        what follows the last. Turns of the assistant in a row are one answer."""
        whole = self.rendered()
        lengths = [len(ENCODING.decode_single_token_bytes(token)) for token in ENCODING.encode_ordinary(whole)]
        begins = [0, *accumulate(lengths)][:-1]
        at = lambda place: bisect_left(begins, place)
        found, place, held, is_open = [], len(self.pieces[0][0][0].encode()), 0, False
        for number, (role, day) in enumerate(zip(self.roles, self.days)):
            head, rest = self.pieces[2 * number + 1], self.pieces[2 * number + 2]
            place += len(head[0][0].encode())
            if role == "assistant" and not is_open:
                found.append([day, 1, at(place), 0, 0])
            is_open = role == "assistant"
            for text, own in rest:
                end = place + len(text.encode())
                if own:
                    found[-1][3] += at(end) - at(place)
                place = end
            if is_open:
                found[-1][4] += at(place) - held
                held = at(place)
        return [*found, [self.days[-1], 0, 0, 0, len(begins) - held]]


def gryag(path, rooms):
    """Rooms of three people and the bot over some days."""
    rows, chats, base = [], {}, sqlite3.connect(path)
    base.execute(
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, chat_id INTEGER NOT NULL, thread_id INTEGER, user_id INTEGER, role TEXT NOT NULL,"
        " text TEXT, media TEXT, embedding TEXT, ts INTEGER NOT NULL)"
    )
    for number in range(1, 601):
        chat, person, is_bot = rooms - number % 3, RANDOM.choice([71, 72, 73]), RANDOM.random() < 0.3
        time, text = START + timedelta(minutes=11 * number), says()
        meta = {"chat_id": chat, "message_id": number} | ({} if is_bot else {"user_id": person, "name": f"P{person}"})
        base.execute(
            "INSERT INTO messages VALUES (?, ?, NULL, ?, ?, ?, ?, NULL, ?)",
            (number, chat, None if is_bot else person, "model" if is_bot else "user", text,
             json.dumps({"media": [], "meta": meta}), int(time.timestamp())),
        )
        role = "assistant" if is_bot else "user"
        rows.append((path.name, str(chat), day(time), "gryag" if is_bot else str(person), role, None, None, False, text))
        chats.setdefault((path.name, str(chat)), Chat()).add(role, day(time), text, name=None if is_bot else f"P{person}")
    base.commit()
    return rows, chats


def suna(path, threads):
    """Threads of a person and an agent that calls tools."""
    rows, chats, lines = [], {}, []

    def add(thread, time, kind, content, texts):
        number = len(lines) + 1
        stored = json.dumps(content, ensure_ascii=False)
        escaped = stored.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
        stamp = time.strftime("%Y-%m-%d %H:%M:%S+00")
        cells = [f"00000000-0000-4000-8000-{number:012}", thread, kind, "t", escaped, "{}", stamp, stamp, "\\N"]
        lines.append("\t".join(cells))
        rows.extend((path.name, thread, day(time), *text) for text in texts)

    for thread in threads:
        name, time = f"00000000-0000-4000-9000-{thread:012}", START + timedelta(hours=7 * thread)
        chat = chats[path.name, name] = Chat()
        for turn in range(RANDOM.randint(1, 5)):
            time += timedelta(minutes=50)
            text = says()
            add(name, time, "user", {"role": "user", "content": text}, [("user", "user", None, None, False, text)])
            chat.add("user", day(time), text)
            text, tool, call = says(), RANDOM.choice(["search", "read"]), f"call_{thread}_{turn}"
            arguments, result = json.dumps({"q": says()}, ensure_ascii=False), says()
            function = {"name": tool, "arguments": arguments}
            calls = [{"id": call, "type": "function", "function": function}]
            add(name, time, "assistant", {"role": "assistant", "content": text, "tool_calls": calls},
                [("assistant", "assistant", None, None, False, text), ("assistant", "assistant", tool, None, True, arguments)])
            chat.add("assistant", day(time), text, call=(tool, call, arguments))
            time += timedelta(minutes=RANDOM.choice([0, 0, 20]))
            answer = {"role": "tool", "tool_call_id": call, "name": tool, "content": result}
            add(name, time, "tool", answer, [("assistant", "tool", tool, None, True, result)])
            chat.add("tool", day(time), result, result=call)
            text = says()
            add(name, time, "assistant", {"role": "assistant", "content": text}, [("assistant", "assistant", None, None, False, text)])
            chat.add("assistant", day(time), text)
    head = (
        "--\n-- PostgreSQL database dump\n--\n\nCREATE TABLE public.messages (\n    message_id uuid,\n    thread_id uuid,\n    type text,\n"
        "    is_llm_message boolean,\n    content jsonb,\n    metadata jsonb,\n    created_at timestamp with time zone,\n"
        "    updated_at timestamp with time zone,\n    agent_id uuid\n);\n\nCOPY public.messages (message_id, thread_id, type, is_llm_message, "
        "content, metadata, created_at, updated_at, agent_id) FROM stdin;\n"
    )
    path.write_text(head + "\n".join(lines) + "\n\\.\n\n--\n-- PostgreSQL database dump complete\n--\n")
    return rows, chats


def log(path):
    """Captured requests with their answers and what the provider counted."""
    rows, logged, lines = [], [], []
    for number in range(200):
        time, model, name = START + timedelta(minutes=37 * number), RANDOM.choice(["large", "large-2026-01-01", "small"]), f"r{number}"
        messages = []
        for turn in range(RANDOM.randint(0, 4) * 2 + 1):
            role = "assistant" if turn % 2 else "user"
            messages.append({"role": role, "content": says()})
            rows.append((path.name, name, "undated", role, role, None, model, False, messages[-1]["content"]))
        answer, sent = says(), RANDOM.randint(50, 5000)
        usage = (sent, RANDOM.randint(0, sent), RANDOM.randint(1, 900))
        counted = {"prompt_tokens": usage[0], "completion_tokens": usage[2], "prompt_tokens_details": {"cached_tokens": usage[1]}}
        message = {"role": "assistant", "content": answer}
        response = {"created": int(time.timestamp()), "choices": [{"index": 0, "message": message}], "usage": counted}
        lines.append(json.dumps({"id": name, "model": model, "messages": messages, "response": response}))
        rows.append((path.name, name, day(time), "assistant", "assistant", None, model, False, answer))
        logged.append((name, day(time), model, *usage))
    path.write_text("\n".join(lines) + "\n")
    return rows, logged


def bill(paths, *arguments):
    command = [PROGRAM, "tokens", *map(str, paths), "--format", "json", "--prices", str(FOLDER / "prices.toml"), *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def rows_of(found, by):
    """The rows by their groups; files are called as they were typed, and in a dataset by their names."""
    def key(row):
        groups = zip(by, [row["group"], row.get("second")])
        return tuple(pathlib.Path(group).name if what == "input" else group for what, group in groups)
    return {key(row): row for row in found["rows"]}


def cents(money):
    return round(money, 6)


def group(by):
    nobody = {"tool": "'(no tool)'", "model": "'(unknown)'"}
    by = "conversation" if by == "room" else by
    text = f"coalesce({by}, {nobody.get(by, 'NULL')})"
    return f"CASE WHEN role <> 'assistant' THEN '(not a model)' ELSE {text} END" if by == "model" else text


def compare(what, base, paths):
    """The bill of messages, by each key and by pairs of them."""
    keys = ["conversation", "day", "participant", "role", "tool", "model", "room", "input"]
    compared = 0
    for by in [[key] for key in keys] + [["day", "participant"], ["role", "tool"], ["conversation", "day"], ["room", "input"]]:
        groups = ", ".join(group(key) for key in by)
        sums = base.execute(
            f"SELECT {groups}, sum(tokens), sum(CASE WHEN role = 'assistant' THEN tokens ELSE 0 END) FROM said GROUP BY ALL"
        ).fetchall()
        expected = {row[: len(by)]: row[len(by):] for row in sums}
        for path in paths:
            found = bill([path], "--dialect", "text", "--by", ",".join(by))
            rows = rows_of(found, by)
            assert rows.keys() == expected.keys(), (what, by, path, rows.keys() ^ expected.keys())
            for key, (held, written) in expected.items():
                row = rows[key]
                assert (row["tokens"], row["written"]) == (held, written), (what, by, key, row, held, written)
                paid = ((held - written) * INPUT + written * OUTPUT) / 1e6 * (1 - DISCOUNT)
                for money in row["money"]:
                    assert cents(money["amount"]) == cents(paid), (what, by, key, money, paid)
                compared += 1
            total = base.execute("SELECT sum(tokens) FROM said").fetchone()[0]
            assert found["total"][0]["tokens"] == total
    return compared


def compare_requests(base, paths):
    """Requests by model and day, with what was logged of them; what they hold, and what was sent and written."""
    compared = 0
    for by in [["model"], ["day"], ["day", "model"]]:
        sums = base.execute(
            f"SELECT {', '.join(by)}, count(*), sum(input), sum(cached), sum(output) FROM logged GROUP BY ALL"
        ).fetchall()
        expected = {row[: len(by)]: row[len(by):] for row in sums}
        for path in paths:
            found = bill([path], "--dialect", "openai-chat", "--by", ",".join(by))
            rows = rows_of(found, by)
            assert rows.keys() == expected.keys(), (by, rows.keys() ^ expected.keys())
            for key, (requests, sent, cached, output) in expected.items():
                row = rows[key]
                counts = [row[name] for name in ("requests", "logged_requests", "logged_input", "logged_cached_input", "logged_output")]
                assert counts == [requests, requests, sent, cached, output], (by, key, counts)
                paid = ((sent - cached) * INPUT + cached * CACHED + output * OUTPUT) / 1e6 + requests * REQUEST
                has_price = "model" not in by or key[by.index("model")].startswith("large")
                assert bool(row["money"]) == has_price and bool(row.get("unpriced")) != has_price, (by, key, row)
                for money in row["money"]:
                    assert cents(money["as_logged"]) == cents(paid * (1 - DISCOUNT)), (by, key, money, paid)
                compared += 1
    return compared


def compare_replayed(base, chats, files, dataset):
    """The requests of chats, each with the whole history: their number, the tokens sent and written, and the cost."""
    command = [PROGRAM, "render", str(files), "--dialect", "openai-chat", "--with-ids"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rendered = {json.loads(line)["conversation_id"]: line for line in lines}
    base.execute(
        "CREATE TABLE replayed (input TEXT, conversation TEXT, room TEXT, model TEXT, day TEXT, requests BIGINT, sent BIGINT, "
        "written BIGINT, held BIGINT)"
    )
    for (file, name), chat in chats.items():
        assert rendered[name].endswith(f'"rendering":{chat.rendered()}}}'), (name, rendered[name], chat.rendered())
        for request in chat.requests():
            base.execute("INSERT INTO replayed VALUES (?, ?, ?, '(unknown)', ?, ?, ?, ?, ?)", [file, name, name, *request])
    compared, of_totals = 0, {"day", "model"}
    keys = [[key] for key in ["day", "model", "room", "input", "conversation"]]
    for by in [*keys, ["day", "model"], ["room", "day"], ["input", "day"], ["input", "conversation"]]:
        groups = ", ".join(by)
        sums = base.execute(
            f"SELECT {groups}, sum(requests), sum(sent), sum(written), sum(held) FROM replayed GROUP BY ALL HAVING sum(requests + held) > 0"
        ).fetchall()
        expected = {row[: len(by)]: row[len(by):] for row in sums}
        # Other keys need the files: a dataset has sums by day and model alone.
        for path in [files, dataset] if of_totals.issuperset(by) else [files]:
            found = bill([path], "--dialect", "openai-chat", "--by", ",".join(by))
            rows = rows_of(found, by)
            assert rows.keys() == expected.keys(), (by, path, rows.keys() ^ expected.keys())
            for key, counts in expected.items():
                row = rows[key]
                said = tuple(row[name] for name in ("requests", "tokens_sent", "written", "tokens"))
                assert said == counts, (by, key, said, counts)
                requests, sent, written, _ = counts
                paid = (sent * INPUT + written * OUTPUT) / 1e6 + requests * REQUEST
                for money in row["money"]:
                    if requests:
                        assert cents(money["as_served_estimate"]) == cents(paid * (1 - DISCOUNT)), (by, key, money, paid)
                compared += 1
    total = base.execute("SELECT sum(requests), sum(sent) FROM replayed").fetchone()
    return f"{total[0]:,} requests with {total[1]:,} tokens sent, {compared:,} sums of them equal"


def compare_rendered(path):
    """What renderings hold, by conversation, and what is sent: the tokens that begin before the answer."""
    command = [PROGRAM, "render", str(path), "--dialect", "openai-chat"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = bill([path], "--dialect", "openai-chat", "--by", "conversation")["rows"]
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines):
        assert row["tokens"] == tokens(line), (row, tokens(line))
        last = json.dumps(json.loads(line)["messages"][-1]["content"], ensure_ascii=False)
        answer = line.rindex('{"role":"assistant"')
        before, at = 0, 0
        for token in ENCODING.encode_ordinary(line):
            before += at < len(line[:answer].encode()) + len(b'{"role":"assistant"')
            at += len(ENCODING.decode_single_token_bytes(token))
        assert row["tokens_sent"] == before, (row, before, last)
    return len(rows)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    (FOLDER / "prices.toml").write_text(PRICES)
    print(f"seed {SEED}")
    said, logged = log(FOLDER / "log.jsonl")
    made, chats = {"log.jsonl": said}, {}
    drawn = {
        "gryag": [(gryag, "north.db", -1000), (gryag, "south.db", -2000)],
        "suna": [(suna, "old.sql", range(25)), (suna, "new.sql", range(25, 40))],
    }
    for folder, files in drawn.items():
        (FOLDER / folder).mkdir()
        made[folder], chats[folder] = [], {}
        for draw, file, which in files:
            rows, of_file = draw(FOLDER / folder / file, which)
            made[folder] += rows
            chats[folder] |= of_file
    for name, rows in made.items():
        pipeline = FOLDER / f"{name}.toml"
        pipeline.write_text(
            f'name = "bills"\n[[input]]\npath = "{name}"\n[render]\ndialects = ["openai-chat"]\n[count]\nencodings = ["o200k_base"]\n'
            f'[output]\npath = "{name}.out"\n[limits]\nmax_error_findings = 1000000\n'
        )
        subprocess.run([PROGRAM, "run", str(pipeline), "-q"], check=True, capture_output=True)
        base = duckdb.connect()
        base.execute("CREATE TABLE said (input TEXT, conversation TEXT, day TEXT, participant TEXT, role TEXT, tool TEXT, model TEXT, is_call BOOL, text TEXT, tokens BIGINT)")
        counted = [(*row, tokens(row[-1])) for row in rows]
        base.executemany(f"INSERT INTO said ({COLUMNS}, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", counted)
        paths = [FOLDER / name, FOLDER / f"{name}.out"]
        groups = compare(name, base, paths)
        total = base.execute("SELECT count(*), sum(tokens) FROM said").fetchone()
        line = f"{name}: {total[0]:,} texts, {total[1]:,} tokens; {groups:,} sums of text equal"
        if name == "log.jsonl":
            base.execute("CREATE TABLE logged (name TEXT, day TEXT, model TEXT, input BIGINT, cached BIGINT, output BIGINT)")
            base.executemany("INSERT INTO logged VALUES (?, ?, ?, ?, ?, ?)", logged)
            line += f", {compare_requests(base, paths):,} sums of requests, {compare_rendered(FOLDER / name):,} renderings and what is sent"
        else:
            line += f"; {compare_replayed(base, chats[name], *paths)}"
        print(line)


if __name__ == "__main__":
    main()
