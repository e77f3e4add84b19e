"""Plain text counted by chatmill and by its peers for Python: processor seconds, cold, one thread, one encoding.

    python3 benches/plain.py RANKS CORPORA [--families FOLDER] [--rounds N] [--megabytes MB]

RANKS is tiktoken's `o200k_base.tiktoken` (`cargo xtask ranks FOLDER`), CORPORA a folder with the files of `benches/chats.py`: rooms.jsonl,
agents.jsonl and scripts.jsonl. FOLDER holds files of model families (`*.tokenizer.json`, of `just vocabularies`), which chatmill and
the `tokenizers` package count alone. Each contestant counts in a separate process, in turn; loading is not measured. A contestant
that gives other numbers than tiktoken (for families: than `tokenizers`) is named as inexact.
"""

import argparse
import importlib
import importlib.metadata
import json
import pathlib
import statistics
import subprocess
import sys
import time

from peer.o200k import PATTERN, ranks


def texts(corpus, most):
    """The words of the chats of a corpus, up to so many bytes."""
    found, size = [], 0
    with corpus.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            for message in record.get("messages") or record["conversation_list"]:
                text = message["content"] or ""
                found.append(text)
                size += len(text.encode())
            if size >= most:
                break
    return found, size


def byte_level(path):
    """The same vocabulary as a `tokenizer.json`: a token's merge joins the two that it is made of when merging stops one step before."""
    known = ranks(path)
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    sign = {byte: chr(byte) for byte in visible} | {byte: chr(256 + number) for number, byte in enumerate(hidden)}

    def spelled(token):
        return "".join(sign[byte] for byte in token)

    def halves(token):
        parts = [token[place : place + 1] for place in range(len(token))]
        while len(parts) > 2:
            joined = [(known.get(left + right, sys.maxsize), place) for place, (left, right) in enumerate(zip(parts, parts[1:]))]
            place = min(joined)[1]
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return parts

    merges = [[*map(spelled, halves(token))] for token, _ in sorted(known.items(), key=lambda item: item[1]) if len(token) > 1]
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"type": "BPE", "vocab": {spelled(token): rank for token, rank in known.items()}, "merges": merges, "ignore_merges": True}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_]},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": model,
    }


def counter(name, vocabulary):
    """A function from texts to their numbers of tokens; `vocabulary` is a file of ranks or a `tokenizer.json`."""
    package = importlib.import_module(name)
    if name == "chatmill":
        known = {"name": "mine", "tokenizer": vocabulary} if vocabulary.endswith(".json") else "o200k_base"
        return package.Counter(known, threads=1).count
    if name in ("tiktoken", "riptoken"):
        core = (
            package.Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=ranks(vocabulary), special_tokens={})
            if name == "tiktoken"
            else package.CoreBPE(ranks(vocabulary), {}, PATTERN)
        )
        return lambda texts: [len(core.encode_ordinary(text)) for text in texts]
    if name == "tokie":
        tokenizer = package.Tokenizer.from_json(vocabulary)
        return lambda texts: [tokenizer.count_tokens(text) for text in texts]
    tokenizer = package.Tokenizer.from_file(vocabulary)
    if name == "fastokens":
        return lambda texts: [len(tokenizer.encode(text, add_special_tokens=False)) for text in texts]
    return lambda texts: [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]


def contest(name, vocabulary, corpus, megabytes):
    """What one contestant prints: processor seconds and tokens of all texts."""
    found, _ = texts(pathlib.Path(corpus), float(megabytes) * 1e6)
    count = counter(name, vocabulary)
    begun = time.process_time()
    counts = count(found)
    print(json.dumps([time.process_time() - begun, counts]))


def run(name, vocabulary, corpus, megabytes):
    words = [sys.executable, "-B", __file__, "contest", name, str(vocabulary), str(corpus), str(megabytes)]
    ended = subprocess.run(words, capture_output=True, text=True, env={"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"})
    if ended.returncode != 0:
        return None, ended.stderr.strip().splitlines()[-1:]
    return json.loads(ended.stdout)


def compare(title, names, vocabulary, corpus, arguments):
    """Prints a line for each contestant; the last name is the judge of exactness."""
    _, size = texts(corpus, arguments.megabytes * 1e6)
    rounds = {name: [run(name, vocabulary(name), corpus, arguments.megabytes) for _ in range(arguments.rounds)] for name in names}
    right = rounds[names[-1]][0][1]
    ours = statistics.median(seconds for seconds, _ in rounds["chatmill"])
    for name in names:
        seconds, counts = rounds[name][0]
        if seconds is None:
            print(f"{title:24} {name:12} not run: {counts}")
            continue
        seconds = statistics.median(seconds for seconds, _ in rounds[name])
        exact = "" if counts == right else "  inexact"
        print(f"{title:24} {name:12} {size / 1e6 / seconds:8.1f} MB/s {seconds / ours:8.2f}{exact}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=pathlib.Path)
    parser.add_argument("corpora", type=pathlib.Path)
    parser.add_argument("--families", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=5.0)
    arguments = parser.parse_args()
    names = ["chatmill", "tokie", "fastokens", "riptoken", "tokenizers", "tiktoken"]
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in names))
    file = arguments.corpora / "o200k_base.tokenizer.json"
    file.write_text(json.dumps(byte_level(arguments.ranks)), encoding="utf-8")
    from_ranks = ("chatmill", "riptoken", "tiktoken")
    for corpus in ("rooms", "agents", "scripts"):
        path = arguments.corpora / f"{corpus}.jsonl"
        compare(corpus, names, lambda name: arguments.ranks if name in from_ranks else file, path, arguments)
    for family in sorted(arguments.families.glob("*.tokenizer.json")) if arguments.families else []:
        path = arguments.corpora / "rooms.jsonl"
        compare(family.name.split(".")[0], ["chatmill", "tokenizers"], lambda _: family, path, arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["contest"]:
        contest(*sys.argv[2:])
    else:
        main()
