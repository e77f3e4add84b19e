//! The table `losses`: what a dialect could not carry, and why. The losses of a rendering with the same kind and reason
//! are one row.

use crate::parquet::column::kind::{KeyText, Number, Position};
use crate::parquet::column::{Many, One, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per rendering, kind of loss and reason.";

record! {
    /// A row of `losses`. Columns with values that the losses of a rendering share are keys.
    LossRow => pub(crate) LossColumns {
        conversation_id: One<KeyText> = "its conversation",
        dialect: One<KeyText> = "id of the dialect",
        profile: One<KeyText> = "profile of the dialect",
        perspective: One<KeyText> = "participant who is the assistant, empty for none",
        ordinal: One<Number> = "place among the renderings of this key, from 0",
        code: One<KeyText> = "kind of loss",
        reason: One<KeyText> = "why the dialect could not carry it",
        amount: One<Number> = "occurrences",
        positions: Many<Position> = "places of the messages, ascending; empty where the whole rendering is meant",
    }
}
