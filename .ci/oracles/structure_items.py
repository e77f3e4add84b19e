"""Responses: a list of items, in which the calls of a turn come first, then all their outputs, then other messages."""

from signs import is_word, tools

MESSAGE_PARTS = {"input_text", "input_image", "input_file"}


def openai_responses(row):
    items = row.body["input"]
    if not items:
        yield "OAR-01", "no item"
    calls, waiting, seen = [], [], set()
    for index, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            id = item["call_id"]
            if calls and not waiting:
                calls = []
            if len(waiting) != len(calls):
                yield "OAR-04", f"item {index}: a call among outputs"
            if id in seen:
                yield "OAR-04", f"item {index}: call id {id!r} again"
            if not 1 <= len(id) <= 64 or not isinstance(item["arguments"], str):
                yield "OAR-03", f"item {index}: call {id!r}"
            if not is_word(item["name"], 64):
                yield "OAR-03", f"item {index}: tool {item['name']!r}"
            seen.add(id)
            calls.append(id)
            waiting.append(id)
        elif kind == "function_call_output":
            if not 1 <= len(item["call_id"]) <= 64 or not isinstance(item["output"], (str, list)) or len(item["output"]) > 10_485_760:
                yield "OAR-03", f"item {index}: an output that is too long, or no text"
            if item["call_id"] not in waiting:
                yield "OAR-04", f"item {index}: an output without a call that waits for it"
            else:
                waiting.remove(item["call_id"])
        elif kind == "message":
            if waiting:
                yield "OAR-04", f"item {index}: somebody speaks while calls wait: {waiting}"
            calls, waiting = [], []
            yield from message(item, f"item {index}")
        else:
            yield "OAR-06" if kind == "reasoning" else "OAR-01", f"item {index}: {kind}"
    if waiting:
        yield "OAR-04", f"calls wait at the end: {waiting}"
    yield from tools(((tool["name"], tool["parameters"]) for tool in row.body.get("tools", [])), "OAR-03")


def message(item, where):
    if "name" in item:
        yield "OAR-05", f"{where}: a name"
    if item["role"] not in ("user", "assistant", "system", "developer"):
        yield "OAR-01", f"{where}: role {item['role']}"
    content = item["content"]
    if isinstance(content, list):
        parts = {part["type"] for part in content}
        if item["role"] == "assistant" or not parts or not parts <= MESSAGE_PARTS:
            yield "OAR-02", f"{where}: parts {sorted(parts)} of {item['role']}"
    elif not isinstance(content, str):
        yield "OAR-02", f"{where}: no content"
