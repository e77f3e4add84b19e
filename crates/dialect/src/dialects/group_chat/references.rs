//! What a message refers to: ids, or objects that show something of their targets.

use std::borrow::Cow;

use chatmill_model::{Component, LinkStatus, Message, Reference, ReferenceForm, Sink};
use serde_json::value::RawValue;

use super::{GRP_01, Made, is_native};
use crate::json;
use crate::json_object::{Object, key};
use crate::loss::{LossCode, Losses, reasons};
use crate::times;
use crate::view::View;
use crate::violation::Violation;

/// Writes the list, and gives what of it breaks a rule. What refers to nothing that anybody could find or read is left out.
pub(super) fn write<'a>(
    sink: &mut Sink<'a>,
    view: &View<'a>,
    message: &'a Message,
    made: &Made<'a>,
    losses: &mut Losses,
) -> Option<Violation> {
    let mut violation = None;
    let is_native = is_native(view.conversation());
    sink.framing("[");
    let mut has_one = false;
    for (index, (reference, link)) in view.references(message).enumerate() {
        let is_pseudo = link.status == LinkStatus::Pseudo;
        let target = link.target.and_then(|target| view.message(target));
        if is_pseudo || target.is_none() && reference.target.is_none() && !tells(reference) {
            let reason = if is_pseudo {
                reasons::SOURCE_MADE_THE_REFERENCE_UP
            } else {
                reasons::REFERENCE_SAYS_NOTHING
            };
            losses.at(LossCode::ReferenceUnresolved, message.position, reason);
            continue;
        }
        if std::mem::replace(&mut has_one, true) {
            sink.framing(",");
        }
        // The id of another system's target may be one by which no message goes here.
        let id = match (target.filter(|_| !is_native), reference.target.as_deref()) {
            (Some(target), _) => Cow::Borrowed(made.ids.of(target)),
            (None, Some(id)) => Cow::Borrowed(id),
            (None, None) => {
                let reason = reasons::QUOTED_MESSAGE_HAS_AN_ID;
                losses.at(LossCode::MessageIdSynthesised, message.position, reason);
                Cow::Borrowed(made.ids.free(&format!("q{}.{index}", message.position)))
            }
        };
        match &reference.form {
            ReferenceForm::Object(raw) if is_native => {
                let fields = json::fields(raw.as_str()).unwrap_or_default();
                let is_nameless = |author: &RawValue| json::decode_string(author.get()).is_none();
                if fields.get("sender").is_some_and(|author| is_nameless(author)) {
                    let fault = "the author of a quoted message is not text";
                    violation = Some(Violation::of(GRP_01, Some(message.position), fault));
                }
                let has_id = fields.contains_key("message_id");
                as_it_was(sink, raw.as_str(), Some(id).filter(|_| !has_id));
            }
            _ if reference.preview.is_none() && reference.nested.is_empty() => {
                sink.json_string(id, Component::Replies);
            }
            form => {
                object(sink, reference, Some(id));
                if let ReferenceForm::Object(raw) = form {
                    losses.several(
                        LossCode::ExtraDropped,
                        message.position,
                        further_fields(raw.as_str(), reference),
                        reasons::NO_FURTHER_FIELDS_OF_A_QUOTE,
                    );
                }
            }
        }
    }
    sink.framing("]");
    violation
}

/// Whether a reference shows words of its target: who said nothing in particular is not a reference to anybody who reads.
fn tells(reference: &Reference) -> bool {
    let preview = reference.preview.as_ref();
    let content = preview.and_then(|preview| preview.content.as_deref());
    content.is_some_and(|content| !content.is_empty())
}

/// An object of the format itself as it was, after an id where it has none.
fn as_it_was<'a>(sink: &mut Sink<'a>, raw: &'a str, id: Option<Cow<'a, str>>) {
    let Some(id) = id else {
        sink.raw_json(raw, Component::Replies);
        return;
    };
    sink.framing("{\"message_id\":");
    sink.json_string(id, Component::Replies);
    let rest = raw.trim_start().strip_prefix('{').unwrap_or(raw);
    if !rest.trim_start().starts_with('}') {
        sink.framing(",");
    }
    sink.raw_json(rest, Component::Replies);
}

/// How many fields of another system's object say something that the reference does not.
fn further_fields(raw: &str, reference: &Reference) -> u64 {
    let preview = reference.preview.clone().unwrap_or_default();
    let time = preview.timestamp.map(|time| time.raw);
    let known = [
        &reference.target,
        &time,
        &preview.sender,
        &preview.sender_name,
        &preview.content,
    ];
    let says_more = |value: &RawValue| {
        let raw = value.get();
        let text = json::decode_string(raw).unwrap_or_else(|| raw.to_owned());
        let is_told = known.iter().any(|fact| fact.as_ref() == Some(&text));
        !is_told && !matches!(&*text, "" | "null" | "true" | "false") && !raw.starts_with('[')
    };
    let fields = json::fields(raw).unwrap_or_default();
    fields.values().filter(|value| says_more(value)).count() as u64
}

/// A reference of another system as an object with what is known of its target.
fn object<'a>(sink: &mut Sink<'a>, reference: &'a Reference, id: Option<Cow<'a, str>>) {
    let mut object = Object::open(sink);
    object.string(key!("message_id"), id, Component::Replies);
    if let Some(preview) = &reference.preview {
        let time = preview.timestamp.as_ref().map(times::uncounted);
        object.string(key!("create_time"), time, Component::Replies);
        let sender = preview.sender.as_deref().filter(|sender| !sender.is_empty());
        object.string(key!("sender"), sender, Component::Replies);
        object.string(
            key!("sender_name"),
            preview.sender_name.as_deref(),
            Component::Replies,
        );
        if preview.from_agent {
            object.word(key!("role"), "\"assistant\"");
        }
        object.string(key!("content"), preview.content.as_deref(), Component::Replies);
    }
    if !reference.nested.is_empty() {
        let list = object.key(key!("refer_list"));
        list.framing("[");
        for (index, inner) in reference.nested.iter().enumerate() {
            if index > 0 {
                list.framing(",");
            }
            match inner.target.as_deref() {
                Some(id) if inner.preview.is_none() && inner.nested.is_empty() => {
                    list.json_string(id, Component::Replies);
                }
                id => self::object(list, inner, id.map(Cow::Borrowed)),
            }
        }
        list.framing("]");
    }
    object.close();
}
