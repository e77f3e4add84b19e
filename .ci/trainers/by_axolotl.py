"""Axolotl: its own strategy tokenizes the records with chat templates that it carries, and masks what is not the assistant's."""

import logging

import hollow
from byte_tokens import tokenizer
from pydantic import BaseModel

for name in ("axolotl", "axolotl.utils", "axolotl.utils.schemas", "axolotl.prompt_strategies"):
    hollow.package(name)
hollow.stand_in("axolotl.utils.distributed", is_main_process=lambda: True)
hollow.stand_in("axolotl.utils.schemas.datasets", DatasetConfig=BaseModel)
strategies = hollow.load("axolotl.prompt_strategies.chat_template")
templates = hollow.load("axolotl.utils.chat_templates")
logging.getLogger("axolotl").setLevel(logging.ERROR)
strategies.LOG.setLevel(logging.ERROR)

# Of its templates, with the token that ends a turn. ChatML writes nothing but the words, so that the trained text can be compared.
CHATML, ENDS = "chatml", {"chatml": "<|im_end|>", "qwen3": "<|im_end|>", "llama3": "<|eot_id|>"}
MASKED = -100
# It renders a record once more for every turn.
SLOWNESS = 5


class Settings(dict):
    """A configuration, which is asked by attribute and by key."""

    __getattr__ = dict.get


def check(export, ledger):
    for name, end in ENDS.items():
        words = tokenizer([end])
        settings = Settings(chat_template=name, sequence_len=1 << 24, train_on_inputs=False)
        strategy = strategies.load(words, settings, {"chat_template": name, "message_field_training": "train"})
        for part, records in export.records.items():
            where = f"{export.name} {part} {name}"
            for record in ledger.some(records, SLOWNESS):
                tokenize(where, strategy, words, record, name, end, ledger)


def tokenize(where, strategy, words, record, name, end, ledger):
    try:
        tokens = strategy.tokenize_prompt(record)
    except Exception as refusal:
        ledger.fault(f"{where} does not tokenize a record: {refusal!r}")
        return
    kept = [token for token, label in zip(tokens["input_ids"], tokens["labels"]) if label != MASKED]
    if name == CHATML:
        own = [turn for turn in record["messages"] if turn["role"] == "assistant" and turn.get("train") is not False]
        said = [turn["content"] for turn in own if turn["content"]]
        ledger.expect(f"{where}: what is trained", words.decode(kept), "".join(text + end for text in said))
    ledger.saw("axolotl", 1)
