//! Requests of OpenAI's Responses API: a list of items, each a message, a call, an output, or a step at the vendor's.
//!
//! The smallest example:
//!
//! ```json
//! {"input": [{"role": "user", "content": "Hi"},
//!  {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"},
//!  {"type": "function_call_output", "call_id": "c1", "output": "12:30"}]}
//! ```
//!
//! A call is a piece of the assistant's turn before it, and reasoning one of the turn behind it, as all that a model answers
//! at once is one turn. Steps that ran at
//! the vendor's (searches, code) are notices and kept as they are. Records that expect an answer beside their input are
//! evaluation samples and not claimed.

use chatmill_diag::{Limits, Severity, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{ArgumentForm, Arguments, Customs, Part, Role, ToolCall, ToolResult};

use crate::arguments::{arguments, word};
use crate::notes::Site;
use crate::requests::{Form, Requests, Said, has};
use crate::taken::text;
use crate::vendor::Vendor;
use crate::{About, parts, turn};

static ABOUT: About = About {
    title: "OpenAI Responses requests",
    specification: "OpenAI API reference, Responses",
    shapes: &["responses"],
    carries: "roles, text, pictures and files, tool definitions, calls and outputs, summaries of reasoning",
    customs: Customs::USUAL,
};

static FORM: Form = Form {
    source: "openai-responses",
    shape: "responses",
    list: "input",
    may_be_text: true,
    system: Some("instructions"),
    tools: "tools",
    answer: Some("response"),
    known: &[
        "type",
        "role",
        "content",
        "call_id",
        "name",
        "arguments",
        "output",
    ],
    turn: said,
};

/// The source `openai-responses`.
pub static SOURCE: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: Some(Vendor::Responses),
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_sample = ["ideal", "target", "expected"].iter().any(|key| has(record, key));
    let is_item = record.names("input[].role") || record.names("input[].call_id");
    if is_sample || !is_item {
        return None;
    }
    let sure = [
        "instructions",
        "previous_response_id",
        "max_output_tokens",
        "store",
    ];
    Some(match sure.into_iter().find(|key| has(record, key)) {
        Some(key) => (95, format!("the record has input items and {key}")),
        None => (80, "the record has input, and its items have a role".to_owned()),
    })
}

/// Reads an item, the instructions, or an input that is a string.
fn said(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Said {
    let mut said = Said::default();
    if value.kind() != Kind::Object {
        content(&mut said, "", value, site);
        return said;
    }
    match text(value.get("type")).as_deref() {
        None | Some("message") => message(&mut said, value, site),
        Some("function_call") => call(&mut said, value, site, limits),
        Some("custom_tool_call") => own_call(&mut said, value, site),
        Some("function_call_output" | "custom_tool_call_output") => output(&mut said, value, site),
        Some("reasoning") => reasoning(&mut said, value),
        Some(word) => step(&mut said, word, value, site),
    }
    said
}

fn message(said: &mut Said, item: Value<'_>, site: &mut Site<'_>) {
    said.take_role("role", item, site, turn::role);
    said.id = word(item.get("id"), "id", site);
    match item.get("content").filter(|content| !content.is_null()) {
        None => site.missing("content", Severity::Error),
        Some(value) => content(said, "content", value, site),
    }
    said.keep_rest(item, "", &["type", "role", "id", "content"]);
}

fn content(said: &mut Said, field: &str, value: Value<'_>, site: &mut Site<'_>) {
    let is_list = value.kind() == Kind::Array && !field.is_empty();
    if is_list && (parts::is_parts(value) || value.is_empty()) {
        let read = parts::read(value, field, site);
        said.parts.extend(read.parts);
        // The API wants every picture to say how closely to look; this word leaves it open.
        let tells = |path: &str, raw: &str| !path.ends_with(".detail") || raw != "\"auto\"";
        let extra = read.extra.into_iter();
        said.rest
            .extend(extra.filter(|(path, raw)| tells(path, raw.as_str())));
        return;
    }
    if value.kind() == Kind::String {
        said.parts.push(Part::Text(turn::text_of(value)));
    } else {
        let text = "the content is neither a string nor a list of parts and is read as its JSON text";
        said.odd_content(field, text, value, site);
    }
}

fn call(said: &mut Said, item: Value<'_>, site: &mut Site<'_>, limits: &Limits) {
    let given = item.get("arguments").filter(|value| !value.is_null());
    let (arguments, form) = arguments(given, "arguments", site, limits);
    make_call(said, item, arguments, form, site);
    said.keep_rest(item, "", &["type", "call_id", "name", "arguments"]);
}

/// A call of a tool whose input is any text.
fn own_call(said: &mut Said, item: Value<'_>, site: &mut Site<'_>) {
    let input = text(item.get("input")).unwrap_or_default();
    make_call(said, item, Arguments::Malformed(input), ArgumentForm::Text, site);
    said.keep_rest(item, "", &["call_id", "name", "input"]);
}

fn make_call(
    said: &mut Said,
    item: Value<'_>,
    arguments: Arguments,
    form: ArgumentForm,
    site: &mut Site<'_>,
) {
    said.role = Some(Role::Assistant);
    said.continues = true;
    said.parts.push(Part::ToolCall(ToolCall {
        id: word(item.get("call_id"), "call_id", site),
        name: word(item.get("name"), "name", site),
        arguments,
        form,
        metadata_id: None,
    }));
}

/// What a tool answered: text, or a list of parts whose texts are joined by line breaks.
fn output(said: &mut Said, item: Value<'_>, site: &mut Site<'_>) {
    said.role = Some(Role::Tool);
    let mut texts: Vec<String> = Vec::new();
    let mut others = Vec::new();
    match item.get("output") {
        None => site.missing("output", Severity::Error),
        Some(list) if list.kind() == Kind::Array && !list.is_empty() && parts::is_parts(list) => {
            let read = parts::read(list, "output", site);
            said.rest.extend(read.extra);
            for part in read.parts {
                match part {
                    Part::Text(text) => texts.push(text),
                    other => others.push(other),
                }
            }
        }
        Some(value) => texts.push(turn::text_of(value)),
    }
    said.parts.push(Part::ToolResult(ToolResult {
        call_id: word(item.get("call_id"), "call_id", site),
        name: None,
        content: texts.join("\n"),
        is_error: false,
        metadata_id: None,
        caller: None,
    }));
    said.parts.extend(others);
    said.keep_rest(item, "", &["type", "call_id", "output"]);
}

/// What the model thought, as far as it is shown: summaries, or the text itself. What it says next is the same turn.
fn reasoning(said: &mut Said, item: Value<'_>) {
    said.role = Some(Role::Assistant);
    said.leads = true;
    for field in ["summary", "content"] {
        let Some(list) = item.get(field) else { continue };
        for (index, part) in list.items().enumerate() {
            match text(part.get("text")) {
                Some(thought) => {
                    said.parts.push(Part::Reasoning(thought));
                    said.keep_rest(part, &format!("{field}[{index}]"), &["type", "text"]);
                }
                None => said.keep(&format!("{field}[{index}]"), part),
            }
        }
    }
    said.keep_rest(item, "", &["type", "summary", "content"]);
}

/// A step that ran at the vendor's.
fn step(said: &mut Said, word: &str, item: Value<'_>, site: &mut Site<'_>) {
    let text = "the item is neither a message nor a call nor an output and is kept as a notice";
    site.note(
        &codes::UNKNOWN_MESSAGE_TYPE,
        text,
        ".type",
        item.get("type").unwrap_or(item),
    );
    said.role = Some(Role::Assistant);
    said.word = Some(word.to_owned());
    said.is_notice = true;
    said.parts.push(Part::Notice(word.to_owned()));
    said.keep_rest(item, "", &["type"]);
}
