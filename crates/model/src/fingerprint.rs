//! The content hash of a conversation: equal content has an equal hash, in any source.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::alternative::{Alternative, Judgement};
use crate::conversation::Conversation;
use crate::extra::Extra;
use crate::message::{Arguments, MediaSource, Message, Part, ReferenceForm};

/// BLAKE3 over the content of a conversation (roster, messages, references, calls, alternatives), in hexadecimal.
///
/// Left out are ids of the conversation, its source, version and shape, byte ranges, and logged models and usage. Raw JSON is hashed in
/// compact form.
pub fn content_hash(conversation: &Conversation) -> String {
    let mut hash = Hash::default();
    hash.text(conversation.scene.as_str());
    hash.optional(conversation.title.as_deref());
    hash.optional(conversation.description.as_deref());
    hash.number(conversation.participants.len());
    for participant in &conversation.participants {
        hash.text(&participant.id);
        hash.optional(participant.name.as_deref());
        hash.optional(participant.alias.as_deref());
        hash.text(participant.kind.as_str());
        hash.optional(participant.custom_role.as_deref());
        hash.optional(participant.department.as_deref());
        hash.optional(participant.email.as_deref());
        hash.extra(&participant.extra);
    }
    hash.number(conversation.tools.len());
    for tool in &conversation.tools {
        hash.raw(tool.as_str());
    }
    hash.extra(&conversation.extra);
    hash.extra(&conversation.envelope);
    hash.number(conversation.messages.len());
    for message in &conversation.messages {
        hash.message(message, conversation);
    }
    for alternative in &conversation.alternatives {
        hash.alternative(alternative, conversation);
    }
    hash.finish()
}

/// The hash of content and sender of each message: equal for two copies of a message, whatever else differs. Without the keys, nobody can
/// make two different messages with equal hashes; other keys give other hashes.
pub fn body_hashes(conversation: &Conversation, keys: &RandomState) -> Vec<u64> {
    let mut hash = Hash::default();
    let mut hashes = Vec::with_capacity(conversation.messages.len());
    for message in &conversation.messages {
        let sender = conversation.sender(message);
        hash.optional(sender.map(|sender| sender.id.as_str()));
        for part in &message.parts {
            hash.part(part);
        }
        hashes.push(hash.take(keys));
    }
    hashes
}

/// Bytes that are collected before they are hashed: BLAKE3 is fastest with many at once.
const WAITING_BYTES: usize = 16 << 10;

#[derive(Default)]
struct Hash {
    hasher: blake3::Hasher,
    waiting: Vec<u8>,
}

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= WAITING_BYTES {
            self.hasher.update(&self.waiting);
            self.waiting.clear();
        }
    }

    /// The short hash of everything since the last call.
    fn take(&mut self, keys: &RandomState) -> u64 {
        let mut short = keys.build_hasher();
        short.write(&self.waiting);
        self.waiting.clear();
        if self.hasher.count() > 0 {
            short.write(self.hasher.finalize().as_bytes());
            self.hasher.reset();
        }
        short.finish()
    }

    fn finish(mut self) -> String {
        self.hasher.update(&self.waiting);
        self.hasher.finalize().to_hex().to_string()
    }

    fn number(&mut self, value: usize) {
        self.bytes(&(value as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes(text.as_bytes());
    }

    fn optional(&mut self, text: Option<&str>) {
        self.bytes(&[u8::from(text.is_some())]);
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn raw(&mut self, raw: &str) {
        let mut compact = String::with_capacity(raw.len());
        crate::json::push_compact(&mut compact, raw);
        self.text(&compact);
    }

    fn extra(&mut self, extra: &Extra) {
        self.number(extra.0.len());
        for (key, value) in &extra.0 {
            self.text(key);
            self.raw(value.as_str());
        }
    }

    fn message(&mut self, message: &Message, conversation: &Conversation) {
        self.optional(message.id.as_deref());
        self.optional(message.external_id.as_deref());
        let sender = conversation.sender(message);
        self.optional(sender.map(|sender| sender.id.as_str()));
        self.optional(message.sender_name.as_deref());
        self.text(message.role.as_str());
        self.text(message.kind.as_str());
        self.optional(message.source_type.as_deref());
        self.optional(message.timestamp.as_ref().map(|time| time.raw.as_str()));
        self.number(message.parts.len());
        for part in &message.parts {
            self.part(part);
        }
        self.number(message.references.len());
        for reference in &message.references {
            self.optional(reference.target.as_deref());
            match &reference.form {
                ReferenceForm::Id => self.number(0),
                ReferenceForm::Object(raw) => self.raw(raw.as_str()),
                ReferenceForm::Excerpt => {
                    let preview = reference.preview.as_ref();
                    self.optional(preview.and_then(|preview| preview.content.as_deref()));
                }
            }
            self.number(usize::from(reference.is_pseudo));
        }
        self.number(message.mentions.len());
        for mention in &message.mentions {
            self.text(mention);
        }
        self.extra(&message.extra);
        if let Some(weight) = message.weight {
            self.text("weight");
            self.bytes(&weight.value().to_le_bytes());
        }
    }

    fn alternative(&mut self, alternative: &Alternative, conversation: &Conversation) {
        self.number(alternative.place.start as usize);
        self.number(alternative.place.end as usize);
        self.text(alternative.origin.as_str());
        let Judgement { rank, score, label } = alternative.judgement;
        self.optional(rank.map(|rank| rank.to_string()).as_deref());
        self.optional(score.map(|score| score.value().to_string()).as_deref());
        self.optional(label.map(|label| if label { "good" } else { "bad" }));
        let messages = alternative.messages.as_deref();
        self.bytes(&[u8::from(messages.is_some())]);
        let messages = messages.unwrap_or_default();
        self.number(messages.len());
        for message in messages {
            self.message(message, conversation);
        }
    }

    fn part(&mut self, part: &Part) {
        self.text(part.type_name());
        match part {
            Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => self.text(text),
            Part::Media(media) => {
                self.text(media.kind.as_str());
                match &media.source {
                    MediaSource::Url(url) => self.text(url),
                    MediaSource::Inline(data) | MediaSource::Text(data) => self.text(data),
                    MediaSource::Upload => self.number(0),
                }
                self.optional(media.media_type.as_deref());
                self.optional(media.name.as_deref());
            }
            Part::ToolCall(call) => {
                self.optional(call.id.as_deref());
                self.optional(call.metadata_id.as_deref());
                self.optional(call.name.as_deref());
                match &call.arguments {
                    Arguments::Object(raw) | Arguments::NotObject(raw) => self.raw(raw.as_str()),
                    Arguments::Malformed(text) => self.text(text),
                }
            }
            Part::ToolResult(result) => {
                self.optional(result.call_id.as_deref());
                self.optional(result.metadata_id.as_deref());
                self.optional(result.caller.as_deref());
                self.optional(result.name.as_deref());
                self.text(&result.content);
                self.number(usize::from(result.is_error));
                if result.media > 0 {
                    self.number(result.media as usize);
                }
            }
            Part::CacheMark => {}
            Part::Item(item) => {
                self.text(item.vendor.as_str());
                self.raw(item.raw.as_str());
            }
        }
    }
}
