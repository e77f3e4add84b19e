"""Records and transcripts of trainers: ShareGPT as LLaMA-Factory reads it, and ChatML."""

import json
import re

TURN = re.compile(r"<\|im_start\|>([a-z]+)\n((?:(?!<\|im_(?:start|end)\|>).)*)<\|im_end\|>\n", re.DOTALL)


def sharegpt(row):
    turns = row.body["conversations"]
    words = [turn["from"] for turn in turns]
    if not turns or words[-1] != "gpt":
        yield "SGP-03", "the assistant does not have the last word"
    for index, (word, turn) in enumerate(zip(words, turns)):
        if word not in (("gpt", "function_call") if index % 2 else ("human", "observation")):
            yield "SGP-01", f"turn {index}: {word}"
        if (word == "observation") != (index > 0 and words[index - 1] == "function_call"):
            yield "SGP-02", f"turn {index}: a call without its observation, or the other way round"
        if word == "function_call":
            try:
                call = json.loads(turn["value"])
            except json.JSONDecodeError:
                call = {}
            if sorted(call) != ["arguments", "name"] or not isinstance(call["arguments"], dict) or not call["name"]:
                yield "SGP-04", f"turn {index}: no call"
    if words and words[-1] == "function_call":
        yield "SGP-02", "the last call has no observation"


def chatml(row):
    if not row.content:
        yield "CML-03", "no turn"
    at = 0
    while at < len(row.content):
        found = TURN.match(row.content, at)
        if not found:
            yield "CML-01", f"no turn at {at}: {row.content[at:at + 60]!r}"
            return
        if found[1] not in ("system", "user", "assistant"):
            yield "CML-02", f"role {found[1]}"
        tag = {"user": "<tool_response>", "assistant": "<tool_call>"}.get(found[1])
        if tag and tag in found[2]:
            yield "CML-01", f"a turn at {at} spells {tag}"
        at = found.end()
