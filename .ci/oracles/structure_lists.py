"""Lists of messages: Chat Completions, and what Mistral and the trainers made of them."""

import re

from signs import is_word, tools

# Which rule of a family speaks of what.
OPENAI = {
    "roles": "OAC-01", "none": "OAC-02", "parts": "OAC-03", "content": "OAC-04", "calls": "OAC-05", "pairs": "OAC-06",
    "tools": "OAC-07", "names": "OAC-08", "results": "OAC-09",
}
MISTRAL = {
    "roles": "MIS-03", "none": "MIS-03", "parts": "MIS-07", "content": "MIS-02", "calls": "MIS-01", "pairs": "MIS-04",
    "tools": "MIS-06", "names": "MIS-06",
}
TRAINERS = {
    "roles": "HFM-01", "none": "HFM-06", "parts": "HFM-03", "content": "HFM-03", "calls": "HFM-04", "pairs": "HFM-05",
    "tools": "HFM-05", "names": "HFM-01",
}


def openai_chat(row):
    messages = row.body["messages"]
    yield from message_list(messages, OPENAI)
    for index, message in enumerate(messages):
        if "name" in message and message["role"] == "tool":
            yield "OAC-09", f"message {index}: a result with a name"
        elif "name" in message and not is_word(message["name"], 64):
            yield "OAC-08", f"message {index}: name {message['name']!r}"
        for call in message.get("tool_calls") or []:
            if not is_word(call["function"]["name"], 64):
                yield "OAC-07", f"message {index}: tool {call['function']['name']!r}"
    functions = [tool["function"] for tool in row.body.get("tools", [])]
    yield from tools(((one["name"], one.get("parameters")) for one in functions), "OAC-07")


def hf_messages(row):
    if row.body.keys() - {"messages", "tools"}:
        yield "HFM-01", f"columns {sorted(row.body)}"
    messages = row.body["messages"]
    yield from message_list(messages, TRAINERS)
    wanted = str if row.profile == "string-arguments" else dict
    for index, message in enumerate(messages):
        if not isinstance(message.get("content"), str):
            yield "HFM-03", f"message {index}: the content is no string"
        if None in message.values():
            yield "HFM-02", f"message {index}: a key is null"
        for call in message.get("tool_calls") or []:
            if not isinstance(call["function"]["arguments"], wanted):
                yield "HFM-04", f"message {index}: arguments in another form"
        if not isinstance(message.get("reasoning_content", ""), str) or "reasoning_content" in message and message["role"] != "assistant":
            yield "HFM-07", f"message {index}: reasoning out of place"


def mistral_chat(row):
    messages = row.body["messages"]
    yield from message_list(messages, MISTRAL)
    said = [message["role"] for message in messages]
    if said and all(role == "system" for role in said):
        yield "MIS-03", "nobody speaks"
    if said and said[0] not in ("system", "user"):
        yield "MIS-03", f"{said[0]} speaks first"
    if said and said[-1] == "system":
        yield "MIS-05", "ends with system text"
    for before, after in zip(said, said[1:]):
        if after == "system" and before not in ("system", "user"):
            yield "MIS-03", f"system text behind {before}"
    is_nine = row.profile in ("document", "v3", "v7")
    for index, message in enumerate(messages):
        calls = message.get("tool_calls") or []
        if calls and message.get("content") and row.profile == "v3":
            yield "MIS-02", f"message {index}: text beside calls"
        ids = [call["id"] for call in calls] + ([message["tool_call_id"]] if message["role"] == "tool" else [])
        for id in ids:
            if id in ("", "null") or is_nine and not re.fullmatch("[a-zA-Z0-9]{9}", id):
                yield "MIS-01", f"message {index}: id {id!r}"
        for call in calls:
            if not is_word(call["function"]["name"], 64):
                yield "MIS-06", f"message {index}: tool {call['function']['name']!r}"
        if message["role"] == "user" and "name" in message:
            yield "MIS-06", f"message {index}: a user with a name"
        if isinstance(message.get("content"), list) and any("audio" in part["type"] for part in message["content"]):
            yield "MIS-07", f"message {index}: a sound"
    functions = [tool["function"] for tool in row.body.get("tools", [])]
    yield from tools(((one["name"], one.get("parameters")) for one in functions), "MIS-06")


def message_list(messages, code):
    """The rules that all lists of messages share."""
    if not messages:
        yield code["none"], "no message"
    waiting = []
    for index, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        calls = message.get("tool_calls")
        where = f"message {index}"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield code["pairs"], f"{where}: a result without a call that waits for it"
            else:
                waiting.remove(message["tool_call_id"])
            if not isinstance(content, (str, list)) or content == []:
                yield code["none"], f"{where}: a result without content"
            continue
        if waiting:
            yield code["pairs"], f"{where}: {role} speaks while calls wait: {waiting}"
            waiting = []
        if role not in ("system", "developer", "user", "assistant"):
            yield code["roles"], f"{where}: role {role}"
        if content is None and not (role == "assistant" and calls):
            yield code["content"], f"{where}: neither content nor calls"
        if content == []:
            yield code["none"], f"{where}: an empty list"
        if isinstance(content, list):
            kinds = {"user": {"text", "image_url", "input_audio", "file"}}.get(role, {"text"})
            if not all(part["type"] in kinds for part in content):
                yield code["parts"], f"{where}: parts that {role} may not have"
        if calls is not None:
            if role != "assistant" or not calls:
                yield code["calls"], f"{where}: calls out of place, or none"
            ids = [call["id"] for call in calls]
            if len(set(ids)) < len(ids) or "" in ids:
                yield code["pairs"], f"{where}: ids of calls {ids}"
            if any(not call["function"]["name"] for call in calls):
                yield code["tools"], f"{where}: a call without a name"
            waiting = ids
    if waiting:
        yield code["pairs"], f"calls wait at the end: {waiting}"
