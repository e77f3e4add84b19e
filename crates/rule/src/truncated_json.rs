//! `truncated-json`: a text that is the beginning of a JSON value.
//!
//! Only brackets and strings are examined, in one pass: a text that begins like an object or a list of objects and ends before they close
//! was cut, whatever its content.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Part};

use crate::walk::at_message;

/// Finds texts that end inside a JSON value: one finding a message.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for message in &linked.conversation.messages {
        let cut = message.parts.iter().filter_map(text_of).find(|text| is_cut(text));
        if let Some(text) = cut {
            let reason = "the text begins as a JSON value and ends inside it";
            let finding = at_message(&codes::TRUNCATED_JSON, message, reason).marking(text);
            findings.push(finding);
        }
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) | Part::Notice(text) => Some(text),
        Part::ToolResult(result) => Some(&result.content),
        _ => None,
    }
}

/// Whether a text begins as an object with a field, or as a list of such objects, and ends before it closes.
fn is_cut(text: &str) -> bool {
    let text = text.trim();
    let object = text.strip_prefix('[').map_or(text, str::trim_start);
    let Some(field) = object.strip_prefix('{').map(str::trim_start) else {
        return false;
    };
    let name = field.strip_prefix('"').and_then(|name| name.split_once('"'));
    if !name.is_some_and(|(_, after)| after.trim_start().starts_with(':')) {
        return false;
    }
    let (mut depth, mut is_string, mut is_escaped) = (0_u32, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return false;
                }
            }
            _ => {}
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cut_at_any_place_is_recognised_as_cut() {
        let whole = r#"{"role": "user", "content": [{"a": "}\"", "b": 1}]}"#;
        assert!(!is_cut(whole));
        // Before the name of the first field is complete, nothing is certain.
        for end in 8..whole.len() {
            let half = whole.split_at(end).0;
            assert!(is_cut(half), "{half}");
        }
        assert!(is_cut(r#" [ { "a": 1}, {"b""#));
    }

    #[test]
    fn prose_code_and_other_brackets_are_silent() {
        for text in [
            "{",
            "{ \"a\"",
            "[1, 2",
            "{x: 1",
            "{\"a\": 1} and {",
            "say {\"a\": 1",
            "",
            "{\"}",
        ] {
            assert!(!is_cut(text), "{text}");
        }
    }
}
