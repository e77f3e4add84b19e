"""The verdicts of the judges as Markdown tables: printed, and kept in `docs/oracles.md`."""

from collections import Counter


def table(heads, rows):
    aligned = ["---:" if head.startswith(">") else "---" for head in heads]
    yield "| " + " | ".join(head.removeprefix(">") for head in heads) + " |"
    yield "|" + "|".join(aligned) + "|"
    for row in rows:
        yield "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|") for cell in row) + " |"


def acceptance(tally):
    heads = ["Dialect", "Judge", ">Valid: accepted", ">excused", ">Invalid: refused, our reason", ">another reason", ">accepted"]
    rows, before = [], None
    for (dialect, judge), cell in sorted(tally.counts.items()):
        valid = f"{cell['valid', 'accepted']:,} of {cell['valid', 'tried']:,}"
        invalid = f"{cell['same']:,} of {cell['invalid', 'tried']:,}"
        shown = "" if dialect == before else f"`{dialect}`".replace("@document", "")
        rows.append((shown, judge, valid, cell["excused"] or "", invalid, cell["other"] or "", cell["invalid", "accepted"]))
        before = dialect
    return table(heads, rows)


def reasons(tally):
    """Our rules, with the messages of the judges about the same rows; a judge that accepts them all is not named."""
    words = {}
    for (dialect, ours, judge, said), count in (tally.same + tally.other).most_common():
        words.setdefault((dialect, ours, judge), []).append((said, count))
    rows = []
    for (dialect, ours, judge), said in sorted(words.items()):
        first, count = said[0]
        more = f" and {len(said) - 1} other wordings" if len(said) > 1 else ""
        rows.append((f"`{dialect}`", ours, judge, sum(count for _, count in said), f"{first}{more}"))
    return table(["Dialect", "We say", "Judge", ">refuses", "it says"], rows)


def rules(tally):
    rows = ((f"`{dialect}`", rule, count, tally.alone[dialect, rule]) for (dialect, rule), count in sorted(tally.invalid.items()))
    return table(["Dialect", "Rule", ">rows we call invalid", ">of them refused by nobody"], rows)


def page(tally, datasets, day):
    """The part of the document that holds figures."""
    read = ", ".join(f"`{name}` {count:,} rows" for name, count in datasets.items())
    yield f"{day}: {tally.verdicts():,} verdicts. {read}."
    yield ""
    yield from acceptance(tally)
    yield ""
    yield "Why we call rows invalid, and how many of those no judge refuses:"
    yield ""
    yield from rules(tally)
    yield ""
    yield "Reasons side by side, for invalid rows that a judge refuses too:"
    yield ""
    yield from reasons(tally)


def listing(tally, listed):
    """Disagreements, for the terminal."""
    for (judge, reason), count in tally.excused.items():
        yield f"excused, {count} by {judge}: {reason}"
    if tally.accepted:
        yield f"{len(tally.accepted)} rows that we alone call invalid:"
    for row in tally.accepted[:listed]:
        yield f"  {row.dialect}@{row.profile}, {row.case}: {'; '.join(row.violations)}"
    if tally.other:
        yield f"{sum(tally.other.values())} refusals of invalid rows for another reason:"
    for (dialect, ours, judge, words), count in Counter(tally.other).most_common(listed):
        yield f"  {count} by {judge} in {dialect}, where we say {ours}: {words}"
    if tally.refused:
        yield f"{len(tally.refused)} refusals of valid rows:"
    for judge, row, words in tally.refused[:listed]:
        yield f"  {judge} on {row.dialect}@{row.profile}, {row.case}: {words}"


def replace(path, lines):
    """Puts the figures between the marks of a document."""
    text = path.read_text()
    before, rest = text.split("<!-- figures -->", 1)
    _, behind = rest.split("<!-- /figures -->", 1)
    inside = "\n".join(lines)
    path.write_text(f"{before}<!-- figures -->\n\n{inside}\n\n<!-- /figures -->{behind}")
