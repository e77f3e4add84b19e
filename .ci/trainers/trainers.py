"""Exports a dataset in every envelope, and loads the files with the readers that trainers and evaluators use.

    python trainers.py CHATMILL FOLDER --run RUN
    python trainers.py CHATMILL FOLDER --input ARCHIVE ... [--pipeline pipelines/training.toml]

With archives the dataset is made first. Every envelope is written as JSON lines and as Parquet, and each file is read by
`datasets`; then the envelope's own reader checks them. Before that, the readers are shown broken records. The tables that are printed at the end show rows, times and memory.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import datasets

import by_axolotl
import by_datasets
import by_inspect
import by_llama_factory
import by_rules
import by_spans
import by_trl
import broken
from exports import export, mill
from ledger import Ledger

# The dialect of each envelope, and who judges the export. An export without an envelope is called by its dialect.
ENVELOPES = {
    "openai-sft": ("openai-chat", by_rules),
    "openai-rft": ("openai-chat", by_rules),
    "openai-evals": ("openai-chat", by_rules),
    "inspect": ("hf-messages", by_inspect),
    "vertex-tuning": ("gemini-contents", by_rules),
    "bedrock-conversation-2024": ("bedrock-converse", by_rules),
    "bedrock-conversation-2024@tools": ("bedrock-converse", by_rules),
    "trl-messages": ("hf-messages", by_trl),
    "trl-prompt-completion": ("hf-messages", by_trl),
    "trl-prompts": ("hf-messages", by_trl),
    "llama-factory": ("sharegpt", by_llama_factory),
    "axolotl": ("hf-messages", by_axolotl),
    "trl-dpo": ("hf-messages", by_trl),
    "trl-kto": ("hf-messages", by_trl),
    "openai-dpo": ("openai-chat", by_rules),
    "llama-factory-ranking": ("sharegpt", by_llama_factory),
    "chatml": ("chatml", by_spans),
}
# Dialects with texts that are never lists of parts, so that tables of structures hold them all.
OF_STRUCTURES = ("hf-messages", "sharegpt")
# Envelopes that take columns and several files for each part.
OF_LIBRARIES = ("trl-", "axolotl", "llama-factory")
COLUMNS = ("source", "title")
# Readers of lines; the others read either form.
OF_LINES = (by_inspect,)
PIPELINE = Path(__file__).resolve().parents[2] / "pipelines" / "training.toml"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("chatmill", type=Path)
    parser.add_argument("folder", type=Path, help="where exports go; it must not exist")
    parser.add_argument("--run", type=Path, help="a dataset")
    parser.add_argument("--input", nargs="+", help="archives to make a dataset of")
    parser.add_argument("--pipeline", type=Path, default=PIPELINE)
    parser.add_argument("--only", nargs="+", choices=ENVELOPES, default=list(ENVELOPES))
    parser.add_argument("--most", type=int, default=1000, help="records of a file that slow readers see")
    given = parser.parse_args()
    if bool(given.run) == bool(given.input):
        parser.error("give --run or --input")
    chatmill, folder = given.chatmill.resolve(), given.folder.resolve()
    folder.mkdir(parents=True)
    datasets.disable_progress_bars()
    run = given.run
    if given.input:
        run = folder / "dataset"
        measure = mill(chatmill, given.pipeline, given.input, run)
        print(f"dataset: {measure.seconds:.1f} s, {measure.peak_mib:.0f} MiB at most", flush=True)
    ledger, rows, reasons = Ledger(given.most), [], []
    ledger.faults += broken.faults()
    for envelope in given.only:
        row, left = prove(chatmill, run.resolve(), envelope, folder, ledger)
        rows.append(row)
        reasons += left
        print(f"{envelope}: looked at", flush=True)
    print_table(["export", "read", "kept", "left out", "objections", "lines", "Parquet", "peak", "judged"], rows)
    print_table(["export", "rows", "left out because"], reasons)
    for fault in ledger.faults[:40]:
        print(fault)
    if ledger.faults:
        sys.exit(f"{len(ledger.faults)} faults")
    print(f"the readers refuse all of {len(broken.BROKEN)} broken records")
    print("every file is loaded whole, tables hold what the lines hold, and no reader refuses or drops a record")


def prove(chatmill, run, envelope, folder, ledger):
    """Writes an envelope in both forms and lets its readers look; gives its row of the table and what was left out."""
    dialect, judge = ENVELOPES[envelope]
    before = ledger.seen.copy()
    lines = export(chatmill, run, envelope, dialect, "jsonl", folder)
    by_datasets.check_balance(lines, ledger)
    by_datasets.check_lines(lines, ledger)
    table = export(chatmill, run, envelope, dialect, "parquet", folder)
    by_datasets.check_balance(table, ledger)
    by_datasets.check_table(table, lines, ledger)
    if dialect in OF_STRUCTURES:
        structures = export(chatmill, run, envelope, dialect, "parquet", folder, "struct")
        by_datasets.check_structures(structures, lines, ledger)
    for form in (lines, table):
        by_datasets.check_folder(form, ledger)
    if envelope.startswith(OF_LIBRARIES):
        more = ("--shard-size", "100kB", "--columns", ",".join(COLUMNS))
        for form in ("jsonl", "parquet"):
            several = export(chatmill, run, envelope, dialect, form, folder, more=more)
            by_datasets.check_folder(several, ledger, COLUMNS)
    for form in (lines,) if judge in OF_LINES else (lines, table):
        judge.check(form, ledger)
    summary = lines.summary
    left = sum(left["rows"] for left in summary["left_out"])
    seconds = [f"{form.measure.seconds:.2f} s" for form in (lines, table)]
    peak = f"{max(form.measure.peak_mib for form in (lines, table)):.0f} MiB"
    judged = ", ".join(f"{number} {reader}" for reader, number in (ledger.seen - before).items())
    row = [envelope, summary["read"], summary["kept"], left, len(summary["objections"]), *seconds, peak, judged]
    reasons = [[envelope, left["rows"], left["reason"]] for left in summary["left_out"]]
    return row, reasons + [[envelope, "", f"objection: {words}"] for words in summary["objections"]]


def print_table(head, rows):
    cells = [head, *[[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print()


main()
