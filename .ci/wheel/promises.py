"""What the wheel promises of time and memory, measured on this machine; exits 1 where a promise is broken.

`promises.py [MEBIBYTES] [PROMISE …]` renders that many of chats (100 without it) and reads twenty times as many. Times are those of the
processor on one thread, so that they hold on a busy machine, too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MEBIBYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
DIALECTS = [
    "openai-chat", "openai-responses", "anthropic-messages", "gemini-contents", "mistral-chat", "bedrock-converse",
    "chatml", "sharegpt", "hf-messages", "group-chat", "gryag-compact", "tzurot",
]  # fmt: skip
ENCODINGS = ["o200k_base", "cl100k_base"]
failed: list[str] = []


def promise(name: str, figure: float, most: float, unit: str) -> None:
    """Says what was measured, and remembers what is too much."""
    kept = figure <= most
    print(f"{'kept  ' if kept else 'BROKEN'}  {name}: {figure:.2f} {unit}, at most {most:.2f}", flush=True)
    if not kept:
        failed.append(name)


def chats(file: Path, mebibytes: int) -> None:
    """Chats of drawn words, the same every time."""
    drawn = random.Random(20261123)
    words = ["".join(drawn.choices("etaoinshrdlucmfwypvbgk", k=drawn.randint(1, 9))) for _ in range(20_000)]
    written = 0
    with file.open("w", encoding="utf-8") as out:
        while written < mebibytes << 20:
            turns = [
                {"role": ("user", "assistant")[place % 2], "content": " ".join(drawn.choices(words, k=drawn.randint(5, 120)))}
                for place in range(drawn.randint(2, 12))
            ]
            written += out.write(json.dumps({"messages": turns}) + "\n")


def child(program: str, *arguments: str) -> tuple[float, int]:
    """Processor seconds and the most bytes of memory that a program of Python takes."""
    wrapped = (
        f"import resource, sys\n{program}\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print('MEASURED', used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)\n"
    )
    said = subprocess.run([sys.executable, "-c", wrapped, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout
    measured = said.split("MEASURED")[1].split()
    return float(measured[0]), int(measured[1])


def processor(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(_folder: Path) -> None:
    def took(program: str) -> float:
        return min(processor([sys.executable, "-c", program]) for _ in range(7))

    promise("import", 1000 * (took("import chatmill") - took("pass")), 150, "ms")


def run(folder: Path, output: str) -> float:
    """Processor seconds of the command line's run over the chats, with these settings of its output."""
    pipeline = folder / "p.toml"
    pipeline.write_text(
        f'name = "p"\n[[input]]\npath = "chats.jsonl"\n[render]\ndialects = {DIALECTS}\n[count]\nencodings = {ENCODINGS}\n'
        f'[output]\npath = "out"\ntables = ["renderings"]\ncompression = "none"\n{output}'
    )
    command = [sys.executable, "-m", "chatmill", "run", str(pipeline), "--threads", "1", "--replace", "--progress", "none"]
    # Each run has another name, so that it resumes nothing.
    return min(processor([*command, "--set", f"name=p{attempt}"]) for attempt in range(2))


def rendering(folder: Path) -> None:
    file = folder / "chats.jsonl"
    chats(file, MEBIBYTES)
    # Without writing: everything is rendered and counted, and rows are made, of which none holds the text.
    unwritten = run(folder, 'content = "none"\n')
    written = run(folder, "")
    program = (
        "import sys, polars, chatmill\n"
        "with open(sys.argv[1]) as file: frame = polars.DataFrame({'record': file.read().splitlines()})\n"
        "before = resource.getrusage(resource.RUSAGE_SELF)\n"
        f"for batch in chatmill.render(frame, {DIALECTS}, {ENCODINGS}, threads=1).renderings: pass\n"
        "after = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print('RENDERED', after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)"
    )
    wrapped = "import resource, sys\n" + program
    said = [
        subprocess.run([sys.executable, "-c", wrapped, str(file)], stdout=subprocess.PIPE, text=True, check=True).stdout
        for _ in range(2)
    ]
    wheel = min(float(text.split("RENDERED")[1]) for text in said)
    print(f"        render of {MEBIBYTES} MiB: wheel {wheel:.1f} s, run {unwritten:.1f} s without writing the text, {written:.1f} s with it")
    promise("render, of the processor time of a run without writing", wheel / unwritten, 1.1, "times")


def reading(folder: Path) -> None:
    chats(folder / "chats.jsonl", MEBIBYTES)
    file = folder / "large.jsonl"
    small = (folder / "chats.jsonl").read_bytes()
    with file.open("wb") as out:
        for _ in range(20):
            out.write(small)
    program = "import chatmill, pyarrow\nfor batch in pyarrow.RecordBatchReader.from_stream(chatmill.read(sys.argv[1]).messages): pass"
    _, memory = child(program, str(file))
    promise(f"memory of reading {file.stat().st_size / 2**30:.2f} GiB", memory / 2**20, 400, "MiB")


def leaks(_folder: Path) -> None:
    """What a thousand calls of each kind leave allocated, after a hundred that fill caches; what is rendered in them is five times the bound.

    The allocator gives each thread an arena and keeps it: with one for all, the memory is what the calls hold.
    """
    program = (
        "import os, time, chatmill\n"
        "chat = '{\"messages\": [{\"role\": \"user\", \"content\": \"' + 'Hi! ' * 5000 + '\"}, {\"role\": \"assistant\", \"content\": \"Hello!\"}]}'\n"
        "def call():\n"
        "    for _ in chatmill.render([chat], ['chatml', 'openai-chat'], threads=1).renderings: pass\n"
        "    for _ in chatmill.read(chat.encode(), threads=1).parts('messages', 'findings'): pass\n"
        "    chatmill.render([chat], 'chatml').__arrow_c_stream__()\n"
        "    next(iter(chatmill.render([chat, chat], 'chatml').renderings))\n"
        "    chatmill.count([chat] * 10)\n"
        "    try: chatmill.read('missing')\n"
        "    except chatmill.RequestError: pass\n"
        "def held():\n"
        "    time.sleep(1)  # for what was given up to end\n"
        "    size = int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE')\n"
        "    return size, len(os.listdir('/proc/self/task')), len(os.listdir('/proc/self/fd'))\n"
        "for _ in range(100): call()\n"
        "before = held()\n"
        "for _ in range(1000): call()\n"
        "print('HELD', *before, *held())"
    )
    alone = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, env=alone).stdout
    size, threads, files, *after = (int(word) for word in said.split("HELD")[1].split())
    promise("memory that 1,000 calls leave behind", (after[0] - size) / 2**20, 16, "MiB")
    promise("threads that they leave behind", after[1] - threads, 4, "")
    promise("open files that they leave behind", after[2] - files, 0, "")


def counting(_folder: Path) -> None:
    if importlib.util.find_spec("tiktoken") is None or "TIKTOKEN_RANKS" not in os.environ:
        print("        count: skipped, it needs tiktoken, and in TIKTOKEN_RANKS the path of its o200k_base.tiktoken")
        return
    common = (
        "import random, os, time\n"
        "drawn = random.Random(7)\n"
        "words = [''.join(drawn.choices('etaoinshrdlucmfwypvbgk', k=drawn.randint(1, 9))) for _ in range(50_000)]\n"
        "texts = [' '.join(drawn.choices(words, k=drawn.randint(4, 40))) + str(n) for n in range(1_000_000)]\n"
    )
    ours = common + (
        "import chatmill\nbegun = time.process_time()\n"
        "counts = chatmill.count(texts, threads=1)\nprint('TOOK', time.process_time() - begun, sum(counts))"
    )
    theirs = common + (
        "import tiktoken\nfrom tiktoken.load import load_tiktoken_bpe\nfrom tiktoken_ext import openai_public\n"
        "openai_public.load_tiktoken_bpe = lambda *_, **__: load_tiktoken_bpe(os.environ['TIKTOKEN_RANKS'])\n"
        "encoding = tiktoken.get_encoding('o200k_base')\nbegun = time.process_time()\n"
        "counts = [len(tokens) for tokens in encoding.encode_ordinary_batch(texts, num_threads=1)]\n"
        "print('TOOK', time.process_time() - begun, sum(counts))"
    )
    took = []
    for program in (ours, theirs):
        said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        took.append([float(word) for word in said.split("TOOK")[1].split()])
    assert took[0][1] == took[1][1], took
    print(f"        count of 1,000,000 texts: chatmill {took[0][0]:.2f} s, tiktoken {took[1][0]:.2f} s")
    promise("count, of tiktoken's time", took[0][0] / took[1][0], 1 / 6, "times")


def main() -> None:
    promises = {"imports": imports, "leaks": leaks, "counting": counting, "rendering": rendering, "reading": reading}
    for name in sys.argv[2:] or promises:
        with tempfile.TemporaryDirectory() as folder:
            promises[name](Path(folder))
    sys.exit(1 if failed else 0)


main()
