//! Entries of the list: what becomes of a message or notice, and what that costs.

use std::borrow::Cow;

use chatmill_model::{Component, Message, MessageKind, RawJson, Role};

use super::extra::Extension;
use super::pieces::Pieces;
use super::plan::Planner;
use super::references::Refer;
use crate::loss::{LossCode, reasons};
use crate::text::times;

/// What entries may cost, but for what they refer to and their further fields.
pub(super) const LOSES: &[LossCode] = &[
    LossCode::MessageIdSynthesised,
    LossCode::SenderMissing,
    LossCode::RoleMapped,
    LossCode::ExtraDropped,
];

/// A message or notice in the order of the document's fields.
pub(super) struct Entry<'a> {
    pub(super) id: &'a str,
    pub(super) time: Option<&'a str>,
    pub(super) sender: &'a str,
    pub(super) sender_name: Option<&'a str>,
    pub(super) role: Role,
    /// The field `type`.
    pub(super) kind: &'a str,
    /// Text, a lone address, or nothing where there is neither.
    pub(super) content: Option<Cow<'a, str>>,
    /// What the content is booked under.
    pub(super) component: Component,
    pub(super) refers: Vec<Refer<'a>>,
    /// Fields that the format does not know.
    pub(super) beside: Vec<(&'a str, &'a RawJson)>,
    pub(super) extension: Option<Extension<'a>>,
}

impl<'a> Planner<'_, 'a> {
    /// The entry of a message or notice.
    pub(super) fn entry(&mut self, message: &'a Message) -> Entry<'a> {
        let position = message.position;
        let pieces = Pieces::of(message, &mut self.losses);
        let sender = self.transcript.view().sender(message);
        let is_event = message.kind == MessageKind::Notice && pieces.role == Role::System;
        for (is_lost, cause) in [
            (message.id.is_none(), reasons::FORMAT_WANTS_AN_ID),
            (sender.is_none(), reasons::FORMAT_WANTS_A_SENDER),
            (pieces.role != message.role, reasons::RESULT_IS_A_TOOLS_MESSAGE),
            (is_event, reasons::EVENT_IS_NOBODYS),
        ] {
            self.losses.several(cause, position, u64::from(is_lost));
        }
        let time = message.timestamp.as_ref().map(times::uncounted);
        let (beside, extension) = self.further(message, &pieces);
        Entry {
            id: self.ids.of(message),
            time: time.map(|time| self.transcript.made().keep(time)),
            sender: sender.map_or(self.nobody, |sender| sender.id.as_str()),
            sender_name: message.sender_name.as_deref(),
            role: pieces.role,
            kind: self.kind(message, &pieces),
            content: match pieces.texts.as_slice() {
                [] if pieces.content_is_address(message) => pieces.address().map(Cow::Borrowed),
                [] => None,
                [only] => Some(Cow::Borrowed(only)),
                several => Some(Cow::Owned(several.join("\n"))),
            },
            component: match pieces.result {
                Some(_) => Component::Tools,
                None => Component::Content,
            },
            refers: self.refers(message),
            beside,
            extension,
        }
    }

    /// The type: the source's own word in its own format, else what the message holds.
    fn kind(&mut self, message: &'a Message, pieces: &Pieces<'a>) -> &'a str {
        let word = match (message.kind, pieces.medium) {
            _ if pieces.is_system_text() => "system",
            (MessageKind::Notice, _) => "system",
            (MessageKind::Message, Some(media)) => media.kind.as_str(),
            (MessageKind::Message, None) => "text",
        };
        match message.source_type.as_deref() {
            Some(own) if self.is_native && !pieces.is_system_text() => return own,
            Some(own) if own != word => {
                self.losses.at(reasons::TYPE_OF_ANOTHER_SYSTEM, message.position);
            }
            _ => {}
        }
        word
    }
}
