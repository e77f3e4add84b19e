"""Messages of blocks: Anthropic Messages and Bedrock Converse, where results open the user turn behind their calls."""

from signs import is_blank, is_word, tools

PICTURES = ("jpeg", "png", "gif", "webp")

ANTHROPIC = {
    "keys": "ANT-01", "none": "ANT-03", "first": "ANT-03", "order": "ANT-04", "blank": "ANT-05", "calls": "ANT-06", "pairs": "ANT-07",
    "behind": "ANT-08", "media": "ANT-12", "blocks": "ANT-12",
}
CONVERSE = {
    "keys": "BED-01", "none": "BED-02", "first": "BED-02", "order": "BED-02", "blank": "BED-04", "calls": "BED-03", "pairs": "BED-04",
    "behind": None, "media": "BED-06", "blocks": "BED-01",
}


def anthropic_messages(row):
    messages, system, defined = row.body["messages"], row.body.get("system", []), row.body.get("tools", [])
    kinds = {"text": "text", "tool_use": "call", "tool_result": "result", "image": "media", "thinking": "thought"}
    yield from block_turns(
        messages,
        lambda block: kinds.get(block["type"]),
        ANTHROPIC,
        call=lambda block: (block["id"], block["name"], block["input"]),
        result=lambda block: block["tool_use_id"],
        id_most=None,
        name_most=128,
    )
    blocks = [block for message in messages for block in message["content"]]
    for block in system:
        if block["type"] != "text":
            yield "ANT-02", "system text that is no text"
        elif is_blank(block["text"]):
            yield "ANT-05", "blank system text"
    marks = [block["cache_control"] for block in blocks + system + defined if "cache_control" in block]
    if len(marks) > 4:
        yield "ANT-09", "more than four cache marks"
    if any(mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h") for mark in marks):
        yield "ANT-09", "a cache mark of another kind"
    for block in blocks:
        if block["type"] == "thinking" and not block.get("signature"):
            yield "ANT-10", "a thought without a signature"
        source = block.get("source", {})
        if block["type"] == "image" and not (
            source.get("type") == "url" or source.get("media_type", "").removeprefix("image/") in PICTURES
        ):
            yield "ANT-12", "a picture of another type"
    if len(messages) > 100_000:
        yield "ANT-13", "too many messages"
    last = messages[-1] if messages else None
    if last and last["role"] == "assistant" and last["content"]:
        text = last["content"][-1].get("text", "")
        if text != text.rstrip():
            yield "ANT-11", "the last turn ends in white space"
    yield from tools(((tool["name"], tool["input_schema"]) for tool in defined), "ANT-06", 128)


def bedrock_converse(row):
    messages, system = row.body["messages"], row.body.get("system", [])
    for index, message in enumerate(messages):
        if isinstance(message["content"], str) or any(len(block) != 1 for block in message["content"]):
            yield "BED-01", f"turn {index}: not a list of blocks with one member"
            return
    kinds = {"text": "text", "toolUse": "call", "toolResult": "result", "image": "media", "cachePoint": "mark"}
    yield from block_turns(
        messages,
        lambda block: kinds.get(next(iter(block))),
        CONVERSE,
        call=lambda block: (block["toolUse"]["toolUseId"], block["toolUse"]["name"], block["toolUse"]["input"]),
        result=lambda block: block["toolResult"]["toolUseId"],
        id_most=64,
        name_most=64,
    )
    blocks = [block for message in messages for block in message["content"]]
    if sum("cachePoint" in block for block in blocks + system) > 4:
        yield "BED-07", "more than four cache marks"
    if any("text" in block and is_blank(block["text"]) for block in system):
        yield "BED-04", "blank system text"
    specs = [tool["toolSpec"] for tool in row.body.get("toolConfig", {}).get("tools", [])]
    if any("toolUse" in block or "toolResult" in block for block in blocks) and not specs:
        yield "BED-05", "calls without toolConfig"
    for block in blocks:
        if "toolResult" in block:
            result = block["toolResult"]
            if not result["content"] or any("text" in part and is_blank(part["text"]) for part in result["content"]):
                yield "BED-04", "an empty result"
            if result.get("status", "success") not in ("success", "error"):
                yield "BED-04", f"status {result['status']}"
        if "image" in block:
            source = block["image"]["source"]
            if block["image"]["format"] not in PICTURES or source.keys() - {"bytes", "s3Location"}:
                yield "BED-06", f"a picture as {block['image']['format']} from {sorted(source)}"
        if "document" in block:
            yield "BED-08", "a document"
    yield from tools(((spec["name"], spec["inputSchema"]["json"]) for spec in specs), "BED-03")


def block_turns(messages, kind_of, code, call, result, id_most, name_most):
    """Turns of blocks: user first, alternating, results at the head of the user turn behind their calls."""
    if not messages:
        yield code["none"], "no message"
    waiting, before = [], None
    for index, message in enumerate(messages):
        where, role = f"turn {index}", message["role"]
        if message.keys() - {"role", "content"} or role not in ("user", "assistant"):
            yield code["keys"], f"{where}: {role} with {sorted(message)}"
        if before is None and role != "user":
            yield code["first"], f"{where}: {role} speaks first"
        if role == before:
            yield code["order"], f"{where}: {role} again"
        before = role
        if not message["content"]:
            yield code["blank"], f"{where}: empty"
        calls, results, has_spoken = [], [], False
        for block in message["content"]:
            kind = kind_of(block)
            if kind == "text":
                has_spoken = True
                if is_blank(block["text"]):
                    yield code["blank"], f"{where}: blank text"
                if calls and code["behind"]:
                    yield code["behind"], f"{where}: text behind a call"
            elif kind == "media":
                has_spoken = True
                if role != "user":
                    yield code["media"], f"{where}: a picture of the assistant's"
            elif kind == "call":
                id, name, arguments = call(block)
                calls.append(id)
                if role != "assistant" or not isinstance(arguments, dict):
                    yield code["calls"], f"{where}: a call out of place, or without an object"
                if not is_word(id, id_most or len(id)) or not is_word(name, name_most):
                    yield code["calls"], f"{where}: call {id!r} of {name!r}"
            elif kind == "result":
                results.append(result(block))
                if role != "user" or has_spoken:
                    yield code["pairs"], f"{where}: a result out of place"
            elif kind is None:
                yield code["blocks"], f"{where}: block {sorted(block)}"
        if sorted(results) != sorted(waiting):
            yield code["pairs"], f"{where}: results {results} for calls {waiting}"
        if len(set(calls)) < len(calls):
            yield code["pairs"], f"{where}: ids of calls {calls}"
        waiting = calls
    if waiting:
        yield code["pairs"], f"calls wait at the end: {waiting}"
