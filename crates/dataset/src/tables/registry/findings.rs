//! The table `findings`: every diagnostic with its place.

use crate::parquet::column::kind::{Number, Text, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per finding: what was seen, where, and what to do.";

record! {
    /// A row of `findings`.
    #[derive(serde::Serialize)]
    FindingRow => pub(crate) FindingColumns {
        code: One<Word> = "two letters and three digits",
        name: One<Word> = "name of the code",
        severity: One<Word> = "`error`, `warning` or `note`",
        count: One<Number> = "occurrences that this row summarises",
        key: One<Text> = "hash that stays the same when lines shift",
        input: One<Word> = "name of the input",
        entry: One<Word> = "archive member, empty for the file itself",
        record: Maybe<Number> = "number of the record in its entry, from 0",
        conversation_id: Maybe<Word> = "its conversation",
        position: Maybe<Number> = "place of the message, from 0",
        message_id: Maybe<Text> = "id of the message",
        line_number: Maybe<Number> = "line, from 1",
        column_number: Maybe<Number> = "column in code points, from 1",
        byte_start: Maybe<Number> = "first byte in the decompressed entry",
        byte_end: Maybe<Number> = "one past its last byte",
        json_path: Maybe<Text> = "path inside the record",
        message: One<Word> = "what was seen",
        help: One<Word> = "how to mend it at the source",
    }
}
