"""Rules of services that have no reader to run here, restated from their documentation: OpenAI, Vertex AI and Bedrock.

Written apart from the validators of chatmill, and in another language, so that one can be wrong without the other.
"""

import json
import re

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check(export, ledger):
    record_rules, fewest, most, largest = RULES[export.envelope]
    for file in export.files:
        where = f"{export.name} {file['name']}"
        records = export.records[file["part"]]
        for place, record in enumerate(records):
            for fault in record_rules(record):
                ledger.fault(f"{where}: record {place}: {fault}")
        ledger.saw("rules restated", len(records))
    if not export.files:
        return
    training = export.summary["files"][0]
    size = (export.out / training["name"]).stat().st_size
    fits = fewest <= training["rows"] <= most and size <= largest
    objections = [words for words in export.summary["objections"] if training["name"] in words]
    ledger.expect(f"{export.name}: what export says of the file's size, {objections}", not objections, fits)


def check_lists(messages):
    """Chat Completions: roles, keys, contents, and results directly after their calls."""
    waiting = []
    for message in messages:
        role = message.get("role")
        allowed = {
            "system": {"name"},
            "developer": {"name"},
            "user": {"name"},
            "assistant": {"name", "tool_calls", "weight"},
            "tool": {"tool_call_id"},
        }.get(role)
        if allowed is None:
            yield f"role {role}"
            continue
        if set(message) - allowed - {"role", "content"}:
            yield f"keys of {role}: {sorted(message)}"
        if message.get("weight", 0) not in (0, 1):
            yield f"weight {message['weight']}"
        if "name" in message and not NAME.fullmatch(message["name"]):
            yield f"name {message['name']}"
        if role != "tool" and waiting:
            yield f"{waiting} are not answered before {role}"
            waiting = []
        yield from check_content(role, message)
        if role == "tool":
            if message.get("tool_call_id") in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                yield f"a result of {message.get('tool_call_id')}, which does not wait"
        for call in message.get("tool_calls", []):
            waiting.append(call["id"])
            if call["type"] != "function" or not NAME.fullmatch(call["function"]["name"]):
                yield f"call {call['id']}"
            if not isinstance(json.loads(call["function"]["arguments"] or "{}"), dict):
                yield f"arguments of {call['id']}"
        if len(set(waiting)) != len(waiting):
            yield f"ids {waiting} are not their own"
    if waiting:
        yield f"{waiting} are not answered at the end"


def check_content(role, message):
    content = message.get("content")
    if content is None:
        if role != "assistant" or not message.get("tool_calls"):
            yield f"{role} without content"
    elif isinstance(content, list):
        kinds = {part.get("type") for part in content}
        allowed = {"user": {"text", "image_url", "input_audio", "file"}, "tool": set()}.get(role, {"text"})
        if not content or kinds - allowed:
            yield f"parts of {role}: {sorted(kinds)}"
    elif not isinstance(content, str):
        yield f"content of {role}: {content}"


def check_tools(tools):
    for tool in tools:
        if tool.get("type") != "function" or not NAME.fullmatch(tool["function"]["name"]):
            yield f"tool {tool}"


def openai_sft(record):
    if set(record) - {"messages", "tools", "parallel_tool_calls"}:
        yield f"keys {sorted(record)}"
    messages = record["messages"]
    yield from check_lists(messages)
    yield from check_tools(record.get("tools", []))
    if not messages or messages[-1]["role"] != "assistant":
        yield "the assistant is not last"
    parts = [part for message in messages if isinstance(message.get("content"), list) for part in message["content"]]
    if sum(part["type"] == "image_url" for part in parts) > 10:
        yield "more than ten pictures"


def openai_rft(record):
    """A prompt that ends with a user, and anything else is the grader's: `messages` and `tools` alone are reserved."""
    messages = record["messages"]
    yield from check_lists(messages)
    yield from check_tools(record.get("tools", []))
    if not messages or messages[-1]["role"] != "user":
        yield "the user is not last"
    roles = {message["role"] for message in messages} - {"developer", "user", "assistant", "tool"}
    if roles:
        yield f"roles {sorted(roles)}"
    if not isinstance(record.get("reference_answer"), str) or not record["reference_answer"].strip():
        yield "nothing to compare with"
    parts = [part for message in messages if isinstance(message.get("content"), list) for part in message["content"]]
    if {part["type"] for part in parts} - {"text", "image_url"}:
        yield "a part that is neither text nor picture"


def openai_evals(record):
    if set(record) - {"input", "ideal", "tools"}:
        yield f"keys {sorted(record)}"
    if not record["input"] or not isinstance(record["ideal"], str) or not record["ideal"]:
        yield "no input, or no ideal"
    yield from check_lists(record["input"])
    yield from check_tools(record.get("tools", []))


def vertex_tuning(record):
    if set(record) - {"contents", "systemInstruction", "tools"}:
        yield f"keys {sorted(record)}"
    contents = record["contents"]
    if contents[0]["role"] != "user" or contents[-1]["role"] != "model":
        yield "no user first, or not the model last"
    functions = [function for tool in record.get("tools", []) for function in tool.get("functionDeclarations", [])]
    if any("parametersJsonSchema" in function for function in functions):
        yield "a tool with parametersJsonSchema"
    called = []
    for content in contents:
        role, parts = content["role"], content["parts"]
        kinds = [sorted(set(part) - {"thought", "thoughtSignature"}) for part in parts]
        allowed = {
            "user": {"text", "inlineData", "fileData", "functionResponse"},
            "model": {"text", "inlineData", "fileData", "functionCall"},
        }.get(role, set())
        if not parts or any(len(kind) != 1 or kind[0] not in allowed for kind in kinds):
            yield f"parts of {role}: {kinds}"
        answers = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if sorted(answers) != sorted(called) or (answers and len(answers) != len(parts)):
            yield f"answers {answers} to calls {called}"
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if any(not isinstance(call.get("args", {}), dict) for call in calls):
            yield "arguments that are no object"
        called = [call["name"] for call in calls]
    if called:
        yield f"calls {called} at the end"


RESERVED = ("system:", "user:", "bot:", "assistant:", "[eos]", "<image>", "<video>")


def texts(value):
    """Every text that a record holds, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def bedrock(has_tools):
    def rules(record):
        allowed = {"schemaVersion", "system", "messages"} | ({"toolConfig"} if has_tools else set())
        if set(record) - allowed or record.get("schemaVersion") != "bedrock-conversation-2024":
            yield f"keys {sorted(record)}, schema {record.get('schemaVersion')}"
        turns = record["messages"]
        wanted = ["user", "assistant"] * (len(turns) // 2)
        if not turns or [turn["role"] for turn in turns] != wanted:
            yield "user and assistant do not take turns"
        found = [word for text in texts(record) for word in RESERVED if word in text.lower()]
        if found:
            yield f"reserved words {found}"
        pictures, waiting = 0, set()
        for turn in turns:
            blocks = turn["content"]
            kinds = {kind for block in blocks for kind in block}
            uses = {"user": {"text", "image", "toolResult"}, "assistant": {"text", "toolUse"}}[turn["role"]]
            if not blocks or any(len(block) != 1 for block in blocks) or kinds - uses:
                yield f"blocks of {turn['role']}: {sorted(kinds)}"
            if not has_tools and kinds & {"toolUse", "toolResult"}:
                yield "a tool"
            stored = ["s3Location" in block["image"]["source"] for block in blocks if "image" in block]
            pictures += len(stored)
            if not all(stored):
                yield "a picture outside S3"
            answered = [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
            if set(answered) != waiting or len(answered) != len(waiting):
                yield f"results {answered} of calls {sorted(waiting)}"
            waiting = {block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block}
        if waiting:
            yield f"calls {sorted(waiting)} at the end"
        if pictures > 10:
            yield "more than ten pictures"

    return rules


def preferences(record):
    """OpenAI: a request that ends with a user, and two answers of one message each."""
    if set(record) != {"input", "preferred_output", "non_preferred_output"}:
        yield f"keys {sorted(record)}"
        return
    if not {"messages"} <= set(record["input"]) <= {"messages", "tools", "parallel_tool_calls"}:
        yield f"keys of the request {sorted(record['input'])}"
    yield from check_lists(record["input"]["messages"])
    if record["input"]["messages"][-1]["role"] != "user":
        yield "the request does not end with a user"
    for key in ("preferred_output", "non_preferred_output"):
        if len(record[key]) != 1 or record[key][0]["role"] != "assistant" or not isinstance(record[key][0]["content"], str):
            yield f"{key} is not one text of the assistant"
    if record["preferred_output"] == record["non_preferred_output"]:
        yield "the answers are the same"


ANY = 1 << 62
# For each envelope: the rules of a record, the fewest and the most records of a training file, and its most bytes.
RULES = {
    "openai-dpo": (preferences, 10, ANY, 512 << 20),
    "openai-sft": (openai_sft, 10, ANY, 512 << 20),
    "openai-rft": (openai_rft, 10, ANY, 512 << 20),
    "openai-evals": (openai_evals, 1, ANY, ANY),
    "vertex-tuning": (vertex_tuning, 1, ANY, 1 << 30),
    "bedrock-conversation-2024": (bedrock(False), 8, 20_000, ANY),
    "bedrock-conversation-2024@tools": (bedrock(True), 8, 20_000, ANY),
}
