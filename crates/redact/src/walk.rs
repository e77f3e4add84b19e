//! The walk over everything in a conversation that a person may have written.
//!
//! Raw JSON is treated as text: pseudonyms fit into strings at any depth, and escapes count as one character. Media in the record (Base64
//! of 128 characters or more) are not searched.

use std::collections::{HashMap, HashSet};

use chatmill_model::{
    Arguments, Conversation, Extra, Media, MediaSource, Message, OwnItem, Part, Participant, Preview,
    Reference, ReferenceForm, Role, Timestamp,
};

use crate::account::{Account, Counts};
use crate::fixed::Json;
use crate::redactor::Redactor;
use crate::roster::Roster;

impl Redactor {
    /// Searches a conversation, and replaces the matches if there is a key.
    ///
    /// Positions, the numbers of messages and parts, and all links are unchanged; participants who would have the same id afterwards are
    /// distinguished by a number.
    pub fn redact(&self, conversation: &mut Conversation, roster: &Roster) -> Account {
        let redactor = self;
        let replaced = |id: &str| redactor.text(id, roster, &mut Counts::default());
        let ids = conversation
            .messages
            .iter()
            .filter_map(|message| message.id.as_deref());
        let mut walk = Walk {
            redactor,
            roster,
            counts: Counts::default(),
            ids: ids
                .filter_map(|id| Some((id.to_owned(), replaced(id)?)))
                .collect(),
            lengths: HashSet::new(),
        };
        walk.lengths = walk.ids.keys().map(String::len).collect();
        // The conversation of two people may have the id of one of them.
        walk.optional_name(&mut conversation.source_id);
        walk.optional(&mut conversation.format_version);
        walk.optional(&mut conversation.title);
        walk.optional(&mut conversation.description);
        walk.optional(&mut conversation.model);
        for participant in &mut conversation.participants {
            walk.participant(participant);
        }
        for tool in &mut conversation.tools {
            walk.json(&mut tool.0, Json::Definition);
        }
        walk.extra(&mut conversation.extra);
        walk.extra(&mut conversation.envelope);
        make_ids_unique(&mut conversation.participants);
        let mut whole = std::mem::take(&mut walk.counts);
        let mut messages: Vec<Counts> = conversation
            .messages
            .iter_mut()
            .map(|message| {
                walk.message(message);
                std::mem::take(&mut walk.counts)
            })
            .collect();
        for alternative in &mut conversation.alternatives {
            for message in alternative.messages.iter_mut().flatten() {
                walk.message(message);
            }
            // Matches in an alternative after the last message count for the last message; without messages, for the conversation.
            let last = messages.len().saturating_sub(1);
            let at = (alternative.place.start as usize).min(last);
            let counts = std::mem::take(&mut walk.counts);
            messages.get_mut(at).unwrap_or(&mut whole).add_all(&counts);
        }
        Account {
            conversation: whole,
            messages,
        }
    }
}

struct Walk<'w> {
    redactor: &'w Redactor,
    roster: &'w Roster,
    counts: Counts,
    /// The ids of messages that are replaced, with their replacements.
    ids: HashMap<String, String>,
    /// The lengths of these ids: the suffix of another id is looked up only if it has one of these lengths.
    lengths: HashSet<usize>,
}

impl Walk<'_> {
    fn text(&mut self, text: &mut (impl AsRef<str> + From<String>)) {
        let replaced = self.redactor.text(text.as_ref(), self.roster, &mut self.counts);
        put(text, replaced);
    }

    fn optional(&mut self, text: &mut Option<impl AsRef<str> + From<String>>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// The id of a call, which may be derived from a message's id: then it ends with that id, after a word boundary.
    fn call_id(&mut self, id: &mut Option<String>) {
        self.optional(id);
        let Some(id) = id.as_mut().filter(|_| !self.ids.is_empty()) else {
            return;
        };
        let ends = id.match_indices('_').map(|(at, _)| at + 1);
        let mut ends = ends.filter(|at| self.lengths.contains(&(id.len() - at)));
        let derived = ends.find_map(|at| Some((at, self.ids.get(id.get(at..)?)?)));
        if let Some((at, replaced)) = derived {
            id.replace_range(at.., replaced);
        }
    }

    fn name(&mut self, name: &mut String) {
        put(name, self.redactor.name(name, self.roster, &mut self.counts));
    }

    fn optional_name(&mut self, name: &mut Option<String>) {
        if let Some(name) = name {
            self.name(name);
        }
    }

    fn json(&mut self, text: &mut String, json: Json) {
        put(
            text,
            self.redactor.json(text, json, self.roster, &mut self.counts),
        );
    }

    /// Redacts the arguments or the result of a tool.
    fn tool_data(&mut self, text: &mut String) {
        if text.trim_start().starts_with(['{', '[']) {
            self.json(text, Json::ToolData);
        } else {
            self.text(text);
        }
    }

    /// The name of a tool: it is kept, unless it contains something other than a name.
    fn tool(&mut self, name: &mut Option<String>) {
        if let Some(name) = name {
            let replaced = self.redactor.text(name, &Roster::default(), &mut self.counts);
            put(name, replaced);
        }
    }

    fn extra(&mut self, extra: &mut Extra) {
        for (key, value) in &mut extra.0 {
            self.text(key);
            self.json(&mut value.0, Json::Metadata);
        }
    }

    fn participant(&mut self, participant: &mut Participant) {
        self.name(&mut participant.id);
        self.optional_name(&mut participant.name);
        self.optional_name(&mut participant.alias);
        self.optional(&mut participant.role);
        self.optional(&mut participant.custom_role);
        self.optional(&mut participant.department);
        if let Some(email) = &mut participant.email {
            put(email, self.redactor.email(email, self.roster, &mut self.counts));
        }
        self.extra(&mut participant.extra);
    }

    fn message(&mut self, message: &mut Message) {
        self.optional(&mut message.id);
        self.optional(&mut message.external_id);
        match &message.sender_name {
            Some(name) if message.role == Role::Tool && self.roster.owner(name).is_none() => {
                self.tool(&mut message.sender_name);
            }
            _ => self.optional_name(&mut message.sender_name),
        }
        self.optional(&mut message.source_type);
        self.optional(&mut message.model);
        self.optional(&mut message.answer);
        self.time(&mut message.timestamp);
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
        if let Some(earlier) = &mut message.earlier_copy {
            self.extra(&mut earlier.extra);
        }
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => self.text(text),
            Part::Media(media) => self.media(media),
            Part::ToolCall(call) => {
                self.call_id(&mut call.id);
                self.call_id(&mut call.metadata_id);
                self.tool(&mut call.name);
                match &mut call.arguments {
                    Arguments::Object(raw) | Arguments::NotObject(raw) => self.tool_data(&mut raw.0),
                    Arguments::Malformed(text) => self.text(text),
                }
                let mut own = call.own.take();
                self.own(&mut own, call.known_id());
                call.own = own;
            }
            Part::ToolResult(result) => {
                self.call_id(&mut result.call_id);
                self.call_id(&mut result.metadata_id);
                self.tool(&mut result.name);
                self.optional(&mut result.caller);
                self.tool_data(&mut result.content);
                let mut own = result.own.take();
                self.own(&mut own, result.known_id());
                result.own = own;
            }
            Part::CacheMark => {}
            Part::Item(item) => self.tool_data(&mut item.raw.0),
        }
    }

    /// A vendor's item is kept if it contains the id of its call as it is now.
    fn own(&mut self, own: &mut Option<Box<OwnItem>>, id: Option<&str>) {
        let Some(OwnItem::Client(item) | OwnItem::Hosted(item)) = own.as_deref_mut() else {
            return;
        };
        self.tool_data(&mut item.raw.0);
        if id.is_none_or(|id| !item.raw.as_str().contains(id)) {
            *own = None;
        }
    }

    fn media(&mut self, media: &mut Media) {
        match &mut media.source {
            MediaSource::Url(source) | MediaSource::Inline(source) if !is_payload(source) => {
                self.text(source);
            }
            MediaSource::Text(text) => self.text(text),
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
            timestamp,
            source_type,
        }) = &mut reference.preview
        {
            self.optional(content);
            self.optional_name(sender);
            self.optional_name(sender_name);
            self.optional(source_type);
            self.time(timestamp);
        }
        if let ReferenceForm::Object(raw) = &mut reference.form {
            self.json(&mut raw.0, Json::Metadata);
        }
        for nested in &mut reference.nested {
            self.reference(nested);
        }
    }

    /// A time that was understood contains nothing but a time.
    fn time(&mut self, time: &mut Option<Timestamp>) {
        if let Some(time) = time.as_mut().filter(|time| time.instant.is_none()) {
            self.text(&mut time.raw);
        }
    }
}

/// Replaces a text by its redacted form.
fn put<T: From<String>>(place: &mut T, replaced: Option<String>) {
    if let Some(replaced) = replaced {
        *place = replaced.into();
    }
}

/// Whether a source is Base64, in a `data:` URL or alone; Base64 that is too short for a media item is searched anyway.
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

/// Appends a number to ids of participants that became equal.
fn make_ids_unique(participants: &mut [Participant]) {
    let mut taken = HashSet::new();
    // The next number to try for each id: a thousand people may share one pseudonym.
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for participant in participants {
        let plain = participant.id.clone();
        let number = numbers.entry(plain.clone()).or_insert(2);
        while !taken.insert(participant.id.clone()) {
            participant.id = format!("{plain}~{number}");
            *number += 1;
        }
    }
}
