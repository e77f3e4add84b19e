//! The columns of a row, and the words that tables have for roles.

use std::borrow::Cow;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::Role;

/// A row; columns that are null are absent.
#[derive(Debug)]
pub struct Row<'d> {
    /// Its index in the record.
    pub index: u32,
    /// The whole row.
    pub value: Value<'d>,
    /// Id of the message.
    pub id: Option<String>,
    /// Id of the conversation.
    pub conversation: Option<Value<'d>>,
    /// What orders the rows.
    pub order: Option<Value<'d>>,
    /// Who speaks as what.
    pub role: Option<Value<'d>>,
    /// Id of the speaker.
    pub sender: Option<Value<'d>>,
    /// Name of the speaker.
    pub sender_name: Option<Value<'d>>,
    /// What is said.
    pub content: Option<Value<'d>>,
    /// What the table notes about it.
    pub metadata: Option<Value<'d>>,
    /// Id of the message that it answers.
    pub reply_to: Option<Value<'d>>,
    /// When it was written.
    pub created: Option<Value<'d>>,
    /// The table's own word for the role, where a map translated it.
    pub source_type: Option<Value<'d>>,
    /// Calls of tools.
    pub tool_calls: Option<Value<'d>>,
    /// Id of the call that it is the result of.
    pub tool_call_id: Option<Value<'d>>,
    /// Name of the tool.
    pub name: Option<Value<'d>>,
    /// All other columns.
    pub others: Vec<(Cow<'d, str>, Value<'d>)>,
}

impl<'d> Row<'d> {
    /// Reads the columns, or says why this is no row.
    pub fn read(index: u32, value: Value<'d>) -> Result<Self, Box<Finding>> {
        if value.kind() != Kind::Object {
            let text = "the row is no object and is rejected";
            return Err(Box::new(Finding::new(&codes::WRONG_TYPE, text)));
        }
        let mut row = Self {
            index,
            value,
            id: None,
            conversation: None,
            order: None,
            role: None,
            sender: None,
            sender_name: None,
            content: None,
            metadata: None,
            reply_to: None,
            created: None,
            source_type: None,
            tool_calls: None,
            tool_call_id: None,
            name: None,
            others: Vec::new(),
        };
        let mut id = None;
        for (key, value) in value.fields() {
            let slot = match &*key {
                "id" => &mut id,
                "conversation" => &mut row.conversation,
                "order" => &mut row.order,
                "role" => &mut row.role,
                "sender" => &mut row.sender,
                "sender_name" => &mut row.sender_name,
                "content" => &mut row.content,
                "metadata" => &mut row.metadata,
                "reply_to" => &mut row.reply_to,
                "created_at" => &mut row.created,
                "source_type" => &mut row.source_type,
                "tool_calls" => &mut row.tool_calls,
                "tool_call_id" => &mut row.tool_call_id,
                "name" => &mut row.name,
                _ => {
                    row.others.push((key, value));
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                let text = "a known column stands more than once: the row is rejected";
                return Err(Box::new(Finding::new(&codes::DUPLICATE_KEY, text).quoting(&key)));
            }
        }
        for slot in [
            &mut row.conversation,
            &mut row.order,
            &mut row.role,
            &mut row.sender,
            &mut row.sender_name,
            &mut row.content,
            &mut row.metadata,
            &mut row.reply_to,
            &mut row.created,
            &mut row.source_type,
            &mut row.tool_calls,
            &mut row.tool_call_id,
            &mut row.name,
        ] {
            *slot = slot.filter(|value| !value.is_null());
        }
        row.id = id.and_then(text);
        let says_something = [row.role, row.sender, row.content, row.tool_calls];
        if says_something.iter().all(Option::is_none) {
            let text = "the row has neither role, sender nor content and is rejected: the table map may name other columns";
            return Err(Box::new(Finding::new(&codes::MISSING_FIELD, text)));
        }
        Ok(row)
    }
}

/// A string that is not empty, or a number as written.
pub fn text(value: Value<'_>) -> Option<String> {
    let text = value
        .as_str()
        .or_else(|| value.number_text().map(Cow::Borrowed))?;
    (!text.is_empty()).then(|| text.into_owned())
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
