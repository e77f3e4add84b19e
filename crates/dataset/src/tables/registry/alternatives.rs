//! The table `alternatives`: the answers that stood at one place of a conversation, one row per message of each.

use crate::parquet::column::kind::{Flag, Json, KeyText, Number, Real, Text, Time, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per message of every answer at a place of a conversation where there are several: regenerated answers, other branches, preferred and rejected ones. That of the conversation stands among them, so that a place can be read whole.";

record! {
    /// A row of `alternatives`.
    AlternativeRow => pub(crate) AlternativeColumns {
        conversation_id: One<KeyText> = "its conversation",
        position: One<Number> = "place in the conversation: the answers with one position stand in one another's place, after the messages before it",
        ordinal: One<Number> = "which of the answers at its position, from 0",
        step: One<Number> = "which message of its answer, from 0",
        origin: One<Word> = "how the record came by several answers: `regenerated`, `branch`, `choice`, or `chosen` and `rejected` where they were judged",
        in_conversation: One<Flag> = "whether it is the answer that the conversation holds, and so also a row of `messages`",
        rank: Maybe<Number> = "rank of the answer among those of its position, as the record numbers them: the lowest is the best",
        score: Maybe<Real> = "score of the answer: the more, the better",
        label: Maybe<Flag> = "whether the answer is good, where the record says so",
        message_id: Maybe<Text> = "id that the source gave the message",
        sender_id: Maybe<Word> = "participant who sent it",
        sender_name: Maybe<Word> = "name that it was sent under",
        role: One<Word> = "role of the sender",
        kind: One<Word> = "`message` or `notice`",
        created_at: Maybe<Time> = "when it was sent",
        text: One<Text> = "text parts, joined by a line break",
        parts: Maybe<Json> = "array of parts, as in `messages`; null where the message is one text part and `text` says all of it",
        model: Maybe<Word> = "model that wrote it, where the source says",
        extra: Maybe<Json> = "fields without a column, as they were read",
        byte_start: One<Number> = "first byte in the decompressed entry",
        byte_end: One<Number> = "one past its last byte",
    }
}
