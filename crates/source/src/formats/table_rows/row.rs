//! The columns of a row, and the words that tables have for roles.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::Value;
use chatmill_model::Role;

use crate::reader::{Wire as _, id, wire};

wire! {
    /// The columns that are read. `source_type` is the table's own word for the role, where a map translated it.
    Columns {
        id: "id",
        conversation: "conversation",
        order: "order",
        role: "role",
        sender: "sender",
        sender_name: "sender_name",
        content: "content",
        metadata: "metadata",
        reply_to: "reply_to",
        created: "created_at",
        source_type: "source_type",
        tool_calls: "tool_calls",
        tool_call_id: "tool_call_id",
        name: "name",
    }
}

/// A row; columns that are null are absent.
#[derive(Debug)]
pub struct Row<'d> {
    /// Its index in the record.
    pub index: u32,
    /// The whole row.
    pub value: Value<'d>,
    /// Id of the message.
    pub id: Option<String>,
    /// All columns.
    pub columns: Columns<'d>,
}

impl<'d> Row<'d> {
    /// The row of these columns, or why it is none.
    pub fn of(index: u32, value: Value<'d>, columns: Columns<'d>) -> Result<Self, Box<Finding>> {
        let columns = columns.without_nulls();
        let says_something = [columns.role, columns.sender, columns.content, columns.tool_calls];
        if says_something.iter().all(Option::is_none) {
            let text = "the row has neither role, sender nor content and is rejected: the table map may name other columns";
            return Err(Box::new(Finding::new(&codes::MISSING_FIELD, text)));
        }
        Ok(Self {
            index,
            value,
            id: columns.id.and_then(id),
            columns,
        })
    }
}

/// The role that a word of a table means, in any case, with spaces and hyphens as underscores.
pub fn role(word: &str) -> Option<Role> {
    let plain: String = word
        .trim()
        .chars()
        .map(|character| match character {
            ' ' | '-' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect();
    Some(match plain.as_str() {
        "user" | "human" | "customer" | "client" | "visitor" | "guest" | "member" | "person" | "player"
        | "student" | "patient" | "requester" | "end_user" | "enduser" | "user_message" | "question"
        | "prompt" | "input" | "inbound" | "incoming" => Role::User,
        "assistant" | "bot" | "ai" | "model" | "agent" | "chatbot" | "llm" | "gpt" | "ai_agent"
        | "ai_assistant" | "virtual_agent" | "virtual_assistant" | "assistant_message" | "answer"
        | "response" | "completion" | "output" | "outbound" | "outgoing" => Role::Assistant,
        "system" | "developer" | "system_message" | "instruction" | "instructions" => Role::System,
        "tool" | "function" | "tool_result" | "tool_output" | "tool_response" | "function_result"
        | "function_response" => Role::Tool,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_many_tables_are_known_in_any_spelling() {
        for (words, expected) in [
            ([" Human", "CUSTOMER", "end-user"], Role::User),
            (["Bot", "AI Agent", "virtual-assistant"], Role::Assistant),
            (["system", "Developer", "instructions"], Role::System),
            (["tool", "FUNCTION", "tool result"], Role::Tool),
        ] {
            for word in words {
                assert_eq!(role(word), Some(expected), "{word}");
            }
        }
        for word in ["", "moderator", "usr", "assistant2"] {
            assert_eq!(role(word), None, "{word}");
        }
    }
}
