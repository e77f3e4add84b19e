"""TRL: every record is a conversation of its type, no message has a key that is null, and chat templates render it."""

from pathlib import Path

import trl
import trl.data_utils

from byte_tokens import tokenizer

ENVELOPES = {
    "trl-messages": ("messages", {"messages"}),
    "trl-prompt-completion": ("prompt", {"prompt", "completion"}),
    "trl-prompts": ("prompt", {"prompt"}),
    "trl-dpo": ("prompt", {"prompt", "chosen", "rejected"}),
    "trl-kto": ("prompt", {"prompt", "completion", "label"}),
}
TEXTS = ("messages", "prompt", "completion", "chosen", "rejected")
TEMPLATES = ("qwen3", "gptoss", "llama3_2")


def has_null(value):
    if isinstance(value, dict):
        return any(inner is None or has_null(inner) for inner in value.values())
    return isinstance(value, list) and any(has_null(inner) for inner in value)


def check(export, ledger):
    first, keys = ENVELOPES[export.envelope]
    for part, records in export.records.items():
        where = f"{export.name} {part}"
        for record in records:
            ledger.expect(f"{where}: is_conversational", trl.data_utils.is_conversational(record), True)
            ledger.expect(f"{where}: a null", has_null(record[first]), False)
            others = {"tools"} | ({"ground_truth"} if export.envelope == "trl-prompts" else set())
            ledger.expect(f"{where}: keys", set(record) - others, keys)
            if export.envelope == "trl-prompts":
                # What online trainers and reward functions get.
                ledger.expect(f"{where}: the last to speak", record["prompt"][-1]["role"], "user")
                reference = record.get("ground_truth", "none")
                ledger.expect(f"{where}: a text to compare with", bool(reference) and isinstance(reference, str), True)
            if first == "prompt":
                role = record["prompt"][-1]["role"]
                ledger.expect(f"{where}: last of the prompt", role in ("user", "tool", "assistant"), True)
        ledger.saw("trl checks", len(records))
        for name in TEMPLATES:
            render(f"{where} {name}", name, ledger.some(records), ledger)


def calls_in_parallel(record):
    messages = [message for key in TEXTS for message in record.get(key, [])]
    return any(len(message.get("tool_calls", [])) > 1 for message in messages)


def render(where, name, records, ledger):
    """Llama refuses parallel calls by its own rule; everything else is rendered."""
    words = tokenizer(["</s>"])
    words.chat_template = (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text()
    for record in records:
        if name == "llama3_2" and calls_in_parallel(record):
            continue
        try:
            rendered = trl.data_utils.maybe_apply_chat_template(record, words)
        except Exception as refusal:
            ledger.fault(f"{where} does not render a record: {refusal}")
            continue
        empty = [key for key, text in rendered.items() if key in ("text", *TEXTS) and not text]
        ledger.expect(f"{where}: nothing rendered", empty, [])
        ledger.saw("trl templates", 1)
