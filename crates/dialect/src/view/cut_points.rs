//! The places where a conversation may be cut: not between a call and its result.

use chatmill_diag::cut;
use chatmill_model::{CallStatus, Linked};

/// The places where a conversation may be cut without separating a call from its result.
#[derive(Clone, Debug, Default)]
pub struct CutPoints {
    /// For each position, the nearest place at or before it where a cut is allowed; one more for the end.
    nearest: Vec<u32>,
}

impl CutPoints {
    /// Finds the cut points of a conversation. Duplicate results do not prevent a cut.
    pub fn of(linked: &Linked) -> Self {
        let length = linked.conversation.messages.len();
        let mut changes = vec![0_i64; length + 2];
        for pairing in &linked.pairings {
            let (Some(call), Some(result)) = (pairing.call, pairing.result) else {
                continue;
            };
            if pairing.status == CallStatus::Duplicate {
                continue;
            }
            let low = call.position.min(result.position) as usize;
            let high = call.position.max(result.position) as usize;
            for (place, change) in [(low + 1, 1), (high + 1, -1)] {
                *cut::at_mut(&mut changes, place) += change;
            }
        }
        // The number of calls with their result on the other side of the position.
        let mut parted = 0;
        let mut latest = 0;
        let nearest =
            (0..=u32::try_from(length).unwrap_or(u32::MAX))
                .zip(changes)
                .map(|(position, change)| {
                    parted += change;
                    if parted == 0 {
                        latest = position;
                    }
                    latest
                });
        Self {
            nearest: nearest.collect(),
        }
    }

    /// Whether the conversation may be cut before a position.
    pub fn allow(&self, position: u32) -> bool {
        *cut::at(&self.nearest, position as usize) == position
    }

    /// Returns the nearest cut point at or before a place.
    pub(crate) fn at_or_before(&self, place: usize) -> usize {
        *cut::at(&self.nearest, place) as usize
    }
}
