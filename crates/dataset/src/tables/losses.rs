//! The table `losses`: what a dialect could not carry, and why; one row for all that a rendering lost of one kind for one
//! reason.

use crate::column::kind::{Key, Number, Position};
use crate::column::{Many, One, record};
use crate::table::Table;

record! {
    /// A row of `losses`. There are several for each rendering, so what they have in common is shared.
    LossRow => pub(crate) LossColumns {
        conversation_id: One<Key> = "its conversation",
        dialect: One<Key> = "id of the dialect",
        profile: One<Key> = "profile of the dialect",
        perspective: One<Key> = "participant who is the assistant, empty for none",
        ordinal: One<Number> = "place among the renderings of this key, from 0",
        code: One<Key> = "kind of loss",
        reason: One<Key> = "why the dialect could not carry it",
        amount: One<Number> = "occurrences",
        positions: Many<Position> = "places of the messages, ascending; empty where the whole rendering is meant",
    }
}

impl Table for LossColumns {
    const NAME: &'static str = "losses";
    const ABOUT: &'static str = "One row per rendering, kind of loss and reason.";
}
