//! The ledgers of records, bytes and rows: arithmetic which proves that nothing disappeared.

use serde::{Deserialize, Serialize};

/// Counts of one input: records, and the bytes of its decoded streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Records cut from the input.
    pub framed: u64,
    /// Records that became conversations.
    pub accepted: u64,
    /// Records in the rejects table.
    pub rejected: u64,
    /// Records that the request excludes.
    pub filtered: u64,
    /// Bytes of decoded streams.
    pub decoded_bytes: u64,
    /// Bytes of accepted records.
    pub accepted_bytes: u64,
    /// Bytes of rejected records.
    pub rejected_bytes: u64,
    /// Bytes of records that the request excludes.
    pub filtered_bytes: u64,
    /// Bytes between records: line breaks, commas, brackets, white space, byte order marks.
    pub separator_bytes: u64,
    /// Bytes of rows in tables that the request does not select.
    #[serde(default)]
    pub skipped_bytes: u64,
}

impl Ledger {
    /// Adds another ledger's counts.
    pub fn add(&mut self, other: &Self) {
        self.framed += other.framed;
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.filtered += other.filtered;
        self.decoded_bytes += other.decoded_bytes;
        self.accepted_bytes += other.accepted_bytes;
        self.rejected_bytes += other.rejected_bytes;
        self.filtered_bytes += other.filtered_bytes;
        self.separator_bytes += other.separator_bytes;
        self.skipped_bytes += other.skipped_bytes;
    }

    /// Whether every record and every byte is accounted for.
    pub fn balances(&self) -> bool {
        self.framed == self.accepted + self.rejected + self.filtered
            && self.decoded_bytes
                == self.accepted_bytes
                    + self.rejected_bytes
                    + self.filtered_bytes
                    + self.separator_bytes
                    + self.skipped_bytes
    }
}

/// Counts of the rows in accepted records, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowLedger {
    /// Rows in the records.
    pub rows: u64,
    /// Rows that became messages.
    pub messages: u64,
    /// Rows that became notices.
    pub notices: u64,
    /// Rows that became alternatives to messages, in the table `alternatives`.
    pub alternatives: u64,
    /// Rows dropped as repeats; linking finds these and moves them here.
    pub repeated: u64,
    /// Rows that were merged into another row's message or into the roster: pieces of a stream, presence.
    #[serde(default)]
    pub merged: u64,
    /// Rows in the rejects table.
    pub rejected: u64,
}

impl RowLedger {
    /// Adds another ledger's counts.
    pub fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.messages += other.messages;
        self.notices += other.notices;
        self.alternatives += other.alternatives;
        self.repeated += other.repeated;
        self.merged += other.merged;
        self.rejected += other.rejected;
    }

    /// Whether every row is accounted for.
    pub fn balances(&self) -> bool {
        let retained = self.messages + self.notices + self.alternatives;
        self.rows == retained + self.repeated + self.merged + self.rejected
    }
}

/// Whether a count is omitted from the written form.
pub fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALANCED: Ledger = Ledger {
        framed: 6,
        accepted: 3,
        rejected: 2,
        filtered: 1,
        decoded_bytes: 100,
        accepted_bytes: 50,
        rejected_bytes: 30,
        filtered_bytes: 15,
        separator_bytes: 3,
        skipped_bytes: 2,
    };

    #[test]
    fn an_empty_ledger_and_a_full_one_balance() {
        assert!(Ledger::default().balances());
        assert!(BALANCED.balances());
    }

    #[test]
    fn one_lost_record_or_byte_is_noticed() {
        assert!(
            !Ledger {
                framed: 7,
                ..BALANCED
            }
            .balances()
        );
        assert!(
            !Ledger {
                rejected: 3,
                ..BALANCED
            }
            .balances()
        );
        assert!(
            !Ledger {
                decoded_bytes: 101,
                ..BALANCED
            }
            .balances()
        );
        assert!(
            !Ledger {
                separator_bytes: 4,
                ..BALANCED
            }
            .balances()
        );
    }

    #[test]
    fn adding_adds_every_count() {
        let mut sum = BALANCED;
        sum.add(&BALANCED);
        let twice = Ledger {
            framed: 12,
            accepted: 6,
            rejected: 4,
            filtered: 2,
            decoded_bytes: 200,
            accepted_bytes: 100,
            rejected_bytes: 60,
            filtered_bytes: 30,
            separator_bytes: 6,
            skipped_bytes: 4,
        };
        assert_eq!(sum, twice);
        assert!(sum.balances());
    }
}
