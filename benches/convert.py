"""Compares `chatmill convert` with what trainers do with the same file themselves. Prints seconds, peaks of memory and ratios.

    python benches/convert.py CHATMILL WORK [--megabytes N] [--rounds N]

CHATMILL is a release binary, WORK a folder that may be emptied; the Python that runs this has the packages of `.ci/trainers`. The file is
a ShareGPT set (`from` and `value`), always the same for the same size. TRL renames its turns with `maybe_convert_to_chatml`,
LLaMA-Factory aligns them with `align_dataset`, both with two processes of `datasets` and into a Parquet file; chatmill makes
`trl-messages` of it, validated and with its accounts. Every round runs each once, in turn; the median counts.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

WORDS = (
    "the a river house water light when nobody asked for it again because every morning she went to see whether "
    "boats had come back from where they were sent and what they carried home in boxes of wood with a lid"
).split()


def text(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def write(path, megabytes):
    rng, written, number = random.Random(1), 0, 0
    with path.open("w", encoding="utf-8") as out:
        while written < megabytes * 1_000_000:
            turns = []
            for _ in range(rng.randint(1, 8)):
                turns.append({"from": "human", "value": text(rng, rng.randint(4, 60))})
                turns.append({"from": "gpt", "value": text(rng, rng.randint(10, 200))})
            line = json.dumps({"id": f"c{number}", "conversations": turns}) + "\n"
            written += out.write(line)
            number += 1
    return number


def trl(path, out):
    import datasets
    from trl.data_utils import maybe_convert_to_chatml

    loaded = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(out / "cache"))
    loaded.map(maybe_convert_to_chatml, num_proc=2).to_parquet(str(out / "train.parquet"))


def llama_factory(path, out):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / ".ci" / "trainers"))
    from types import SimpleNamespace

    import datasets

    import by_llama_factory as factory

    loaded = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(out / "cache"))
    (out / "dataset_info.json").write_text(
        json.dumps({"set": {"file_name": path.name, "formatting": "sharegpt", "columns": {"messages": "conversations"}}})
    )
    (attributes,) = factory.parser.get_dataset_list(["set"], str(out))
    settings = SimpleNamespace(**vars(factory.DATA) | {"preprocessing_num_workers": 2})
    aligned = factory.converter.align_dataset(loaded, attributes, settings, factory.TRAINING)
    aligned.to_parquet(str(out / "train.parquet"))


def peak(process):
    """Resident memory of a process and its children together, in bytes; summed, for `datasets` divides its work among processes."""
    total, todo = 0, [process.pid]
    while todo:
        pid = todo.pop()
        try:
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                todo += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return total


def run(name, command, out):
    shutil.rmtree(out, ignore_errors=True)
    if name != "chatmill":
        out.mkdir(parents=True)
    begun, most = time.monotonic(), 0
    with open(out.parent / f"{name}.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        while process.poll() is None:
            most = max(most, peak(process))
            time.sleep(0.05)
    if process.returncode:
        sys.exit(f"{name} failed: see {out.parent / name}.log")
    return time.monotonic() - begun, most


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("chatmill", type=pathlib.Path)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("--megabytes", type=int, default=100)
    arguments.add_argument("--rounds", type=int, default=3)
    asked = arguments.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    path = asked.work / "set.jsonl"
    conversations = write(path, asked.megabytes)
    print(f"{conversations} conversations, {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores")
    out = asked.work / "out"
    out.mkdir(exist_ok=True)
    itself = [sys.executable, "-B", __file__]
    contestants = {
        "chatmill": [asked.chatmill, "convert", path, "--to", "trl-messages", "--format", "parquet", "--out", out / "chatmill", "-q"],
        "trl": [*itself, "trl", path, out / "trl"],
        "llama-factory": [*itself, "llama-factory", path, out / "llama-factory"],
    }
    rounds = {name: [] for name in contestants}
    for _ in range(asked.rounds):
        for name, command in contestants.items():
            rounds[name].append(run(name, [str(word) for word in command], out / name))
    first = statistics.median(seconds for seconds, _ in rounds["chatmill"])
    for name, figures in rounds.items():
        seconds = statistics.median(seconds for seconds, _ in figures)
        most = max(most for _, most in figures)
        print(f"{name:>14} {seconds:7.2f} s  {most / 1e6:7.0f} MB  {seconds / first:5.1f} times chatmill's time")


if __name__ == "__main__":
    if sys.argv[1] in ("trl", "llama-factory"):
        {"trl": trl, "llama-factory": llama_factory}[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        main()
