//! The table `message_references`: one row per reference that a message makes.

use crate::parquet::column::kind::{Flag, Json, KeyText, Number, Text, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str =
    "One row per reference that a message makes, and per reference that such a reference shows in its turn.";

record! {
    /// A row of `message_references`.
    ReferenceRow => pub(crate) ReferenceColumns {
        conversation_id: One<KeyText> = "its conversation",
        position: One<Number> = "place of the message that refers",
        message_id: Maybe<Text> = "id of the message that refers",
        ordinal: One<Number> = "place among the references of its message, from 0",
        path: One<Word> = "its own place: the ordinal, then its place among those that this one shows, and so on: `0`, `0.1`",
        target_id: Maybe<Text> = "id that it refers to",
        target_position: Maybe<Number> = "place of the message that it resolves to",
        status: One<Word> = "`resolved`, `preview`, `dangling`, `itself`, `cyclic` or `pseudo`",
        same_sender: One<Flag> = "whether both messages have the same sender",
        preview: Maybe<Json> = "what the source showed of the target",
        quoted: Maybe<Json> = "what was understood of `preview`, where that is an object of the source: `content`, `sender`, `sender_name`, `from_agent`",
    }
}
