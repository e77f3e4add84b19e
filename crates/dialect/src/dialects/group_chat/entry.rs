//! Writes messages and notices as entries of the list, field by field in the order of the document, and declares the losses.

use std::borrow::Cow;

use chatmill_model::{Component, Message, MessageKind, Role, Sink};

use super::EntryWriter;
use super::pieces::Pieces;
use super::references::Refer;
use crate::loss::reasons;
use crate::text::times;
use crate::write::object::{Object, key, list};

impl<'a> EntryWriter<'_, 'a> {
    /// Writes the entry of a message or notice, and returns its role.
    pub(super) fn write(&mut self, message: &'a Message, sink: &mut Sink<'a>) -> Role {
        let position = message.position;
        let pieces = Pieces::of(message, &mut self.losses);
        let role = pieces.role;
        let sender = self.transcript.view().sender(message);
        let is_event = message.kind == MessageKind::Notice && role == Role::System;
        for (is_lost, cause) in [
            (message.id.is_none(), reasons::FORMAT_WANTS_AN_ID),
            (sender.is_none(), reasons::FORMAT_WANTS_A_SENDER),
            (role != message.role, reasons::RESULT_IS_A_TOOLS_MESSAGE),
            (is_event, reasons::EVENT_IS_NOBODYS),
        ] {
            self.losses.several(cause, position, u64::from(is_lost));
        }
        let time = message.timestamp.as_ref().map(times::uncounted);
        let time = time.map(|time| self.transcript.arena().keep(time));
        let content = match pieces.texts.as_slice() {
            [] if pieces.content_is_address(message) => pieces.address().map(Cow::Borrowed),
            [] => None,
            [only] => Some(Cow::Borrowed(*only)),
            several => Some(Cow::Owned(several.join("\n"))),
        };
        let component = match pieces.result {
            Some(_) => Component::Tools,
            None => Component::Content,
        };
        let sender = sender.map_or(self.nobody, |sender| sender.id.as_str());
        let mut object = Object::open(sink);
        object.string(key!("message_id"), Some(self.ids.of(message)), Component::Meta);
        object.string(key!("create_time"), time, Component::Meta);
        object.string(key!("sender"), Some(sender), Component::Names);
        object.string(
            key!("sender_name"),
            message.sender_name.as_deref(),
            Component::Names,
        );
        match role {
            // System text is recognised by its type.
            Role::System => {}
            Role::User => object.word(key!("role"), "\"user\""),
            Role::Assistant => object.word(key!("role"), "\"assistant\""),
            Role::Tool => object.word(key!("role"), "\"tool\""),
        }
        object.string(key!("type"), Some(self.kind(message, &pieces)), Component::Meta);
        match content {
            Some(content) => object.string(key!("content"), Some(content), component),
            None => object.word(key!("content"), "null"),
        }
        list(object.key(key!("refer_list")), self.refers(message), Refer::write);
        self.further(message, &pieces, &mut object);
        object.close();
        role
    }

    /// Returns the type of an entry: the word of the source if it has this format, otherwise a word for the content.
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
