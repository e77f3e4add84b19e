"""Lots in, parts out, in an engine: the programs of docs/scale.md, unchanged, must make the manifest of one process.

    python lots.py ray|sail|spark|standalone FOLDER MANIFEST

FOLDER has `archive.toml` and its inputs, and is what the programs call `/shared`; MANIFEST is that of `chatmill run`. Where the engine has two workers, one
of them is killed while a quarter of the lots is done. The package has to be installed in this environment.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "scale.md"


def program(name, folder):
    """A file of the page, written into the folder."""
    blocks = PAGE.read_text(encoding="utf-8").split("```")[1::2]
    found = [block.split("\n", 1)[1] for block in blocks if f"\n# {name}\n" in block]
    if len(found) != 1:
        sys.exit(f"{PAGE.name} has {len(found)} files that say `# {name}`")
    path = folder / name
    path.write_text(found[0].replace("/shared", str(folder)), encoding="utf-8")
    return path


def planned(manifest):
    """The number of lots of a run; after them the manifest has the lot of the totals."""
    return len(json.loads(manifest.read_bytes())["lots"]) - 1


def done(folder):
    """How many lots are done."""
    return sum(1 for path in folder.glob(".archive.staging/*/lots/*.json") if not path.name.endswith(".failed.json"))


def main(engine, folder, manifest):
    import chatmill
    from clusters import CLUSTERS

    out = folder / "archive"
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(folder / ".archive.staging", ignore_errors=True)
    path = program("archive_ray.py" if engine == "ray" else "archive_spark.py", folder)
    lots = planned(manifest)
    with CLUSTERS[engine]() as cluster:
        begun = time.monotonic()
        working = subprocess.Popen([sys.executable, "-B", path], env=os.environ | cluster.environment, stdout=subprocess.PIPE, text=True)
        killed = []

        def kill():
            while working.poll() is None and done(folder) < lots / 4:
                time.sleep(0.05)
            if working.poll() is None:
                killed.append(done(folder))
                cluster.kill()

        killer = threading.Thread(target=kill)
        if cluster.kill is not None:
            killer.start()
        said, _ = working.communicate()
        seconds = time.monotonic() - begun
        if cluster.kill is not None:
            killer.join()
        if working.returncode != 0:
            sys.exit(f"{engine}: {path.name} ended with {working.returncode}")
    if cluster.kill is not None and (not killed or killed[0] >= lots):
        sys.exit(f"{engine}: no worker was killed in the middle: {killed} of {lots} lots were done")
    if (out / "manifest.json").read_bytes() != manifest.read_bytes():
        sys.exit(f"{engine}: the manifest is not that of one process")
    if not (certificate := chatmill.certify(out)):
        sys.exit(f"{engine}: {certificate.text}")
    # Ray prints what its nodes log, too.
    told = next((line for line in said.splitlines() if line.startswith("exit code")), "no exit code")
    lost = f", a worker killed when {killed[0]} were done" if killed else ""
    print(f"{engine}: {lots} lots in {seconds:.1f} s{lost}: the manifest of one process; {told}")
    shutil.rmtree(out)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve())
