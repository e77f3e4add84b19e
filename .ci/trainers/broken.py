"""Records that the judges must refuse: a judge that takes one of them proves nothing by taking ours."""

import json
import tempfile
from pathlib import Path

import by_axolotl
import by_inspect
import by_llama_factory
import by_rules
import by_spans
import by_trl
from exports import Export, Measure
from ledger import Ledger

USER, ANSWER = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
CALL = {"id": "k", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": "", "tool_calls": [CALL]}
MODEL = {"role": "model", "parts": [{"text": "Hello"}]}
HUMAN, GPT = {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}
BEDROCK = "bedrock-conversation-2024"


def converse(*blocks):
    turns = [{"role": ("user", "assistant")[place % 2], "content": list(block)} for place, block in enumerate(blocks)]
    return {"schemaVersion": BEDROCK, "messages": turns}


TOOL_USE = {"toolUse": {"toolUseId": "k", "name": "f", "input": {}}}
# Judge, envelope, and a record that it must refuse.
BROKEN = [
    (by_rules, "openai-sft", {"messages": [USER, ANSWER, USER]}),
    (by_rules, "openai-sft", {"messages": [USER, CALLING, ANSWER]}),
    (by_rules, "openai-sft", {"messages": [USER, {"role": "tool", "tool_call_id": "k", "content": "4"}, ANSWER]}),
    (by_rules, "openai-sft", {"messages": [{"role": "human", "content": "Hi"}, ANSWER]}),
    (by_rules, "openai-sft", {"messages": [{**USER, "name": "Ann B"}, ANSWER]}),
    (by_rules, "openai-sft", {"messages": [USER, ANSWER], "mood": 1}),
    (by_rules, "openai-rft", {"messages": [USER, ANSWER], "reference_answer": "4"}),
    (by_rules, "openai-rft", {"messages": [USER]}),
    (by_rules, "openai-rft", {"messages": [{"role": "system", "content": "Be"}, USER], "reference_answer": "4"}),
    (by_rules, "openai-evals", {"input": [USER], "ideal": ""}),
    (by_rules, "vertex-tuning", {"contents": [MODEL]}),
    (by_rules, "vertex-tuning", {"contents": [{"role": "user", "parts": []}, MODEL]}),
    (by_rules, "vertex-tuning", {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}, MODEL], "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}}]}]}),
    (by_rules, "vertex-tuning", {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f"}}]}, MODEL]}),
    (by_rules, BEDROCK, converse([{"text": "Hi"}])),
    (by_rules, BEDROCK, converse([{"text": "the roBOT: hi"}], [{"text": "Hello"}])),
    (by_rules, BEDROCK, converse([{"text": "Hi"}], [TOOL_USE])),
    (by_rules, f"{BEDROCK}@tools", converse([{"text": "Hi"}], [TOOL_USE], [{"text": "So?"}], [{"text": "Hello"}])),
    (by_inspect, "inspect", {"id": "a", "input": [CALLING], "target": "Hello"}),
    (by_trl, "trl-messages", {"messages": [{"role": "user", "content": "Hi", "tool_calls": None}, ANSWER]}),
    (by_trl, "trl-messages", {"messages": [USER, ANSWER], "mood": 1}),
    (by_trl, "trl-prompt-completion", {"prompt": [{"role": "system", "content": "Be"}], "completion": [ANSWER]}),
    (by_trl, "trl-prompts", {"prompt": [USER, ANSWER]}),
    (by_trl, "trl-prompts", {"prompt": [USER], "ground_truth": ""}),
    (by_llama_factory, "llama-factory", {"conversations": [HUMAN, HUMAN]}),
    (by_llama_factory, "llama-factory", {"conversations": [HUMAN]}),
    (by_llama_factory, "llama-factory", {"conversations": [HUMAN, {"from": "function_call", "value": "f()"}]}),
    (by_axolotl, "axolotl", {"messages": []}),
    (by_spans, "chatml", {"text": "Hello", "assistant_spans": [{"start": 2, "end": 9}]}),
    (by_spans, "chatml", {"text": "Hello", "assistant_spans": []}),
]


def faults():
    """What judges let through."""
    for judge, envelope, record in BROKEN:
        with tempfile.TemporaryDirectory() as folder:
            ledger = Ledger(most=10)
            try:
                judge.check(broken_export(envelope, record, Path(folder)), ledger)
            except Exception:
                # A reader of others that falls over does not take the file.
                continue
            if not ledger.faults:
                yield f"{judge.__name__} lets a record of {envelope} through: {json.dumps(record)}"


def broken_export(envelope, record, folder):
    """An export of as many of these records as its service wants."""
    number = 10
    file = {"name": "train.jsonl", "part": "train", "rows": number, "keys": list(record)}
    (folder / file["name"]).write_text((json.dumps(record) + "\n") * number)
    columns = {"messages": "conversations"}
    told = {"train": {"file_name": file["name"], "formatting": "sharegpt", "columns": columns, "tags": by_llama_factory.TAGS}}
    (folder / "dataset_info.json").write_text(json.dumps(told))
    summary = {"files": [file], "kept": number, "read": number, "left_out": [], "objections": []}
    return Export(envelope, "jsonl", folder, summary, Measure(0, 0), {"train": [record] * number})
