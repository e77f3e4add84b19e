"""Lets system calls of the real command fail, one at a time, and looks at what is left.

Usage: faults.py BINARY WORK [STRIDE [COMMAND…]]

strace makes the Nth call of a kind fail, for every STRIDE-th N. Accepted are the bytes that come without a fault, or exit
code 3 (for `check`: 1, with the file on stderr), and in every case a repeat without a fault that gives those bytes.
"""

import collections
import hashlib
import pathlib
import shutil
import subprocess
import sys

# Memory and threads are left out: without them no program can report an error.
CALLS = {
    "openat": ("EIO", "EMFILE"),
    "read": ("EIO",),
    "pread64": ("EIO",),
    "lseek": ("EIO",),
    "statx": ("EIO",),
    "fstat": ("EIO",),
    "newfstatat": ("EIO",),
    "fstatfs": ("EIO",),
    "getdents64": ("EIO",),
    "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC",),
    "fsync": ("EIO",),
    "fdatasync": ("EIO",),
    "ftruncate": ("EIO",),
    "rename": ("EIO",),
    "renameat2": ("EIO",),
    "mkdir": ("ENOSPC",),
    "mkdirat": ("ENOSPC",),
    "unlink": ("EIO",),
    "unlinkat": ("EIO",),
    "rmdir": ("EIO",),
    "flock": ("EIO",),
}

PIPELINE = """name = "faults"
[[input]]
path = "in/**"
[render]
dialects = [{dialects}]
[count]
encodings = []
[limits]
max_reject_ratio = 1.0
[output]
path = "out"
"""

# Messages of the program's loader, before any line of ours has run, and of strace itself.
NOT_OURS = ("error while loading shared libraries", "cannot open shared object", "cannot apply additional memory")


class Walk:
    """One command, walked."""

    def __init__(self, binary, work, name, prepare, command):
        self.binary, self.work = binary, work
        self.name, self.prepare, self.command = name, prepare, command

    def fresh(self):
        folder = self.work / "shop"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.work / "template", folder, symlinks=True)
        self.prepare(self, folder)
        return folder

    def plain(self, folder, *arguments):
        return subprocess.run(
            [self.binary, *arguments], cwd=folder, capture_output=True, timeout=120, check=False
        )

    def counts(self):
        folder, log = self.fresh(), self.work / "strace.log"
        traced = ["strace", "-f", "-qq", "-o", log, "-e", "trace=" + ",".join("?" + call for call in CALLS)]
        subprocess.run([*traced, self.binary, *self.command], cwd=folder, capture_output=True, check=False)
        counts = collections.Counter()
        for line in log.read_text(errors="replace").splitlines():
            rest = line.split(None, 1)[1] if " " in line else ""
            name = rest.split("(", 1)[0]
            if name in CALLS:
                counts[name] += 1
        return counts

    def injected(self, folder, call, errno, number):
        inject = f"inject={call}:error={errno}:when={number}"
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, self.binary]
        return subprocess.run(
            [*command, *self.command], cwd=folder, capture_output=True, timeout=120, check=False
        )

    def result(self, folder, output):
        """What must be the same with and without a fault."""
        if self.command[0] in ("run", "export", "convert", "report"):
            return tree(folder / ("exported" if "exported" in self.command else "out"))
        return output.stdout

    def walk(self, stride):
        folder = self.fresh()
        output = self.plain(folder, *self.command)
        expected, usual = self.result(folder, output), output.returncode
        # A command that refuses its arguments makes few calls, and nothing fails in it.
        if usual not in (0, 1):
            return [f"{self.name}: exit {usual} without a fault: {output.stderr.decode(errors='replace')}"]
        ends, faults = collections.Counter(), []
        for call, total in sorted(self.counts().items()):
            for errno in CALLS[call]:
                for number in range(1, total + 1, stride):
                    what = f"{self.name}: {call} {number} of {total}, {errno}"
                    folder = self.fresh()
                    try:
                        output = self.injected(folder, call, errno, number)
                    except subprocess.TimeoutExpired:
                        faults.append(f"{what}: it hangs")
                        continue
                    end = self.judge(folder, output, expected, usual, call)
                    ends[end] += 1
                    if end.startswith("FAULT"):
                        words = output.stderr.decode(errors="replace").strip().splitlines()
                        faults.append(f"{what}: {end}, exit {output.returncode}: {words[-1:]}")
                    if "exported" in self.command:
                        shutil.rmtree(folder / "exported", ignore_errors=True)
                    again = self.plain(folder, *self.command)
                    if again.returncode != usual or self.result(folder, again) != expected:
                        faults.append(f"{what}: the repeat gives exit {again.returncode} or other bytes")
        print(f"{self.name}: {sum(ends.values())} calls failed: {dict(ends)}", *faults, sep="\n  ", flush=True)
        return faults

    def judge(self, folder, output, expected, usual, call):
        said = output.stderr.decode(errors="replace")
        code = output.returncode
        if any(words in said for words in NOT_OURS) or code in (127, -11, 139) and not said.startswith("error"):
            return "before the program began"
        if code == usual and self.result(folder, output) == expected:
            return "as without a fault"
        # strace counts the calls of each thread separately: the Nth call may be the write of the error message.
        if code == 3 and ("error: " in said or call == "write"):
            return "exit 3"
        if code == 1 and self.command[0] in ("check", "tokens", "inspect", "render") and "error: " in said:
            return "exit 1, the file on stderr"
        if code == 1 and self.command[0] == "certify":
            return "FAULT: damage where there is none"
        return "FAULT: no error" if code == usual else "FAULT: another exit code"


def tree(folder):
    """Hashes of all that is certified below a folder."""
    derived = {"run.json", "report.html", "report.json", "README.md", ".derived.json"}
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in derived
    }


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    work = pathlib.Path(sys.argv[2]).resolve()
    stride = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    shutil.rmtree(work, ignore_errors=True)
    samples = pathlib.Path(__file__).resolve().parents[2] / "data-samples"
    inputs = work / "template/in"
    inputs.mkdir(parents=True)
    for name in ("demo/field-notes.zip", "demo/courtyard-bot.db", "demo/agent-workspace.sql", "demo/tool-requests.jsonl"):
        shutil.copy(samples / name, inputs)
    shutil.copytree(samples / "dumps/awkward-rows/folder", inputs / "dump")
    (work / "template/new.toml").write_text(PIPELINE.format(dialects='"openai-chat", "group-chat"'))
    (work / "template/old.toml").write_text(PIPELINE.format(dialects='"openai-chat"'))

    def nothing(_walk, _folder):
        pass

    def old(walk, folder):
        walk.plain(folder, "run", "old.toml", "--threads", "1")

    def new(walk, folder):
        walk.plain(folder, "run", "new.toml", "--threads", "1")

    run = ["run", "new.toml", "--threads", "1"]
    walks = [
        ("run", nothing, run),
        ("replace", old, [*run, "--replace"]),
        ("check", nothing, ["check", "in", "--threads", "1"]),
        ("inspect", nothing, ["inspect", "in"]),
        ("tokens", nothing, ["tokens", "in", "--dialect", "openai-chat"]),
        ("report", new, ["report", "out"]),
        ("export", new, ["export", "out", "--dialect", "openai-chat", "--format", "jsonl", "--out", "exported"]),
        ("convert", nothing, ["convert", "in", "--to", "openai-chat", "--out", "exported", "--threads", "1"]),
        ("diff", new, ["diff", "out", "out"]),
        ("certify", new, ["certify", "out"]),
    ]
    faults = []
    for name, prepare, command in walks:
        if name in sys.argv[4:] or not sys.argv[4:]:
            faults += Walk(binary, work, name, prepare, command).walk(stride)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
