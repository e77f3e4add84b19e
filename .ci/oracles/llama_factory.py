"""LLaMA-Factory's own converter for ShareGPT records, and its reading of calls.

A record that the converter finds broken has an empty prompt: the trainer would drop it without a word. The converter's file is loaded
from the wheel with stand-ins for its two imports, which would pull in a whole training stack.
"""

import enum
import importlib.util
import json
import sys
import types
from pathlib import Path

from closed import unknown_keys

NAME = "llama-factory"
DIALECTS = ["sharegpt"]
ALLOWED = []
REASONS = [
    (r"Invalid role tag", {"SGP-01"}),
    (r"Invalid message count|no turn", {"SGP-03"}),
]

CONVERTER = Path(importlib.util.find_spec("llamafactory").origin).parent / "data" / "converter.py"


class Role(str, enum.Enum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    FUNCTION = "function"
    OBSERVATION = "observation"


class Log:
    """Why the converter drops a record: it only says so here."""

    def __init__(self):
        self.words = []

    def warning_rank0(self, words):
        self.words.append(words.split(" in ")[0])


LOG = Log()


def load():
    stand_ins = {
        "stand_in": {"__path__": []},
        "stand_in.data": {"__path__": []},
        "stand_in.extras": {"__path__": []},
        "stand_in.extras.logging": {"get_logger": lambda _: LOG},
        "stand_in.data.data_utils": {"Role": Role},
    }
    for name, members in stand_ins.items():
        module = sys.modules[name] = types.ModuleType(name)
        module.__dict__.update(members)
    sys.modules["stand_in.extras"].logging = sys.modules["stand_in.extras.logging"]
    spec = importlib.util.spec_from_file_location("stand_in.data.converter", CONVERTER)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# What `dataset_info.json` says of such a file.
ATTRIBUTES = types.SimpleNamespace(
    messages="conversations", role_tag="from", content_tag="value",
    user_tag="human", assistant_tag="gpt", observation_tag="observation", function_tag="function_call", system_tag="system",
    system="system", tools="tools", images=None, videos=None, audios=None,
    ranking=False, chosen=None, rejected=None, kto_tag=None, load_from="file",
)
CONVERT = load().SharegptDatasetConverter(ATTRIBUTES, types.SimpleNamespace(media_dir="."))


def judge(row):
    unknown = unknown_keys(row.body, {"conversations", "system", "tools"})
    if unknown:
        return unknown
    record = {"system": "", "tools": "", **row.body}
    LOG.words = []
    read = CONVERT(record)
    if not read["_prompt"]:
        return f"dropped: {'; '.join(LOG.words) or 'no turn'}"
    for index, turn in enumerate(read["_prompt"] + read["_response"]):
        if turn["role"] == Role.FUNCTION.value:
            try:
                call = json.loads(turn["content"])
                call["name"], call["arguments"]
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                return f"turn {index}: no call: {error}"
    if record["tools"] and not isinstance(json.loads(record["tools"]), list):
        return "tools are no list"
    return None
