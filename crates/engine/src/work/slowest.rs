//! The slowest conversations, for `run.json`, which is not certified. Times are written to no other file.

use std::time::Duration;

use chatmill_dataset::SliceId;
use serde::Serialize;

/// The number of conversations that are kept.
const MAX_REMEMBERED: usize = 20;

/// A conversation and its processing time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct TimedConversation {
    /// The id in the dataset.
    pub conversation_id: String,
    /// Name of the input.
    pub input: String,
    /// Bytes of its record, or of its rows.
    pub bytes: u64,
    /// Seconds from its bytes to its rows in the tables.
    pub seconds: f64,
    /// The slice of the conversation: processing the slice again replaces its times.
    #[serde(skip)]
    slice: SliceId,
}

/// The slowest conversations, slowest first.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Slowest(Vec<TimedConversation>);

impl Slowest {
    /// Adds a conversation if it is among the slowest. `name` returns its id and the name of its input.
    pub(crate) fn offer(
        &mut self,
        slice: SliceId,
        taken: Duration,
        bytes: usize,
        name: impl FnOnce() -> (String, String),
    ) {
        let seconds = taken.as_secs_f64();
        let place = self.0.partition_point(|other| other.seconds >= seconds);
        if place < MAX_REMEMBERED {
            let (conversation_id, input) = name();
            let slow = TimedConversation {
                conversation_id,
                input,
                bytes: bytes as u64,
                seconds,
                slice,
            };
            self.0.insert(place, slow);
            self.0.truncate(MAX_REMEMBERED);
        }
    }

    /// Adds the times measured in a slice, replacing earlier ones of the same slice.
    pub(crate) fn merge(&mut self, slice: SliceId, measured: Self) {
        self.0.retain(|slow| slow.slice != slice);
        self.0.extend(measured.0);
        self.0.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        self.0.truncate(MAX_REMEMBERED);
    }

    /// Replaces ids with numbers, for a run that quotes no content.
    pub(crate) fn leave_out_ids(&mut self) {
        for (number, slow) in (1..).zip(&mut self.0) {
            slow.conversation_id = format!("id-{number}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(slice: u32, milliseconds: &[u64]) -> Slowest {
        let mut slowest = Slowest::default();
        for taken in milliseconds {
            slowest.offer(slice.into(), Duration::from_millis(*taken), 7, || {
                ("id".to_owned(), "in.json".to_owned())
            });
        }
        slowest
    }

    fn milliseconds(slowest: &Slowest) -> Vec<f64> {
        slowest.0.iter().map(|slow| slow.seconds * 1000.0).collect()
    }

    #[test]
    fn the_slowest_conversations_come_first_up_to_the_limit() {
        let many: Vec<u64> = (1..=50).collect();
        let mut all = measured(0, &many);
        all.merge(1.into(), measured(1, &[45, 900]));
        let found = milliseconds(&all);
        assert_eq!(found.len(), MAX_REMEMBERED);
        assert_eq!(found[..3], [900.0, 50.0, 49.0]);
        assert_eq!(found[6..8], [45.0, 45.0]);
    }

    #[test]
    fn a_slice_that_is_done_again_counts_once() {
        let mut all = measured(0, &[9]);
        all.merge(3.into(), measured(3, &[5, 7]));
        all.merge(3.into(), measured(3, &[6]));
        assert_eq!(milliseconds(&all), [9.0, 6.0]);
    }
}
