"""Exports a dataset in every envelope, and loads the files with the readers that trainers and evaluators use.

    python trainers.py CHATMILL RUN FOLDER

Checked for each envelope, as JSON lines and as Parquet: that `datasets` loads all rows and that both forms hold the same
records; for TRL that it takes every record for a conversation of the right type, that no message has a key that is
null, and that it renders every record with chat templates that it carries; for Inspect that its own loader makes a sample of every record; for LLaMA-Factory that every record passes the
rules of its converter, written anew here from its documentation.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

import datasets
import inspect_ai.dataset
import pyarrow.parquet
import tokenizers
import transformers
import trl
import trl.data_utils

ENVELOPES = {
    "openai-sft": "openai-chat",
    "openai-evals": "openai-chat",
    "inspect": "hf-messages",
    "vertex-tuning": "gemini-contents",
    "bedrock-conversation-2024": "bedrock-converse",
    "bedrock-conversation-2024@tools": "bedrock-converse",
    "trl-messages": "hf-messages",
    "trl-prompt-completion": "hf-messages",
    "llama-factory": "sharegpt",
    "axolotl": "hf-messages",
}
KEYS = ["conversation_id", "dialect", "profile", "perspective", "ordinal"]

faults = []


def expect(what, found, wanted):
    if found != wanted:
        faults.append(f"{what}: {found!r} instead of {wanted!r}")


def without_nulls(value):
    """A value as it was before `datasets` gave every object the keys of all others."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value


def read_lines(path):
    # Not splitlines, which also cuts at U+2028 and its like inside a text.
    return path.read_bytes().decode().split("\n")[:-1]


def has_null(value):
    if isinstance(value, dict):
        return any(inner is None or has_null(inner) for inner in value.values())
    return isinstance(value, list) and any(has_null(inner) for inner in value)


def export(chatmill, run, envelope, form, folder):
    out = folder / f"{envelope}.{form}"
    command = [chatmill, "export", run, "--dialect", ENVELOPES[envelope], "--envelope", envelope]
    command += ["--format", form, "--valid", "--split", "train=80,test=20", "--out", out]
    ended = subprocess.run(command, capture_output=True, text=True)
    # 1 is an objection, for example too few records for a training file.
    if ended.returncode not in (0, 1):
        sys.exit(f"{envelope} {form}: exit code {ended.returncode}: {ended.stderr}")
    summary = json.loads((out / "export.json").read_text())
    expect(f"{envelope} {form}: balance", summary["kept"] + sum(left["rows"] for left in summary["left_out"]), summary["read"])
    return out, summary


def check_lines(envelope, out, summary):
    """The records of the lines, by file."""
    records = {}
    for file in summary["files"]:
        lines = read_lines(out / file["name"])
        records[file["part"]] = [json.loads(line) for line in lines]
        expect(f"{envelope} {file['name']}: lines", len(lines), file["rows"])
    # File by file: `datasets` makes one table of all files, and not every file has tools.
    for file in summary["files"]:
        part = file["part"]
        if not file["rows"]:
            continue
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset("json", data_files={part: str(out / file["name"])}, cache_dir=cache)[part]
            expect(f"{envelope} {part}: rows in datasets", loaded.num_rows, len(records[part]))
            for wanted, found in zip(records[part], loaded):
                expect(f"{envelope} {part}: a record in datasets", without_nulls(found), without_nulls(wanted))
    return records


def check_table(envelope, out, summary, records):
    """Loads the tables; gives the records as `datasets` hands them out."""
    found = {}
    paths = {file["part"]: str(out / file["name"]) for file in summary["files"] if file["rows"]}
    for file in summary["files"]:
        part = file["part"]
        table = pyarrow.parquet.read_table(out / file["name"])
        expect(f"{envelope} {file['name']}: rows", table.num_rows, file["rows"])
        expect(f"{envelope} {file['name']}: keys", table.column_names[: len(KEYS)], KEYS)
        if not file["rows"]:
            continue
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset("parquet", data_files=paths, cache_dir=cache)[part]
            rows = [{key: value for key, value in row.items() if key not in KEYS} for row in loaded]
        # A key that a record has not is null as a column, and nowhere below.
        found[part] = [{key: value for key, value in row.items() if value is not None} for row in rows]
        expect(f"{envelope} {part}: records of the table", found[part], records[part])
    return found


def check_trl(envelope, tables):
    wanted = {"trl-messages": "messages", "trl-prompt-completion": "prompt"}[envelope]
    for part, records in tables.items():
        for record in records:
            expect(f"{envelope} {part}: is_conversational", trl.data_utils.is_conversational(record), True)
            expect(f"{envelope} {part}: a null", has_null(record[wanted]), False)
            keys = set(record) - {"tools"}
            expect(f"{envelope} {part}: keys", keys, {"messages"} if wanted == "messages" else {"prompt", "completion"})
            if wanted == "prompt":
                expect(f"{envelope} {part}: last of the prompt", record["prompt"][-1]["role"] in ("user", "tool", "assistant"), True)


def calls_in_parallel(record):
    messages = record.get("messages") or record["prompt"] + record["completion"]
    return any(len(message.get("tool_calls", [])) > 1 for message in messages)


def check_templates(envelope, tables):
    """Llama refuses parallel calls by its own rule; everything else is rendered."""
    folder = Path(trl.__file__).parent / "chat_templates"
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    rendered = 0
    for name in ("qwen3", "gptoss", "llama3_2"):
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="</s>")
        tokenizer.chat_template = (folder / f"{name}.jinja").read_text()
        for records in tables.values():
            for record in records:
                if name == "llama3_2" and calls_in_parallel(record):
                    continue
                try:
                    trl.data_utils.maybe_apply_chat_template(record, tokenizer)
                    rendered += 1
                except Exception as refusal:
                    faults.append(f"{envelope}: {name} does not render a record: {refusal}")
    return rendered


def check_inspect(out, summary):
    for file in summary["files"]:
        samples = inspect_ai.dataset.json_dataset(str(out / file["name"]))
        expect(f"inspect {file['name']}: samples", len(samples), file["rows"])
        expect(f"inspect {file['name']}: ids", len({sample.id for sample in samples}), file["rows"])
        lines = [json.loads(line) for line in read_lines(out / file["name"])]
        for sample, line in zip(samples, lines):
            expect("inspect: messages", [message.role for message in sample.input], [message["role"] for message in line["input"]])
            calls = [call for message in sample.input for call in getattr(message, "tool_calls", None) or []]
            wanted = [call for message in line["input"] for call in message.get("tool_calls", [])]
            expect("inspect: calls", [(call.function, call.arguments) for call in calls], [(call["function"], call["arguments"]) for call in wanted])
            expect("inspect: a call that cannot be read", [call.parse_error for call in calls if call.parse_error], [])


def check_llama_factory(out, summary, records):
    sets = json.loads((out / "dataset_info.json").read_text())
    expect("llama-factory: sets", sorted(sets), sorted(file["part"] for file in summary["files"]))
    for file in summary["files"]:
        told = sets[file["part"]]
        tags, columns = told["tags"], told["columns"]
        expect("llama-factory: file", told["file_name"], file["name"])
        held = {key for record in records[file["part"]] for key in record}
        expect("llama-factory: columns", set(columns.values()), held)
        odd, even = (tags["user_tag"], tags["observation_tag"]), (tags["assistant_tag"], tags["function_tag"])
        for record in records[file["part"]]:
            turns = record[columns["messages"]]
            places = all(turn[tags["role_tag"]] in (odd, even)[place % 2] for place, turn in enumerate(turns))
            expect("llama-factory: a record that it drops", places and len(turns) % 2 == 0, True)


def main():
    chatmill, run, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    datasets.disable_progress_bars()
    for envelope in ENVELOPES:
        out, summary = export(chatmill, run, envelope, "jsonl", folder)
        records = check_lines(envelope, out, summary)
        table, table_summary = export(chatmill, run, envelope, "parquet", folder)
        tables = check_table(envelope, table, table_summary, records)
        if envelope.startswith("trl-"):
            check_trl(envelope, tables)
            print(f"{envelope}: {check_templates(envelope, tables)} renderings with chat templates")
        if envelope == "inspect":
            check_inspect(out, summary)
        if envelope == "llama-factory":
            check_llama_factory(out, summary, records)
        left = ", ".join(f"{left['rows']} {left['reason'].split(':')[0]}" for left in summary["left_out"])
        print(f"{envelope}: {summary['kept']} of {summary['read']} kept{'; left out ' + left if left else ''}")
    for fault in faults[:40]:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} faults")
    print("every file is loaded whole, and tables hold what the lines hold")


main()
