//! The words for roles: those of APIs, and those that are common in tables and records.

use chatmill_model::Role;

/// The role for a word of an API.
pub(crate) fn api_role(word: &str) -> Option<Role> {
    Some(match word {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

/// The role for a common word, in any case, with spaces and hyphens as underscores.
pub(crate) fn known_role(word: &str) -> Option<Role> {
    // Most rows have the words of APIs, and a table has a word in each row.
    if let Some(role) = api_role(word) {
        return Some(role);
    }
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
                assert_eq!(known_role(word), Some(expected), "{word}");
            }
        }
        for word in ["", "moderator", "usr", "assistant2"] {
            assert_eq!(known_role(word), None, "{word}");
        }
    }
}
