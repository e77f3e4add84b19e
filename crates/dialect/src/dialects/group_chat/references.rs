//! The references of a message: ids, or objects with facts about their targets.

use chatmill_model::{Component, LinkStatus, Message, Reference, ReferenceForm, Sink};
use serde_json::value::RawValue;

use super::{EntryWriter, GRP_01};
use crate::loss::reasons;
use crate::loss::violation::Violation;
use crate::text::{json, times};
use crate::write::object::{Object, key, list};

/// An item of the list `refer_list`.
pub(super) enum Refer<'a> {
    /// An object of this format, unchanged; an id is added if it has none.
    AsItWas(&'a str, Option<&'a str>),
    /// An id.
    Id(&'a str),
    /// An object with an id and the known facts about its target.
    Object(&'a str, &'a Reference),
}

impl<'a> EntryWriter<'_, 'a> {
    /// Returns the references of a message, without those that have neither a target nor content. Records a broken rule as a violation.
    pub(super) fn refers(&mut self, message: &'a Message) -> Vec<Refer<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        let mut refers = Vec::new();
        let mut violation = None;
        for (index, (reference, link)) in view.references(message).enumerate() {
            let is_pseudo = link.status == LinkStatus::Pseudo;
            let target = link.target.and_then(|target| view.message(target));
            if is_pseudo || target.is_none() && reference.target.is_none() && !shows_content(reference) {
                let reason = if is_pseudo {
                    reasons::SOURCE_SYNTHESISED_THE_REFERENCE
                } else {
                    reasons::REFERENCE_IS_EMPTY
                };
                self.losses.at(reason, position);
                continue;
            }
            // In a record of another system, the id of the target may differ from the id that is written for it.
            let id = match (target.filter(|_| !self.is_native), reference.target.as_deref()) {
                (Some(target), _) => self.ids.of(target),
                (None, Some(id)) => id,
                (None, None) => {
                    self.losses.at(reasons::QUOTED_MESSAGE_HAS_AN_ID, position);
                    self.ids.free(&format!("q{position}.{index}"))
                }
            };
            refers.push(match &reference.form {
                ReferenceForm::Object(raw) if self.is_native => {
                    let fields = json::fields(raw.as_str());
                    let is_nameless = |author: &RawValue| json::decode_string(author.get()).is_none();
                    if fields.get("sender").is_some_and(|author| is_nameless(author)) {
                        let problem = "the author of a quoted message is not text";
                        violation = Some(Violation::of(GRP_01, Some(position), problem));
                    }
                    let has_id = fields.contains_key("message_id");
                    Refer::AsItWas(raw.as_str(), Some(id).filter(|_| !has_id))
                }
                _ if reference.preview.is_none() && reference.nested.is_empty() => Refer::Id(id),
                form => {
                    if let ReferenceForm::Object(raw) = form {
                        let further = further_fields(raw.as_str(), reference);
                        self.losses
                            .several(reasons::NO_FURTHER_FIELDS_OF_A_QUOTE, position, further);
                    }
                    Refer::Object(id, reference)
                }
            });
        }
        self.violations.extend(violation);
        refers
    }
}

/// Whether a reference shows words of its target; an author alone is not enough for a reader.
fn shows_content(reference: &Reference) -> bool {
    let preview = reference.preview.as_ref();
    let content = preview.and_then(|preview| preview.content.as_deref());
    content.is_some_and(|content| !content.is_empty())
}

/// Counts the fields of another system's object with facts that the reference does not have.
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
    let states_more = |value: &RawValue| {
        let raw = value.get();
        let text = json::decode_string(raw).unwrap_or_else(|| raw.to_owned());
        let is_known = known.iter().any(|fact| fact.as_ref() == Some(&text));
        !is_known && !matches!(&*text, "" | "null" | "true" | "false") && !raw.starts_with('[')
    };
    let fields = json::fields(raw);
    fields.values().filter(|value| states_more(value)).count() as u64
}

impl<'a> Refer<'a> {
    /// Writes the item.
    pub(super) fn write(self, sink: &mut Sink<'a>) {
        let (raw, id) = match self {
            Self::Id(id) => return sink.json_string(id, Component::Replies),
            Self::Object(id, reference) => return object(sink, reference, Some(id)),
            Self::AsItWas(raw, None) => return sink.raw_json(raw, Component::Replies),
            Self::AsItWas(raw, Some(id)) => (raw, id),
        };
        sink.framing("{\"message_id\":");
        sink.json_string(id, Component::Replies);
        let rest = json::behind_brace(raw);
        if !rest.trim_start().starts_with('}') {
            sink.framing(",");
        }
        sink.raw_json(rest, Component::Replies);
    }
}

/// Writes a reference of another system as an object with the known facts about its target.
fn object<'a>(sink: &mut Sink<'a>, reference: &'a Reference, id: Option<&'a str>) {
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
        list(
            object.key(key!("refer_list")),
            &reference.nested,
            |inner, sink| match inner.target.as_deref() {
                Some(id) if inner.preview.is_none() && inner.nested.is_empty() => {
                    sink.json_string(id, Component::Replies);
                }
                id => self::object(sink, inner, id),
            },
        );
    }
    object.close();
}
