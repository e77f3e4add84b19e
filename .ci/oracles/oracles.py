"""Asks independent judges about every rendering of the datasets below `target/oracles-input`.

    python oracles.py FOLDER [--listed N]

Prints how many of the rows that we call valid, and of those that we call invalid, each judge accepts, and every disagreement with
the judge's words and our own. Exit code 1 when a judge refuses a valid row and no documented exception says why that is all right.

An invalid row that every judge accepts is listed and no fault: most judges know types only, and none knows whose words a text was.
Before all that, each judge has to refuse requests that are broken on purpose.
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import anthropic_types
import converse_model
import gemini_types
import litellm_opinion
import llama_factory
import mistral_requests
import mutants
import openai_types
import parquet_readers
import rows
import structure
import trl_rows

DATASETS = ["samples", "policies", "generated"]

JUDGES = [
    structure,
    openai_types,
    anthropic_types,
    gemini_types,
    converse_model,
    mistral_requests,
    trl_rows,
    llama_factory,
]


def ask(judge, row):
    """What the judge says against a row, and the reason why that does not count."""
    try:
        words = judge.judge(row)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        words = f"not of the shape that the judge expects: {type(error).__name__} {error}"
    if words is None:
        return None, None
    excused = (reason for pattern, reason in judge.ALLOWED if re.match(pattern, words))
    return words, next(excused, None)


class Tally:
    def __init__(self):
        self.counts = defaultdict(Counter)
        self.refused = []
        self.excused = Counter()
        self.accepted = []
        self.alone = Counter()
        self.invalid = Counter()

    def look_at(self, judge, row):
        words, excuse = ask(judge, row)
        cell = self.counts[f"{row.dialect}@{row.profile}", judge.NAME]
        kind = "valid" if row.valid else "invalid"
        cell[kind, "tried"] += 1
        if words is None:
            cell[kind, "accepted"] += 1
        elif excuse and row.valid:
            cell["excused"] += 1
            self.excused[judge.NAME, excuse] += 1
        elif row.valid:
            self.refused.append((judge.NAME, row, words))
        return words is None

    def print(self, listed):
        print(f"{'dialect':<31} {'judge':<15} {'valid: accepted':>17} {'excused':>8} {'invalid: accepted':>18}")
        for (dialect, judge), cell in sorted(self.counts.items()):
            valid = f"{cell['valid', 'accepted']} of {cell['valid', 'tried']}"
            invalid = f"{cell['invalid', 'accepted']} of {cell['invalid', 'tried']}"
            print(f"{dialect:<31} {judge:<15} {valid:>17} {cell['excused'] or '':>8} {invalid:>18}")
        for (judge, reason), count in self.excused.items():
            print(f"\nexcused, {count} by {judge}: {reason}")
        print("\nwhy we call rows invalid, and how many of those no judge refuses:")
        for (dialect, rule), count in sorted(self.invalid.items()):
            print(f"  {count:>6} {self.alone[dialect, rule]:>6} {dialect}: {rule}")
        if self.accepted:
            print(f"\n{len(self.accepted)} rows that we alone call invalid:")
        for row in self.accepted[:listed]:
            print(f"  {row.dialect}@{row.profile}, {row.case}: {'; '.join(row.violations)}")
        if self.refused:
            print(f"\n{len(self.refused)} refusals of valid rows:")
        for judge, row, words in self.refused[:listed]:
            print(f"  {judge} on {row.dialect}@{row.profile}, {row.case}: {words}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--listed", type=int, default=20, help="how many refusals to list")
    given = parser.parse_args()
    faults = mutants.faults(JUDGES)
    tally = Tally()
    opinion = litellm_opinion.Opinion()
    for name in DATASETS:
        dataset = given.folder / name
        for row in rows.read(dataset):
            verdicts = [tally.look_at(judge, row) for judge in JUDGES if row.dialect in judge.DIALECTS]
            # Rules name the ids at fault; one example of each rule is enough.
            broken = {(row.dialect, violation.split(":")[0]) for violation in row.violations}
            tally.invalid.update(broken)
            if broken and all(verdicts):
                tally.alone.update(broken)
                tally.accepted.append(row)
            opinion.look_at(name, row)
        faults += parquet_readers.faults(dataset)
    tally.print(given.listed)
    print()
    opinion.print(given.listed)
    for fault in faults:
        print(fault)
    if not faults:
        print(f"judges refuse all of {mutants.COUNT} broken requests; pyarrow and datasets read the same rows back")
    tried = sum(cell["valid", "tried"] + cell["invalid", "tried"] for cell in tally.counts.values())
    print(f"{tried} verdicts, {len(tally.refused)} refusals of valid rows, {sum(tally.excused.values())} excused")
    sys.exit(1 if tally.refused or faults or not tried else 0)


main()
