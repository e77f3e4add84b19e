"""LLaMA-Factory: its own reading of `dataset_info.json`, its converter, and its formatters of calls and tools.

What its converter finds broken comes out with an empty prompt, and the trainer drops it with a line in a log. Nothing that was
exported may be among it.
"""

import logging
import os
import tempfile
from types import SimpleNamespace

import datasets

import hollow

for name in ("llamafactory", "llamafactory.extras", "llamafactory.data"):
    hollow.package(name)


class Log(logging.LoggerAdapter):
    def __init__(self):
        super().__init__(logging.getLogger("llamafactory"), {})
        self.words = []

    def warning_rank0(self, words):
        self.words.append(words.split(" in ")[0])

    warning_rank0_once = warning_rank0


LOG = Log()
hollow.stand_in("llamafactory.extras.logging", get_logger=lambda _: LOG)
hollow.stand_in("llamafactory.extras.constants", DATA_CONFIG="dataset_info.json")
hollow.stand_in("llamafactory.extras.misc", use_modelscope=lambda: False, use_openmind=lambda: False)
converter = hollow.load("llamafactory.data.converter")
parser = hollow.load("llamafactory.data.parser")
formatter = hollow.load("llamafactory.data.formatter")

LOADERS = {".jsonl": "json", ".parquet": "parquet"}
FORMATS = ("default", "qwen", "llama3", "mistral", "glm4")
# The names of turns as `dataset_info.json` gives them.
TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
}
DATA = SimpleNamespace(streaming=False, preprocessing_num_workers=1, overwrite_cache=True, media_dir=".")
TRAINING = SimpleNamespace(local_process_index=0)


def check(export, ledger):
    told = parser.get_dataset_list([file["part"] for file in export.files], str(export.out))
    for file, attributes in zip(export.files, told):
        where = f"{export.name} {file['name']}"
        ledger.expect(f"{where}: file", attributes.dataset_name, file["name"])
        with tempfile.TemporaryDirectory() as cache:
            loader = LOADERS[os.path.splitext(file["name"])[1]]
            path = str(export.out / file["name"])
            loaded = datasets.load_dataset(loader, data_files=path, split="train", cache_dir=cache)
            LOG.words = []
            aligned = converter.align_dataset(loaded, attributes, DATA, TRAINING)
            ledger.expect(f"{where}: records", aligned.num_rows, file["rows"])
            dropped = sum(1 for row in aligned if not row["_prompt"] or not row["_response"])
            ledger.expect(f"{where}: records that it drops ({'; '.join(LOG.words[:3])})", dropped, 0)
            for place in ledger.some(range(aligned.num_rows)):
                compare(f"{where}: record {place}", aligned[place], loaded[place], ledger)
        ledger.saw("llama-factory", file["rows"])


# What its templates give the formatter unless one has its own.
WORDS = {"thought_words": ("<think>\n", "\n</think>\n\n"), "tool_call_words": ("<tool_call>", "</tool_call>")}


def compare(where, aligned, record, ledger):
    turns = aligned["_prompt"] + aligned["_response"]
    said = record["conversations"] + [record[key] for key in ("chosen", "rejected") if key in record]
    words = [turn["value"] for turn in said]
    ledger.expect(f"{where}: words", [turn["content"] for turn in turns], words)
    for key in ("system", "tools"):
        ledger.expect(f"{where}: {key}", aligned[f"_{key}"] or None, record.get(key))
    for name in FORMATS:
        try:
            function = formatter.FunctionFormatter(slots=["{{content}}"], tool_format=name)
            for turn in turns:
                if turn["role"] == "function":
                    function.apply(content=turn["content"], **WORDS)
            if aligned["_tools"]:
                formatter.ToolFormatter(tool_format=name).apply(content=aligned["_tools"])
        except (RuntimeError, KeyError, TypeError, ValueError) as fault:
            # A rule of this trainer alone, like TRL's Llama template, which refuses parallel calls.
            if "does not support parallel functions" in str(fault):
                continue
            ledger.fault(f"{where}: its format {name} cannot write calls or tools: {fault!r}")
