//! What a content column holds: words, parts, or a whole message, as it is or inside a string.
//!
//! People write JSON to each other: text is taken apart only where it is a message with a role or calls, or a list of
//! which every element says its `type`.

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::Part;

use crate::reader::quoted_json::{CellForm, CellPlace};
use crate::reader::{Kept, MessageObject, Notes, Site, message_object, parts, quoted_json, text_of};

/// What the column says.
#[derive(Debug, Default)]
pub(super) struct CellContent {
    /// The message object, as far as it is read: everything but its content.
    pub turn: MessageObject,
    /// Its pieces; for a result those that are not text.
    pub parts: Vec<Part>,
    /// The text of a result.
    pub answer: String,
    /// What has no place, by path in the row.
    pub rest: Kept,
}

/// Whether the content is read as a message or as a tool's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Words.
    Words,
    /// An answer.
    Answer,
}

/// Reads the column. `aim` decides from the role of the message object, where there is one.
pub(super) fn read(
    value: Value<'_>,
    start: u64,
    limits: &Limits,
    aim: impl FnOnce(&MessageObject) -> Aim,
    site: &mut Site<'_>,
) -> CellContent {
    let document = quoted_json::open(value, limits).filter(|document| is_message(document.root()));
    let root = document.as_deref().map_or(value, Document::root);
    let is_turn = MessageObject::is_one(root);
    let is_list = root.kind() == Kind::Array && parts::is_parts(root);
    let place = CellPlace {
        field: ".content",
        span: value.span(),
        form: match document {
            Some(_) => CellForm::Quoted,
            None if is_list => CellForm::Named,
            None => CellForm::Value,
        },
    };
    if let Some(document) = &document {
        place.report_scan(document, site);
    }
    let mut found = Notes::new(start);
    let mut inner = site.inside(&mut found, root);
    let mut turn = if is_turn {
        MessageObject::read(root, &mut inner, limits)
    } else {
        MessageObject::default()
    };
    let mut said = CellContent::default();
    let content = if is_turn {
        message_object::content(root)
    } else {
        Some(root)
    };
    let mut rest = std::mem::take(&mut turn.rest);
    match (content, aim(&turn)) {
        (Some(content), Aim::Answer) => {
            (said.answer, said.parts) = message_object::answered(content, "content", &mut rest, &mut inner);
        }
        (Some(content), Aim::Words) if is_turn || content.kind() == Kind::String || is_list => {
            said.parts = message_object::said(content, "content", &mut rest, &mut inner);
        }
        (Some(content), Aim::Words) => {
            let text = "the content is neither words, parts nor a message and is read as its JSON text";
            let finding = Finding::new(&codes::WRONG_TYPE, text).with_severity(Severity::Warning);
            inner.push(finding, "", content);
            said.parts.push(Part::Text(text_of(content)));
        }
        (None, _) => {}
    }
    place.report(found, site);
    said.rest = rest
        .into_iter()
        .map(|(path, raw)| {
            let path = if is_turn { format!("content.{path}") } else { path };
            (path, raw)
        })
        .collect();
    said.turn = turn;
    said
}

/// Whether JSON inside a string is a message and not text that looks like JSON.
fn is_message(root: Value<'_>) -> bool {
    match root.kind() {
        Kind::Object => {
            let word = root.get("role").and_then(Value::as_str);
            let has_role = word.is_some_and(|word| message_object::role(&word).is_some());
            let has_calls = root
                .get("tool_calls")
                .is_some_and(|list| list.kind() == Kind::Array);
            has_role || has_calls
        }
        Kind::Array => {
            let is_typed = |part: Value<'_>| part.get("type").and_then(Value::as_str).is_some();
            !root.is_empty() && root.items().all(is_typed)
        }
        _ => false,
    }
}
