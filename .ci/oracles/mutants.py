"""Requests that are broken on purpose, one fault each: a judge has to refuse those with a fault in its domain.

Requests that break a rule which no SDK knows are in `crates/testkit/tests/runs/torture/broken.txt`, for the structural judge there.
"""

import json
from types import SimpleNamespace

USER = {"role": "user", "content": "x"}
CALL = {"id": "abcdef123", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASK = {"role": "assistant", "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "abcdef123", "content": "y"}
SAID = {"role": "user", "content": [{"type": "text", "text": "x"}]}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}
HEARD = {"role": "user", "content": [{"text": "x"}]}
PART = {"role": "user", "parts": [{"text": "x"}]}
MODEL_CALL = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
HUMAN = {"from": "human", "value": "x"}


def other(message, **changes):
    return {**message, **changes}


PICTURE = {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "eA=="}}]}


def called(**changes):
    return other(ASK, tool_calls=[other(CALL, **changes)])


def function(parameters):
    return {"type": "function", "function": {"name": "f", "parameters": parameters}}


# Dialect, profile, the rule that is broken, judges that have to refuse it, request.
MUTANTS = [
    ("openai-chat", "document", "OAC-01", "openai", {"messages": [other(USER, role="narrator")]}),
    ("openai-chat", "document", "OAC-03", "openai", {"messages": [other(USER, content=[{"type": "audio_url", "audio_url": {"url": "u"}}])]}),
    ("openai-chat", "document", "OAC-05", "openai", {"messages": [called(function={"name": "f", "arguments": {}})]}),
    ("openai-chat", "document", "OAC-09", "openai", {"messages": [ASK, other(ANSWER, name="f")]}),
    ("openai-chat", "document", None, "openai", {"messages": [other(USER, message_id="m")]}),
    ("openai-responses", "document", "OAR-01", "openai", {"input": [{"type": "call", "id": "c"}]}),
    ("openai-responses", "document", "OAR-02", "openai", {"input": [other(USER, content=[{"type": "text", "text": "x"}])]}),
    ("openai-responses", "document", "OAR-03", "openai", {"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}),
    ("openai-responses", "document", "OAR-05", "openai", {"input": [other(USER, name="Ann")]}),
    ("anthropic-messages", "document", "ANT-01", "anthropic", {"messages": [other(SAID, name="n")]}),
    ("anthropic-messages", "document", "ANT-01", "anthropic", {"messages": [other(SAID, role="tool")]}),
    ("anthropic-messages", "document", "ANT-02", "anthropic", {"system": [{"type": "image"}], "messages": [SAID]}),
    ("anthropic-messages", "document", "ANT-06", "anthropic", {"messages": [SAID, other(USE, content=[other(USE["content"][0], input="{}")])]}),
    ("anthropic-messages", "document", "ANT-12", "anthropic", {"messages": [PICTURE]}),
    ("gemini-contents", "document", "GEM-01", "google-genai", {"contents": [other(PART, role="tool")]}),
    ("gemini-contents", "document", "GEM-03", "google-genai", {"contents": [other(PART, parts=[{"file_uri": "u"}])]}),
    ("gemini-contents", "document", "GEM-04", "google-genai", {"contents": [PART, other(MODEL_CALL, parts=[{"functionCall": {"name": "f", "args": "{}"}}])]}),
    ("bedrock-converse", "document", "BED-01", "botocore", {"messages": [other(HEARD, content="x")]}),
    ("bedrock-converse", "document", "BED-01", "botocore", {"messages": [other(HEARD, content=[{"type": "text", "text": "x"}])]}),
    ("bedrock-converse", "document", "BED-03", "botocore", {"messages": [HEARD, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c" * 65, "name": "f", "input": {}}}]}]}),
    ("bedrock-converse", "document", "BED-06", "botocore", {"messages": [other(HEARD, content=[{"image": {"format": "jpg", "source": {"bytes": "eA=="}}}])]}),
    ("mistral-chat", "v3", "MIS-01", "mistral-common", {"messages": [USER, called(id="c"), other(ANSWER, tool_call_id="c")]}),
    ("mistral-chat", "v3", "MIS-02", "mistral-common", {"messages": [USER, other(ASK, content="x"), ANSWER]}),
    ("mistral-chat", "v7", "MIS-03", "mistral-common", {"messages": [USER, {"role": "assistant", "content": "x"}, {"role": "system", "content": "x"}, USER]}),
    ("mistral-chat", "v13", "MIS-04", "mistral-common", {"messages": [USER, ASK, {"role": "assistant", "content": "x"}]}),
    ("mistral-chat", "v7", "MIS-06", "mistral-common", {"messages": [USER, called(function={"name": "a.b", "arguments": "{}"}), ANSWER]}),
    ("hf-messages", "document", "HFM-01", "trl", {"messages": [{"from": "human", "value": "x"}]}),
    ("hf-messages", "document", "HFM-01", "trl", {"messages": [other(USER, role="narrator", content="unheard")]}),
    ("hf-messages", "string-arguments", "HFM-04", "trl", {"messages": [USER, other(called(function={"name": "f", "arguments": {}}), content=""), ANSWER]}),
    ("openai-chat", "document", "OAC-10", "pages", {"messages": [USER], "tools": [function({"type": "object", "properties": {"p": {"type": "array"}}})]}),
    ("openai-responses", "document", "OAR-07", "pages", {"input": [USER], "tools": [{"type": "function", "name": "f", "strict": False, "parameters": {"type": "object"}}]}),
    ("anthropic-messages", "document", "ANT-14", "pages", {"messages": [SAID], "tools": [{"name": "f", "input_schema": {"type": "object", "anyOf": [{}]}}]}),
    ("bedrock-converse", "document", "BED-09", "pages", {"messages": [HEARD], "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "properties": {"a b": {}}}}}}]}}),
    ("gemini-contents", "document", "GEM-05", "pages", {"contents": [PART], "tools": [{"functionDeclarations": [{"name": "7zip"}]}]}),
    ("gemini-contents", "document", "GEM-11", "pages", {"contents": [PART], "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {"p": {}}}}]}]}),
    ("mistral-chat", "v7", "MIS-08", "pages", {"messages": [USER], "tools": [function({"type": "any"})]}),
    ("sharegpt", "document", "SGP-01", "llama-factory", {"conversations": [HUMAN, HUMAN]}),
    ("sharegpt", "document", "SGP-01", "llama-factory", {"conversations": [{"from": "gpt", "value": "x"}, HUMAN]}),
    ("sharegpt", "document", "SGP-03", "llama-factory", {"conversations": [HUMAN]}),
    ("sharegpt", "document", "SGP-04", "llama-factory", {"conversations": [HUMAN, {"from": "function_call", "value": "f()"}]}),
]
COUNT = len(MUTANTS)


def faults(judges):
    """Broken requests that a judge should have refused and did not."""
    found = []
    for dialect, profile, rule, names, body in MUTANTS:
        content = body if isinstance(body, str) else json.dumps(body)
        row = SimpleNamespace(dialect=dialect, profile=profile, body=body, content=content)
        for judge in judges:
            if judge.NAME not in names.split():
                continue
            try:
                has_seen = judge.judge(row) is not None
            except (KeyError, IndexError, TypeError, AttributeError):
                has_seen = True
            if not has_seen:
                found.append(f"{judge.NAME} lets {rule} through, {dialect}@{profile}: {content[:300]}")
    return found
