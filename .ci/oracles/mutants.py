"""Requests that are broken on purpose, one fault each: a judge that lets one through that it is there for is no judge.

The structural judge also has to name the rule.
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


THINK = {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": ""}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "y"}]}
MARKED = {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}
PICTURE = {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "eA=="}}]}
ASKED = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]}
TOLD = {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "y"}]}}]}
MODEL_TEXT = {"role": "model", "parts": [{"text": "x"}]}
RESPONSE = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "y"}}}]}
CALLED = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": ""}


def called(**changes):
    return other(ASK, tool_calls=[other(CALL, **changes)])


def define(name):
    return {"type": "function", "function": {"name": name}}


# Dialect, profile, the rule that is broken, judges that have to refuse it, request.
MUTANTS = [
    ("openai-chat", "document", "OAC-01", "openai structure", {"messages": [other(USER, role="narrator")]}),
    ("openai-chat", "document", "OAC-02", "structure", {"messages": []}),
    ("openai-chat", "document", "OAC-02", "structure", {"messages": [other(USER, content=[])]}),
    ("openai-chat", "document", "OAC-03", "openai structure", {"messages": [other(USER, content=[{"type": "audio_url", "audio_url": {"url": "u"}}])]}),
    ("openai-chat", "document", "OAC-04", "structure", {"messages": [{"role": "assistant", "content": None}]}),
    ("openai-chat", "document", "OAC-05", "structure", {"messages": [{"role": "assistant", "content": "x", "tool_calls": []}]}),
    ("openai-chat", "document", "OAC-05", "openai", {"messages": [called(function={"name": "f", "arguments": {}})]}),
    ("openai-chat", "document", "OAC-06", "structure", {"messages": [ANSWER]}),
    ("openai-chat", "document", "OAC-06", "structure", {"messages": [ASK]}),
    ("openai-chat", "document", "OAC-06", "structure", {"messages": [USER, ASK, USER, ANSWER]}),
    ("openai-chat", "document", "OAC-07", "structure", {"messages": [called(function={"name": "a.b", "arguments": "{}"}), ANSWER]}),
    ("openai-chat", "document", "OAC-07", "structure", {"messages": [USER], "tools": [define("a.b")]}),
    ("openai-chat", "document", "OAC-08", "structure", {"messages": [other(USER, name="two words")]}),
    ("openai-chat", "document", "OAC-09", "openai structure", {"messages": [ASK, other(ANSWER, name="f")]}),
    ("openai-chat", "document", None, "openai", {"messages": [other(USER, message_id="m")]}),
    ("openai-responses", "document", "OAR-01", "structure", {"input": []}),
    ("openai-responses", "document", "OAR-01", "openai structure", {"input": [{"type": "call", "id": "c"}]}),
    ("openai-responses", "document", "OAR-02", "openai structure", {"input": [other(USER, content=[{"type": "text", "text": "x"}])]}),
    ("openai-responses", "document", "OAR-03", "structure", {"input": [other(CALLED, call_id="c" * 65), other(OUTPUT, call_id="c" * 65)]}),
    ("openai-responses", "document", "OAR-03", "openai", {"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}),
    ("openai-responses", "document", "OAR-04", "structure", {"input": [OUTPUT]}),
    ("openai-responses", "document", "OAR-04", "structure", {"input": [CALLED, USER]}),
    ("openai-responses", "document", "OAR-05", "openai structure", {"input": [other(USER, name="Ann")]}),
    ("openai-responses", "document", "OAR-06", "structure", {"input": [{"type": "reasoning", "summary": []}]}),
    ("anthropic-messages", "document", "ANT-01", "anthropic structure", {"messages": [other(SAID, name="n")]}),
    ("anthropic-messages", "document", "ANT-01", "anthropic structure", {"messages": [other(SAID, role="tool")]}),
    ("anthropic-messages", "document", "ANT-02", "anthropic structure", {"system": [{"type": "image"}], "messages": [SAID]}),
    ("anthropic-messages", "document", "ANT-03", "structure", {"messages": [other(SAID, role="assistant")]}),
    ("anthropic-messages", "document", "ANT-04", "structure", {"messages": [SAID, SAID]}),
    ("anthropic-messages", "document", "ANT-05", "structure", {"messages": [other(SAID, content=[{"type": "text", "text": " "}])]}),
    ("anthropic-messages", "document", "ANT-05", "structure", {"messages": [other(SAID, content=[])]}),
    ("anthropic-messages", "document", "ANT-06", "structure", {"messages": [SAID, other(USE, content=[other(USE["content"][0], id="a.b")])]}),
    ("anthropic-messages", "document", "ANT-06", "anthropic structure", {"messages": [SAID, other(USE, content=[other(USE["content"][0], input="{}")])]}),
    ("anthropic-messages", "document", "ANT-07", "structure", {"messages": [SAID, USE]}),
    ("anthropic-messages", "document", "ANT-07", "structure", {"messages": [SAID, USE, SAID]}),
    ("anthropic-messages", "document", "ANT-07", "structure", {"messages": [SAID, USE, other(RESULT, content=SAID["content"] + RESULT["content"])]}),
    ("anthropic-messages", "document", "ANT-08", "structure", {"messages": [SAID, other(USE, content=USE["content"] + SAID["content"]), RESULT]}),
    ("anthropic-messages", "document", "ANT-09", "structure", {"messages": [MARKED]}),
    ("anthropic-messages", "document", "ANT-10", "structure", {"messages": [SAID, THINK]}),
    ("anthropic-messages", "document", "ANT-11", "structure", {"messages": [SAID, {"role": "assistant", "content": [{"type": "text", "text": "x "}]}]}),
    ("anthropic-messages", "document", "ANT-12", "anthropic structure", {"messages": [PICTURE]}),
    ("anthropic-messages", "document", "ANT-13", "structure", {"messages": [SAID, other(SAID, role="assistant")] * 50_001}),
    ("gemini-contents", "document", "GEM-01", "google-genai structure", {"contents": [other(PART, role="tool")]}),
    ("gemini-contents", "document", "GEM-02", "structure", {"contents": [other(PART, parts=[{"file_data": {"file_uri": "u"}}])]}),
    ("gemini-contents", "document", "GEM-03", "google-genai", {"contents": [other(PART, parts=[{"file_uri": "u"}])]}),
    ("gemini-contents", "document", "GEM-03", "structure", {"contents": [other(PART, parts=[{}])]}),
    ("gemini-contents", "document", "GEM-03", "structure", {"contents": [other(PART, parts=[{"text": "x", "fileData": {"fileUri": "u"}}])]}),
    ("gemini-contents", "document", "GEM-04", "google-genai", {"contents": [PART, other(MODEL_CALL, parts=[{"functionCall": {"name": "f", "args": "{}"}}])]}),
    ("gemini-contents", "document", "GEM-04", "structure", {"contents": [PART, MODEL_CALL, other(RESPONSE, parts=[{"functionResponse": {"name": "f", "response": {"y": 1}}}])]}),
    ("gemini-contents", "document", "GEM-05", "structure", {"contents": [PART, MODEL_CALL, other(RESPONSE, parts=[{"functionResponse": {"name": "g", "response": {"output": "y"}}}])]}),
    ("gemini-contents", "document", "GEM-06", "structure", {"contents": [PART, MODEL_CALL]}),
    ("gemini-contents", "document", "GEM-06", "structure", {"contents": [PART, MODEL_CALL, PART]}),
    ("gemini-contents", "document", "GEM-06", "structure", {"contents": [PART, MODEL_CALL, other(RESPONSE, parts=RESPONSE["parts"] + PART["parts"])]}),
    ("gemini-contents", "document", "GEM-07", "structure", {"contents": [PART, MODEL_TEXT, MODEL_CALL, RESPONSE]}),
    ("gemini-contents", "document", "GEM-08", "structure", {"contents": [MODEL_TEXT]}),
    ("gemini-contents", "document", "GEM-09", "structure", {"contents": [other(PART, parts=[{"text": "x", "thoughtSignature": "eA=="}])]}),
    ("bedrock-converse", "document", "BED-01", "botocore structure", {"messages": [other(HEARD, content="x")]}),
    ("bedrock-converse", "document", "BED-01", "botocore structure", {"messages": [other(HEARD, content=[{"type": "text", "text": "x"}])]}),
    ("bedrock-converse", "document", "BED-02", "structure", {"messages": [HEARD, HEARD]}),
    ("bedrock-converse", "document", "BED-02", "structure", {"messages": [other(HEARD, role="assistant")]}),
    ("bedrock-converse", "document", "BED-03", "botocore structure", {"messages": [HEARD, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c" * 65, "name": "f", "input": {}}}]}]}),
    ("bedrock-converse", "document", "BED-04", "structure", {"messages": [HEARD, ASKED, HEARD]}),
    ("bedrock-converse", "document", "BED-04", "structure", {"messages": [HEARD, ASKED, other(TOLD, content=[{"toolResult": {"toolUseId": "c", "content": [{"text": ""}]}}])]}),
    ("bedrock-converse", "document", "BED-05", "structure", {"messages": [HEARD, ASKED, TOLD]}),
    ("bedrock-converse", "document", "BED-06", "botocore structure", {"messages": [other(HEARD, content=[{"image": {"format": "jpg", "source": {"bytes": "eA=="}}}])]}),
    ("bedrock-converse", "document", "BED-07", "structure", {"messages": [other(HEARD, content=[{"text": "x"}, {"cachePoint": {"type": "default"}}] * 5)]}),
    ("bedrock-converse", "document", "BED-08", "structure", {"messages": [other(HEARD, content=[{"document": {"format": "pdf", "name": "n", "source": {"bytes": "eA=="}}}])]}),
    ("mistral-chat", "v3", "MIS-01", "mistral-common structure", {"messages": [USER, called(id="c"), other(ANSWER, tool_call_id="c")]}),
    ("mistral-chat", "v3", "MIS-02", "mistral-common structure", {"messages": [USER, other(ASK, content="x"), ANSWER]}),
    ("mistral-chat", "v7", "MIS-03", "mistral-common structure", {"messages": [USER, {"role": "assistant", "content": "x"}, {"role": "system", "content": "x"}, USER]}),
    ("mistral-chat", "v13", "MIS-04", "mistral-common structure", {"messages": [USER, ASK, {"role": "assistant", "content": "x"}]}),
    ("mistral-chat", "v7", "MIS-05", "structure", {"messages": [USER, {"role": "system", "content": "x"}]}),
    ("mistral-chat", "v7", "MIS-06", "mistral-common structure", {"messages": [USER, called(function={"name": "a.b", "arguments": "{}"}), ANSWER]}),
    ("mistral-chat", "v7", "MIS-07", "structure", {"messages": [other(USER, content=[{"type": "input_audio", "input_audio": {"data": "eA==", "format": "wav"}}])]}),
    ("hf-messages", "document", "HFM-01", "trl", {"messages": [{"from": "human", "value": "x"}]}),
    ("hf-messages", "document", "HFM-01", "trl structure", {"messages": [other(USER, role="narrator", content="unheard")]}),
    ("hf-messages", "document", "HFM-02", "structure", {"messages": [other(USER, tool_calls=None)]}),
    ("hf-messages", "document", "HFM-03", "structure", {"messages": [other(USER, content=[{"type": "text", "text": "x"}])]}),
    ("hf-messages", "string-arguments", "HFM-04", "trl structure", {"messages": [USER, other(called(function={"name": "f", "arguments": {}}), content=""), ANSWER]}),
    ("hf-messages", "document", "HFM-05", "structure", {"messages": [USER, ANSWER]}),
    ("hf-messages", "document", "HFM-06", "structure", {"messages": []}),
    ("hf-messages", "document", "HFM-07", "structure", {"messages": [other(USER, reasoning_content="x")]}),
    ("sharegpt", "document", "SGP-01", "llama-factory structure", {"conversations": [HUMAN, HUMAN]}),
    ("sharegpt", "document", "SGP-01", "llama-factory structure", {"conversations": [{"from": "gpt", "value": "x"}, HUMAN]}),
    ("sharegpt", "document", "SGP-02", "structure", {"conversations": [HUMAN, {"from": "function_call", "value": "{}"}]}),
    ("sharegpt", "document", "SGP-03", "llama-factory structure", {"conversations": [HUMAN]}),
    ("sharegpt", "document", "SGP-04", "llama-factory structure", {"conversations": [HUMAN, {"from": "function_call", "value": "f()"}]}),
    ("chatml", "document", "CML-01", "structure", "<|im_start|>user\nx<|im_start|>system\ny<|im_end|>\n"),
    ("chatml", "document", "CML-02", "structure", "<|im_start|>tool\nx<|im_end|>\n"),
    ("chatml", "document", "CML-03", "structure", ""),
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
                words = judge.judge(row)
                has_seen = words is not None and (judge.NAME != "structure" or rule in judge.rules(row, words))
            except (KeyError, IndexError, TypeError, AttributeError):
                has_seen = judge.NAME != "structure"
            if not has_seen:
                found.append(f"{judge.NAME} lets {rule} through, {dialect}@{profile}: {content[:300]}")
    return found
