"""LLaMA-Factory's own converter for ShareGPT records, and its reading of calls.

A record that the converter finds broken has an empty prompt: the trainer would drop it without a word. The files of the converter and of
the formatter of calls are loaded from the wheel with stand-ins for their imports, which would pull in a whole training stack.
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
    (r"(images|videos|audios) in \d+ places", {"SGP-06"}),
]

FOLDER = Path(importlib.util.find_spec("llamafactory").origin).parent / "data"


class Role(str, enum.Enum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    FUNCTION = "function"
    OBSERVATION = "observation"


class Log:
    """Why the converter drops a record: only its log has the reason."""

    def __init__(self):
        self.words = []

    def warning_rank0(self, words):
        self.words.append(words.split(" in ")[0])

    def warning_rank0_once(self, words):
        """Media that are no files are used by the address that they have."""


LOG = Log()


def load():
    """The converter, and the formatter that reads calls."""
    stand_ins = {
        "stand_in": {"__path__": []},
        "stand_in.data": {"__path__": []},
        "stand_in.extras": {"__path__": []},
        "stand_in.extras.logging": {"get_logger": lambda _: LOG},
        "stand_in.data.data_utils": {"Role": Role, "SLOTS": list},
    }
    for name, members in stand_ins.items():
        module = sys.modules[name] = types.ModuleType(name)
        module.__dict__.update(members)
    sys.modules["stand_in.extras"].logging = sys.modules["stand_in.extras.logging"]
    for name in ("tool_utils", "converter", "formatter"):
        spec = importlib.util.spec_from_file_location(f"stand_in.data.{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    return sys.modules["stand_in.data.converter"], sys.modules["stand_in.data.formatter"]


# The entry of such a file in `dataset_info.json`.
ATTRIBUTES = types.SimpleNamespace(
    messages="conversations", role_tag="from", content_tag="value",
    user_tag="human", assistant_tag="gpt", observation_tag="observation", function_tag="function_call", system_tag="system",
    system="system", tools="tools", images="images", videos="videos", audios="audios",
    ranking=False, chosen=None, rejected=None, kto_tag=None, load_from="file",
)
CONVERTER, FORMATTER = load()
CONVERT = CONVERTER.SharegptDatasetConverter(ATTRIBUTES, types.SimpleNamespace(media_dir="."))
CALLS = FORMATTER.FunctionFormatter(slots=["{{content}}"], tool_format="default")
# What its templates give the formatter unless one has its own.
WORDS = {"thought_words": ("<think>\n", "\n</think>\n\n"), "tool_call_words": ("<tool_call>", "</tool_call>")}
MEDIA = {"images": "<image>", "videos": "<video>", "audios": "<audio>"}


def judge(row):
    unknown = unknown_keys(row.body, {"conversations", "system", "tools", *MEDIA})
    if unknown:
        return unknown
    record = {"system": "", "tools": "", **dict.fromkeys(MEDIA), **row.body}
    LOG.words = []
    read = CONVERT(record)
    if not read["_prompt"]:
        return f"dropped: {'; '.join(LOG.words) or 'no turn'}"
    turns = read["_prompt"] + read["_response"]
    for index, turn in enumerate(turns):
        if turn["role"] == Role.FUNCTION.value:
            try:
                CALLS.apply(content=turn["content"], **WORDS)
            except (RuntimeError, KeyError, TypeError) as error:
                return f"turn {index}: no call: {error}"
    # The trainer ends where a medium has no place, or a place no medium.
    for key, word in MEDIA.items():
        places = sum(turn["content"].count(word) for turn in turns)
        if record[key] and places != len(record[key]):
            return f"{len(record[key])} {key} in {places} places"
    if record["tools"] and not isinstance(json.loads(record["tools"]), list):
        return "tools are no list"
    return None
