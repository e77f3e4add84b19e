//! The table `renderings`: one row per conversation, dialect, perspective and ordinal. The rows of one conversation are
//! adjacent, so that a page contains the same text many times and compresses well.

use crate::parquet::column::kind::{self, Flag, Number, Text, Word};
use crate::parquet::column::{Many, Maybe, One, PerEncoding, Spans, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per rendering: a conversation in a dialect, seen from a perspective.";

record! {
    /// A row of `renderings`.
    RenderingRow => pub(crate) RenderingColumns {
        conversation_id: One<kind::KeyText> = "its conversation",
        dialect: One<kind::KeyText> = "id of the dialect",
        profile: One<kind::KeyText> = "profile of the dialect",
        perspective: One<kind::KeyText> = "participant who is the assistant, empty for none",
        ordinal: One<Number> = "place among the renderings of this key, from 0",
        media_type: One<kind::KeyText> = "media type of the content",
        content: Maybe<Text> = "the rendering; null when it was not kept",
        bytes: One<Number> = "bytes of the rendering",
        tokens: PerEncoding = "tokens of the rendering",
        requests: One<Number> = "requests needed to serve it: one per answer, plus one per answer that was paid for but is not shown",
        sent_tokens: PerEncoding = "estimated input tokens of all requests, each including the history before its answer",
        coverage: One<Word> = "`whole`, `window` or `single-turn`",
        first_position: Maybe<Number> = "place of the first message that it shows, not counting the system text in front of a window",
        last_position: Maybe<Number> = "place of the last message that it shows",
        messages_rendered: One<Number> = "messages that it shows",
        last_role: Maybe<Word> = "role of its last turn",
        assistant_messages: One<Number> = "messages by the assistant",
        assistant_spans: Spans = "byte ranges of `content` that the assistant writes: words, calls, and in a template the end of a turn; empty where `content` is null",
        learned_spans: Spans = "the ranges of them that are trained on; the others are context",
        loss_count: One<Number> = "number of its losses: the sum of `amount` in `losses`",
        loss_codes: Many<kind::KeyText> = "codes of its losses, each once",
        valid: One<Flag> = "whether the dialect's consumer accepts it",
        violations: Many<Word> = "rules that it breaks",
    }
}
