//! The table `totals`: the bill, per source, day, model, dialect, profile, encoding and coverage.

use crate::parquet::column::kind::{Number, Real, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per source, day, model, dialect, profile, encoding and coverage.";

record! {
    /// A row of `totals`.
    TotalRow => pub(crate) TotalColumns {
        source: One<Word> = "id of the source",
        day: Maybe<Word> = "day of the answers, `2026-01-31` in UTC; without requests, of the last message; null where unknown",
        model: Maybe<Word> = "model that wrote them or was requested; null where unknown",
        dialect: One<Word> = "id of the dialect",
        profile: One<Word> = "profile of the dialect",
        encoding: One<Word> = "name of the encoding",
        coverage: One<Word> = "`whole`, `window` or `single-turn`",
        conversations: One<Number> = "conversations, each with its last request",
        renderings: One<Number> = "renderings, each with its last request",
        messages_rendered: One<Number> = "messages that the renderings show",
        bytes: One<Number> = "bytes of the renderings",
        tokens: One<Number> = "tokens of the renderings",
        content: One<Number> = "tokens of what the participants wrote",
        names: One<Number> = "tokens of names",
        framing: One<Number> = "tokens of the dialect's own syntax",
        tools: One<Number> = "tokens of tool definitions, calls and results",
        replies: One<Number> = "tokens of quoted references",
        meta: One<Number> = "tokens of ids, times and other marks",
        assistant_content: One<Number> = "tokens of content that the assistant writes",
        requests: One<Number> = "requests needed to serve the chats: one per answer, plus one per answer that was paid for but is not shown",
        tokens_sent: One<Number> = "estimated input tokens of all requests, each including the history before its answer",
        written: One<Number> = "tokens that the assistant writes in answer to them, calls included",
        logged_requests: One<Number> = "requests with token counts logged by the provider",
        logged_input: One<Number> = "tokens that it logged as sent",
        logged_cached_input: One<Number> = "tokens of `logged_input` that it logged as read from a cache",
        logged_cache_write: One<Number> = "tokens of `logged_input` that it logged as written to a cache for minutes",
        logged_cache_write_1h: One<Number> = "tokens of `logged_input` that it logged as written to a cache for an hour",
        logged_output: One<Number> = "tokens that it logged as written",
        logged_searches: One<Number> = "web searches that it logged",
        logged_cost_requests: One<Number> = "requests with a logged cost",
        logged_cost: Maybe<Real> = "their logged cost, in US dollars; null where none is logged",
        p50: One<Number> = "median of tokens per rendering",
        p95: One<Number> = "95th percentile of tokens per rendering",
        p99: One<Number> = "99th percentile of tokens per rendering",
        invalid: One<Number> = "renderings that are not valid",
        losses: One<Number> = "number of their losses: the sum of `amount` in `losses`",
    }
}
