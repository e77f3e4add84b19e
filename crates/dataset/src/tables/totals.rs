//! The table `totals`: the bill, per source, dialect, profile, encoding and coverage.

use crate::column::kind::{Number, Word};
use crate::column::{One, record};
use crate::table::Table;

record! {
    /// A row of `totals`.
    TotalRow => pub(crate) TotalColumns {
        source: One<Word> = "id of the source",
        dialect: One<Word> = "id of the dialect",
        profile: One<Word> = "profile of the dialect",
        encoding: One<Word> = "name of the encoding",
        coverage: One<Word> = "`whole`, `window` or `single-turn`",
        conversations: One<Number> = "conversations",
        messages_rendered: One<Number> = "messages that the renderings show",
        bytes: One<Number> = "bytes of the renderings",
        tokens: One<Number> = "tokens of the renderings",
        content: One<Number> = "tokens of what was said",
        names: One<Number> = "tokens of names",
        framing: One<Number> = "tokens of the dialect's own syntax",
        tools: One<Number> = "tokens of tool definitions, calls and results",
        replies: One<Number> = "tokens of quoted references",
        meta: One<Number> = "tokens of ids, times and other marks",
        assistant_content: One<Number> = "the share of content that the assistant says",
        requests: One<Number> = "how often the chats are sent as they are served: once per answer",
        tokens_sent: One<Number> = "estimate: tokens of all requests, each with what stands before its answer",
        p50: One<Number> = "median of tokens per rendering",
        p95: One<Number> = "95th percentile of tokens per rendering",
        p99: One<Number> = "99th percentile of tokens per rendering",
        invalid: One<Number> = "renderings that are not valid",
        losses: One<Number> = "what they lost: the sum of `amount` in `losses`",
    }
}

impl Table for TotalColumns {
    const NAME: &'static str = "totals";
    const ABOUT: &'static str = "One row per source, dialect, profile, encoding and coverage.";
}
