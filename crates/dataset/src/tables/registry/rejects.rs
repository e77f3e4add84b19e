//! The table `rejects`: every record or message that could not be kept, with its byte range.

use crate::parquet::column::kind::{Bytes, Number, Text, Word};
use crate::parquet::column::{One, record};

/// Description of a row.
pub(super) const ABOUT: &str =
    "One row per record or message that could not be kept; enough to find it again.";

record! {
    /// A row of `rejects`.
    RejectRow => pub(crate) RejectColumns {
        input: One<Word> = "name of the input",
        entry: One<Word> = "archive member, empty for the file itself",
        record: One<Number> = "number of the record in its entry, from 0",
        level: One<Word> = "`frame` or `message`",
        byte_start: One<Number> = "first byte in the decompressed entry",
        byte_end: One<Number> = "one past its last byte",
        frame_hash: One<Text> = "BLAKE3 of the rejected bytes",
        code: One<Word> = "code of the finding that gives the reason",
        message: One<Word> = "what was seen",
        head: One<Bytes> = "the first bytes, at most `limits.reject_head`",
    }
}
