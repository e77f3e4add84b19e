//! `ShareGPT` records: turns with `from` and `value`, as fine-tuning files of open models have them.
//!
//! The smallest example:
//!
//! ```json
//! {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
//! ```
//!
//! Tools have no ids: a `function_call` is JSON text with name and arguments, or a list of such, and the `observation`
//! behind it is its result. Turns that say `role` and `content` instead are read alike.

use chatmill_diag::{Limits, Severity};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{ArgumentForm, Arguments, Customs, Part, Role, TextArguments, ToolCall, ToolResult};

use crate::arguments::embedded;
use crate::notes::Site;
use crate::requests::{Form, Requests, Said, holds};
use crate::taken::text;
use crate::{About, thoughts, turn};

static ABOUT: About = About {
    title: "ShareGPT records",
    specification: "LLaMA-Factory, data format",
    shapes: &["sharegpt"],
    carries: "roles, text, reasoning between <think> tags, system text, tool definitions, calls and results by their order",
    customs: Customs {
        text_arguments: TextArguments::None,
        ..Customs::USUAL
    },
};

static FORM: Form = Form {
    source: "sharegpt",
    shape: "sharegpt",
    list: "conversations",
    may_be_text: false,
    system: Some("system"),
    tools: "tools",
    answer: Some("chosen"),
    known: &["from", "value", "role", "content"],
    turn: said,
};

/// The source `sharegpt`.
pub static SOURCE: Requests = Requests {
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
        other => return turn::role(other),
    })
}

/// Reads a turn, or the system text.
fn said(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Said {
    let mut said = Said::default();
    if value.kind() != Kind::Object {
        said.parts.push(Part::Text(turn::text_of(value)));
        return said;
    }
    let (tag, field) = if value.get("role").or_else(|| value.get("content")).is_some() {
        ("role", "content")
    } else {
        ("from", "value")
    };
    said.take_role(tag, value, site, role);
    let is_call = text(value.get(tag)).as_deref() == Some("function_call");
    match value.get(field).filter(|words| !words.is_null()) {
        None => {
            site.missing(field, Severity::Error);
            // What a tool says is a result, also where that is nothing.
            if said.role == Some(Role::Tool) && !is_call {
                said.parts.push(result(String::new()));
            }
        }
        Some(words) => {
            if words.kind() != Kind::String && !is_call {
                let text = format!("the {field} is no string and is read as its JSON text");
                site.wrong(field, &text, Severity::Error, words);
            }
            let words = turn::text_of(words);
            match said.role {
                _ if is_call => said
                    .parts
                    .extend(calls(words, limits.depth).into_iter().map(Part::ToolCall)),
                Some(Role::Tool) => said.parts.push(result(words)),
                Some(Role::Assistant) => said.parts.extend(spoken(words)),
                _ => said.parts.push(Part::Text(words)),
            }
        }
    }
    // A known tag is the format's own word and tells nothing about the archive.
    if said.role.is_some() {
        said.word = None;
    }
    said.keep_rest(value, "", &[tag, field]);
    said
}

fn result(content: String) -> Part {
    Part::ToolResult(ToolResult {
        call_id: None,
        name: None,
        content,
        is_error: false,
        metadata_id: None,
        caller: None,
    })
}

/// What the assistant says, and what it thought before.
fn spoken(words: String) -> Vec<Part> {
    let Some((thought, said)) = thoughts::divided(&words) else {
        return vec![Part::Text(words)];
    };
    let mut parts = vec![Part::Reasoning(thoughts::thought(thought))];
    if !said.is_empty() {
        parts.push(Part::Text(said.to_owned()));
    }
    parts
}

/// The calls that a text spells; text that is no JSON of that form is one call with malformed arguments.
pub fn calls(words: String, depth: u32) -> Vec<ToolCall> {
    let found = json::scan(words.as_bytes(), depth).ok().and_then(|document| {
        let root = document.root();
        match root.kind() {
            Kind::Object => call(root, depth).map(|call| vec![call]),
            Kind::Array if !root.is_empty() => root.items().map(|value| call(value, depth)).collect(),
            _ => None,
        }
    });
    found.unwrap_or_else(|| {
        vec![ToolCall {
            id: None,
            name: None,
            arguments: Arguments::Malformed(words),
            form: ArgumentForm::Text,
            metadata_id: None,
        }]
    })
}

/// A call as an object with `name`; none where it has further fields, which would be lost.
pub fn call(value: Value<'_>, depth: u32) -> Option<ToolCall> {
    let is_call = value
        .fields()
        .all(|(key, _)| matches!(&*key, "name" | "arguments"));
    let name = text(value.get("name")).filter(|_| is_call)?;
    let (arguments, form) = match value.get("arguments") {
        None => (Arguments::Malformed(String::new()), ArgumentForm::Text),
        Some(given) => match given.as_str() {
            Some(text) => (quoted(&text, depth), ArgumentForm::Text),
            None => (embedded(given), ArgumentForm::Embedded),
        },
    };
    Some(ToolCall {
        id: None,
        name: Some(name).filter(|name| !name.is_empty()),
        arguments,
        form,
        metadata_id: None,
    })
}

/// Arguments that are JSON text inside the JSON text.
fn quoted(text: &str, depth: u32) -> Arguments {
    match json::scan(text.as_bytes(), depth) {
        Ok(document) => embedded(document.root()),
        Err(_) => Arguments::Malformed(text.to_owned()),
    }
}
