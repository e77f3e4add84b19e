//! The value of a content column: text, parts, or a whole message.
//!
//! A text is always a text, even if it looks like JSON: people send JSON to each other, and products store answers that are JSON.
//! Values are only taken apart if the cell is JSON by its declared type, or by the map.

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::Part;

use crate::base::media::ResultText;
use crate::base::texts::quoted_json::{CellForm, CellPlace};
use crate::base::{ExtraFields, Site, text_of};
use crate::grammar::openai::{self, MessageObject, parts};

/// The content of the column.
#[derive(Debug, Default)]
pub(super) struct CellContent {
    /// The message object without its content.
    pub turn: MessageObject,
    /// The parts; for a result, those that are not text.
    pub parts: Vec<Part>,
    /// The text of a result.
    pub answer: ResultText,
    /// The values without a place, by path in the row.
    pub rest: ExtraFields,
}

/// Reads the column. `is_answer` decides from the message object, if there is one, whether it is a tool's result.
pub(super) fn read(
    root: Value<'_>,
    is_answer: impl FnOnce(&MessageObject) -> bool,
    site: &mut Site<'_>,
) -> CellContent {
    let is_turn = MessageObject::is_one(root);
    let is_list = root.kind() == Kind::Array && parts::is_parts(root);
    let place = CellPlace {
        field: ".content",
        span: root.span(),
        form: if is_list { CellForm::Named } else { CellForm::Value },
    };
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

/// Whether a whole text is the JSON of a list of known parts.
pub fn is_text_of_parts(text: &str, limits: &Limits) -> bool {
    let text = text.trim();
    let document = Some(text)
        .filter(|text| text.starts_with('['))
        .and_then(|text| json::scan(text.as_bytes(), limits.depth).ok());
    document.is_some_and(|document| parts::are_known(document.root()))
}
