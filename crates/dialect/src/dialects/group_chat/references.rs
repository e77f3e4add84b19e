//! What a message refers to: ids, or objects that show something of their targets.

use chatmill_model::{LinkStatus, Message, Reference, ReferenceForm};
use serde_json::value::RawValue;

use super::GRP_01;
use super::plan::Planner;
use crate::loss::violation::Violation;
use crate::loss::{LossCode, reasons};
use crate::text::json;

/// What references may cost.
pub(super) const LOSES: &[LossCode] = &[
    LossCode::ReferenceUnresolved,
    LossCode::MessageIdSynthesised,
    LossCode::ExtraDropped,
];

/// An item of the list `refer_list`.
pub(super) enum Refer<'a> {
    /// An object of the format itself as it was, after an id where it has none.
    AsItWas(&'a str, Option<&'a str>),
    /// An id.
    Id(&'a str),
    /// An object with an id and what is known of its target.
    Object(&'a str, &'a Reference),
}

impl<'a> Planner<'_, 'a> {
    /// What a message refers to, but for what nobody could find or read. What breaks a rule is noted.
    pub(super) fn refers(&mut self, message: &'a Message) -> Vec<Refer<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        let mut refers = Vec::new();
        let mut violation = None;
        for (index, (reference, link)) in view.references(message).enumerate() {
            let is_pseudo = link.status == LinkStatus::Pseudo;
            let target = link.target.and_then(|target| view.message(target));
            if is_pseudo || target.is_none() && reference.target.is_none() && !tells(reference) {
                let reason = if is_pseudo {
                    reasons::SOURCE_MADE_THE_REFERENCE_UP
                } else {
                    reasons::REFERENCE_SAYS_NOTHING
                };
                self.losses.at(reason, position);
                continue;
            }
            // The id of another system's target may be one by which no message goes here.
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
                    let fields = json::fields(raw.as_str()).unwrap_or_default();
                    let is_nameless = |author: &RawValue| json::decode_string(author.get()).is_none();
                    if fields.get("sender").is_some_and(|author| is_nameless(author)) {
                        let fault = "the author of a quoted message is not text";
                        violation = Some(Violation::of(GRP_01, Some(position), fault));
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

/// Whether a reference shows words of its target: who said nothing in particular is not a reference to anybody who reads.
fn tells(reference: &Reference) -> bool {
    let preview = reference.preview.as_ref();
    let content = preview.and_then(|preview| preview.content.as_deref());
    content.is_some_and(|content| !content.is_empty())
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
