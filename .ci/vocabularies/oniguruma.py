"""Writes what Oniguruma, in Python's tokenizers, makes of patterns: the sample that ours are held against.

    python oniguruma.py FOLDER [DRAWN SEED]

`texts.jsonl` has the texts, and `patterns.jsonl` on each line a pattern and, for each text, the bytes of its pieces; no pieces where
Python refuses the pattern. `sets.tsv` has sets of characters, each with its size and a hash of its characters. The sample of the
repository (`data-samples/oniguruma`) has the patterns below and 200 that are drawn; with DRAWN and SEED, others are drawn.
"""

import json
import pathlib
import random
import sys

from tokenizers import Regex, normalizers, pre_tokenizers

TAIL = r"|\s+(?!\S)|\s+"
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s%s"
SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+" + TAIL
ENDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+" + TAIL
PUBLISHED = [
    CASED % ("*", "+", ENDS) + "|" + CASED % ("+", "*", ENDS) + r"|\p{N}{1,3}" + SIGNS,
    CASED % ("*", "+", "") + "|" + CASED % ("+", "*", "") + r"|\p{N}" + SIGNS,
    WORDS.replace("DIGITS", r"\p{N}{1,3}"),
    WORDS.replace("DIGITS", r"\p{N}"),
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]" + TAIL,
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+" + TAIL,
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+" + TAIL,
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+" + TAIL,
    " ?[^(\\s|[.,!?…。，、।۔،])]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"\w+| ?[^\w\s]+" + TAIL,
    r"[[:alpha:]]+|[[:digit:]]{1,3}| ?[^\s[:alpha:][:digit:]]+" + TAIL,
    r"[[:punct:]]| ?[^\s[:punct:]]+" + TAIL,
]
SETS = r"""
\d \D \s \S \w \W \h \H . [\d] [\D] [\s] [\S] [\w] [\W] [^\w] [^\W] [\h] [\H] [^\w\s] \p{L} \P{L} [\p{L}] [^\p{L}] [^\s\p{L}\p{N}]
[[:alnum:]] [[:alpha:]] [[:ascii:]] [[:blank:]] [[:cntrl:]] [[:digit:]] [[:graph:]] [[:lower:]] [[:print:]] [[:punct:]] [[:space:]]
[[:upper:]] [[:word:]] [[:xdigit:]] [[:^alnum:]] [[:^graph:]] [[:^print:]] [[:^punct:]] [[:^space:]] [[:^word:]] [^[:alpha:]]
[^[:^alpha:]] [a[^b]] [^a[^b]] [[^a]b] [^[a]b] [^[^a]] [a-z&&[^aeiou]] [^a-z&&[^aeiou]] [\w&&[^\d]] [a&&] [&&a] [a-c&&&b] [a-b-c] [-a]
[a-] []a] [^]a] [[]a] [^(\s|[.,!?…。，、।۔،])] [\x00-\x7f] [\x{4e00}-\x{9fff}] [\u4e00-\u9fff] [!~~a] [~] [\~\-\&] [a\]b] \. \- \_ \< \é
\p{Lu} \p{Ll} \p{Lt} \p{Lm} \p{Lo} \p{M} \p{Mn} \p{Mc} \p{Me} \p{N} \p{Nd} \p{Nl} \p{No} \p{P} \p{Pc} \p{Pd} \p{Ps} \p{Pe} \p{Pi} \p{Pf}
\p{Po} \p{S} \p{Sm} \p{Sc} \p{Sk} \p{So} \p{Z} \p{Zs} \p{Cc} \p{Cf} \p{Cn} \p{Co} \p{Any} \p{Assigned} \p{ASCII} \p{Alphabetic} \p{Alpha}
\p{Lower} \p{Upper} \p{Uppercase} \p{Space} \p{White_Space} \p{Punct} \p{Digit} \p{Cntrl} \p{XDigit} \p{Uppercase-Letter} \p{letter}
\p{Han} \p{Hiragana} \p{Katakana} \p{Hangul} \p{Latin} \p{Cyrillic} \p{Greek} \p{Arabic} \p{Hebrew} \p{Thai} \p{Devanagari} \p{Emoji}
\p{Extended_Pictographic} \p{ID_Start} \p{Common} \p{Inherited} (?i:a) (?i:k) (?i:s) (?i:[a-z]) (?i:[^a-z]) (?i:[a-z&&[^s]]) (?i:\d) (?i:\s)
(?i:\w) (?i:[\w]) (?i:\p{Lu}) (?i:[\p{Lu}]) (?i:\P{Lu}) (?i:[\S]) (?i:\S) (?i:[[:upper:]]) (?i:é) (?i:[é]) (?i:’) (?m:.) (?-m:.) (?i-m:a) (?m)a
""".split()
OTHERS = r"""
\w+ \W+ \h+ \H+ [[:alpha:]]+ [[:word:]]+ (?m:.+) .+ (?m-i:a.) (?i:\p{Lu}+) (?i:ss) (?i:st) (?i:fi) (?i:ff) (?i:fl) (?i:ß) (?i:[ß]) (?i:s(?:s)) (?i:ss?)
(?i:s[s]) (?i:s|s) (?i)a|B a(?i)b|C (?:(?i)a|b) (?i:'s|'t|’s) [!~~a]+ [a--c]+ [--a]+ [\w--\d]+ [a-z&&[^aeiou]]+ x{2}? x{2}+ x{2,3}+ x{2,3}? x{,2}y x{2,}
x{2}?y x{3,2}y (?:xy){2}?y (?:xy){2}+ x{2}x{2}? x{2}{2} x++ x*+y x?+x (?>xy|x)y \bx x\b \Bx ^x x$ \Ax x\z x\Z \Gx \Kx \R \X \y \N \O \e \a \cA \C-a \M-a \101 \07
(x)\1 \k<n> \g<1> (?<n>x) (?P<n>x) (?'n'x) (?#c)x (?~x) (?~|x|y) (?(x)x|y) (?{x}) (*FAIL) (?C)x (?I:x) (?L)x (?W:\w) (?D:\d) (?S:\s) (?P:\w) (?y{g}:x)
(?s:.) (?u:\w) (?U:x+) (?x:x) (?xm: x) (?=x)x x(?!y) (?<=x)y (?<!x)y \pL \PL \p{^L}+ \P{^L}+ \p{gc=Lu} \p{Is_L} \p{isL} \p{Word}+ \p{Alnum}+ \p{Graph}+ \p{Print} \p{Blank}
\p{InGreek} \p{Cs} \p{Nope} \x41 \x4 \x4z \xe9 \xc3\xa9 \x{e9} \x{} \x{110000} \x{d800} \u00e9 \u00e \u{e9} \o{101} [\b] [\R] [\xe9] [[:foo:]] [[:alpha]] [[:alpha:]-z]
[\d-a] [a-\d] [a-[b]] [!-&&b] [+--/] [a-b-c-d] [] [^] [z-a] x{ x{b} { } ] x** x+* (?:x??)*y (?:x|y?)*z (?:x*)*y (?:x+)?y (?:x+?)?y (?:x?)+?y (?:x*?){2}y () (|x)y x||y (?:) (?i:\x73s) \'s \"x
""".split() + ["a b", "(?x: a b )", r"\ x", "\\", "(", ")", "[", "x\ny", "\\\n"]

ALPHABET = "aAbBxXyYszSfiKk ssßſẞﬁﬀﬆÇçéİiıǅǆ  \t\n\r\u0085\u00a0\u2028'’-—.,!?~&^_[](){}1239²³¹¼½¾٣१Ⅷ\u200c\u200d\u0301中あ한אبहिकी👩😀€+<\x01\u0378\u20ac𐐀𐐨"
TEXTS = [
    "",
    "straße STRASSE ss ſs ﬆ st ﬁ fi ff ﬀ fl",
    "½ cup, 2½ cups, 5 m², ¼ ³ ¹",
    "👩\u200d👩\u200d👧 and 👩\u200d💻",
    "Über Straße café 한국어 日本語",
    "“quoted” — dash… ¿qué?",
    "١٢٣ हिन्दी Ⅷ 1234567",
    "it's IT'S it’s we'LL they'Re",
    "a\nb\n\nc \r\n d\u0085e\u2028f  \n",
    "xxxxxyx xy xxyy xyxyxy xxxxxxxz",
    "a-b--c !~~a &&& [x] {y} x{b} ^z$ \\ '\"<>",
    "K k K ſ İ i ı I ǅ ǆ Ǆ",
]


def drawn_texts(dice):
    return ["".join(dice.choice(ALPHABET) for _ in range(dice.randint(1, 24))) for _ in range(18)]


def drawn_pattern(dice, depth=0):
    """A pattern of what people write, with the constructs in which the two syntaxes differ."""

    def item():
        return dice.choice(["a", "x", "s", "k", "é", "ß", "½", "1", "a-z", "A-K", "à-ÿ", r"\d", r"\w", r"\W", r"\s", r"\S", r"\D", r"\h", r"\p{L}", r"\P{Lu}", "[:alpha:]", "[:^punct:]", r"\n", "-", "&", "~", "^", "'", r"\-", r"\]"])

    def brackets(level=0):
        inside = "".join(item() for _ in range(dice.randint(1, 4)))
        if level < 2 and dice.random() < 0.25:
            inside += dice.choice(["", "&&"]) + brackets(level + 1)
        return "[" + dice.choice(["", "", "^"]) + inside + "]"

    def atom():
        kind = dice.random()
        if kind < 0.4:
            return dice.choice(["a", "x", "y", "s", "ss", "st", "k", "é", "ß", "1", " ", "'", "\n", ".", "b", "f", "i"])
        if kind < 0.65:
            return dice.choice([r"\w", r"\W", r"\d", r"\s", r"\S", r"\h", r"\p{L}", r"\p{Lu}", r"\P{L}", r"\p{N}", r"\n", ".", r"\p{^P}", r"\x41", r"\u0061"])
        if kind < 0.85 or depth > 2:
            return brackets()
        return dice.choice(["(?:", "(", "(?i:", "(?m:", "(?-i:", "(?>"]) + drawn_pattern(dice, depth + 1) + ")"

    def piece():
        return atom() + dice.choice(["", "", "", "?", "*", "+", "{2}", "{1,3}", "{,2}", "{2,}", "+?", "*?", "{2}?", "{1,3}+", "{1,2}?", "??"])

    branches = ["".join(piece() for _ in range(dice.randint(1, 3))) for _ in range(dice.choice([1, 1, 2, 3]))]
    return "|".join(branches) + (TAIL if depth == 0 and dice.random() < 0.1 else "")


def pieces(pattern, texts):
    try:
        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        cuts = [[piece for piece, _ in split.pre_tokenize_str(text)] for text in texts]
    except BaseException:  # Oniguruma does not compile it, or gives up with a panic
        return None
    return [" ".join(str(len(piece.encode())) for piece in cut) for cut in cuts]


EVERY = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)


def characters(pattern):
    """How many characters a pattern for one character matches, and a hash of them (FNV-1a of their numbers)."""
    try:
        left = set(normalizers.Replace(Regex(pattern), "").normalize_str(EVERY))
    except BaseException:
        return 0, 0
    size, sum_ = 0, 0xCBF29CE484222325
    for character in EVERY:
        if character not in left:
            size, sum_ = size + 1, ((sum_ ^ ord(character)) * 0x100000001B3) % 2**64
    return size, sum_


def main(folder, drawn=200, seed=7):
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(seed)
    texts = TEXTS + drawn_texts(dice)
    patterns = list(dict.fromkeys(PUBLISHED + SETS + OTHERS + [drawn_pattern(dice) for _ in range(drawn)]))
    with open(folder / "texts.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in texts)
    with open(folder / "patterns.jsonl", "w", encoding="utf-8") as file:
        for pattern in patterns:
            file.write(json.dumps([pattern, pieces(pattern, texts)], ensure_ascii=False, separators=(",", ":")) + "\n")
    with open(folder / "sets.tsv", "w", encoding="utf-8") as file:
        for pattern in SETS:
            size, hash_ = characters(pattern)
            file.write(f"{pattern}\t{size}\t{hash_:016x}\n")


main(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
