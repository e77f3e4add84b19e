"""How `finish` and `certify` take many lots and conversations: seconds, processor seconds, peak of memory.

    python3 benches/finish.py PROGRAM FOLDER LOTS CONVERSATIONS [--slices PER_LOT]      (needs the package blake3)

One slice is worked off for real; the work of all others is made of it: receipts with other ids, and hard links to its part
files. So `finish` reads real receipts and hashes real files, and `certify` reads every row; only the ids in the tables repeat, which
neither of them looks at. FOLDER must not exist, and is removed at the end.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from blake3 import blake3

# Names that a file may have on the file systems that people use: ext4 has 65,000.
LINKS = 60_000


def corpus(folder, conversations):
    chat = '{"id":"chat-%06d","messages":[{"role":"user","content":"How far?"},{"role":"assistant","content":"%d miles."}]}\n'
    with open(folder / "chats.jsonl", "w", encoding="utf-8") as out:
        out.writelines(chat % (number, number) for number in range(conversations))
    (folder / "finish.toml").write_text(
        'name = "finish"\n[[input]]\npath = "chats.jsonl"\nsource = "openai-messages"\n[render]\ndialects = ["openai-chat"]\n'
        '[count]\nencodings = ["o200k_base"]\n[output]\npath = "out"\n',
        encoding="utf-8",
    )


def measured(program, *words):
    begun = time.monotonic()
    process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    code = os.waitstatus_to_exitcode(status)
    if code:
        sys.exit(f"{' '.join(map(str, words))} ended with {code}: {complaint.decode(errors='replace')[-2000:]}")
    # ru_maxrss is in kibibytes.
    spent = f"{usage.ru_utime:.0f} s user, {usage.ru_stime:.0f} s system"
    print(f"{words[0]:8} {seconds:8.1f} s  ({spent})  {usage.ru_maxrss / 1024:8.0f} MiB at most", flush=True)


def ids(first, count):
    """Ids as random ones are long, and none twice."""
    step, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1
    return ",".join(f'[0,"{number * step & mask:016x}-{number:016x}"]' for number in range(first, first + count))


def multiply(work, lots, slices, conversations):
    """Makes the work of all slices of all lots from that of the first."""
    plan = json.loads((work / "plan.json").read_text())
    assert len(plan["lots"]) == 1, "the corpus is one lot"
    plan["lots"] *= lots
    (work / "plan.json").write_text(json.dumps(plan))
    outcome = json.loads((work / "lots" / "00000.json").read_text())
    assert outcome["slices"] == 1, "the corpus is one slice"
    outcome["slices"] = slices
    outcome["cut"] = {place: [slices * count for count in counts] for place, counts in outcome["cut"].items()}
    receipt = json.loads((work / "receipts" / "00000-00000.json").read_text().split("\n", 1)[1])
    originals = [work / "data" / file["path"] for file in receipt["files"]]
    bases = list(originals)
    receipt["body"]["ids"] = "@ids@"
    form = json.dumps(receipt, separators=(",", ":"), ensure_ascii=False)
    form = form.replace('"slice":{"lot":0,"slice":0}', '"slice":@slice@').replace("00000-00000", "@number@")
    linked = 0
    for lot in range(lots):
        for slice_number in range(slices):
            number, nth = f"{lot:05}-{slice_number:05}", lot * slices + slice_number
            text = form.replace('"@ids@"', f"[{ids(nth * conversations, conversations)}]")
            text = text.replace("@slice@", f'{{"lot":{lot},"slice":{slice_number}}}').replace("@number@", number)
            hashed = blake3(text.encode()).hexdigest()
            (work / "receipts" / f"{number}.json").write_text(f"{hashed}\n{text}")
            linked += 1
            for place, original in enumerate(originals):
                path = original.with_name(f"part-{number}.parquet")
                if path == original:
                    continue
                if linked % LINKS == 0:
                    shutil.copyfile(bases[place], path)
                    bases[place] = path
                else:
                    os.link(bases[place], path)
        (work / "lots" / f"{lot:05}.json").write_text(json.dumps(outcome))
    return lots * slices * len(originals)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("lots", type=int)
    parser.add_argument("conversations", type=int)
    parser.add_argument("--slices", type=int, default=10)
    given = parser.parse_args()
    program, folder = given.program.resolve(), given.folder.resolve()
    folder.mkdir(parents=True)
    try:
        each = given.conversations // (given.lots * given.slices)
        corpus(folder, each)
        os.chdir(folder)
        for words in (["plan", "finish.toml"], ["work", "out", "--shard", "1/1"]):
            subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (work,) = (found for found in (folder / ".out.staging").iterdir() if found.is_dir())
        files = multiply(work, given.lots, given.slices, each)
        slices = given.lots * given.slices
        print(f"{given.lots} lots, {slices} slices, {files} files, {slices * each} conversations", flush=True)
        for command in ("finish", "certify"):
            measured(program, command, "out")
        print(f"manifest.json has {(folder / 'out' / 'manifest.json').stat().st_size / 1e6:.1f} MB")
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


main()
