//! The table `messages`: one row per message and notice, in canonical order.

use crate::parquet::column::kind::{Json, KeyText, Number, Real, Text, Time, Word};
use crate::parquet::column::{Many, Maybe, One, PerEncoding, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per message or notice, in canonical order.";

record! {
    /// A row of `messages`.
    MessageRow => pub(crate) MessageColumns {
        conversation_id: One<KeyText> = "its conversation",
        position: One<Number> = "place in the conversation, from 0",
        message_id: Maybe<Text> = "id, unique in its conversation",
        sender_id: Maybe<Word> = "participant who sent it",
        sender_name: Maybe<Word> = "name that it was sent under",
        role: One<Word> = "role of the sender",
        kind: One<Word> = "`message` or `notice`",
        source_type: Maybe<Word> = "type that the source wrote",
        created_at: Maybe<Time> = "when it was sent",
        created_at_raw: Maybe<Text> = "the time as the source wrote it",
        text: One<Text> = "text parts, joined by a line break",
        parts: Maybe<Json> = "array of parts, each with its `type`; null where the message is a single text part, which is `text`",
        mentions: Many<Word> = "participants or names that it mentions",
        weight: Maybe<Real> = "weight in training, where the source gives one: 0 is context only, 1 is trained on",
        model: Maybe<Word> = "model that wrote it, where the source names one",
        usage_input: Maybe<Number> = "tokens that the provider logged as sent in the request that it answers, cached ones included",
        usage_cached_input: Maybe<Number> = "tokens of `usage_input` that were logged as read from a cache",
        usage_cache_write: Maybe<Number> = "tokens of `usage_input` that were logged as written to a cache for minutes",
        usage_cache_write_1h: Maybe<Number> = "tokens of `usage_input` that were logged as written to a cache for an hour",
        usage_output: Maybe<Number> = "tokens that the provider logged as written",
        usage_searches: Maybe<Number> = "web searches that were logged",
        usage_requests: Maybe<Number> = "number of requests that the counts are summed over, where the program logs no counts per request",
        usage_tier: Maybe<Word> = "how the request was served, where that is logged: `standard`, `batch`, `flex`, `priority` or `fast`",
        logged_cost: Maybe<Real> = "logged cost of the request, in US dollars",
        answer_id: Maybe<Text> = "id that the provider gave the answer, where the source has one",
        extra: Maybe<Json> = "fields without a column, as they were read",
        byte_start: One<Number> = "first byte in the decompressed entry",
        byte_end: One<Number> = "one past its last byte",
        tokens: PerEncoding = "tokens of `text`",
    }
}
