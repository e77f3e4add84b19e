//! Reads the content of a row in all forms that Suna has stored, and the metadata next to it.

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{Document, Value};
use chatmill_model::{MessageKind, Part, Role};

use super::metadata::{Metadata, compressed};
use super::row::{Row, RowKind};
use super::types::{Content, Era, Extent, MessageContent};
use super::{result, speech};
use crate::base::texts::quoted_json::{self, CellForm, CellPlace};
use crate::base::{ExtraFields, Site, roles, text_of};
use crate::grammar::openai::MessageObject;

/// Reads the content of a row.
pub(super) fn read(
    row: &Row<'_>,
    row_kind: RowKind,
    extent: Extent,
    limits: &Limits,
    site: &mut Site<'_>,
) -> MessageContent {
    let columns = [row.columns.metadata, row.columns.content];
    let [metadata_document, content_document] = columns.map(|value| quoted_json::open(value?, limits));
    let metadata = opened(row.columns.metadata, metadata_document.as_deref());
    let content = opened(row.columns.content, content_document.as_deref());

    let mut message = MessageContent {
        kind: MessageKind::Notice,
        role: Role::System,
        parts: Vec::new(),
        rest: ExtraFields::new(),
        era: Era::Plain,
    };
    for (field, value, document) in [
        (".metadata", row.columns.metadata, &metadata_document),
        (".content", row.columns.content, &content_document),
    ] {
        if let (Some(value), Some(document)) = (value, document) {
            inside(field, value, CellForm::Quoted).report_scan(document, site);
        }
    }
    let mut metadata = Metadata::new(metadata);
    metadata.check(site);
    let turn_role = role_of(content);
    if row_kind == RowKind::Notice
        || (row_kind == RowKind::Unknown && turn_role.is_none() && row.word.is_some())
    {
        if row_kind == RowKind::Unknown {
            let text =
                "the type is none of the known and the content is not a message: the row is read as a notice";
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", row.type_value());
        }
        message.role = row.role().unwrap_or(Role::System);
        message.parts.extend(content.map(text_of).map(Part::Notice));
        metadata.rest(&mut message.rest);
        return message;
    }
    if matches!(row_kind, RowKind::Unknown | RowKind::UnknownMessage) {
        unknown_type(row, site);
    }
    compressed(&mut metadata, &mut message.rest, site);
    message.kind = MessageKind::Message;
    let read = Content::of(content, content_document.as_deref().map(Document::text));
    // Paths of a list of parts begin with the name of the column, and an absent column has no paths.
    let form = match (&read, &content_document) {
        (_, Some(_)) => CellForm::Quoted,
        (Content::Parts(_) | Content::Absent, None) => CellForm::Named,
        (_, None) => CellForm::Value,
    };
    let place = inside(".content", row.columns.content.unwrap_or(row.value), form);
    let beside = row.columns.metadata.unwrap_or(row.value);
    let form = match metadata_document {
        Some(_) => CellForm::Quoted,
        None => CellForm::Value,
    };
    let calls = inside(".metadata", beside, form);
    place.read(content.unwrap_or(row.value), site, |inner| {
        let turn = match &read {
            Content::Turn(object) => MessageObject::in_row(*object, inner),
            _ => MessageObject::default(),
        };
        message.role = role(row, &turn, &read, inner);
        if message.role == Role::Tool {
            result::read(&read, turn, &place, &mut metadata, &mut message, limits, inner);
        } else {
            let extent = (extent, beside);
            speech::read_speech(&read, turn, extent, &mut metadata, &mut message, limits, inner);
        }
    });
    if message.role != Role::Tool
        && let Some(list) = metadata.get("tool_calls")
    {
        calls.read(list, site, |inner| {
            speech::calls_of_metadata(list, &mut metadata, &mut message, inner);
        });
    }
    metadata.rest(&mut message.rest);
    message
}

/// The value of a column: the document inside its string, or the value itself.
fn opened<'v>(value: Option<Value<'v>>, document: Option<&'v Document<'v>>) -> Option<Value<'v>> {
    document.map(Document::root).or(value)
}

fn inside(field: &'static str, value: Value<'_>, form: CellForm) -> CellPlace {
    CellPlace {
        field,
        span: value.span(),
        form,
    }
}

fn role_of(content: Option<Value<'_>>) -> Option<Role> {
    let word = content?.get("role").and_then(Value::as_str)?;
    roles::api_role(&word)
}

fn unknown_type(row: &Row<'_>, site: &mut Site<'_>) {
    if row.word.is_none() {
        site.missing("type");
        return;
    }
    let text = "the type is none of the known: the role in the content counts";
    let value = row.type_value();
    site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", value);
}

/// The role of a turn: the one in the content, which Suna itself uses. A row of type `tool` is always a result, because
/// results were stored with the role `user` for a long time.
fn role(row: &Row<'_>, turn: &MessageObject, content: &Content<'_>, site: &mut Site<'_>) -> Role {
    match (row.role(), turn.role) {
        (Some(Role::Tool), _) => Role::Tool,
        (Some(of_type), Some(stated)) if of_type != stated => {
            let text = "the type and the role in the content disagree: the role in the content counts";
            if let Content::Turn(object) = content {
                let value = object.get("role").unwrap_or(*object);
                site.note(&codes::ROLE_CONFLICT, text, ".role", value);
            }
            stated
        }
        (of_type, stated) => stated.or(of_type).unwrap_or(Role::User),
    }
}
