//! The words for roles: those of APIs, those of files for training, and those that are common in tables and records.

use chatmill_model::Role;

/// The role for a word of an API. Files for training write it with a capital, too.
pub(crate) fn api_role(word: &str) -> Option<Role> {
    let roles = [
        ("user", Role::User),
        ("assistant", Role::Assistant),
        ("system", Role::System),
        ("tool", Role::Tool),
        ("developer", Role::System),
        ("function", Role::Tool),
    ];
    let mut roles = roles.into_iter();
    let (_, role) = roles.find(|(known, _)| known.eq_ignore_ascii_case(word))?;
    Some(role)
}

/// The role for a word of files for training: those of APIs, and those for calls and results of ms-swift, `NeMo`, LLaMA-Factory and
/// Llama's templates, in any case, with spaces and hyphens as underscores.
pub(crate) fn training_role(word: &str) -> Option<Role> {
    if let Some(role) = api_role(word) {
        return Some(role);
    }
    match &*plain(word) {
        "tool_response" | "tool_responses" | "tool_result" | "tool_results" | "function_response"
        | "function_result" | "observation" | "ipython" => Some(Role::Tool),
        call => CALLS.contains(&call).then_some(Role::Assistant),
    }
}

/// Whether a word of files for training is the role of a call that is written as text.
pub(crate) fn is_call(word: &str) -> bool {
    CALLS.contains(&&*plain(word))
}

/// Roles of calls that files for training write as text.
const CALLS: [&str; 4] = ["tool_call", "tool_calls", "function_call", "function_calls"];

/// A word in lower case, with underscores for spaces and hyphens.
pub(crate) fn plain(word: &str) -> String {
    let characters = word.trim().chars().map(|character| match character {
        ' ' | '-' => '_',
        other => other.to_ascii_lowercase(),
    });
    characters.collect()
}

/// The role for a common word, in any case, with spaces and hyphens as underscores.
pub(crate) fn known_role(word: &str) -> Option<Role> {
    // Most rows have the words of APIs, and a table has a word in each row.
    if let Some(role) = api_role(word) {
        return Some(role);
    }
    Some(match &*plain(word) {
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
