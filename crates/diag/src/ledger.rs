//! The arithmetic that proves that nothing disappeared.

/// Counts of one input: records, and the bytes of its decoded streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Records cut from the input.
    pub framed: u64,
    /// Records that became conversations.
    pub accepted: u64,
    /// Records in the rejects table.
    pub rejected: u64,
    /// Records left out by the request.
    pub filtered: u64,
    /// Bytes of decoded streams.
    pub decoded_bytes: u64,
    /// Bytes of accepted records.
    pub accepted_bytes: u64,
    /// Bytes of rejected records.
    pub rejected_bytes: u64,
    /// Bytes of records left out by the request.
    pub filtered_bytes: u64,
    /// Bytes between records: line breaks, commas, brackets, white space, byte order marks.
    pub separator_bytes: u64,
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
    }

    /// Whether every record and every byte is accounted for.
    pub fn balances(&self) -> bool {
        self.framed == self.accepted + self.rejected + self.filtered
            && self.decoded_bytes
                == self.accepted_bytes
                    + self.rejected_bytes
                    + self.filtered_bytes
                    + self.separator_bytes
    }
}
