"""What no schema says: who may speak when, which call is answered where, which ids and names a vendor takes.

Written from the vendors' rules, and not from the program that it judges. One function a family; each yields what is wrong.
"""

import json
import re

NAME = "structure"
ALLOWED = []

WORD = re.compile(r"[a-zA-Z0-9_-]+")


def is_word(text, most):
    return isinstance(text, str) and len(text) <= most and WORD.fullmatch(text) is not None


def is_blank(text):
    return not isinstance(text, str) or not text.strip()


def openai_chat(row):
    yield from message_list(row.body["messages"], named=True)
    functions = [tool["function"] for tool in row.body.get("tools", [])]
    yield from tools((one["name"], one.get("parameters")) for one in functions)


def hf_messages(row):
    messages = row.body["messages"]
    yield from message_list(messages, named=False)
    wanted = str if row.profile == "string-arguments" else dict
    for index, message in enumerate(messages):
        if not isinstance(message.get("content"), str):
            yield f"message {index}: the content is no string"
        if None in message.values():
            yield f"message {index}: a key is null"
        for call in message.get("tool_calls", []):
            if not isinstance(call["function"]["arguments"], wanted):
                yield f"message {index}: arguments in another form"


def mistral_chat(row):
    messages = row.body["messages"]
    yield from message_list(messages, named=False)
    said = [message["role"] for message in messages]
    if not any(role != "system" for role in said):
        yield "nobody speaks"
    if said and said[0] not in ("system", "user"):
        yield f"{said[0]} speaks first"
    if said and said[-1] == "system":
        yield "ends with system text"
    for before, after in zip(said, said[1:]):
        if after == "system" and before not in ("system", "user"):
            yield f"system text behind {before}"
    for index, message in enumerate(messages):
        calls = message.get("tool_calls", [])
        if calls and message.get("content") and row.profile == "v3":
            yield f"message {index}: text beside calls"
        ids = [call["id"] for call in calls] + ([message["tool_call_id"]] if message["role"] == "tool" else [])
        for id in ids:
            if id in ("", "null") or row.profile in ("v3", "v7") and not re.fullmatch("[a-zA-Z0-9]{9}", id):
                yield f"message {index}: id {id!r}"
        if message["role"] == "user" and "name" in message:
            yield f"message {index}: a user with a name"


def message_list(messages, named):
    """The rules that all lists of messages share; `named`: as OpenAI has them, with names of people and none of results."""
    if not messages:
        yield "no message"
    waiting = []
    for index, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        calls = message.get("tool_calls")
        where = f"message {index}"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{where}: a result without a call that waits for it"
            else:
                waiting.remove(message["tool_call_id"])
            if not isinstance(content, (str, list)):
                yield f"{where}: a result without content"
            if named and "name" in message:
                yield f"{where}: a result with a name"
            continue
        if waiting:
            yield f"{where}: {role} speaks while calls wait: {waiting}"
            waiting = []
        if role not in ("system", "developer", "user", "assistant"):
            yield f"{where}: role {role}"
        if content is None and not (role == "assistant" and calls):
            yield f"{where}: neither content nor calls"
        if isinstance(content, list):
            kinds = {"user": {"text", "image_url", "input_audio", "file"}}.get(role, {"text"})
            if not content or not all(part["type"] in kinds for part in content):
                yield f"{where}: parts that {role} may not have"
        if named and "name" in message and not is_word(message["name"], 64):
            yield f"{where}: name {message['name']!r}"
        if calls is not None:
            if role != "assistant" or not calls:
                yield f"{where}: calls out of place, or none"
            ids = [call["id"] for call in calls]
            if len(set(ids)) < len(ids) or "" in ids:
                yield f"{where}: ids of calls {ids}"
            for call in calls:
                name = call["function"]["name"]
                if not name or named and not is_word(name, 64):
                    yield f"{where}: tool {name!r}"
            waiting = ids
    if waiting:
        yield f"calls wait at the end: {waiting}"


def openai_responses(row):
    items = row.body["input"]
    if not items:
        yield "no item"
    calls, waiting, seen = [], [], set()
    for index, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            id = item["call_id"]
            if calls and not waiting:
                calls = []
            if len(waiting) != len(calls):
                yield f"item {index}: a call among outputs"
            if not 1 <= len(id) <= 64 or id in seen:
                yield f"item {index}: call id {id!r}"
            if not is_word(item["name"], 64):
                yield f"item {index}: tool {item['name']!r}"
            seen.add(id)
            calls.append(id)
            waiting.append(id)
        elif kind == "function_call_output":
            if item["call_id"] not in waiting:
                yield f"item {index}: an output without a call that waits for it"
            else:
                waiting.remove(item["call_id"])
        else:
            if waiting:
                yield f"item {index}: somebody speaks while calls wait: {waiting}"
            calls, waiting = [], []
            if "name" in item:
                yield f"item {index}: a name"
            content = item["content"]
            if isinstance(content, list):
                parts = {part["type"] for part in content}
                if item["role"] == "assistant" or not parts or not parts <= {"input_text", "input_image", "input_file"}:
                    yield f"item {index}: parts {sorted(parts)} of {item['role']}"
            elif not isinstance(content, str):
                yield f"item {index}: no content"
    if waiting:
        yield f"calls wait at the end: {waiting}"
    yield from tools((tool["name"], tool["parameters"]) for tool in row.body.get("tools", []))


def anthropic_messages(row):
    messages = row.body["messages"]
    yield from block_turns(
        messages,
        lambda block: block["type"],
        {"text": "text", "tool_use": "call", "tool_result": "result", "image": "media"},
        call=lambda block: (block["id"], block["name"], block["input"]),
        result=lambda block: block["tool_use_id"],
        id_most=None,
        name_most=128,
    )
    blocks = [block for message in messages for block in message["content"]] + row.body.get("system", [])
    if sum("cache_control" in block for block in blocks + row.body.get("tools", [])) > 4:
        yield "more than four cache marks"
    for block in row.body.get("system", []):
        if is_blank(block["text"]):
            yield "blank system text"
    for index, message in enumerate(messages):
        kinds = [block["type"] for block in message["content"]]
        if "tool_use" in kinds and kinds.index("tool_use") < max(
            (place for place, kind in enumerate(kinds) if kind == "text"), default=-1
        ):
            yield f"turn {index}: text behind a call"
    if len(messages) > 100_000:
        yield "too many messages"
    last = messages[-1] if messages else None
    if last and last["role"] == "assistant":
        text = last["content"][-1].get("text", "")
        if text != text.rstrip():
            yield "the last turn ends in white space"
    yield from tools(((tool["name"], tool["input_schema"]) for tool in row.body.get("tools", [])), 128)


def bedrock_converse(row):
    messages = row.body["messages"]
    for index, message in enumerate(messages):
        for block in message["content"]:
            if len(block) != 1:
                yield f"turn {index}: a block with {len(block)} members"
    yield from block_turns(
        messages,
        lambda block: next(iter(block)),
        {"text": "text", "toolUse": "call", "toolResult": "result", "image": "media", "cachePoint": "mark"},
        call=lambda block: (block["toolUse"]["toolUseId"], block["toolUse"]["name"], block["toolUse"]["input"]),
        result=lambda block: block["toolResult"]["toolUseId"],
        id_most=64,
        name_most=64,
    )
    blocks = [block for message in messages for block in message["content"]]
    if sum("cachePoint" in block for block in blocks + row.body.get("system", [])) > 4:
        yield "more than four cache marks"
    for block in row.body.get("system", []):
        if "text" in block and is_blank(block["text"]):
            yield "blank system text"
    specs = [tool["toolSpec"] for tool in row.body.get("toolConfig", {}).get("tools", [])]
    if any("toolUse" in block or "toolResult" in block for block in blocks) and not specs:
        yield "calls without toolConfig"
    for block in blocks:
        if "toolResult" in block:
            content = block["toolResult"]["content"]
            if not content or any("text" in part and is_blank(part["text"]) for part in content):
                yield "an empty result"
        if "image" in block and block["image"]["format"] not in ("png", "jpeg", "gif", "webp"):
            yield f"image format {block['image']['format']}"
    yield from tools((spec["name"], spec["inputSchema"]["json"]) for spec in specs)


def tools(defined, most=64, word="object"):
    """Tools have different names, and take an object."""
    names = set()
    for name, parameters in defined:
        if name in names:
            yield f"two tools are called {name!r}"
        names.add(name)
        if not is_word(name, most):
            yield f"defined tool {name!r}"
        if parameters is not None and parameters.get("type") != word:
            yield f"tool {name!r} takes no object"


def block_turns(messages, kind_of, kinds, call, result, id_most, name_most):
    """Turns of blocks: user first, alternating, results at the head of the user turn behind their calls."""
    if not messages:
        yield "no message"
    waiting = []
    for index, message in enumerate(messages):
        where = f"turn {index}"
        if message["role"] != ("assistant" if index % 2 else "user"):
            yield f"{where}: {message['role']} is not next"
        if not message["content"]:
            yield f"{where}: empty"
        calls, results, has_spoken = [], [], False
        for block in message["content"]:
            kind = kinds.get(kind_of(block))
            if kind == "text":
                has_spoken = True
                if is_blank(block["text"]):
                    yield f"{where}: blank text"
            elif kind == "media":
                has_spoken = True
                if message["role"] != "user":
                    yield f"{where}: a picture of the assistant's"
            elif kind == "call":
                id, name, arguments = call(block)
                calls.append(id)
                if message["role"] != "assistant" or not isinstance(arguments, dict):
                    yield f"{where}: a call out of place, or without an object"
                if not is_word(id, id_most or len(id)) or not is_word(name, name_most):
                    yield f"{where}: call {id!r} of {name!r}"
            elif kind == "result":
                results.append(result(block))
                if message["role"] != "user" or has_spoken:
                    yield f"{where}: a result out of place"
            elif kind is None:
                yield f"{where}: block {sorted(block)}"
        if sorted(results) != sorted(waiting):
            yield f"{where}: results {results} for calls {waiting}"
        if len(set(calls)) < len(calls):
            yield f"{where}: ids of calls {calls}"
        waiting = calls
    if waiting:
        yield f"calls wait at the end: {waiting}"


def gemini_contents(row):
    contents = row.body["contents"]
    if not contents:
        yield "no content"
    if contents and contents[0]["role"] != "user":
        yield "the model speaks first"
    waiting = []
    for index, content in enumerate(contents):
        where = f"content {index}"
        parts = content["parts"]
        if content["role"] not in ("user", "model"):
            yield f"{where}: role {content['role']}"
        if not parts or any(len(part) != 1 for part in parts):
            yield f"{where}: a part without one member"
            continue
        kinds = [next(iter(part)) for part in parts]
        if any(kind == "text" and part["text"] == "" for kind, part in zip(kinds, parts)):
            yield f"{where}: empty text"
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if responses and (content["role"] != "user" or len(responses) < len(parts)):
            yield f"{where}: responses among other parts"
        if [(one.get("id"), one["name"]) for one in responses] != [(one.get("id"), one["name"]) for one in waiting]:
            asked, given = [one["name"] for one in waiting], [one["name"] for one in responses]
            yield f"{where}: responses {given} to calls {asked}"
        for one in calls + responses:
            value = one["args"] if "args" in one else one.get("response")
            if not is_word(one["name"], 128) or not isinstance(value, dict):
                yield f"{where}: call or response of {one['name']!r}"
            if row.profile == "no-ids" and "id" in one:
                yield f"{where}: an id"
        if calls and (content["role"] != "model" or index == 0 or contents[index - 1]["role"] != "user"):
            yield f"{where}: calls that follow no user turn"
        waiting = calls
    if waiting:
        yield "calls wait at the end"
    declared = [one for tool in row.body.get("tools", []) for one in tool["functionDeclarations"]]
    yield from tools(((one["name"], one.get("parameters")) for one in declared), 128, "OBJECT")


def sharegpt(row):
    turns = row.body["conversations"]
    words = [turn["from"] for turn in turns]
    if not turns or words[-1] != "gpt":
        yield "the assistant does not have the last word"
    for index, (word, turn) in enumerate(zip(words, turns)):
        if word not in (("gpt", "function_call") if index % 2 else ("human", "observation")):
            yield f"turn {index}: {word}"
        if (word == "observation") != (index > 0 and words[index - 1] == "function_call"):
            yield f"turn {index}: a call without its observation, or the other way round"
        if word == "function_call":
            call = json.loads(turn["value"])
            if sorted(call) != ["arguments", "name"] or not isinstance(call["arguments"], dict) or not call["name"]:
                yield f"turn {index}: no call"


def chatml(row):
    turn = re.compile(r"<\|im_start\|>(system|user|assistant)\n((?:(?!<\|im_(?:start|end)\|>).)*)<\|im_end\|>\n", re.DOTALL)
    if not row.content:
        yield "no turn"
    at = 0
    while at < len(row.content):
        found = turn.match(row.content, at)
        if not found:
            yield f"no turn at {at}: {row.content[at:at + 60]!r}"
            return
        at = found.end()


FAMILIES = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic-messages": anthropic_messages,
    "gemini-contents": gemini_contents,
    "bedrock-converse": bedrock_converse,
    "mistral-chat": mistral_chat,
    "hf-messages": hf_messages,
    "sharegpt": sharegpt,
    "chatml": chatml,
}
DIALECTS = list(FAMILIES)


def judge(row):
    return next(FAMILIES[row.dialect](row), None)
