"""Gemini: contents of parts, in which calls and responses are paired by place and name."""

from signs import is_word, tools

SNAKE = {"inline_data", "file_data", "function_call", "function_response", "mime_type", "file_uri", "thought_signature"}


def gemini_contents(row):
    contents = row.body["contents"]
    if not contents:
        yield "GEM-08", "no content"
    if contents and contents[0]["role"] != "user":
        yield "GEM-08", "the model speaks first"
    waiting = []
    for index, content in enumerate(contents):
        where = f"content {index}"
        parts = content["parts"]
        if content["role"] not in ("user", "model"):
            yield "GEM-01", f"{where}: role {content['role']}"
        keys = {key for part in parts for key in [*part, *(inner for held in part.values() if isinstance(held, dict) for inner in held)]}
        if keys & SNAKE:
            yield "GEM-02", f"{where}: {sorted(keys & SNAKE)}"
        if {"thoughtSignature", "thought_signature"} & keys:
            yield "GEM-09", f"{where}: a signature"
        if not parts or any(len(part) != 1 for part in parts):
            yield "GEM-03", f"{where}: a part without one member"
            continue
        if any("text" in part and part["text"] == "" for part in parts):
            yield "GEM-03", f"{where}: empty text"
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if responses and (content["role"] != "user" or len(responses) < len(parts)):
            yield "GEM-06", f"{where}: responses among other parts"
        if len(responses) != len(waiting) or [one.get("id") for one in responses] != [one.get("id") for one in waiting]:
            yield "GEM-06", f"{where}: {len(responses)} responses to {len(waiting)} calls"
        elif [one["name"] for one in responses] != [one["name"] for one in waiting]:
            yield "GEM-05", f"{where}: responses by other names than their calls"
        yield from values(calls, responses, row.profile, where)
        if calls and (content["role"] != "model" or index == 0 or contents[index - 1]["role"] != "user"):
            yield "GEM-07", f"{where}: calls that follow no user turn"
        waiting = calls
    if waiting:
        yield "GEM-06", "calls wait at the end"
    declared = [one for tool in row.body.get("tools", []) for one in tool["functionDeclarations"]]
    yield from tools(((one["name"], one.get("parameters")) for one in declared), "GEM-05", 128, "OBJECT")


def values(calls, responses, profile, where):
    for one in calls:
        if not isinstance(one["args"], dict):
            yield "GEM-04", f"{where}: arguments that are no object"
    for one in responses:
        if not isinstance(one["response"], dict) or len({"output", "error"} & one["response"].keys()) != 1:
            yield "GEM-04", f"{where}: a response under neither output nor error"
    for one in calls + responses:
        if not is_word(one["name"], 128):
            yield "GEM-05", f"{where}: call or response of {one['name']!r}"
        if profile == "no-ids" and "id" in one:
            yield "GEM-06", f"{where}: an id"
