//! The table `token_counts`: the number of tokens of each rendering in each encoding, by component.

use crate::parquet::column::kind::{KeyText, Number};
use crate::parquet::column::{One, record};

/// Description of a row.
pub(super) const ABOUT: &str =
    "One row per rendering and encoding; content, names, framing, tools, replies and meta add up to tokens.";

record! {
    /// A row of `token_counts`.
    TokenCountRow => pub(crate) TokenCountColumns {
        conversation_id: One<KeyText> = "its conversation",
        dialect: One<KeyText> = "id of the dialect",
        profile: One<KeyText> = "profile of the dialect",
        perspective: One<KeyText> = "participant who is the assistant, empty for none",
        ordinal: One<Number> = "place among the renderings of this key, from 0",
        encoding: One<KeyText> = "name of the encoding",
        tokens: One<Number> = "tokens of the rendering",
        content: One<Number> = "tokens of what the participants wrote",
        names: One<Number> = "tokens of names",
        framing: One<Number> = "tokens of the dialect's own syntax",
        tools: One<Number> = "tokens of tool definitions, calls and results",
        replies: One<Number> = "tokens of quoted references",
        meta: One<Number> = "tokens of ids, times and other marks",
        assistant_content: One<Number> = "tokens of content that the assistant writes",
        written: One<Number> = "tokens that the assistant writes, calls included, in answers that are billed here",
    }
}
