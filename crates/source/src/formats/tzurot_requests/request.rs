//! One captured request: the message of a user, and the message that it replies to.

use std::collections::HashSet;

use chatmill_diag::{Code, Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{MediaSource, Part, Reference, Role};

use super::speakers::Speakers;
use super::{formatted, quoted};
use crate::base::{ExtraFields, Keep as _, Site, Times, filled, id, media};
use crate::grammar::openai::parts;

/// A request in any shape.
pub(super) struct Request<'d> {
    /// The structure of the request.
    pub shape: &'static str,
    /// The record.
    pub root: Value<'d>,
    /// The role: only lists of messages have other roles than user.
    pub role: Role,
    /// The object with the fields of a request.
    holder: Value<'d>,
    /// The content of the user's message.
    content: Option<Value<'d>>,
    /// The name of its field in the record.
    field: &'static str,
}

/// A finding about a record, its path from there, and the value that it is about.
pub(super) type RequestError<'d> = Box<(Finding, &'static str, Value<'d>)>;

/// The fault of a record.
pub(super) fn request_error<'d>(
    code: &'static Code,
    text: impl Into<String>,
    path: &'static str,
    value: Value<'d>,
) -> RequestError<'d> {
    Box::new((Finding::new(code, text), path, value))
}

impl<'d> Request<'d> {
    /// Recognises the shape of a record. Roles other than user occur in lists only.
    pub(super) fn find(root: Value<'d>, in_list: bool) -> Result<Self, RequestError<'d>> {
        if root.kind() != Kind::Object {
            let text = "the record is not an object";
            return Err(request_error(&codes::WRONG_TYPE, text, "", root));
        }
        for key in ["messageContent", "referencedMessage", "content"] {
            if root.fields().filter(|(name, _)| name == key).count() > 1 {
                let text = format!("duplicate key {key} in the record");
                return Err(request_error(&codes::DUPLICATE_KEY, text, "", root));
            }
        }
        let request = |shape, holder: Value<'d>, content, field| Self {
            shape,
            root,
            role: Role::User,
            holder,
            content,
            field,
        };
        if root.get("messageContent").is_some() || root.get("referencedMessage").is_some() {
            let content = root.get("messageContent");
            return Ok(request("request", root, content, "messageContent"));
        }
        let Some(content) = root.get("content") else {
            let text = "the record has neither messageContent nor content";
            return Err(request_error(
                &codes::MISSING_FIELD,
                text,
                ".messageContent",
                root,
            ));
        };
        if let Some(word) = root.get("role") {
            let text = if in_list {
                "a formatted message is a user's, an assistant's or the system's"
            } else {
                "a formatted request is a single message of role user"
            };
            let role = match word.as_str().as_deref() {
                Some("user") => Role::User,
                Some("assistant") if in_list => Role::Assistant,
                Some("system") if in_list => Role::System,
                _ => return Err(request_error(&codes::WRONG_TYPE, text, ".role", word)),
            };
            return Ok(Self {
                role,
                ..request("formatted", root, Some(content), "content")
            });
        }
        Ok(match content.kind() {
            Kind::Object => {
                let inner = content.get("messageContent");
                request("call", content, inner, "content.messageContent")
            }
            _ => request("call", root, Some(content), "content"),
        })
    }

    /// A field of the request; the arguments of a call are one level above it.
    pub(super) fn field_of(&self, key: &str) -> Option<Value<'d>> {
        self.holder.get(key).or_else(|| self.root.get(key))
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        filled(self.field_of(key))
    }

    /// An id: a text that is not empty, or a number as written.
    pub(super) fn id(&self, key: &str) -> Option<String> {
        self.field_of(key).and_then(id)
    }

    /// The active personality.
    pub(super) fn personality(&self) -> Option<String> {
        self.text("currentPersonality")
    }

    /// The message that it replies to.
    pub(super) fn quoted(&self) -> Option<Value<'d>> {
        self.field_of("referencedMessage")
            .filter(|value| !value.is_null())
    }

    /// Reads the content of the request: its parts, its reference, and fields without a place, by path. `user` is
    /// the id of the speaker, `ids` are those of all messages in the frame.
    pub(super) fn content(
        &self,
        user: &str,
        speakers: &Speakers,
        ids: &HashSet<String>,
        times: &mut Times,
        site: &mut Site<'_>,
    ) -> (Vec<Part>, Vec<Reference>, ExtraFields) {
        let mut rest = ExtraFields::new();
        let mut parts = self.own(&mut rest, site);
        let mut references: Vec<Reference> = Vec::new();
        if self.shape == "formatted" && self.content.is_some_and(|content| content.kind() == Kind::Array) {
            references.extend(formatted::take_reference(&mut parts, user));
        }
        if let Some(quoted) = self.quoted() {
            references.extend(quoted::reference(quoted, speakers, ids, times, site));
        }
        if references.is_empty() {
            media::hold_place(self.role, &mut parts, &rest);
        }
        find_repeated_media(&parts, &references, self.root, site);
        (parts, references, rest)
    }

    /// The parts of the user's message.
    fn own(&self, rest: &mut ExtraFields, site: &mut Site<'_>) -> Vec<Part> {
        let field = self.field;
        let Some(value) = self.content.filter(|value| !value.is_null()) else {
            site.empty(field);
            return Vec::new();
        };
        if let Some(text) = value.as_str() {
            return vec![Part::Text(text.into_owned())];
        }
        if value.kind() == Kind::Array {
            let read = parts::read(value, field, site);
            rest.extend(read.rest);
            return read.parts;
        }
        let text = "the content is neither a string nor a list of parts and is read as its JSON text";
        site.error(field, text, value);
        vec![Part::Text(value.raw().to_owned())]
    }

    /// Every field that is not read; for a call those of both levels.
    pub(super) fn extra(&self, site: &mut Site<'_>) -> ExtraFields {
        let mut fields = ExtraFields::new();
        let mut known = vec!["messageContent", "referencedMessage", "timestamp"];
        let read = [
            ("userName", self.text("userName").is_some()),
            ("currentPersonality", self.personality().is_some()),
            ("messageId", self.id("messageId").is_some()),
            ("content", self.shape != "request"),
            ("role", self.shape != "request"),
        ];
        known.extend(read.iter().filter(|(_, is_read)| *is_read).map(|(key, _)| *key));
        let is_nested = self.holder.span() != self.root.span();
        let objects = [Some(self.root), is_nested.then_some(self.holder)];
        for object in objects.into_iter().flatten() {
            fields.keep_rest(object, "", &known);
            site.repeated_keys(object, |key| known.contains(&key));
        }
        fields
    }
}

/// Finds a media item that the record shows twice: the bot copies a quoted media item into the user's own content.
fn find_repeated_media(parts: &[Part], references: &[Reference], root: Value<'_>, site: &mut Site<'_>) {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut repeated = 0;
    for part in parts {
        if let Part::Media(media) = part
            && let MediaSource::Url(url) = &media.source
        {
            repeated += u64::from(!seen.insert(url));
        }
    }
    for reference in references {
        let shown = reference.preview.iter().flat_map(|preview| &preview.content);
        let shown: HashSet<&str> = shown.flat_map(|text| markers(text)).collect();
        repeated += shown.intersection(&seen).count() as u64;
    }
    if repeated > 0 {
        let text = "duplicate address among the media of the message and of what it quotes";
        let mut finding = Finding::new(&codes::REPEATED_MEDIA, text);
        finding.count = repeated;
        site.push(finding, "", root);
    }
}

/// The addresses in the media markers of a quoted text.
fn markers(text: &str) -> impl Iterator<Item = &str> {
    text.split('[').filter_map(|piece| {
        let (kind, rest) = piece.split_once(": ")?;
        let url = rest.split_once(']')?.0;
        matches!(kind, "Image" | "Audio").then_some(url)
    })
}
