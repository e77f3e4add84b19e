"""Runs `chatmill` and knows what it wrote: how long it took, how much memory, and which files there are."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# The columns in front of a record's own in every table.
KEYS = ["conversation_id", "dialect", "profile", "perspective", "ordinal"]
MEASURED = Path(__file__).with_name("measured.py")


@dataclass
class Measure:
    seconds: float
    peak_mib: float
    printed: str = ""


@dataclass
class Export:
    envelope: str
    form: str
    out: Path
    summary: dict
    measure: Measure
    # Records of the lines by the name of the part.
    records: dict = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.envelope} {self.form}"

    @property
    def files(self):
        """Files with records in them: some readers fail at an empty one, and export warns about it."""
        return [file for file in self.summary["files"] if file["rows"]]

    def lines(self, file):
        # Not splitlines, which also cuts at U+2028 and its like inside a text.
        return (self.out / file["name"]).read_bytes().decode().split("\n")[:-1]


def call(command, allowed):
    """Runs a command; gives its time and the most memory that it had, and ends everything where it fails."""
    command = [str(word) for word in command]
    with tempfile.NamedTemporaryFile() as file:
        measured = [sys.executable, "-S", "-E", str(MEASURED), file.name, *command]
        ended = subprocess.run(measured, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ended.returncode:
            sys.exit(f"{' '.join(command)}: {ended.stdout}")
        code, seconds, peak_mib = json.load(file)
    if code not in allowed:
        sys.exit(f"{' '.join(command)}: exit code {code}\n{ended.stdout}")
    return Measure(seconds, peak_mib, ended.stdout)


def summary_of(measure):
    """What `export --json` printed: an export without a row writes no file."""
    summary = json.loads(measure.printed[measure.printed.index("{") :])
    return summary if summary["kept"] else {**summary, "files": []}


def mill(chatmill, pipeline, inputs, out):
    """A dataset of these inputs, by the pipeline for training."""
    paths = ",".join(f"{{path={json.dumps(str(Path(path).resolve()))}}}" for path in inputs)
    command = [chatmill, "run", pipeline, "--set", f"input=[{paths}]", "--progress", "none", "--out", out]
    # 1 means that records were rejected, which archives of years always have.
    return call(command, (0, 1))


def export(chatmill, run, envelope, dialect, form, folder, nested="json", more=()):
    """An export that is divided as one for training is, of what the dialect's rules allow."""
    kind = "more" if more else "" if nested == "json" else nested
    out = folder / ".".join(filter(None, (envelope, kind, form)))
    command = [chatmill, "export", run, "--dialect", dialect, "--format", form]
    command += [] if nested == "json" else ["--nested", nested]
    # An export without an envelope is called by its dialect.
    command += [] if envelope == dialect else ["--envelope", envelope]
    command += ["--json", "--valid", "--split", "train=80,test=20", *more, "--out", out]
    # 1 is an objection, for example too few records for a training file.
    measure = call(command, (0, 1))
    return Export(envelope, form, out, summary_of(measure), measure)
