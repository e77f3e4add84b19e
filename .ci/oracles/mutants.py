"""Requests that are broken on purpose, one fault each: a judge that lets one through that it is there for is no judge."""

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


# Dialect, profile, judges that have to refuse it, request.
MUTANTS = [
    ("openai-chat", "document", "structure", {"messages": []}),
    ("openai-chat", "document", "structure", {"messages": [ANSWER]}),
    ("openai-chat", "document", "structure", {"messages": [ASK]}),
    ("openai-chat", "document", "structure", {"messages": [USER, ASK, USER, ANSWER]}),
    ("openai-chat", "document", "structure", {"messages": [other(USER, name="two words")]}),
    ("openai-chat", "document", "structure", {"messages": [USER], "tools": [{"type": "function", "function": {"name": "a.b"}}]}),
    ("openai-chat", "document", "openai", {"messages": [other(USER, message_id="m")]}),
    ("openai-chat", "document", "openai structure", {"messages": [ASK, other(ANSWER, name="f")]}),
    ("openai-chat", "document", "openai", {"messages": [other(ASK, tool_calls=[other(CALL, function={"name": "f", "arguments": {}})])]}),
    ("openai-chat", "document", "openai structure", {"messages": [other(USER, content=[{"type": "audio_url", "audio_url": {"url": "u"}}])]}),
    ("openai-responses", "document", "structure", {"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]}),
    (
        "openai-responses",
        "document",
        "structure",
        {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, USER]},
    ),
    ("openai-responses", "document", "openai structure", {"input": [other(USER, content=[{"type": "text", "text": "x"}])]}),
    ("openai-responses", "document", "openai", {"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}),
    ("anthropic-messages", "document", "structure", {"messages": [SAID, SAID]}),
    ("anthropic-messages", "document", "structure", {"messages": [SAID, USE]}),
    ("anthropic-messages", "document", "structure", {"messages": [USE]}),
    ("anthropic-messages", "document", "structure", {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]}),
    ("anthropic-messages", "document", "anthropic", {"messages": [other(SAID, name="n")]}),
    ("anthropic-messages", "document", "anthropic structure", {"messages": [other(SAID, role="tool")]}),
    (
        "anthropic-messages",
        "document",
        "anthropic",
        {"messages": [SAID, other(USE, content=[{"type": "tool_use", "id": "c", "name": "f", "input": "{}"}])]},
    ),
    ("gemini-contents", "document", "google-genai structure", {"contents": [other(PART, role="tool")]}),
    ("gemini-contents", "document", "google-genai", {"contents": [other(PART, parts=[{"file_uri": "u"}])]}),
    ("gemini-contents", "document", "structure", {"contents": [PART, MODEL_CALL]}),
    ("gemini-contents", "document", "structure", {"contents": [PART, MODEL_CALL, PART]}),
    ("gemini-contents", "document", "structure", {"contents": [other(PART, parts=[{}])]}),
    (
        "gemini-contents",
        "document",
        "google-genai",
        {"contents": [other(MODEL_CALL, parts=[{"functionCall": {"name": "f", "args": "{}"}}])]},
    ),
    ("bedrock-converse", "document", "botocore", {"messages": [other(HEARD, content="x")]}),
    ("bedrock-converse", "document", "botocore", {"messages": [other(HEARD, content=[{"type": "text", "text": "x"}])]}),
    (
        "bedrock-converse",
        "document",
        "botocore",
        {"messages": [other(HEARD, content=[{"image": {"format": "jpg", "source": {"bytes": "eA=="}}}])]},
    ),
    ("bedrock-converse", "document", "structure", {"messages": [HEARD, HEARD]}),
    (
        "bedrock-converse",
        "document",
        "structure",
        {
            "messages": [
                HEARD,
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "y"}]}}]},
            ]
        },
    ),
    ("mistral-chat", "v3", "mistral-common structure", {"messages": [USER, other(ASK, tool_calls=[other(CALL, id="c")]), other(ANSWER, tool_call_id="c")]}),
    ("mistral-chat", "v3", "mistral-common structure", {"messages": [USER, other(ASK, content="x"), ANSWER]}),
    ("mistral-chat", "v7", "mistral-common structure", {"messages": [USER, {"role": "assistant", "content": "x"}, {"role": "system", "content": "x"}, USER]}),
    ("mistral-chat", "v13", "mistral-common structure", {"messages": [USER, ASK, {"role": "assistant", "content": "x"}]}),
    ("hf-messages", "document", "trl", {"messages": [{"from": "human", "value": "x"}]}),
    ("hf-messages", "document", "trl", {"messages": [other(USER, role="narrator", content="unheard")]}),
    ("hf-messages", "string-arguments", "trl", {"messages": [USER, other(ASK, content="", tool_calls=[other(CALL, function={"name": "f", "arguments": {}})]), ANSWER]}),
    ("hf-messages", "document", "structure", {"messages": [other(USER, tool_calls=None)]}),
    ("sharegpt", "document", "llama-factory structure", {"conversations": [HUMAN]}),
    ("sharegpt", "document", "llama-factory structure", {"conversations": [HUMAN, HUMAN]}),
    ("sharegpt", "document", "llama-factory structure", {"conversations": [{"from": "gpt", "value": "x"}, HUMAN]}),
    ("sharegpt", "document", "llama-factory", {"conversations": [HUMAN, {"from": "function_call", "value": "f()"}]}),
    ("chatml", "document", "structure", "<|im_start|>user\nx<|im_start|>system\ny<|im_end|>\n"),
    ("chatml", "document", "structure", ""),
]
COUNT = len(MUTANTS)


def faults(judges):
    """Broken requests that a judge should have refused and did not."""
    found = []
    for dialect, profile, names, body in MUTANTS:
        content = body if isinstance(body, str) else json.dumps(body)
        row = SimpleNamespace(dialect=dialect, profile=profile, body=body, content=content)
        for judge in judges:
            if judge.NAME not in names.split():
                continue
            try:
                is_refused = judge.judge(row) is not None
            except (KeyError, IndexError, TypeError, AttributeError):
                is_refused = True
            if not is_refused:
                found.append(f"{judge.NAME} lets through {dialect}@{profile}: {content}")
    return found
