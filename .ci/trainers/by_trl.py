"""TRL: every record is a conversation of its type, no message has a key that is null, and chat templates render it.

Messages with pictures have lists of parts, as many of them pictures as the column `images` has; templates of texts take none of these.
"""

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
OF_PICTURES = ("idefics3", "smolvlm")


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
            others = {"tools", "images"} | ({"ground_truth"} if export.envelope == "trl-prompts" else set())
            ledger.expect(f"{where}: keys", set(record) - others, keys)
            ledger.expect(f"{where}: pictures", pictures(record), len(record.get("images") or []))
            if export.envelope == "trl-prompts":
                # What online trainers and reward functions get.
                ledger.expect(f"{where}: the last to speak", record["prompt"][-1]["role"], "user")
                reference = record.get("ground_truth", "none")
                ledger.expect(f"{where}: a text to compare with", bool(reference) and isinstance(reference, str), True)
            if first == "prompt":
                role = record["prompt"][-1]["role"]
                ledger.expect(f"{where}: last of the prompt", role in ("user", "tool", "assistant"), True)
        ledger.saw("trl checks", len(records))
        with_pictures = [record for record in records if pictures(record)]
        for name in TEMPLATES:
            texts = [record for record in ledger.some(records) if not pictures(record)]
            render(f"{where} {name}", name, texts, ledger)
        for name in OF_PICTURES:
            render(f"{where} {name}", name, ledger.some(with_pictures), ledger)


def messages_of(record):
    return [message for key in TEXTS for message in record.get(key, [])]


def pictures(record):
    contents = [message["content"] for message in messages_of(record) if isinstance(message["content"], list)]
    return sum(part["type"] == "image" for content in contents for part in content)


def calls_in_parallel(record):
    return any(len(message.get("tool_calls", [])) > 1 for message in messages_of(record))


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
