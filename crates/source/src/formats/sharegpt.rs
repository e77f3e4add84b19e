//! `ShareGPT` records: turns with `from` and `value`, as fine-tuning files of open models have them.
//!
//! The smallest example:
//!
//! ```json
//! {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
//! ```
//!
//! Tools have no ids: a `function_call` is JSON text with name and arguments, or a list of such, and the `observation`
//! after it is its result. Turns that say `role` and `content` instead are read alike.

use chatmill_diag::{Limits, Severity};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, Role, ToolResult};

use crate::reader::tool_calls::spelled;
use crate::reader::{
    Keep as _, RequestForm, Requests, Site, Turn, holds, message_object, present, text, thoughts,
};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "sharegpt",
    title: "ShareGPT records",
    specification: "LLaMA-Factory, data format",
    shapes: &["sharegpt"],
    carries: "roles, text, reasoning between <think> tags, system text, tool definitions, calls and results by their order",
    customs: NO_TEXT_ARGUMENTS,
};

static FORM: RequestForm = RequestForm {
    list: "conversations",
    may_be_text: false,
    system: Some("system"),
    tools: "tools",
    answer: Some("chosen"),
    known: &["from", "value", "role", "content"],
    turn,
};

/// The source `sharegpt`.
pub static SHAREGPT: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: None,
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let inside = |key| holds(record, "conversations", key);
    if inside("from") && inside("value") {
        return Some((95, "conversations hold from and value".to_owned()));
    }
    let is_list = inside("role") && inside("content");
    is_list.then(|| (80, "conversations hold role and content".to_owned()))
}

/// The role that a tag means.
fn role(tag: &str) -> Option<Role> {
    Some(match tag {
        "human" => Role::User,
        "gpt" | "chatgpt" | "bot" | "model" | "function_call" => Role::Assistant,
        "observation" | "function_response" => Role::Tool,
        other => return message_object::role(other),
    })
}

/// Reads a turn, or the system text.
fn turn(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    let mut turn = Turn::default();
    if value.kind() != Kind::Object {
        turn.parts.push(Part::Text(message_object::text_of(value)));
        return turn;
    }
    let (tag, field) = if value.get("role").or_else(|| value.get("content")).is_some() {
        ("role", "content")
    } else {
        ("from", "value")
    };
    turn.take_role(tag, value, site, role);
    let is_call = text(value.get(tag)).as_deref() == Some("function_call");
    match present(value, field) {
        None => {
            site.missing(field, Severity::Error);
            // What a tool says is a result, also where that is nothing.
            if turn.role == Some(Role::Tool) && !is_call {
                turn.parts.push(result(String::new()));
            }
        }
        Some(words) => {
            if words.kind() != Kind::String && !is_call {
                let text = format!("the {field} is not a string and is read as its JSON text");
                site.error(field, &text, words);
            }
            let words = message_object::text_of(words);
            match turn.role {
                _ if is_call => turn
                    .parts
                    .extend(spelled(words, limits.depth).into_iter().map(Part::ToolCall)),
                Some(Role::Tool) => turn.parts.push(result(words)),
                Some(Role::Assistant) => turn.parts.extend(spoken(words)),
                _ => turn.parts.push(Part::Text(words)),
            }
        }
    }
    // A known tag is the format's own word and tells nothing about the archive.
    if turn.role.is_some() {
        turn.word = None;
    }
    turn.keep_rest(value, "", &[tag, field]);
    turn
}

fn result(content: String) -> Part {
    Part::ToolResult(ToolResult {
        content,
        ..ToolResult::default()
    })
}

/// What the assistant says, and what it thought before.
fn spoken(words: String) -> Vec<Part> {
    let Some((thought, turn)) = thoughts::divided(&words) else {
        return vec![Part::Text(words)];
    };
    let mut parts = vec![Part::Reasoning(thoughts::thought(thought))];
    if !turn.is_empty() {
        parts.push(Part::Text(turn.to_owned()));
    }
    parts
}
