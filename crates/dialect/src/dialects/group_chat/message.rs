//! Messages of the format: fields in the order of the document, then what the format does not know.

use std::borrow::Cow;

use chatmill_model::{Component, Message, MessageKind, Role, Sink};

use super::pieces::Pieces;
use super::{Made, extra, is_native, references};
use crate::json_object::{Object, key};
use crate::loss::{LossCode, Losses, reasons};
use crate::progress::Progress;
use crate::times;
use crate::view::View;
use crate::violation::Violation;

/// Writes one message or notice, and gives the rule that it breaks.
pub(super) fn write<'a>(
    sink: &mut Sink<'a>,
    view: &View<'a>,
    message: &'a Message,
    made: &Made<'a>,
    losses: &mut Losses,
    progress: &mut Progress,
) -> Option<Violation> {
    let pieces = Pieces::of(message, losses);
    let mut object = Object::open(sink);
    if let Some(id) = &message.id {
        object.string(key!("message_id"), Some(id), Component::Meta);
    } else {
        losses.at(
            LossCode::MessageIdSynthesised,
            message.position,
            reasons::FORMAT_WANTS_AN_ID,
        );
        let id = made.ids.of_position(message.position);
        object.string(key!("message_id"), Some(id), Component::Meta);
    }
    let time = message.timestamp.as_ref().map(times::uncounted);
    object.string(key!("create_time"), time, Component::Meta);
    let sender = view.sender(message);
    if sender.is_none() {
        losses.at(
            LossCode::SenderMissing,
            message.position,
            reasons::FORMAT_WANTS_A_SENDER,
        );
    }
    let sender = sender.map_or(made.people.nobody(), |sender| Cow::Borrowed(sender.id.as_str()));
    object.string(key!("sender"), Some(sender), Component::Names);
    object.string(
        key!("sender_name"),
        message.sender_name.as_deref(),
        Component::Names,
    );
    match role_word(pieces.role) {
        Some(word) => object.word(key!("role"), word),
        None if message.kind == MessageKind::Notice => {
            losses.at(LossCode::RoleMapped, message.position, reasons::EVENT_IS_NOBODYS);
        }
        None => {}
    }
    if pieces.role != message.role {
        losses.at(
            LossCode::RoleMapped,
            message.position,
            reasons::RESULT_IS_A_TOOLS_MESSAGE,
        );
    }
    let word = type_word(view, message, &pieces, losses);
    object.string(key!("type"), Some(word), Component::Meta);
    content(&mut object, message, &pieces);
    let list = object.key(key!("refer_list"));
    let violation = references::write(list, view, message, made, losses);
    extra::write(&mut object, view, message, &pieces, made, losses);
    object.close();
    match message.kind {
        MessageKind::Message => progress.said(message.position, pieces.role.as_str()),
        MessageKind::Notice => progress.noted(message.position),
    }
    violation
}

/// The word for a role; system text is known by its type.
const fn role_word(role: Role) -> Option<&'static str> {
    match role {
        Role::System => None,
        Role::User => Some("\"user\""),
        Role::Assistant => Some("\"assistant\""),
        Role::Tool => Some("\"tool\""),
    }
}

/// The type: the source's own word in its own format, else what the message holds.
fn type_word<'a>(view: &View<'a>, message: &'a Message, pieces: &Pieces<'a>, losses: &mut Losses) -> &'a str {
    let word = match (message.kind, pieces.medium) {
        _ if pieces.is_system_text() => "system",
        (MessageKind::Notice, _) => "system",
        (MessageKind::Message, Some(media)) => media.kind.as_str(),
        (MessageKind::Message, None) => "text",
    };
    match message.source_type.as_deref() {
        Some(own) if is_native(view.conversation()) && !pieces.is_system_text() => return own,
        Some(own) if own != word => losses.at(
            LossCode::ExtraDropped,
            message.position,
            reasons::TYPE_OF_ANOTHER_SYSTEM,
        ),
        _ => {}
    }
    word
}

/// The content: text, a lone address, or `null` where there is neither.
fn content<'a>(object: &mut Object<'_, 'a>, message: &Message, pieces: &Pieces<'a>) {
    let component = match pieces.result {
        Some(_) => Component::Tools,
        None => Component::Content,
    };
    match pieces.texts.as_slice() {
        [] if pieces.content_is_address(message) => {
            object.string(key!("content"), pieces.address(), component);
        }
        [] => object.key(key!("content")).framing("null"),
        [only] => object.string(key!("content"), Some(*only), component),
        several => object.string(key!("content"), Some(several.join("\n")), component),
    }
}
