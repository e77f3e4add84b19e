"""Whole processes side by side: one corpus, chatmill in several ways, and the Python peer. Prints ratios.

    python3 benches/whole.py CHATMILL CORPUS WORK [--also NAME=FILE]… [--ranks RANKS] [--rounds N] [--reference-mb MB] [--before OTHER] [--write PAGE]

CHATMILL is a release binary, CORPUS a file of chats (JSON lines), WORK a folder that may be emptied; `--also` names corpora that are
run with and without counting, and nothing else. `--write` puts the table and a picture of it into a page of docs/. Every round runs
each contestant once, in turn, so that a slow minute of the machine is shared by all; the median of the rounds counts.
Wall and processor time and the peak of resident memory are the operating system's own figures for the process
and its children. `--reference-mb` cuts the corpus for the one contestant that lets tiktoken-rs count everything; `--before` is the binary of
another commit, which runs in pairs with this one.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

TWELVE = [
    "group-chat",
    "gryag-gemini",
    "gryag-compact",
    "suna-llm",
    "suna-cached",
    "jaibber-context",
    "openai-chat",
    "anthropic-messages",
    "gemini-contents",
    "bedrock-converse",
    "sharegpt",
    "chatml",
]
FIVE = ["openai-chat", "gryag-gemini", "gryag-compact", "suna-cached", "jaibber-context"]
BOTH = ["o200k_base", "cl100k_base"]


def pipeline(work, name, corpus, dialects, encodings, more=""):
    path = work / f"{name}.toml"
    path.write_text(
        f'name = "{name}"\n[[input]]\npath = "{corpus.resolve()}"\n'
        f"[render]\ndialects = {dialects}\n[count]\nencodings = {encodings}\n"
        f'[output]\npath = "{(work / "out" / name).resolve()}"\n{more}',
        encoding="utf-8",
    )
    return path


class Contestant:
    def __init__(self, name, what, command, megabytes, out):
        self.name, self.what, self.command, self.megabytes, self.out = name, what, command, megabytes, out
        self.rounds = []

    def run(self):
        shutil.rmtree(self.out, ignore_errors=True)
        begun = time.monotonic()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{self.name} failed: {complaint.decode(errors='replace')[-2000:]}")
        # ru_maxrss is in kibibytes, of the largest process.
        self.rounds.append((wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024))

    def median(self, which):
        return statistics.median(figures[which] for figures in self.rounds)

    def per_megabyte(self):
        return self.median(0) / self.megabytes


def contestants(arguments, work):
    megabytes = arguments.corpus.stat().st_size / 1e6
    small = work / "reference.jsonl"
    cut(arguments.corpus, small, int(arguments.reference_mb * 1e6))
    mill, found = str(arguments.chatmill), []

    def ours(name, what, corpus, dialects, encodings, threads, *flags, more="", binary=mill):
        path = pipeline(work, name, corpus, dialects, encodings, more)
        command = [binary, "run", str(path), "--threads", str(threads), "--progress", "none", *flags]
        found.append(Contestant(name, what, command, corpus.stat().st_size / 1e6, work / "out" / name))

    def reads(name, what, *words):
        command = [mill, name, str(arguments.corpus), *words, "--threads", "1", "--progress", "none"]
        found.append(Contestant(f"{name}-1", what, command, megabytes, work / "out" / name))

    reads("check", "`check`")
    reads("tokens", "`tokens`, 1 dialect x 1 encoding", "--dialect", "openai-chat", "--encoding", "o200k_base")
    for name, corpus in arguments.also:
        ours(f"{name}-full-1", f"{name}: 12 dialects x 2 encodings", corpus, TWELVE, BOTH, 1)
        ours(f"{name}-bare-1", f"{name}: 12 dialects, no counting", corpus, TWELVE, [], 1)
    for threads in (1, 2):
        ours(f"full-{threads}", "12 dialects x 2 encodings", arguments.corpus, TWELVE, BOTH, threads)
        ours(f"bare-{threads}", "12 dialects, no counting", arguments.corpus, TWELVE, [], threads)
    ours("parted-2", 'the same with partition = "dialect"', arguments.corpus, TWELVE, BOTH, 2, more='partition = "dialect"\n')
    for prefix, binary in [("", mill), ("before-", str(arguments.before))] if arguments.before else [("", mill)]:
        ours(f"{prefix}all-1", "all dialects x 2 encodings", arguments.corpus, ["all"], BOTH, 1, binary=binary)
        ours(f"{prefix}one-1", "5 dialects x 1 encoding", arguments.corpus, FIVE, BOTH[:1], 1, binary=binary)
        if prefix:
            ours(f"{prefix}full-1", "12 dialects x 2 encodings", arguments.corpus, TWELVE, BOTH, 1, binary=binary)
            ours(f"{prefix}bare-1", "12 dialects, no counting", arguments.corpus, TWELVE, [], 1, binary=binary)
    ours("reference-1", "12 x 2, tiktoken-rs counts every rendering", small, TWELVE, BOTH, 1, "--counter", "reference")
    ours("five-2", "5 dialects x 2 encodings", arguments.corpus, FIVE, BOTH, 2)
    if arguments.ranks:
        for name, what, flags in [
            ("python-2", "the Python peer: 5 dialects x 1 encoding", ["--ranks", str(arguments.ranks)]),
            ("python-bare-2", "the Python peer without counting", ["--bare"]),
        ]:
            out = work / "out" / name
            peer = pathlib.Path(__file__).parent / "peer" / "mill.py"
            command = [sys.executable, str(peer), str(arguments.corpus), str(out), "--processes", "2", *flags]
            found.append(Contestant(name, what, command, megabytes, out))
    return found


def cut(corpus, target, size):
    """Whole lines from the beginning, about that many bytes."""
    with corpus.open("rb") as lines, target.open("wb") as short:
        for line in lines:
            short.write(line)
            if short.tell() >= size:
                break


def report(found):
    print(f"{'contestant':18} {'threads':>7} {'wall s':>8} {'cpu s':>8} {'MB/s':>7} {'peak MB':>8}  what")
    for one in found:
        threads = one.name.rsplit("-", 1)[1]
        wall, cpu, peak = (one.median(which) for which in range(3))
        speed = one.megabytes / wall
        print(f"{one.name:18} {threads:>7} {wall:8.2f} {cpu:8.2f} {speed:7.1f} {peak / 1e6:8.0f}  {one.what}")
    by_name = {one.name: one for one in found}

    def ratio(what, slower, faster):
        if slower in by_name and faster in by_name:
            print(f"{by_name[slower].per_megabyte() / by_name[faster].per_megabyte():8.2f}  {what}")

    print()
    ratio("reference / full, whole process, one thread", "reference-1", "full-1")
    ratio("full / bare: what counting adds, one thread", "full-1", "bare-1")
    ratio("full / bare: what counting adds, two threads", "full-2", "bare-2")
    ratio("one thread / two threads, full", "full-1", "full-2")
    ratio("all dialects / twelve dialects, one thread", "all-1", "full-1")
    ratio("parted by dialect / together, two threads", "parted-2", "full-2")
    ratio("Python (5 x 1) / chatmill (5 x 2), two processes and two threads", "python-2", "five-2")

    def processor(what, slower, faster):
        if slower in by_name and faster in by_name:
            print(f"{by_name[slower].median(1) / by_name[faster].median(1):8.2f}  {what}, processor time")

    processor("Python (5 x 1) / chatmill (5 x 1)", "python-2", "one-1")
    for name in ("full-1", "bare-1", "all-1", "one-1"):
        processor(f"before / now, {by_name[name].what}", f"before-{name}", name)


def named(word):
    name, _, path = word.partition("=")
    return name, pathlib.Path(path)


def write(page, found):
    """Puts megabytes of input a processor second into the page, and draws a picture of them."""
    speeds = [(one.what, one.megabytes / one.median(1)) for one in found if one.name.endswith("-1") and "reference" not in one.name]
    rows = [f"| {what} | {speed:.1f} |" for what, speed in speeds]
    text, mark = page.read_text(encoding="utf-8"), "<!-- {}whole -->"
    before, rest = text.split(mark.format(""))
    table = "\n".join(["| What, one thread | MB/s |", "|---|---:|", *rows])
    page.write_text(f"{before}{mark.format('')}\n\n{table}\n\n{mark.format('/')}{rest.split(mark.format('/'))[1]}", encoding="utf-8")
    (page.parent / "images" / "speed.svg").write_text(picture(speeds), encoding="utf-8")


def picture(speeds):
    """A bar for each speed; its colours are read on white and on black."""
    most = max(speed for _, speed in speeds)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {28 * len(speeds) + 8}" font-family="sans-serif" font-size="13" fill="#808080">',
        "<title>Megabytes of input a processor second, one thread</title>",
    ]
    for number, (what, speed) in enumerate(speeds):
        top = 28 * number + 8
        lines += [
            f'<text x="330" y="{top + 14}" text-anchor="end">{what.replace("`", "")}</text>',
            f'<rect x="340" y="{top}" width="{350 * speed / most:.0f}" height="20" fill="#3b82c4"/>',
            f'<text x="{348 + 350 * speed / most:.0f}" y="{top + 14}">{speed:.1f}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chatmill", type=pathlib.Path)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--also", type=named, action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--ranks", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reference-mb", type=float, default=5.0)
    parser.add_argument("--before", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    found = contestants(arguments, arguments.work)
    for _ in range(arguments.rounds):
        for one in found:
            one.run()
    report(found)
    if arguments.write:
        write(arguments.write, found)


if __name__ == "__main__":
    main()
