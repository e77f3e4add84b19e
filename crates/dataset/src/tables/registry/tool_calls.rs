//! The table `tool_calls`: one row per call and per result that answers no call or answers it again.

use crate::parquet::column::kind::{Flag, KeyText, Number, Text, Word};
use crate::parquet::column::{Maybe, One, record};

/// Description of a row.
pub(super) const ABOUT: &str =
    "One row per tool call, and per result that answers no call or answers it again.";

record! {
    /// A row of `tool_calls`.
    ToolCallRow => pub(crate) ToolCallColumns {
        conversation_id: One<KeyText> = "its conversation",
        call_id: Maybe<Text> = "id that binds call and result",
        name: Maybe<Word> = "name of the tool",
        arguments: Maybe<Text> = "arguments as the source wrote them, JSON or not",
        arguments_valid: Maybe<Flag> = "whether the arguments are a JSON object",
        call_position: Maybe<Number> = "place of the message that calls",
        result_position: Maybe<Number> = "place of the message that answers",
        result: Maybe<Text> = "content of the result",
        is_error: Maybe<Flag> = "whether the result reports an error",
        status: One<Word> = "`paired`, `late`, `early`, `unanswered`, `orphaned` or `duplicate`",
        paired_by: Maybe<Word> = "`id`, `metadata`, `position` or `name`",
    }
}
