"""Writes real vocabularies, and what Python counts with them, for the test that counts the same.

    python vocabularies.py FOLDER

The vocabularies are in wheels of their vendors; none of them is part of this repository. For each there is a rank file or a
tokenizer file, and a file of cases: the pattern on the first line, then a text and its tokens on each line, counted by tiktoken or
by tokenizers.
"""

import base64
import importlib.util
import json
import pathlib
import random
import sys

import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAIL = r"|\s+(?!\S)|\s+"
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+" + TAIL
LLAMA3 = WORDS.replace("DIGITS", r"\p{N}{1,3}")
QWEN = WORDS.replace("DIGITS", r"\p{N}")
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s%s"
SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+" + TAIL
ENDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = CASED % ("*", "+", ENDS) + "|" + CASED % ("+", "*", ENDS) + r"|\p{N}{1,3}" + SIGNS
# No family: digits come one by one, and contractions are not known.
OWN = CASED % ("*", "+", "") + "|" + CASED % ("+", "*", "") + r"|\p{N}" + SIGNS

CHARACTERS = (
    "aeSTzé Ǆǅʰאبक中の한𝒜ﬁſK'’./-_#{}\"\\<|>=~$€😀👍🏽\u200d\u0301\u0308\ufe0f1234567½Ⅷ٣"
    " \t\n\r\u00a0\u2003\u3000\u0085\u2028"
)


def ranks_of(path):
    lines = path.read_text().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


def texts():
    """The pages of the repository in pieces, and random strings of signs that patterns distinguish."""
    found = []
    for pattern in ("*.md", "docs/**/*.md", "crates/*/src/*.rs", "data-samples/**/*.json", "data-samples/**/*.jsonl"):
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8", errors="ignore")
            found += [text[start : start + 2000] for start in range(0, min(len(text), 40_000), 2000)]
    dice = random.Random(7)
    for _ in range(30_000):
        found.append("".join(dice.choice(CHARACTERS) for _ in range(dice.randint(1, 40))))
    for sign in " \n\t1'!中é=":
        found += [sign * 5_000, sign * 5_000 + "x", "x" + sign * 5_000 + "\n"]
    return found


def write(folder, name, pattern, counted):
    with open(folder / f"{name}.cases.jsonl", "w", encoding="utf-8") as cases:
        cases.write(json.dumps({"pattern": pattern}) + "\n")
        for text, tokens in counted:
            cases.write(json.dumps({"text": text, "tokens": tokens}) + "\n")
    print(f"{name}: {len(counted)} texts, {sum(tokens for _, tokens in counted)} tokens")


def tokenizer_file(ranks, pattern):
    """A rank file as converters write it for Hugging Face: every division of a token into two tokens is a merge."""
    others = iter(range(256, 512))
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    signs = {byte: chr(byte) if byte in visible else chr(next(others)) for byte in range(256)}
    said = {token: "".join(signs[byte] for byte in token) for token in ranks}
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda pair: pair[1]):
        divisions = ((token[:middle], token[middle:]) for middle in range(1, len(token)))
        known = [(left, right) for left, right in divisions if left in ranks and right in ranks]
        known.sort(key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
        merges += [(said[left], said[right]) for left, right in known]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            ],
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": {said[token]: rank for token, rank in ranks.items()},
            "merges": merges,
        },
    }


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    wheels = {name: pathlib.Path(importlib.util.find_spec(name).origin).parent for name in ("llama_models", "dashscope")}
    llama3 = ranks_of(wheels["llama_models"] / "llama3" / "tokenizer.model")
    llama4 = ranks_of(wheels["llama_models"] / "llama4" / "tokenizer.model")
    qwen = ranks_of(wheels["dashscope"] / "resources" / "qwen.tiktoken")
    said = texts()
    for name, ranks, pattern in (
        ("llama_3", llama3, LLAMA3),
        ("llama_4", llama4, O200K),
        ("qwen", qwen, QWEN),
        ("llama_3_cut_otherwise", llama3, OWN),
    ):
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        lines = (f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())
        (folder / f"{name}.tiktoken").write_text("".join(lines))
        write(folder, name, pattern, [(text, len(encoding.encode_ordinary(text))) for text in said])
    for name, ranks, pattern in (("llama_3_merges", llama3, LLAMA3), ("qwen_merges", qwen, QWEN)):
        file = folder / f"{name}.tokenizer.json"
        file.write_text(json.dumps(tokenizer_file(ranks, pattern), ensure_ascii=False), encoding="utf-8")
        tokenizer = Tokenizer.from_file(str(file))
        counts = (len(tokenizer.encode(text, add_special_tokens=False).ids) for text in said)
        write(folder, name, pattern, list(zip(said, counts)))
    # Merges as training leaves them, one for each token, cut as GPT-2 cuts.
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained.train_from_iterator(said, trainers.BpeTrainer(vocab_size=8_000, initial_alphabet=alphabet, show_progress=False))
    trained.save(str(folder / "trained_merges.tokenizer.json"))
    write(folder, "trained_merges", "", [(text, len(trained.encode(text).ids)) for text in said])


main(pathlib.Path(sys.argv[1]))
