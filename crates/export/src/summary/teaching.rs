//! How much of an export a trainer learns.

use serde::Serialize;

/// How many turns of the assistant are what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Taught {
    /// Learned from the record.
    pub learned: u64,
    /// In the record as context.
    pub context: u64,
    /// To be learned, but the form has no way to say so: they stand in the record as context.
    pub missed: u64,
}

impl Taught {
    /// Adds what others are.
    pub(crate) fn add(&mut self, other: Self) {
        self.learned += other.learned;
        self.context += other.context;
        self.missed += other.missed;
    }

    /// What remains where only the last turn can be learned.
    pub(crate) fn of_last(self) -> Self {
        Self {
            learned: self.learned.min(1),
            missed: self.missed + self.learned.saturating_sub(1),
            ..self
        }
    }
}
