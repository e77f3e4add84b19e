//! The table `message_references`: one row per reference that a message makes.

use crate::parquet::column::kind::{Flag, Json, KeyText, Number, Text, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str =
    "One row per reference that a message makes, and per reference that is nested in such a reference.";

record! {
    /// A row of `message_references`.
    ReferenceRow => pub(crate) ReferenceColumns {
        conversation_id: One<KeyText> = "its conversation",
        position: One<Number> = "place of the message that refers",
        message_id: Maybe<Text> = "id of the message that refers",
        ordinal: One<Number> = "place among the references of its message, from 0",
        path: One<Word> = "place of the reference: the ordinal, then the place among the references nested in it, and so on: `0`, `0.1`",
        target_id: Maybe<Text> = "id that it refers to",
        target_position: Maybe<Number> = "place of the message that it resolves to",
        status: One<Word> = "`resolved`, `preview`, `dangling`, `itself`, `cyclic` or `pseudo`",
        same_sender: One<Flag> = "whether both messages have the same sender",
        preview: Maybe<Json> = "preview of the target in the source",
        quoted: Maybe<Json> = "fields recognised in `preview`, where it is an object: `content`, `sender`, `sender_name`, `from_agent`",
    }
}
