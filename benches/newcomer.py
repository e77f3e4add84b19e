"""What a newcomer waits for, measured in fresh clones of this checkout: the two commands of the README, and the loop of a change.

    newcomer.py FOLDER [--rounds N] [--write docs/performance.md]

Packages are downloaded before anything is measured, and the machine should do nothing else. The least of all rounds counts. `--write`
puts the table between the marks `<!-- newcomer -->` of a page.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

TREE = pathlib.Path(__file__).resolve().parent.parent


def clone(folder: pathlib.Path) -> pathlib.Path:
    """A fresh clone of the commit that is checked out, with nothing built."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", TREE, folder], check=True)
    run(folder, "cargo fetch --locked --quiet")
    return folder


def run(tree: pathlib.Path, command: str) -> tuple[float, float]:
    """Seconds by the clock and of the processor that a command takes, which has to succeed."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CARGO_", "RUST"))}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, shell=True, cwd=tree, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clock, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def changed(tree: pathlib.Path, crate: str) -> None:
    """Adds a line to a crate: a private function that nobody calls, another one each time."""
    path = tree / "crates" / crate / "src" / "lib.rs"
    path.write_text(path.read_text() + f"\n#[allow(dead_code)]\nfn newcomer_{time.monotonic_ns()}() {{}}\n")


def once(folder: pathlib.Path) -> dict[str, tuple[float, float]]:
    """All that is measured, by its name in the table."""
    taken = {}
    tree = clone(folder / "demo")
    taken["clean clone → the demo's summary"] = run(tree, "cargo run --release -- run pipelines/demo.toml")
    size = (tree / "target" / "release" / "chatmill").stat().st_size / 1e6
    tree = clone(folder / "tests")
    taken["clean clone → `cargo test --workspace`, green"] = run(tree, "cargo test --workspace")
    taken["the tests alone, built"] = run(tree, "cargo test --workspace")
    for crate, command, name in [
        ("dialect", "cargo test --package chatmill-dialect", "a line changed in `dialect` → that crate's tests"),
        ("model", "cargo check --workspace", "a line changed in `model` → `cargo check --workspace`"),
    ]:
        for _ in range(2):
            # The first time also builds what never was built so: with the features of one package, or only to be checked.
            changed(tree, crate)
            taken[name] = run(tree, command)
    print(f"the release binary has {size:.1f} MB", flush=True)
    for name, (clock, processor) in taken.items():
        print(f"{name}: {clock:.0f} s, {processor:.0f} processor seconds", flush=True)
    return taken


def main() -> None:
    """Measures, and writes where it is asked to."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--write", type=pathlib.Path)
    asked = arguments.parse_args()
    rounds = [once(asked.folder.resolve()) for _ in range(asked.rounds)]
    rows = ["| What | By the clock | Processor seconds |", "|---|---:|---:|"]
    for name in rounds[0]:
        clock, processor = (min(taken[name][which] for taken in rounds) for which in (0, 1))
        rows.append(f"| {name} | {clock:.0f} s | {processor:.0f} |")
    table = "\n".join(rows)
    print(table)
    if asked.write:
        page = asked.write.read_text()
        marks = re.compile("(<!-- newcomer -->\n).*(<!-- /newcomer -->)", re.DOTALL)
        asked.write.write_text(marks.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page))


if __name__ == "__main__":
    main()
