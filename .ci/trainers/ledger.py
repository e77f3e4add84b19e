"""What was looked at, by whom, and what was wrong."""

from collections import Counter


class Ledger:
    def __init__(self, most):
        # How many records of a file the readers see that take their time.
        self.most = most
        self.faults = []
        self.seen = Counter()

    def fault(self, words):
        self.faults.append(words)

    def expect(self, what, found, wanted):
        if found != wanted:
            self.fault(f"{what}: {str(found)[:300]} instead of {str(wanted)[:300]}")

    def saw(self, reader, number):
        self.seen[reader] += number

    def some(self, records, slowness=1):
        """At most as many records as the slow readers see, from the whole file at equal distances."""
        most = max(self.most // slowness, 1)
        if len(records) <= most:
            return records
        return [records[place * len(records) // most] for place in range(most)]
