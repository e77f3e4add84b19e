"""Counts verdicts: which judge accepts how many of the rows that we call valid or invalid, and whether it names our reasons."""

import re
from collections import Counter, defaultdict


def ask(judge, row):
    """The objection of the judge to a row; none when it accepts."""
    try:
        return judge.judge(row)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        return f"not of the shape that the judge expects: {type(error).__name__} {error}"


def excuse(judge, words):
    """The reason why a refusal does not count, where there is one."""
    return next((reason for pattern, reason in judge.ALLOWED if re.match(pattern, words)), None)


def named(judge, words):
    """Codes of the rules that the judge's words are about."""
    return {rule for pattern, rules in judge.REASONS if re.search(pattern, words) for rule in rules}


def example(words):
    """Words of a judge without the numbers and ids that differ from row to row."""
    without_names = re.sub(r"'[^']*'|\[[^\]]*\]", "…", words.split(";")[0])
    return re.sub(r"(?<![A-Z]-)\b\d+", "N", without_names)[:110]


class Tally:
    def __init__(self):
        self.counts = defaultdict(Counter)
        # Refusals of valid rows.
        self.refused = []
        self.excused = Counter()
        # Refusals of invalid rows: dialect, our rules, judge, its words; with our rule among its own, or for another reason.
        self.same = Counter()
        self.other = Counter()
        # Invalid rows by dialect and rule, those that no judge refuses among them.
        self.invalid = Counter()
        self.alone = Counter()
        self.accepted = []

    def look_at(self, row, judges):
        ours = {violation.split(":")[0] for violation in row.violations}
        refusals = [self.ask(judge, row, ours) for judge in judges]
        self.invalid.update((row.dialect, rule) for rule in ours)
        if ours and not any(refusals):
            self.alone.update((row.dialect, rule) for rule in ours)
            self.accepted.append(row)

    def ask(self, judge, row, ours):
        words = ask(judge, row)
        cell = self.counts[f"{row.dialect}@{row.profile}", judge.NAME]
        kind = "valid" if row.valid else "invalid"
        cell[kind, "tried"] += 1
        reason = words and excuse(judge, words)
        if words is None:
            cell[kind, "accepted"] += 1
        elif reason:
            cell["excused"] += 1
            self.excused[judge.NAME, reason] += 1
            words = None
        elif row.valid:
            self.refused.append((judge.NAME, row, words))
        else:
            theirs = named(judge, words)
            is_same = bool(theirs & ours)
            cell["same" if is_same else "other"] += 1
            side_by_side = (row.dialect, ", ".join(sorted(ours)), judge.NAME, example(words))
            (self.same if is_same else self.other)[side_by_side] += 1
        return words

    def verdicts(self):
        return sum(cell["valid", "tried"] + cell["invalid", "tried"] for cell in self.counts.values())
