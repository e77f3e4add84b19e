//! One payload: fields in the order of the document, then what else the source gave a message of this system.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_model::{
    Component, Extra, Media, MediaKind, MediaSource, Message, MessageKind, Part, Participant, RawJson, Role,
    Sink,
};

use super::known::{Known, shown_name};
use super::renders;
use crate::json;
use crate::json_object::{Object, key};
use crate::loss::{LossCode, Losses, reasons};
use crate::message_ids::MessageIds;
use crate::names::AGENT;
use crate::progress::Progress;
use crate::rendering::{Extent, Rendering};
use crate::view::View;

/// Fields of a message that a payload has a place for, in the order in which they are written.
const BEFORE_NAME: [(&str, &str); 1] = [("responseId", key!("responseId"))];
const BEFORE_FILES: [(&str, &str); 3] = [
    ("responseDepth", key!("responseDepth")),
    ("respondingChain", key!("respondingChain")),
    ("isTaskNotification", key!("isTaskNotification")),
];

/// Fields of other captures of the same system, which no payload has, and one that stands here only where it is not a list.
const UNPUBLISHED: [&str; 4] = ["sender", "status", "partialText", "attachments"];

/// Writes payloads, and knows what was lost and said.
pub(super) struct Writer<'v, 'a> {
    view: &'v View<'a>,
    is_native: bool,
    ids: MessageIds<'a>,
    /// The project that every payload names.
    project: Cow<'a, str>,
    known: Known<'a>,
    losses: Losses,
    progress: Progress,
}

/// What of a message has a place in a payload.
#[derive(Default)]
struct Pieces<'a> {
    texts: Vec<&'a str>,
    media: Vec<&'a Media>,
}

impl<'v, 'a> Writer<'v, 'a> {
    /// For the messages of a view; `is_native` where they were read from this system.
    pub(super) fn new(view: &'v View<'a>, is_native: bool, known: Known<'a>, losses: Losses) -> Self {
        Self {
            view,
            is_native,
            ids: MessageIds::new(view),
            project: view
                .own_id()
                .map_or_else(|| Cow::Owned(view.made_id("project")), Cow::Borrowed),
            known,
            losses,
            progress: Progress::default(),
        }
    }

    /// The rendering that was written.
    pub(super) fn finish(self, extent: Extent) -> Rendering {
        self.progress.finish(extent, self.losses, Vec::new())
    }

    /// Writes a message or notice.
    pub(super) fn write(&mut self, sink: &mut Sink<'a>, message: &'a Message) {
        let pieces = self.pieces(message);
        let task = self.field(message, "task");
        let mut object = Object::open(sink);
        match task {
            None => self.sender(&mut object, message),
            Some(task) if task_text(task, "createdBy").is_some() => {}
            Some(_) => self.known_sender(&mut object, message),
        }
        if self.field(message, "projectId").is_none() {
            object.string(key!("projectId"), Some(self.project.clone()), Component::Meta);
        }
        match pieces.texts.as_slice() {
            [] if task.is_some() => {}
            [title] if task.is_some_and(|task| is_title(task, title)) => {}
            [] => object.string(key!("text"), Some(""), Component::Content),
            [only] => object.string(key!("text"), Some(*only), Component::Content),
            several => object.string(key!("text"), Some(several.join("\n")), Component::Content),
        }
        self.id(&mut object, message, task.is_some());
        let word = self.word(message);
        match self.field(message, "type") {
            Some(written) => object.raw(key!("type"), written),
            None => object.string(key!("type"), word, Component::Meta),
        }
        self.own(&mut object, message, &BEFORE_NAME);
        self.agent(&mut object, message, word);
        self.own(&mut object, message, &BEFORE_FILES);
        self.files(&mut object, message, &pieces.media);
        self.reply(&mut object, message);
        self.others(&mut object, message);
        object.close();
        match message.kind {
            MessageKind::Message => self.progress.said(message.position, message.role.as_str()),
            MessageKind::Notice => self.progress.noted(message.position),
        }
    }

    /// A further field that the source gave a message of this system.
    fn field(&self, message: &'a Message, key: &str) -> Option<&'a RawJson> {
        message.extra.get(key).filter(|_| self.is_native)
    }

    fn pieces(&mut self, message: &'a Message) -> Pieces<'a> {
        let position = message.position;
        let mut pieces = Pieces::default();
        for part in &message.parts {
            match part {
                Part::Text(text) | Part::Notice(text) => {
                    if !pieces.media.is_empty() {
                        self.losses
                            .at(LossCode::PartMoved, position, reasons::TEXT_BEFORE_FILES);
                    }
                    pieces.texts.push(text);
                }
                Part::Media(media) if matches!(media.source, MediaSource::Inline(_)) => {
                    self.losses
                        .at(LossCode::MediaDropped, position, reasons::PAYLOADS_HOLD_NO_BYTES);
                }
                Part::Media(media) => {
                    if kind(media.media_type.as_deref()) != media.kind {
                        self.losses.at(
                            LossCode::MediaDescriptionDropped,
                            position,
                            reasons::FILE_IS_ITS_TYPE,
                        );
                    }
                    pieces.media.push(media);
                }
                Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning(_) | Part::CacheMark => {}
            }
        }
        self.losses.several(
            LossCode::PartFlattened,
            position,
            (pieces.texts.len() as u64).saturating_sub(1),
            reasons::TEXTS_ARE_JOINED,
        );
        pieces
    }

    /// The account and the name of who speaks; what the conversation does not know of them is made up.
    fn sender(&mut self, object: &mut Object<'_, 'a>, message: &'a Message) {
        let sender = self.view.sender(message);
        let is_agent = message.role == Role::Assistant;
        let nobody = if is_agent { AGENT } else { "User" };
        let Some(sender) = sender.filter(|sender| !sender.id.is_empty()) else {
            let shown = message.sender_name.as_deref().filter(|name| !name.is_empty());
            let name = shown.or(sender.and_then(Participant::own_name));
            let account = name.map_or_else(|| self.unheard_of(nobody), Cow::Borrowed);
            object.string(key!("from"), Some(account), Component::Names);
            object.string(key!("fromUsername"), name.or(Some(nobody)), Component::Names);
            self.losses.at(
                LossCode::SenderMissing,
                message.position,
                reasons::PAYLOAD_NAMES_AN_ACCOUNT,
            );
            return;
        };
        let account = self.account(sender);
        let name = shown_name(message, sender).or_else(|| self.known.name(sender));
        if name.is_none() {
            self.losses.at(
                LossCode::NameSynthesised,
                message.position,
                reasons::PAYLOAD_SHOWS_A_NAME,
            );
        }
        let made = if is_agent {
            Cow::Borrowed(nobody)
        } else {
            account.clone()
        };
        let name = name.map_or(made, Cow::Borrowed);
        object.string(key!("from"), Some(account), Component::Names);
        object.string(key!("fromUsername"), Some(name), Component::Names);
    }

    /// As far as that is known, who tells of a task: such an event has no sender of its own.
    fn known_sender(&self, object: &mut Object<'_, 'a>, message: &'a Message) {
        if let Some(sender) = self.view.sender(message) {
            object.string(key!("from"), Some(self.account(sender)), Component::Names);
            object.string(
                key!("fromUsername"),
                shown_name(message, sender),
                Component::Names,
            );
        }
    }

    /// The account under which somebody speaks.
    fn account(&self, sender: &'a Participant) -> Cow<'a, str> {
        let shared = sender.extra.get("userId").filter(|_| self.is_native);
        let account = shared.and_then(|raw| json::decode_string(raw.as_str()));
        account.map_or(Cow::Borrowed(sender.id.as_str()), Cow::Owned)
    }

    /// A word that is nobody's id, counted where it is.
    fn unheard_of(&self, word: &'static str) -> Cow<'a, str> {
        let people = &self.view.conversation().participants;
        let is_taken = |id: &str| people.iter().any(|person| person.id == id);
        if !is_taken(word) {
            return Cow::Borrowed(word);
        }
        let mut counted = (2_u64..).map(|count| format!("{word}~{count}"));
        counted
            .find(|id| !is_taken(id))
            .map_or(Cow::Borrowed(word), Cow::Owned)
    }

    fn id(&mut self, object: &mut Object<'_, 'a>, message: &'a Message, is_task: bool) {
        if let Some(id) = &message.id {
            object.string(key!("messageId"), Some(id), Component::Meta);
        } else if !is_task {
            self.losses.at(
                LossCode::MessageIdSynthesised,
                message.position,
                reasons::PAYLOAD_HAS_AN_ID,
            );
            let made_up = self.ids.of_position(message.position);
            object.string(key!("messageId"), Some(made_up), Component::Meta);
        }
    }

    /// The type: the system's own word, else what the role says.
    fn word(&mut self, message: &'a Message) -> Option<&'a str> {
        let own = message.source_type.as_deref();
        let by_role = if message.role == Role::Assistant {
            "response"
        } else {
            "message"
        };
        match own {
            Some("api") if self.is_native => Some("message"),
            Some(word) if self.is_native => Some(word),
            None if message.kind == MessageKind::Notice => None,
            None => Some(by_role),
            Some(_) => {
                self.losses.at(
                    LossCode::ExtraDropped,
                    message.position,
                    reasons::TYPE_OF_NO_PAYLOAD,
                );
                Some(by_role)
            }
        }
    }

    /// The name of an agent, whom a message mentions, and whether an agent wrote it.
    fn agent(&mut self, object: &mut Object<'_, 'a>, message: &'a Message, word: Option<&str>) {
        let is_agent = message.role == Role::Assistant;
        let stated_name = self.field(message, "agentName").is_some();
        if is_agent && !stated_name {
            let name = self.view.sender(message).and_then(Participant::own_name);
            object.string(
                key!("agentName"),
                name.or(message.sender_name.as_deref()),
                Component::Names,
            );
        }
        let mentioned = message.mentions.iter().filter_map(|id| self.known.mention(id));
        let mentioned: Vec<Cow<'a, str>> = mentioned.collect();
        if !mentioned.is_empty() && self.field(message, "mentions").is_none() {
            let sink = object.key(key!("mentions"));
            for (index, mentioned) in mentioned.into_iter().enumerate() {
                sink.framing(if index == 0 { "[" } else { "," });
                sink.json_string(mentioned, Component::Meta);
            }
            sink.framing("]");
        }
        if self.field(message, "isAgentMessage").is_some() {
            return;
        }
        let answers = matches!(word, Some("typing" | "chunk" | "response" | "done" | "error"));
        let says_so = matches!(word, Some("message" | "response" | "done"));
        if is_agent && says_so {
            object.word(key!("isAgentMessage"), "true");
        } else if !is_agent && (answers || stated_name) {
            object.word(key!("isAgentMessage"), "false");
        }
    }

    /// Writes fields of the format that the source gave.
    fn own(&self, object: &mut Object<'_, 'a>, message: &'a Message, fields: &[(&str, &'static str)]) {
        for (name, key) in fields {
            if let Some(value) = self.field(message, name) {
                object.raw(key, value);
            }
        }
    }

    fn files(&self, object: &mut Object<'_, 'a>, message: &'a Message, media: &[&'a Media]) {
        if media.is_empty() {
            return;
        }
        let mut facts: BTreeMap<&str, Vec<(&str, &RawJson)>> = BTreeMap::new();
        for (key, value) in self.fields(message) {
            let rest = key.strip_prefix("attachments[");
            if let Some((index, name)) = rest.and_then(|rest| rest.split_once("].")) {
                facts.entry(index).or_default().push((name, value));
            }
        }
        let sink = object.key(key!("attachments"));
        for (index, file) in media.iter().enumerate() {
            sink.framing(if index == 0 { "[" } else { "," });
            let rest = facts.remove(index.to_string().as_str()).unwrap_or_default();
            let of = |wanted: &str| {
                rest.iter()
                    .find(|(key, _)| *key == wanted)
                    .map(|(_, value)| *value)
            };
            let mut object = Object::open(sink);
            if let Some(id) = of("id") {
                object.raw(key!("id"), id);
            }
            object.string(key!("filename"), file.name.as_deref(), Component::Meta);
            object.string(key!("mimeType"), file.media_type.as_deref(), Component::Meta);
            if let Some(size) = of("fileSize") {
                object.raw(key!("fileSize"), size);
            }
            if let MediaSource::Url(url) = &file.source {
                object.string(key!("blobUrl"), Some(url), Component::Content);
            }
            for (key, value) in rest {
                if !matches!(key, "id" | "fileSize") {
                    object.field(key, value);
                }
            }
            object.close();
        }
        sink.framing("]");
    }

    /// The first reply; a payload has one.
    fn reply(&mut self, object: &mut Object<'_, 'a>, message: &'a Message) {
        let position = message.position;
        let mut is_written = false;
        for (reference, link) in self.view.references(message) {
            let resolved = link.target.and_then(|target| self.view.message(target));
            let made_up = |target: &Message| {
                let has_one = target.kind == MessageKind::Message && renders(target, self.is_native);
                has_one.then(|| Cow::Owned(self.ids.of_position(target.position)))
            };
            let id = match resolved {
                Some(Message { id: Some(id), .. }) => Some(Cow::Borrowed(id.as_str())),
                target => target
                    .and_then(made_up)
                    .or(reference.target.as_deref().map(Cow::Borrowed)),
            };
            let (Some(id), false) = (id, reference.is_pseudo) else {
                self.losses.at(
                    LossCode::ReferenceUnresolved,
                    position,
                    reasons::REPLY_NAMES_NO_MESSAGE,
                );
                continue;
            };
            if is_written {
                self.losses.at(
                    LossCode::ReferenceDropped,
                    position,
                    reasons::ONE_REPLY_IN_A_PAYLOAD,
                );
                continue;
            }
            is_written = true;
            object.string(key!("parentMessageId"), Some(id), Component::Replies);
            if reference.preview.is_some() {
                self.losses
                    .at(LossCode::ExtraDropped, position, reasons::PAYLOAD_SHOWS_NO_QUOTE);
            }
        }
    }

    /// Everything else that the source gave a message of this system.
    fn others(&mut self, object: &mut Object<'_, 'a>, message: &'a Message) {
        let written = |name: &str| {
            let mut fields = BEFORE_NAME.iter().chain(&BEFORE_FILES);
            name == "type" || name.starts_with("attachments[") || fields.any(|(field, _)| *field == name)
        };
        let mut lost = 0;
        for (key, value) in &message.extra.0 {
            if !self.is_native || key.starts_with("envelope.") || UNPUBLISHED.contains(&key.as_str()) {
                lost += 1;
            } else if !written(key) {
                object.field(key, value);
            }
        }
        self.losses.whole_rendering(
            LossCode::ExtraDropped,
            lost,
            reasons::PAYLOADS_HAVE_NO_SUCH_FIELDS,
        );
    }

    fn fields(&self, message: &'a Message) -> impl Iterator<Item = (&'a str, &'a RawJson)> + use<'a> {
        static NONE: Extra = Extra(Vec::new());
        let extra = if self.is_native { &message.extra } else { &NONE };
        extra.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

fn is_title(task: &RawJson, text: &str) -> bool {
    task_text(task, "title").as_deref() == Some(text)
}

fn task_text(task: &RawJson, key: &str) -> Option<String> {
    let fields: BTreeMap<String, serde_json::Value> = serde_json::from_str(task.as_str()).ok()?;
    fields.get(key)?.as_str().map(str::to_owned)
}

/// What a MIME type says that a file is.
fn kind(media_type: Option<&str>) -> MediaKind {
    match media_type
        .and_then(|name| name.split_once('/'))
        .map(|(kind, _)| kind)
    {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        _ => MediaKind::File,
    }
}
