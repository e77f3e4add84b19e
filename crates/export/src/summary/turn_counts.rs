//! The numbers of an export's turns, by their use in training.

use serde::Serialize;

/// Turns of the assistant, by their use in training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TurnCounts {
    /// Trained on.
    pub learned: u64,
    /// In the record as context.
    pub context: u64,
    /// Trained on in the dataset, but not in the record: the format trains on the last turn only, or the record ends before.
    pub missed: u64,
    /// Turns with nothing but placeholders for media, left out of a record that cannot mark them.
    #[serde(rename = "wordless")]
    pub placeholders: u64,
}

impl TurnCounts {
    /// Adds the turns of another record.
    pub(crate) fn add(&mut self, other: Self) {
        self.learned += other.learned;
        self.context += other.context;
        self.missed += other.missed;
        self.placeholders += other.placeholders;
    }

    /// The counts in a format that trains on the last turn only.
    pub(crate) fn of_last(self) -> Self {
        Self {
            learned: self.learned.min(1),
            missed: self.missed + self.learned.saturating_sub(1),
            ..self
        }
    }
}
