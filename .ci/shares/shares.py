"""A run and its shares over an archive of mixed sources: the files are the same, however it was divided and whatever went wrong meanwhile.

    python3 .ci/shares/shares.py CHATMILL FOLDER [--megabytes 300] [--seed N] [--ways shards,full,slurm,…]

`run` with one thread and with two; 1, 3 and 7 shares in random order, two at a time, one of them killed after some of its lots and repeated, one lot done
twice at once; two on a disk that is too small until there is room; the job array of docs/scale.md in Slurm, a task of it requeued; and the programs of docs/scale.md in the engines that `just engines` has
installed, with a worker killed. Engines that are not installed are named and skipped.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import corpus
import slurm

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / ".ci" / "engines"))

import lots as programs  # noqa: E402

ENGINES = ["spark", "standalone", "ray", "sail"]


class Campaign:
    def __init__(self, mill, folder, dice):
        self.mill, self.folder, self.dice = str(mill.resolve()), folder, dice
        self.manifest = folder / "alone-1" / "manifest.json"

    def start(self, *arguments):
        command = [self.mill, *map(str, arguments), "--progress", "none"]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def do(self, *arguments, expected=0):
        """Runs a command to its end; seconds by the clock and of the processors."""
        before, begun = os.times(), time.monotonic()
        working = self.start(*arguments)
        _, said = working.communicate()
        after = os.times()
        if working.returncode != expected:
            sys.exit(f"{' '.join(map(str, arguments))}: ended with {working.returncode}: {said}")
        return time.monotonic() - begun, after.children_user + after.children_system - before.children_user - before.children_system

    def compare(self, name, out):
        """The manifest is that of one process, and the files are those of the manifest."""
        if (out / "manifest.json").read_bytes() != self.manifest.read_bytes():
            sys.exit(f"{name}: the manifest is not that of one process")
        self.do("certify", out)
        shutil.rmtree(out)

    def alone(self):
        for threads in (1, 2):
            out = self.folder / f"alone-{threads}"
            wall, cpu = self.do("run", "archive.toml", "--out", out, "--threads", threads)
            print(f"run, {threads} threads: {wall:.1f} s, {cpu:.1f} s of processors", flush=True)
            if threads == 1:
                lots = programs.planned(self.manifest)
            else:
                self.compare("two threads", out)
        self.do("certify", self.folder / "alone-1")
        return lots

    def shards(self, of, lots):
        """`of` shares, two at a time; one is killed, and one lot is done twice at once."""
        out = self.folder / f"shares-{of}"
        planned, _ = self.do("plan", "archive.toml", "--out", out)
        order = self.dice.sample(range(1, of + 1), of)
        victim = self.dice.choice(order)
        # Its own lots, and after how many of them it is killed.
        mine = [number for number in range(lots) if number % of == victim - 1]
        fate = self.dice.randrange(max(1, len(mine) * 2 // 3))
        before, begun = os.times(), time.monotonic()
        twice = self.dice.randrange(lots)
        both = [self.start("work", out, "--shards", twice, "--threads", 1) for _ in range(2)]
        if codes := [working.wait() for working in both if working.wait() != 0]:
            sys.exit(f"lot {twice} twice at once: ended with {codes}")
        left, working, victims, killed = list(order), {}, None, False
        while left or working:
            while left and len(working) < 2:
                index = left.pop()
                working[index] = self.start("work", out, "--part", f"{index}/{of}", "--threads", 1)
                if index == victim and victims is None:
                    victims = working[index]
            done = {int(path.name[:5]) for path in self.folder.glob(f".{out.name}.staging/*/lots/?????.json")}
            if victims is not None and not killed and len(done.intersection(mine)) >= fate and victims.poll() is None:
                victims.kill()
                killed = True
            for index, process in list(working.items()):
                if (code := process.poll()) is None:
                    continue
                del working[index]
                if code == -9:
                    left.insert(0, index)
                elif code != 0:
                    sys.exit(f"share {index}/{of}: ended with {code}: {process.stderr.read()}")
            time.sleep(0.01)
        after, wall = os.times(), time.monotonic() - begun
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        finished, finishing = self.do("finish", out)
        self.compare(f"{of} shares", out)
        if not killed:
            sys.exit(f"{of} shares: none was killed after {fate} lots")
        print(
            f"{of} shares: plan {planned:.1f} s, work {wall:.1f} s and {cpu:.1f} s of processors, lot {twice} twice, one killed after "
            f"{fate} of its lots, finish {finished:.1f} s and {finishing:.1f} s of processors: the manifest of one process",
            flush=True,
        )

    def one_by_one(self, of):
        """Shares without mishaps, for what sharing costs."""
        out = self.folder / f"plain-{of}"
        planned = self.do("plan", "archive.toml", "--out", out)
        worked = [self.do("work", out, "--part", f"{index}/{of}", "--threads", 1) for index in range(1, of + 1)]
        finished = self.do("finish", out)
        self.compare(f"{of} shares, one by one", out)
        clock, processors = (sum(times) for times in zip(*worked))
        print(
            f"{of} shares, one by one: plan {planned[0]:.1f} s, work {clock:.1f} s and {processors:.1f} s of processors, finish {finished[0]:.1f} s",
            flush=True,
        )

    def without_room(self):
        """Two shares on a disk that has no room for them; once it has, the same commands do the rest."""
        if os.geteuid() != 0 or not shutil.which("mount"):
            return print("full: skipped, it takes the superuser to have a small disk")
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        needed = sum(path.stat().st_size for path in (self.folder / "alone-1").rglob("*") if path.is_file())
        small, large = (f"size={int(needed * factor)}" for factor in (0.4, 4))
        subprocess.run(["mount", "-t", "tmpfs", "-o", small, "tmpfs", disk], check=True)
        try:
            out = disk / "archive"
            self.do("plan", "archive.toml", "--out", out)
            both = [self.start("work", out, "--part", f"{index}/2", "--threads", 1) for index in (1, 2)]
            said = [working.communicate()[1] for working in both]
            codes = [working.returncode for working in both]
            if 3 not in codes or {*codes} - {0, 3} or not any("no space left" in text for text in said):
                sys.exit(f"full: ended with {codes}: {said}")
            before = programs.done(disk)
            subprocess.run(["mount", "-o", f"remount,{large}", disk], check=True)
            for index in (1, 2):
                self.do("work", out, "--part", f"{index}/2", "--threads", 1)
            self.do("finish", out)
            self.compare("full", out)
        finally:
            subprocess.run(["umount", disk], check=False)
        print(f"full: ended with {codes} after {before} lots, done with room: the manifest of one process", flush=True)

    def in_slurm(self):
        if reason := slurm.missing():
            return print(f"slurm: skipped, {reason}")
        out = self.folder / "archive"
        shutil.rmtree(out, ignore_errors=True)
        for name in ("work.sbatch", "submit.sh"):
            programs.program(name, self.folder).chmod(0o755)
        beside = self.folder / "bin"
        beside.mkdir(exist_ok=True)
        (beside / "chatmill").unlink(missing_ok=True)
        (beside / "chatmill").symlink_to(self.mill)
        begun = time.monotonic()
        with slurm.cluster(self.folder / "slurm") as environment:
            environment["PATH"] = f"{beside}:{environment['PATH']}"
            log = (self.folder / "submit.log").open("w")
            submitting = subprocess.Popen([self.folder / "submit.sh"], cwd=self.folder, env=environment, stdout=log, stderr=log)
            # A task that runs is taken away and queued again, as where a node fails.
            requeued = None
            while submitting.poll() is None:
                running = slurm.ask(environment, "squeue", "-h", "-t", "R", "-o", "%F_%K").split()
                running = [job for job in running if job.partition("_")[2].isdigit()]
                if requeued is None and running and programs.done(self.folder) >= 4:
                    requeued = self.dice.choice(running)
                    subprocess.run(["scontrol", "requeue", requeued], env=environment, check=False)
                time.sleep(0.2)
        if submitting.returncode != 0 or requeued is None:
            sys.exit(f"slurm: ended with {submitting.returncode}, requeued {requeued}: {(self.folder / 'submit.log').read_text()}")
        self.compare("slurm", out)
        print(f"slurm: {time.monotonic() - begun:.1f} s with the cluster's start, {requeued} requeued: the manifest of one process", flush=True)

    def in_engine(self, engine):
        python = ROOT / "python/target/engines" / engine.replace("standalone", "spark") / "bin" / "python"
        if not python.exists():
            return print(f"{engine}: skipped, `just engines {engine}` installs it")
        page = [python, "-B", ROOT / ".ci/engines/lots.py", engine, self.folder, self.manifest]
        if subprocess.run(page).returncode != 0:
            sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chatmill", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--ways", default=",".join(["shards", "full", "slurm", *ENGINES]))
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"seed {arguments.seed}, {arguments.megabytes} MB", flush=True)
    corpus.write(arguments.megabytes, folder)
    campaign = Campaign(arguments.chatmill, folder, random.Random(arguments.seed))
    lots = campaign.alone()
    print(f"{lots} lots", flush=True)
    for way in arguments.ways.split(","):
        if way == "shards":
            campaign.one_by_one(7)
            for of in (1, 3, 7):
                campaign.shards(of, lots)
        elif way == "full":
            campaign.without_room()
        elif way == "slurm":
            campaign.in_slurm()
        elif way in ENGINES:
            campaign.in_engine(way)
        else:
            sys.exit(f"there is no way `{way}`")


if __name__ == "__main__":
    main()
