//! Captured requests of Tzurot, a Discord bot with personalities (message format 2.0 of 2025-05-22).
//!
//! A record is what the bot was about to say to its AI service: one thing that somebody said, and maybe the message that
//! it replies to. Three shapes are told apart:
//!
//! * `request`: `messageContent` (text or parts) with `referencedMessage`, `userName` and `currentPersonality`;
//! * `call`: the arguments of the formatter, `content` (text, parts, or a request) beside `currentPersonality`;
//! * `formatted`: what the formatter made, `{"role": "user", "content": …}`, the only element of its array.
//!
//! ```json
//! {"messageContent": "And you?", "userName": "Ann", "currentPersonality": "lilith",
//!  "referencedMessage": {"author": "Ben", "isFromBot": false, "content": "Rust."}}
//! ```
//!
//! One record is one conversation of one message; the format knows no history. The message that it replies to becomes a
//! reference with a preview. Markers like `[Image: https://…]` in a quoted text stay text.

mod formatted;
mod quoted;

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Kind, Value, append_key};
use chatmill_intake::{Framing, RecordSketch, Sketch};
use chatmill_model::json::push_string;
use chatmill_model::{
    Conversation, Extra, MediaSource, Message, MessageKind, MessageOrigin, Part, Participant,
    ParticipantKind, RawJson, Reference, Role, Scene,
};

use crate::notes::{Notes, Site, repeated_key};
use crate::{About, Evidence, FrameView, Reading, RowLedger, Source, parts};

const ID: &str = "tzurot-requests";

/// Id of a user whom the request does not name.
const UNNAMED: &str = "user";

/// The source `tzurot-requests`.
#[derive(Debug)]
pub struct TzurotRequests;

static ABOUT: About = About {
    title: "Tzurot requests",
    specification: "Tzurot Message Format Specification, version 2.0 (2025-05-22)",
    shapes: &["formatted", "call", "request"],
    carries: "one message with text, pictures and sound, the message it replies to, the active personality",
};

impl Source for TzurotRequests {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let best = sketch
            .records
            .iter()
            .filter_map(recognise)
            .max_by_key(|(confidence, _)| *confidence);
        best.or_else(|| recognise_formatted(sketch))
            .map(|(confidence, why)| Evidence {
                source: ID,
                confidence,
                why,
            })
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let mut notes = Notes::new(frame.start);
        match Request::find(frame.document.root(), limits) {
            Ok(request) => request.read(*frame, notes),
            Err(fault) => {
                let (finding, path, value) = *fault;
                let finding = finding.with_severity(Severity::Error).at_path(path);
                notes.push(finding, Some(value));
                Reading {
                    fault: notes.findings.pop(),
                    ..Reading::default()
                }
            }
        }
    }

    /// A record is one message, whatever its shape.
    fn message_path(&self, _index: u32) -> String {
        "$".to_owned()
    }
}

/// What speaks for the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| record.keys.iter().any(|key| key == wanted);
    let holds = |outer: &str, wanted: &str| {
        let mut inside = record.nested.iter();
        inside.any(|(key, inner)| key == outer && inner == wanted)
    };
    if has("messageContent") {
        let mut why = vec!["the record has messageContent".to_owned()];
        for key in ["referencedMessage", "currentPersonality", "userName"] {
            if has(key) {
                why.push(format!("the record has {key}"));
            }
        }
        return Some((if why.len() > 1 { 95 } else { 70 }, why));
    }
    if !has("content") || !has("currentPersonality") {
        return None;
    }
    let mut why = vec!["the record has content and currentPersonality".to_owned()];
    if holds("content", "messageContent") {
        why.push("content holds messageContent".to_owned());
    }
    Some((90, why))
}

/// One user message alone in an array: the formatter's result. Longer arrays are lists of messages.
fn recognise_formatted(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let [record] = sketch.records.as_slice() else {
        return None;
    };
    let is_user = record
        .strings
        .iter()
        .any(|(key, text)| key == "role" && text == "user");
    let is_bare = record.keys == ["role", "content"];
    let why = "the array holds one message, of role user and with nothing but content";
    (sketch.framing == Framing::Array && is_user && is_bare).then(|| (40, vec![why.to_owned()]))
}

/// A request in any shape.
struct Request<'d> {
    shape: &'static str,
    root: Value<'d>,
    /// The object whose fields are those of a request.
    holder: Value<'d>,
    /// What the user said.
    content: Option<Value<'d>>,
    /// Where it stands, below the record.
    field: &'static str,
}

/// A finding about a whole record, its path, and the value that it is about.
type Fault<'d> = Box<(Finding, &'static str, Value<'d>)>;

impl<'d> Request<'d> {
    fn find(root: Value<'d>, limits: &Limits) -> Result<Self, Fault<'d>> {
        if root.kind() != Kind::Object {
            let finding = Finding::new(&codes::WRONG_TYPE, "the record is no object");
            return Err(Box::new((finding, "$", root)));
        }
        if limits.messages_per_conversation == 0 {
            let finding = Finding::new(
                &codes::CONVERSATION_TOO_LARGE,
                "the conversation has 1 message, the limit is 0",
            );
            return Err(Box::new((finding, "$", root)));
        }
        for key in ["messageContent", "referencedMessage", "content"] {
            if root.fields().filter(|(name, _)| name == key).count() > 1 {
                let text = format!("{key} stands more than once in the record");
                return Err(Box::new((Finding::new(&codes::DUPLICATE_KEY, text), "$", root)));
            }
        }
        let request = |shape, holder: Value<'d>, content, field| Self {
            shape,
            root,
            holder,
            content,
            field,
        };
        if root.get("messageContent").is_some() || root.get("referencedMessage").is_some() {
            let content = root.get("messageContent");
            return Ok(request("request", root, content, "messageContent"));
        }
        let Some(content) = root.get("content") else {
            let finding = Finding::new(
                &codes::MISSING_FIELD,
                "the record has neither messageContent nor content",
            );
            return Err(Box::new((finding, "$.messageContent", root)));
        };
        if let Some(role) = root.get("role") {
            if role.as_str().as_deref() != Some("user") {
                let text = "a formatted request is a single message of role user";
                return Err(Box::new((Finding::new(&codes::WRONG_TYPE, text), "$.role", role)));
            }
            return Ok(request("formatted", root, Some(content), "content"));
        }
        if content.kind() == Kind::Object {
            let inner = content.get("messageContent");
            return Ok(request("call", content, inner, "content.messageContent"));
        }
        Ok(request("call", root, Some(content), "content"))
    }

    fn read(self, frame: FrameView<'d>, mut notes: Notes) -> Reading {
        let mut roster = Vec::new();
        let quoted = self
            .field_of("referencedMessage")
            .filter(|value| !value.is_null());
        let people = People {
            personality: self.text("currentPersonality").filter(|name| !name.is_empty()),
        };
        let author = quoted.and_then(quoted::author);
        roster.push(people.user(self.text("userName"), author.as_deref()));
        if let Some(id) = people.personality.as_deref() {
            roster.push(agent(
                id,
                quoted.and_then(|quoted| quoted::display_name_of(quoted, id)),
            ));
        }

        let mut site = Site {
            notes: &mut notes,
            position: 0,
            id: None,
            message: self.root,
        };
        let mut rest = Vec::new();
        let mut parts = self.own(&mut rest, &mut site);
        let mut references: Vec<Reference> = Vec::new();
        if self.shape == "formatted" && self.content.is_some_and(|content| content.kind() == Kind::Array) {
            let user = roster.first().map(|user| user.id.as_str()).unwrap_or_default();
            references.extend(formatted::take_reference(&mut parts, user));
        }
        if let Some(quoted) = quoted {
            references.extend(quoted::reference(quoted, &people, &mut site));
        }
        look_for_repeated_media(&parts, &references, self.root, &mut site);

        let extra = self.extra(people.personality.as_deref(), &mut site);
        let span = self.root.span();
        let message = Message {
            id: None,
            position: 0,
            sender: Some(0),
            sender_name: None,
            role: Role::User,
            kind: MessageKind::Message,
            source_type: None,
            timestamp: None,
            parts,
            references,
            mentions: Vec::new(),
            extra: Extra(rest),
            external_id: None,
            origin: MessageOrigin {
                start: frame.start + span.start as u64,
                end: frame.start + span.end as u64,
                index: 0,
            },
        };
        Reading {
            conversation: Some(Conversation {
                source: ID,
                shape: self.shape,
                scene: Scene::Unknown,
                participants: roster,
                messages: vec![message],
                extra,
                ..Conversation::default()
            }),
            fault: None,
            findings: notes.findings,
            rejects: Vec::new(),
            rows: RowLedger {
                rows: 1,
                messages: 1,
                ..RowLedger::default()
            },
        }
    }

    /// A field of the request; the arguments of a call stand one level above it.
    fn field_of(&self, key: &str) -> Option<Value<'d>> {
        self.holder.get(key).or_else(|| self.root.get(key))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.field_of(key)?.as_str().map(Cow::into_owned)
    }

    /// What the user said.
    fn own(&self, rest: &mut Vec<(String, RawJson)>, site: &mut Site<'_>) -> Vec<Part> {
        let field = self.field;
        let Some(value) = self.content.filter(|value| !value.is_null()) else {
            site.missing(field, Severity::Warning);
            return Vec::new();
        };
        if let Some(text) = value.as_str() {
            return vec![Part::Text(text.into_owned())];
        }
        if value.kind() == Kind::Array {
            let read = parts::read(value, field, site);
            rest.extend(read.extra);
            return read.parts;
        }
        let text = "the content is neither a string nor a list of parts and is read as its JSON text";
        site.wrong(field, text, Severity::Error, value);
        vec![Part::Text(value.raw().to_owned())]
    }

    /// The active personality, then every field that is not read; of a call both levels.
    fn extra(&self, personality: Option<&str>, site: &mut Site<'_>) -> Extra {
        let mut fields = Vec::new();
        if let Some(personality) = personality {
            let mut raw = String::new();
            push_string(&mut raw, personality);
            fields.push(("currentPersonality".to_owned(), RawJson(raw)));
        }
        let mut known = vec!["messageContent", "referencedMessage", "userName"];
        if personality.is_some() {
            known.push("currentPersonality");
        }
        if self.shape != "request" {
            known.extend(["content", "role"]);
        }
        let is_nested = self.holder.span() != self.root.span();
        for object in [Some(self.root), is_nested.then_some(self.holder)]
            .into_iter()
            .flatten()
        {
            for (key, value) in object.fields() {
                if !known.contains(&&*key) && !value.is_null() {
                    fields.push((key.into_owned(), RawJson(value.raw().to_owned())));
                }
            }
            for key in object.duplicate_keys() {
                let mut suffix = String::new();
                append_key(&mut suffix, &key);
                let finding = repeated_key(known.contains(&key.as_str()));
                let finding = site.place(finding, suffix, object.get(&key).unwrap_or(object));
                site.notes.findings.push(finding);
            }
        }
        Extra(fields)
    }
}

/// People, who are known by name only, kept apart from the personality that may be called the same.
struct People {
    personality: Option<String>,
}

impl People {
    /// The id of somebody of this name.
    fn id(&self, name: &str) -> String {
        if self.personality.as_deref() == Some(name) {
            format!("user:{name}")
        } else {
            name.to_owned()
        }
    }

    /// The person who speaks. One without a name never shares an id with the author of the quoted message.
    fn user(&self, name: Option<String>, author: Option<&str>) -> Participant {
        let id = match name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => self.id(name),
            None if author == Some(UNNAMED) => self.id(UNNAMED) + "~2",
            None => self.id(UNNAMED),
        };
        Participant {
            id,
            name,
            role: Some("user".to_owned()),
            kind: ParticipantKind::Human,
            listed: true,
            ..Participant::default()
        }
    }
}

/// The active personality.
fn agent(id: &str, name: Option<String>) -> Participant {
    Participant {
        id: id.to_owned(),
        name,
        role: Some("assistant".to_owned()),
        kind: ParticipantKind::Agent,
        listed: true,
        ..Participant::default()
    }
}

/// Finds a medium that the record shows twice: the bot copies a quoted medium into the user's own content.
fn look_for_repeated_media(parts: &[Part], references: &[Reference], root: Value<'_>, site: &mut Site<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    let mut repeated = 0;
    for part in parts {
        if let Part::Media(media) = part
            && let MediaSource::Url(url) = &media.source
        {
            repeated += u64::from(seen.contains(&url.as_str()));
            seen.push(url);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    let quoted = references
        .iter()
        .filter_map(|reference| reference.preview.as_ref()?.content.as_deref());
    for text in quoted {
        let is_shown = |url: &&&str| {
            let marker = |word: &str| text.contains(&format!("[{word}: {url}]"));
            marker("Image") || marker("Audio")
        };
        repeated += seen.iter().filter(is_shown).count() as u64;
    }
    if repeated > 0 {
        let text =
            "the same address stands more than once among the media of the message and of what it quotes";
        let mut finding = site.place(Finding::new(&codes::REPEATED_MEDIA, text), "", root);
        finding.count = repeated;
        site.notes.findings.push(finding);
    }
}
