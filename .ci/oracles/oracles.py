"""Asks independent judges about every rendering of the datasets below a folder.

    python oracles.py FOLDER [--listed N] [--write DOCUMENT]

Prints how many of the rows that we call valid, and of those that we call invalid, each judge accepts, our reasons with the judge's, and
every disagreement. Exit code 1 when a judge refuses a valid row without a documented exception, or when it refuses an invalid row for
another reason than ours. `--write` also puts the tables into a document.

An invalid row that every judge accepts is counted, but is no fault: most judges know only types, and none knows who wrote a text.
Before all that, each judge has to refuse requests that are broken on purpose.
"""

import argparse
import datetime
import sys
from collections import Counter
from pathlib import Path

import anthropic_types
import converse_model
import gemini_types
import litellm_opinion
import llama_factory
import mistral_requests
import mutants
import openai_types
import pages
import parquet_readers
import rows
import tool_pages
import trl_rows
from tally import Tally

JUDGES = [
    openai_types,
    anthropic_types,
    gemini_types,
    converse_model,
    mistral_requests,
    trl_rows,
    llama_factory,
    tool_pages,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--listed", type=int, default=20, help="how many refusals to list")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="put the tables between its marks")
    given = parser.parse_args()
    faults = mutants.faults(JUDGES)
    tally, datasets = Tally(), Counter()
    opinion = litellm_opinion.Opinion()

    def look_at(name, row):
        datasets[name] += 1
        if judges := [judge for judge in JUDGES if row.dialect in judge.DIALECTS]:
            tally.look_at(row, judges)

    for file in sorted(given.folder.glob("*.jsonl")):
        for row in rows.of_lines(file):
            look_at(file.stem, row)
    for dataset in sorted(found.parent for found in given.folder.glob("*/manifest.json")):
        for row in rows.read(dataset):
            look_at(dataset.name, row)
            opinion.look_at(dataset.name, row)
        faults += parquet_readers.faults(dataset)
    figures = list(pages.page(tally, datasets, datetime.date.today()))
    print("\n".join([*figures, "", *pages.listing(tally, given.listed), ""]))
    opinion.print(given.listed)
    print("\n".join(faults))
    if not faults:
        print(f"judges refuse all of {mutants.COUNT} broken requests; pyarrow and datasets read the same rows back")
    others = sum(tally.other.values())
    print(
        f"{tally.verdicts()} verdicts, {len(tally.refused)} refusals of valid rows, {sum(tally.excused.values())} excused; "
        f"{others} refusals of invalid rows for another reason"
    )
    if given.write:
        pages.replace(given.write, figures)
    sys.exit(1 if tally.refused or others or faults or not tally.verdicts() else 0)


main()
