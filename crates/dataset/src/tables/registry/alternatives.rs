//! The table `alternatives`: all answers at a place of a conversation that has several, one row per message of each.

use crate::parquet::column::kind::{Flag, Json, KeyText, Number, Real, Text, Time, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per message of every answer at a place of a conversation where there are several: regenerated answers, other branches, preferred and rejected ones. The answer in the conversation is one of them, so that the rows of a place are complete.";

record! {
    /// A row of `alternatives`.
    AlternativeRow => pub(crate) AlternativeColumns {
        conversation_id: One<KeyText> = "its conversation",
        position: One<Number> = "place in the conversation: answers with the same position are alternatives to each other, after the messages before it",
        ordinal: One<Number> = "which of the answers at its position, from 0",
        step: One<Number> = "which message of its answer, from 0",
        origin: One<Word> = "why the record has several answers: `regenerated`, `branch`, `choice`, or `chosen` and `rejected` where they were rated",
        in_conversation: One<Flag> = "whether it is the answer in the conversation, and therefore also a row of `messages`",
        rank: Maybe<Number> = "rank of the answer among those of its position, as the record numbers them: the lowest is the best",
        score: Maybe<Real> = "score of the answer: higher is better",
        label: Maybe<Flag> = "whether the answer is rated as good, where the record rates it",
        message_id: Maybe<Text> = "id that the source gave the message",
        sender_id: Maybe<Word> = "participant who sent it",
        sender_name: Maybe<Word> = "name that it was sent under",
        role: One<Word> = "role of the sender",
        kind: One<Word> = "`message` or `notice`",
        created_at: Maybe<Time> = "when it was sent",
        text: One<Text> = "text parts, joined by a line break",
        parts: Maybe<Json> = "array of parts, as in `messages`; null where the message is a single text part, which is `text`",
        model: Maybe<Word> = "model that wrote it, where the source names one",
        extra: Maybe<Json> = "fields without a column, as they were read",
        byte_start: One<Number> = "first byte in the decompressed entry",
        byte_end: One<Number> = "one past its last byte",
    }
}
