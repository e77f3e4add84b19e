//! The walk over everything in a conversation that somebody may have written.
//!
//! Raw JSON is treated as the text that it is: pseudonyms fit into strings at any depth, and escapes count as one sign.
//! Media that are part of the record (Base64 of 128 signs or more) are not looked into.

use std::collections::HashSet;

use chatmill_model::{
    Arguments, Conversation, Extra, Media, MediaSource, Message, Part, Participant, Preview, RawJson,
    Reference, ReferenceForm,
};

use crate::account::{Account, Counts};
use crate::redactor::Redactor;
use crate::roster::Roster;

pub(crate) fn conversation(redactor: &Redactor, roster: &Roster, conversation: &mut Conversation) -> Account {
    let mut walk = Walk {
        redactor,
        roster,
        counts: Counts::default(),
    };
    walk.optional(&mut conversation.source_id);
    walk.optional(&mut conversation.format_version);
    walk.optional(&mut conversation.title);
    walk.optional(&mut conversation.description);
    for participant in &mut conversation.participants {
        walk.participant(participant);
    }
    for tool in &mut conversation.tools {
        walk.raw(tool);
    }
    walk.extra(&mut conversation.extra);
    walk.extra(&mut conversation.envelope);
    tell_apart(&mut conversation.participants);
    let whole = std::mem::take(&mut walk.counts);
    let messages = conversation
        .messages
        .iter_mut()
        .map(|message| {
            walk.message(message);
            std::mem::take(&mut walk.counts)
        })
        .collect();
    Account {
        conversation: whole,
        messages,
    }
}

struct Walk<'w> {
    redactor: &'w Redactor,
    roster: &'w Roster,
    counts: Counts,
}

impl Walk<'_> {
    fn text(&mut self, text: &mut String) {
        if let Some(replaced) = self.redactor.text(text, self.roster, &mut self.counts) {
            *text = replaced;
        }
    }

    fn optional(&mut self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn name(&mut self, name: &mut String) {
        if let Some(replaced) = self.redactor.name(name, self.roster, &mut self.counts) {
            *name = replaced;
        }
    }

    fn optional_name(&mut self, name: &mut Option<String>) {
        if let Some(name) = name {
            self.name(name);
        }
    }

    fn raw(&mut self, raw: &mut RawJson) {
        self.text(&mut raw.0);
    }

    fn extra(&mut self, extra: &mut Extra) {
        for (key, value) in &mut extra.0 {
            self.text(key);
            self.raw(value);
        }
    }

    fn participant(&mut self, participant: &mut Participant) {
        self.name(&mut participant.id);
        self.optional_name(&mut participant.name);
        self.optional_name(&mut participant.alias);
        self.optional(&mut participant.role);
        self.optional(&mut participant.custom_role);
        self.optional(&mut participant.department);
        if let Some(email) = &mut participant.email
            && let Some(replaced) = self.redactor.email(email, self.roster, &mut self.counts)
        {
            *email = replaced;
        }
        self.extra(&mut participant.extra);
    }

    fn message(&mut self, message: &mut Message) {
        self.optional(&mut message.id);
        self.optional(&mut message.external_id);
        self.optional_name(&mut message.sender_name);
        self.optional(&mut message.source_type);
        // A time that is understood holds nothing but a time.
        if let Some(time) = message.timestamp.as_mut().filter(|time| time.instant.is_none()) {
            self.text(&mut time.raw);
        }
        for part in &mut message.parts {
            self.part(part);
        }
        for reference in &mut message.references {
            self.reference(reference);
        }
        for mention in &mut message.mentions {
            self.name(mention);
        }
        self.extra(&mut message.extra);
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => self.text(text),
            Part::Media(media) => self.media(media),
            Part::ToolCall(call) => {
                self.optional(&mut call.id);
                self.optional(&mut call.metadata_id);
                self.optional(&mut call.name);
                match &mut call.arguments {
                    Arguments::Object(raw) | Arguments::NotObject(raw) => self.raw(raw),
                    Arguments::Malformed(text) => self.text(text),
                }
            }
            Part::ToolResult(result) => {
                self.optional(&mut result.call_id);
                self.optional(&mut result.metadata_id);
                self.optional(&mut result.name);
                self.optional(&mut result.caller);
                self.text(&mut result.content);
            }
            Part::CacheMark => {}
        }
    }

    fn media(&mut self, media: &mut Media) {
        match &mut media.source {
            MediaSource::Url(source) | MediaSource::Inline(source) if !is_payload(source) => {
                self.text(source);
            }
            MediaSource::Url(_) | MediaSource::Inline(_) | MediaSource::Upload => {}
        }
        self.optional(&mut media.media_type);
        self.optional(&mut media.name);
    }

    fn reference(&mut self, reference: &mut Reference) {
        self.optional(&mut reference.target);
        if let Some(Preview {
            content,
            sender,
            sender_name,
            from_agent: _,
        }) = &mut reference.preview
        {
            self.optional(content);
            self.optional_name(sender);
            self.optional_name(sender_name);
        }
        if let ReferenceForm::Object(raw) = &mut reference.form {
            self.raw(raw);
        }
    }
}

/// Whether a source is Base64, in a `data:` URL or alone; what is too short to be a medium is looked into all the same.
fn is_payload(source: &str) -> bool {
    let data = match source
        .strip_prefix("data:")
        .and_then(|url| url.split_once(";base64,"))
    {
        Some((kind, data)) if kind.len() < 64 => data,
        _ => source,
    };
    let belongs = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'\r' | b'\n')
    };
    data.len() >= 128 && data.bytes().all(belongs)
}

/// Gives participants whose ids became equal a number behind it.
fn tell_apart(participants: &mut [Participant]) {
    let mut taken = HashSet::new();
    for participant in participants {
        let plain = participant.id.clone();
        let mut number = 2_u32;
        while !taken.insert(participant.id.clone()) {
            participant.id = format!("{plain}~{number}");
            number += 1;
        }
    }
}
