//! The value of a content column: text, parts, or a whole message, as JSON or as JSON inside a string.
//!
//! People send JSON to each other, so text is parsed only where it is a message with a role or calls, or a
//! list whose elements all have a `type`.

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::Part;

use crate::base::texts::quoted_json::{self, CellForm, CellPlace};
use crate::base::{ExtraFields, Site, roles, text_of};
use crate::grammar::openai::{self, MessageObject, parts};

/// The content of the column.
#[derive(Debug, Default)]
pub(super) struct CellContent {
    /// The message object, as far as it is read: everything but its content.
    pub turn: MessageObject,
    /// The parts; for a result the parts that are not text.
    pub parts: Vec<Part>,
    /// The text of a result.
    pub answer: String,
    /// The values without a place, by path in the row.
    pub rest: ExtraFields,
}

/// Reads the column. `is_answer` decides by the message object, where there is one, whether it is a tool's result.
pub(super) fn read(
    value: Value<'_>,
    limits: &Limits,
    is_answer: impl FnOnce(&MessageObject) -> bool,
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
    place.read(root, site, |site| {
        let mut cell = CellContent::default();
        let mut content = Some(root);
        if is_turn {
            cell.turn = MessageObject::in_row(root, site);
            content = openai::content(root);
        }
        let mut rest = std::mem::take(&mut cell.turn.rest);
        let is_answer = is_answer(&cell.turn);
        match content {
            Some(content) if is_answer => {
                (cell.answer, cell.parts) = openai::answered(content, "content", &mut rest, site);
            }
            Some(content) if is_turn || content.kind() == Kind::String || is_list => {
                cell.parts = openai::content_parts(content, "content", &mut rest, site);
            }
            Some(content) => {
                let text = "the content is neither words, parts nor a message and is read as its JSON text";
                site.note(&codes::BEARABLE_TYPE, text, "", content);
                cell.parts.push(Part::Text(text_of(content)));
            }
            None => {}
        }
        for (path, _) in rest.iter_mut().filter(|_| is_turn) {
            path.insert_str(0, "content.");
        }
        cell.rest = rest;
        cell
    })
}

/// Whether JSON inside a string is a message and not text that looks like JSON.
fn is_message(root: Value<'_>) -> bool {
    match root.kind() {
        Kind::Object => {
            let word = root.get("role").and_then(Value::as_str);
            let role = word.and_then(|word| roles::api_role(&word));
            let calls = root.get("tool_calls");
            role.is_some() || calls.is_some_and(|list| list.kind() == Kind::Array)
        }
        Kind::Array => {
            let is_typed = |part: Value<'_>| part.get("type").and_then(Value::as_str).is_some();
            !root.is_empty() && root.items().all(is_typed)
        }
        _ => false,
    }
}
