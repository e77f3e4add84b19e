"""Writes a tokenizer file for each family's configuration, and what Python counts with it, for the test that counts the same.

    python families.py FOLDER TEXTS [TOKENS NAME...]

Vocabularies of TOKENS tokens are trained here, on texts that are made here. TEXTS texts of all kinds are in `texts.jsonl`; of
each configuration, or of those named, there is a `tokenizer.json` or a `.model`, and a file `.counts` with the tokens of each text.
The samples of the repository (`data-samples/tokenizers`) are 60 texts and 450 tokens.
"""

import json
import pathlib
import random
import sys

import sentencepiece
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAIL = r"|\s+(?!\S)|\s+"
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+" + TAIL
LLAMA3 = WORDS.replace("DIGITS", r"\p{N}{1,3}")
QWEN = WORDS.replace("DIGITS", r"\p{N}")
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s%s"
SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+" + TAIL
ENDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = CASED % ("*", "+", ENDS) + "|" + CASED % ("+", "*", ENDS) + r"|\p{N}{1,3}" + SIGNS
TEKKEN = CASED % ("*", "+", "") + "|" + CASED % ("+", "*", "") + r"|\p{N}" + SIGNS
DEEPSEEK = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+""" + r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+" + TAIL
)
SIGN = "\u2581"

PROSE = (
    "The ferry leaves at nine and we are late again Please write to the office that three of the crates came in "
    "broken Nobody answered the phone but the letters were sent on Monday Don't worry it's only 12345 kilometres "
    "and the price is 3.50 each I'll call you when they've unpacked everything naïve café résumé"
).split()
CYRILLIC = "Привіт як справи сьогодні зустріч о пятнадцятій не спізнюйся вийди на пошту і забери лист її ґанок Ёлка".split()
CHINESE = "会议推迟到下周三请大家更新日程谢谢我们明天去海边你好世界中文字资料库東京日本語ありがとうカタカナ한국어안녕하세요"
CODE = "fn let x = () ; { } // /* */ => -> :: &mut [0] \"s\" 'a' 0x1f 3.14 return if else for in def self. import <div> </p> \\n".split()
EMOJI = ["😀", "👍🏽", "👩\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈", "1️⃣", "❤️"]
MARKS = ["e\u0301", "a\u0300\u0301", "n\u0303", "\u0308", "q\u0307\u0323", "\u1112\u1161\u11ab", "\uac00\u11a8", "\u0958", "\u2126", "\ufb01", "\u212b", "ｶﾞ", "①", "Å", "½", "ﷺ"]
CONTROLS = ["\x00", "\x01", "\x07", "\x1b[0m", "\x7f", "\u0085", "\u200b", "\ufeff", "\u202e", "\ufffd", "\ue000", "\u2028", "\U0001f9ff"]
LOOKS = ["<0xE4>", "<s>", "</s>", "<unk>", "[INST]", "<|im_end|>", "<start_of_turn>", SIGN, SIGN * 2, "Ġ", "Ċ", "Ã©", "â€™"]
RUNS = [" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", " \n ", "        ", "\n\n\n\n"]
DIGITS = ["0", "1", "12", "123", "2024", "1234567", "٣", "²", "Ⅷ", "3.14", "१२३"]
KINDS = [PROSE, CYRILLIC, list(CHINESE), CODE, EMOJI, MARKS, CONTROLS, LOOKS, RUNS, DIGITS]


def texts(count, seed):
    dice = random.Random(seed)
    blocks = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x391, 0x3C9), (0x400, 0x45F), (0x5D0, 0x5EA), (0x904, 0x939)]
    blocks += [(0xE01, 0xE3A), (0x3041, 0x3096), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x1100, 0x1112), (0x1F300, 0x1F5FF)]
    found = []
    for number in range(count):
        kind = dice.choice(KINDS)
        parts = []
        for _ in range(dice.choice((1, 2, 3, 5, 8, 13, 30))):
            of = dice.choice(KINDS) if number % 2 else kind
            word = dice.choice(of)
            if dice.random() < 0.1:
                first, last = dice.choice(blocks)
                word = "".join(chr(dice.randint(first, last)) for _ in range(dice.randint(1, 6)))
            parts.append(word * (dice.randint(2, 9) if dice.random() < 0.03 else 1))
        found.append(dice.choice(("", " ", " ", "  ", "\n", ", ")).join(parts))
    times = min(999, count)
    for run in (" ", "\n", "a", "1", "!", "中", "é", SIGN, "e\u0301", " a"):
        found += [run * times, run * (times + 1) + "x"]
    return found


def corpus():
    """The training texts of vocabularies: drawn ones, and the pages of the repository."""
    # No vocabulary merges the tokens of bytes and of unknown characters.
    found = [text.replace("\x00", "") for text in texts(6_000, 3) if "<0x" not in text and "<unk>" not in text]
    for path in sorted(ROOT.glob("docs/*.md")):
        found += path.read_text(encoding="utf-8").splitlines()
    dice = random.Random(5)
    found += [" ".join(dice.choice(PROSE) for _ in range(40)) for _ in range(400)]
    found += [" ".join(dice.choice(CYRILLIC) for _ in range(40)) for _ in range(200)]
    return found


def bytes_of_byte_level():
    return pre_tokenizers.ByteLevel.alphabet()


def trained(said, tokens, normalizer, cutter, special=(), alphabet=(), limit=None):
    """The model of a vocabulary that is trained with these steps, as JSON."""
    tokenizer = Tokenizer(models.BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = cutter
    more = {"limit_alphabet": limit} if limit else {}
    trainer = trainers.BpeTrainer(
        vocab_size=tokens, special_tokens=list(special), initial_alphabet=list(alphabet), show_progress=False, **more
    )
    tokenizer.train_from_iterator(said, trainer)
    return json.loads(tokenizer.to_str())["model"]


def with_runs(model):
    """Tokens for runs of spaces and line breaks, as vocabularies without a pre-tokenizer have them."""
    for sign in (SIGN, "\n"):
        for half in (1, 2, 4):
            whole = sign * 2 * half
            if sign * half in model["vocab"] and whole not in model["vocab"]:
                model["vocab"][whole] = max(model["vocab"].values()) + 1
                model["merges"].append([sign * half, sign * half])
    return model


def every_division(model):
    """As converters of SentencePiece write merges: every division of a token into two tokens, in the order of tokens."""
    order = {}
    for rank, (left, right) in enumerate(model["merges"]):
        order.setdefault(left + right, rank)
    merges = []
    for token in sorted(order, key=order.get):
        halves = ((token[:middle], token[middle:]) for middle in range(1, len(token)))
        known = [(left, right) for left, right in halves if left in model["vocab"] and right in model["vocab"]]
        merges += sorted(known, key=lambda pair: (model["vocab"][pair[0]], model["vocab"][pair[1]]))
    return {**model, "merges": [list(pair) for pair in merges]}


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def byte_level(prefix=False, regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def metaspace(scheme, cuts):
    return {"type": "Metaspace", "replacement": SIGN, "prepend_scheme": scheme, "split": cuts}


def steps(*several):
    return {"type": "Sequence", "pretokenizers": list(several)}


def configurations(said, tokens):
    """Name, model, normalizer and pre-tokenizer of each."""
    gpt2 = trained(said, tokens, None, pre_tokenizers.ByteLevel(add_prefix_space=False), alphabet=bytes_of_byte_level())
    digits = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    singles = trained(said, tokens, normalizers.NFC(), digits, alphabet=bytes_of_byte_level())
    fallback = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    cutter = pre_tokenizers.Metaspace(replacement=SIGN, prepend_scheme="always", split=True)
    letters = min(300, tokens // 6)
    blank = with_runs(trained(said, tokens, None, cutter, special=fallback, limit=letters))
    blank |= {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    divided = every_division(blank)
    spaced = {**divided, "merges": [" ".join(pair) for pair in divided["merges"]]}
    unknown = {**blank, "byte_fallback": False}
    whole = {"ignore_merges": True}
    nfc, nfkc = {"type": "NFC"}, {"type": "NFKC"}
    blanks = {"type": "Replace", "pattern": {"String": " "}, "content": SIGN}
    prepend = {"type": "Prepend", "prepend": SIGN}
    llama2 = {"type": "Sequence", "normalizers": [prepend, blanks]}
    empty = {"type": "Sequence", "normalizers": []}
    collapse = {"type": "Replace", "pattern": {"Regex": r" {2,}"}, "content": " "}
    return [
        ("qwen", gpt2, nfc, steps(split(QWEN), byte_level())),
        ("qwen_whole", gpt2 | whole, nfc, steps(split(QWEN), byte_level())),
        ("llama_3", gpt2 | whole, None, steps(split(LLAMA3), byte_level())),
        ("llama_4", every_division(gpt2) | whole, None, steps(split(O200K), byte_level())),
        ("gpt_2", gpt2, None, byte_level(regex=True)),
        ("olmo", gpt2, nfc, byte_level(regex=True)),
        ("command_r", singles, nfc, steps({"type": "Digits", "individual_digits": True}, byte_level(regex=True))),
        ("smollm", singles, None, steps({"type": "Digits", "individual_digits": True}, byte_level(regex=True))),
        ("starcoder", singles, None, steps({"type": "Digits", "individual_digits": True}, byte_level(True, True))),
        (
            "falcon",
            gpt2,
            None,
            steps(
                {"type": "Punctuation", "behavior": "Contiguous"},
                byte_level(regex=True),
                {"type": "Digits", "individual_digits": False},
                split("[0-9][0-9][0-9]"),
            ),
        ),
        (
            "deepseek",
            gpt2,
            empty,
            steps(split(r"\p{N}{1,3}"), split("[一-龥\u3040-ゟ゠-ヿ]+"), split(DEEPSEEK), byte_level()),
        ),
        ("glm_4", gpt2, None, steps(split(LLAMA3, "Removed", True), byte_level())),
        ("tekken", gpt2 | whole, None, steps(split(TEKKEN), byte_level())),
        ("prefixed", gpt2, None, byte_level(True, True)),
        ("nfkc_bytes", gpt2, nfkc, steps(split(LLAMA3), byte_level())),
        ("llama_2", divided, llama2, None),
        ("llama_2_spaced", spaced, llama2, None),
        ("llama_2_trained", blank, llama2, None),
        ("mistral", divided, None, metaspace("first", False)),
        ("metaspace_always", blank, None, metaspace("always", False)),
        ("metaspace_cut", blank, None, metaspace("always", True)),
        ("metaspace_first_cut", blank, None, metaspace("first", True)),
        ("metaspace_never", blank, None, metaspace("never", False)),
        ("gemma", divided, blanks, split(" ", "MergedWithPrevious", kind="String")),
        ("yi", blank, {"type": "Sequence", "normalizers": [blanks]}, None),
        ("internlm", unknown | {"fuse_unk": False}, llama2, None),
        ("unknown_fused", unknown, llama2, None),
        ("nfkc_blanks", blank, nfkc, metaspace("always", False)),
        ("collapsed", blank, {"type": "Sequence", "normalizers": [collapse, blanks]}, None),
        ("lowercase", unknown, {"type": "Lowercase"}, {"type": "Whitespace"}),
        ("contiguous", unknown, None, split(r"\p{N}", "Contiguous")),
        ("with_next", blank, None, split(r"[\p{Lu}\n]", "MergedWithNext")),
        ("with_previous", blank, None, split(r"[.,!\n]", "MergedWithPrevious")),
        ("inverted", blank, None, split("e", "Isolated", True, "String")),
        ("whole_blanks", blank | whole, None, metaspace("always", True)),
    ]


def tokenizer_file(model, normalizer, cutter):
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": cutter,
        "post_processor": None,
        "decoder": None,
        "model": {"dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False, **model},
    }


def pieces(folder, said, tokens, names):
    """Models of SentencePiece, trained in several ways."""
    clean = [line.replace("\r", " ") for text in said for line in text.split("\n") if line.strip()]
    (folder / "said.txt").write_text("\n".join(clean), encoding="utf-8")
    for name, options in (
        ("pieces", {}),
        ("pieces_without_prefix", {"add_dummy_prefix": False}),
        ("pieces_digits", {"split_digits": True}),
        ("pieces_unknown", {"byte_fallback": False}),
        ("pieces_across", {"split_by_whitespace": False, "max_sentencepiece_length": 24}),
    ):
        if names and name not in names:
            continue
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "said.txt"),
            model_prefix=str(folder / name),
            model_type="bpe",
            vocab_size=tokens * 3 // 4 + 260,
            minloglevel=2,
            **{
                "character_coverage": 0.98,
                "byte_fallback": True,
                "normalization_rule_name": "identity",
                "remove_extra_whitespaces": False,
                **options,
            },
        )
        (folder / f"{name}.vocab").unlink()
        yield name, sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
    (folder / "said.txt").unlink()


def main(folder, count, tokens=4_000, *names):
    folder.mkdir(parents=True, exist_ok=True)
    said, counted = corpus(), texts(count, 11)
    with open(folder / "texts.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in counted)

    def write(name, found):
        (folder / f"{name}.counts").write_text("".join(f"{number}\n" for number in found))
        print(f"{name}: {len(found)} texts, {sum(found)} tokens", flush=True)

    for name, model, normalizer, cutter in configurations(said, tokens):
        if names and name not in names:
            continue
        path = folder / f"{name}.tokenizer.json"
        path.write_text(json.dumps(tokenizer_file(model, normalizer, cutter), ensure_ascii=False), encoding="utf-8")
        tokenizer = Tokenizer.from_file(str(path))
        write(name, [len(found) for found in tokenizer.encode_batch(counted, add_special_tokens=False)])
    for name, processor in pieces(folder, said, tokens, names):
        write(name, [len(processor.encode(text)) for text in counted])


main(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:4]), *sys.argv[4:])
