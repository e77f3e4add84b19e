"""What a careful person would write in an afternoon: group chats to five dialects, one token count each, Parquet.

The yardstick of `just bench-whole`, not a reference for correctness: it takes every conversation as it comes, checks
nothing, links by id only and declares no loss. orjson reads, tiktoken counts, pyarrow writes, and each process takes its
own byte range of the input, so that no text crosses a process border.

    python3 mill.py CHATS.jsonl OUT --processes 2 --ranks RANKS [--bare]

RANKS is a folder with `o200k_base.tiktoken` (`cargo xtask ranks` writes it): nothing is fetched. `--bare` counts nothing.
"""

import argparse
import multiprocessing
import pathlib

import o200k
import orjson
import pyarrow
import pyarrow.parquet

ROWS = pyarrow.schema(
    [
        ("conversation_id", pyarrow.string()),
        ("dialect", pyarrow.string()),
        ("content", pyarrow.string()),
        ("bytes", pyarrow.int64()),
        ("tokens", pyarrow.int64()),
    ]
)

# Bytes of text after which rows are written.
FULL = 32 << 20


class Chat:
    """A conversation with what the dialects look up in it."""

    def __init__(self, record):
        meta = record["conversation_meta"]
        self.id = meta.get("conversation_id", "")
        self.people = meta["user_details"]
        self.messages = record["conversation_list"]
        self.by_id = {message["message_id"]: message for message in self.messages}

    def name(self, sender):
        return self.people.get(sender, {}).get("full_name", sender)

    def target(self, message):
        for reference in message.get("refer_list") or ():
            key = reference if isinstance(reference, str) else reference["message_id"]
            return key, self.by_id.get(key)
        return None, None


def dumped(value):
    return orjson.dumps(value).decode()


def openai_chat(chat):
    turns = []
    for message in chat.messages:
        extra = message.get("extra") or {}
        role = message.get("role", "user")
        turn = {"role": role, "content": message["content"]}
        if role == "tool":
            turn["tool_call_id"] = extra.get("tool_call_id")
        elif role == "user":
            turn["name"] = message["sender"]
        if "tool_calls" in extra:
            turn["tool_calls"] = extra["tool_calls"]
        turns.append(turn)
    return dumped({"messages": turns})


def gryag_gemini(chat):
    contents = []
    for message in chat.messages:
        extra = message.get("extra") or {}
        role = message.get("role", "user")
        if role == "tool":
            response = {"name": extra.get("name"), "response": {"result": message["content"]}}
            contents.append({"role": "tool", "parts": [{"function_response": response}]})
            continue
        keys = [f"chat_id={chat.id}", f"message_id={message['message_id']}"]
        if role == "user":
            keys.append(f"user_id={message['sender']}")
        keys.append(f"name={dumped(chat.name(message['sender']))}")
        key, target = chat.target(message)
        if key:
            keys.append(f"reply_to_message_id={key}")
        if target:
            keys.append(f"reply_to_name={dumped(chat.name(target['sender']))}")
            keys.append(f"reply_excerpt={dumped(target['content'][:80])}")
        parts = [{"text": "[meta] " + " ".join(keys)}, {"text": message["content"]}]
        for call in extra.get("tool_calls", ()):
            function = call["function"]
            arguments = orjson.loads(function["arguments"])
            parts.append({"function_call": {"name": function["name"], "args": arguments}})
        contents.append({"role": "model" if role == "assistant" else "user", "parts": parts})
    return dumped(contents)


def gryag_compact(chat):
    def label(sender):
        is_agent = chat.people.get(sender, {}).get("role") == "assistant"
        return chat.name(sender) if is_agent else f"{chat.name(sender)}#{sender[-6:]}"

    lines = []
    for message in chat.messages:
        _, target = chat.target(message)
        arrow = f" → {label(target['sender'])}" if target else ""
        media = "" if message["type"] == "text" else f"[{message['type'].capitalize()}] "
        lines.append(f"{label(message['sender'])}{arrow}: {media}{message['content']}".replace("\n", " "))
    return "\n".join([*lines, "[RESPOND]"])


def suna_cached(chat):
    words = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
    text = "\n\n".join(
        f"{words.get(message.get('role', 'user'), 'User')}: {message['content']}" for message in chat.messages
    )
    block = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    return dumped([{"role": "user", "content": [block]}])


def jaibber_context(chat):
    turns = ["Answer the last message; what stands before it is there for context."]
    for message in chat.messages[-20:]:
        is_user = message.get("role", "user") == "user"
        speaker = "User" if is_user else f"Assistant ({chat.name(message['sender'])})"
        turns.append(f"{speaker}: {message['content']}")
    return "\n\n".join(turns)


DIALECTS = [openai_chat, gryag_gemini, gryag_compact, suna_cached, jaibber_context]


def counter(ranks):
    if ranks is None:
        return lambda text: 0
    import tiktoken

    vocabulary = o200k.ranks(pathlib.Path(ranks) / "o200k_base.tiktoken")
    encoding = tiktoken.Encoding("o200k_base", pat_str=o200k.PATTERN, mergeable_ranks=vocabulary, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def mill(job):
    path, first, last, out, ranks = job
    count = counter(ranks)
    rows, waiting = [], 0
    with open(path, "rb") as lines, pyarrow.parquet.ParquetWriter(
        out, ROWS, compression="zstd", compression_level=3, use_dictionary=["dialect"]
    ) as writer:
        # A line belongs to the range that holds its first byte.
        if first:
            lines.seek(first - 1)
            lines.readline()
        while lines.tell() < last and (line := lines.readline()):
            chat = Chat(orjson.loads(line))
            for dialect in DIALECTS:
                content = dialect(chat)
                size = len(content.encode())
                rows.append((chat.id, dialect.__name__, content, size, count(content)))
                waiting += size
            if waiting > FULL:
                write(writer, rows)
                rows, waiting = [], 0
        write(writer, rows)


def write(writer, rows):
    if rows:
        columns = [pyarrow.array(column, field.type) for column, field in zip(zip(*rows), ROWS)]
        writer.write_table(pyarrow.Table.from_arrays(columns, schema=ROWS))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chats", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--ranks")
    parser.add_argument("--bare", action="store_true")
    arguments = parser.parse_args()
    if not (arguments.bare or arguments.ranks):
        parser.error("--ranks or --bare is needed")
    arguments.out.mkdir(parents=True)
    size = arguments.chats.stat().st_size
    shares = arguments.processes * 4
    jobs = [
        (
            arguments.chats,
            size * share // shares,
            size * (share + 1) // shares,
            arguments.out / f"part-{share:05}.parquet",
            None if arguments.bare else arguments.ranks,
        )
        for share in range(shares)
    ]
    with multiprocessing.Pool(arguments.processes) as pool:
        pool.map(mill, jobs, chunksize=1)


if __name__ == "__main__":
    main()
