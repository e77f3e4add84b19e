//! Jaibber's message payloads (document of 2026-02-28): one array of what was published in a project's channel.
//!
//! ```json
//! [{"from":"u1","fromUsername":"ann","projectId":"p1","text":"@Coder why?","messageId":"m1","type":"message"},
//!  {"from":"u1","fromUsername":"Coder","projectId":"p1","text":"Because.","messageId":"r1","type":"response",
//!   "agentName":"Coder","isAgentMessage":true}]
//! ```
//!
//! Nobody is the assistant here: the dialect renders once. Answers are written whole, not in pieces; an answer whose end is
//! missing is one `chunk`. Fields of the document stand in its order, `parentMessageId` and what else a project's own
//! messages hold behind them. Presence and files that belong to no message are no message payloads.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{
    Component, Conversation, Extra, Media, MediaKind, MediaSource, Message, MessageKind, Part, Participant,
    ParticipantKind, RawJson, Role, Rope,
};

use crate::Dialect;
use crate::about::About;
use crate::group_chat::MessageIds;
use crate::group_chat::object::{Object, key};
use crate::jaibber_context::declare_unspoken;
use crate::json;
use crate::loss::{LossCode, Losses};
use crate::names::own_name;
use crate::nature::{Lack, Shown, declare_messages};
use crate::progress::Progress;
use crate::rendering::Rendering;
use crate::view::View;

/// The dialect of Jaibber's message payloads.
pub struct JaibberEvents;

static ABOUT: About = About {
    title: "Jaibber events",
    family: "jaibber",
    media_type: "application/json",
    specification: "Jaibber Message Format, message payloads",
    dated: "2026-02-28",
    carries: "people and agents, text, files by address, replies, mentions, chains of agents, ids, Jaibber's own notices",
    loses: "times, tools, system text, reasoning, files in the record, facts about people and rooms, other systems' notices",
    profiles: &["document"],
    neutral: true,
};

/// Fields of a message that a payload has a place for, in the order in which they are written.
const BEFORE_NAME: [(&str, &str); 1] = [("responseId", key!("responseId"))];
const BEFORE_FILES: [(&str, &str); 3] = [
    ("responseDepth", key!("responseDepth")),
    ("respondingChain", key!("respondingChain")),
    ("isTaskNotification", key!("isTaskNotification")),
];

/// Fields of other captures of the same system, which no payload has.
const UNPUBLISHED: [&str; 3] = ["sender", "status", "partialText"];

impl Dialect for JaibberEvents {
    fn id(&self) -> &'static str {
        "jaibber-events"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let is_native = view.conversation().source == "jaibber-events";
        let mut losses = Losses::default();
        let shown = Shown::choose(view, None, &mut losses, |message| renders(message, is_native));
        declare_unspoken(view, shown.first, &mut losses);
        declare_messages(view, &shown.messages, &[Lack::Times], &mut losses);
        let speaking: BTreeSet<usize> = shown
            .messages
            .iter()
            .filter_map(|message| message.sender)
            .collect();
        declare_room(view.conversation(), &speaking, &mut losses);
        declare_names(view, &shown.messages, &mut losses);
        let mut rope = Rope::new();
        let mut writer = Writer {
            view,
            is_native,
            ids: MessageIds::new(view.conversation()),
            names: Names::new(&view.conversation().participants, &speaking),
            losses,
            progress: Progress::default(),
        };
        rope.framing("[");
        for (index, message) in shown.messages.iter().enumerate() {
            if index > 0 {
                rope.framing(",");
            }
            writer.write(&mut rope, message);
        }
        rope.framing("]");
        emit(
            writer
                .progress
                .finish(rope, shown.coverage, writer.losses, Vec::new()),
        );
    }
}

/// Whether a message or notice is published.
fn renders(message: &Message, is_native: bool) -> bool {
    match message.kind {
        MessageKind::Notice => is_native && message.source_type.as_deref() != Some("attachment"),
        MessageKind::Message => {
            let is_said = |part: &Part| matches!(part, Part::Text(_) | Part::Media(_));
            matches!(message.role, Role::User | Role::Assistant)
                && (message.parts.is_empty() || message.parts.iter().any(is_said))
        }
    }
}

/// Declares facts about the room and its people that no payload holds.
fn declare_room(conversation: &Conversation, speaking: &BTreeSet<usize>, losses: &mut Losses) {
    let facts = usize::from(conversation.title.is_some())
        + usize::from(conversation.description.is_some())
        + conversation.extra.0.len()
        + conversation.envelope.0.len();
    losses.everywhere(
        LossCode::MetadataDropped,
        facts as u64,
        "payloads hold no facts about the room",
    );
    let is_dropped = |(place, person): &(usize, &Participant)| {
        !speaking.contains(place)
            || person.kind == ParticipantKind::Unknown
            || person.custom_role.is_some()
            || person.department.is_some()
            || person.email.is_some()
            || person.extra.0.iter().any(|(key, _)| key != "userId")
    };
    let people = conversation.participants.iter().enumerate();
    losses.everywhere(
        LossCode::ParticipantDropped,
        people.filter(is_dropped).count() as u64,
        "payloads hold only account and name of those who speak",
    );
    let aliases = conversation
        .participants
        .iter()
        .filter(|person| person.alias.is_some());
    losses.everywhere(
        LossCode::NameDropped,
        aliases.count() as u64,
        "payloads have no second names",
    );
}

/// Declares names of people that nothing shows: a payload holds the name under which its message was written.
fn declare_names(view: &View<'_>, shown: &[&Message], losses: &mut Losses) {
    let mut named = BTreeSet::new();
    for message in shown {
        if message.role == Role::Assistant || message.sender_name.is_none() {
            named.extend(message.sender);
        }
    }
    let unnamed: BTreeSet<usize> = shown
        .iter()
        .filter_map(|message| message.sender)
        .filter(|sender| !named.contains(sender))
        .collect();
    let people = unnamed
        .iter()
        .filter_map(|sender| view.conversation().participants.get(*sender));
    losses.everywhere(
        LossCode::NameDropped,
        people.filter(|person| own_name(person).is_some()).count() as u64,
        "none of the messages shows the name that the roster has",
    );
}

/// The words by which mentions name those who speak: a reader knows nobody else.
struct Names<'a> {
    participants: &'a [Participant],
    by_id: BTreeMap<&'a str, usize>,
    /// How many have a name, in any case.
    counts: BTreeMap<String, usize>,
}

impl<'a> Names<'a> {
    fn new(participants: &'a [Participant], speaking: &BTreeSet<usize>) -> Self {
        let mut by_id = BTreeMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (place, participant) in participants.iter().enumerate() {
            if !speaking.contains(&place) {
                continue;
            }
            by_id.entry(participant.id.as_str()).or_insert(place);
            if let Some(name) = own_name(participant) {
                *counts.entry(name.to_lowercase()).or_default() += 1;
            }
        }
        Self {
            participants,
            by_id,
            counts,
        }
    }

    /// The name of the one who is mentioned, where a reader finds him by it and nobody else; else the id.
    fn mention(&self, mentioned: &'a str) -> &'a str {
        let place = self.by_id.get(mentioned);
        let name = place
            .and_then(|place| self.participants.get(*place))
            .and_then(own_name);
        name.filter(|name| {
            let is_id = self.by_id.get(name).is_some_and(|other| Some(other) != place);
            !is_id && self.counts.get(&name.to_lowercase()) == Some(&1)
        })
        .unwrap_or(mentioned)
    }
}

/// Writes payloads, and knows what was lost and said.
struct Writer<'v, 'a> {
    view: &'v View<'a>,
    is_native: bool,
    ids: MessageIds<'a>,
    names: Names<'a>,
    losses: Losses,
    progress: Progress,
}

/// What of a message has a place in a payload.
#[derive(Default)]
struct Pieces<'a> {
    texts: Vec<&'a str>,
    media: Vec<&'a Media>,
}

impl<'a> Writer<'_, 'a> {
    fn write(&mut self, rope: &mut Rope<'a>, message: &'a Message) {
        let pieces = self.pieces(message);
        let task = self.field(message, "task");
        let mut object = Object::open(rope);
        if task.is_none() || !names_author(task) {
            self.sender(&mut object, message);
        }
        if let Some(project) = self.view.conversation().source_id.as_deref()
            && self.field(message, "projectId").is_none()
        {
            object.string(key!("projectId"), Some(project), Component::Meta);
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
                            .at(LossCode::PartMoved, position, "text stands before files");
                    }
                    pieces.texts.push(text);
                }
                Part::Media(media) if matches!(media.source, MediaSource::Inline(_)) => self.losses.at(
                    LossCode::MediaDropped,
                    position,
                    "payloads hold addresses of files, not their bytes",
                ),
                Part::Media(media) => {
                    if kind(media.media_type.as_deref()) != media.kind {
                        self.losses.at(
                            LossCode::MediaDescriptionDropped,
                            position,
                            "what a file is, only its MIME type says",
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
            "texts are joined into one",
        );
        pieces
    }

    fn sender(&mut self, object: &mut Object<'_, 'a>, message: &'a Message) {
        let Some(sender) = self.view.sender(message) else {
            object.string(
                key!("fromUsername"),
                message.sender_name.as_deref(),
                Component::Names,
            );
            self.losses.at(
                LossCode::SenderMissing,
                message.position,
                "a payload names an account",
            );
            return;
        };
        let account = sender
            .extra
            .get("userId")
            .filter(|_| self.is_native)
            .and_then(|raw| json::decode_string(raw.as_str()));
        match account {
            Some(account) => object.string(key!("from"), Some(account), Component::Names),
            None => object.string(key!("from"), Some(&sender.id), Component::Names),
        }
        let name = message.sender_name.as_deref().or(own_name(sender));
        object.string(key!("fromUsername"), name, Component::Names);
    }

    fn id(&mut self, object: &mut Object<'_, 'a>, message: &'a Message, is_task: bool) {
        if let Some(id) = &message.id {
            object.string(key!("messageId"), Some(id), Component::Meta);
        } else if !is_task {
            self.losses.at(
                LossCode::MessageIdSynthesised,
                message.position,
                "a payload has an id",
            );
            let made_up = self.ids.made_up(message.position);
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
                    "the type of another system is none of a payload's",
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
            let name = self.view.sender(message).and_then(own_name);
            object.string(
                key!("agentName"),
                name.or(message.sender_name.as_deref()),
                Component::Names,
            );
        }
        if !message.mentions.is_empty() && self.field(message, "mentions").is_none() {
            let rope = object.key(key!("mentions"));
            for (index, mentioned) in message.mentions.iter().enumerate() {
                rope.framing(if index == 0 { "[" } else { "," });
                rope.json_string(self.names.mention(mentioned), Component::Meta);
            }
            rope.framing("]");
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
        if media.is_empty() || self.field(message, "attachments").is_some() {
            return;
        }
        let rope = object.key(key!("attachments"));
        for (index, file) in media.iter().enumerate() {
            rope.framing(if index == 0 { "[" } else { "," });
            let prefix = format!("attachments[{index}].");
            let rest: Vec<(&str, &RawJson)> = self
                .fields(message)
                .filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?, value)))
                .collect();
            let of = |wanted: &str| {
                rest.iter()
                    .find(|(key, _)| *key == wanted)
                    .map(|(_, value)| *value)
            };
            let mut object = Object::open(rope);
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
        rope.framing("]");
    }

    /// The first reply; a payload has one.
    fn reply(&mut self, object: &mut Object<'_, 'a>, message: &'a Message) {
        let position = message.position;
        let mut is_written = false;
        for (reference, link) in self.view.references(message) {
            let resolved = link.target.and_then(|target| self.view.message(target));
            let id = match resolved.and_then(|target| target.id.as_deref()) {
                Some(id) => Some(id),
                None => reference.target.as_deref(),
            };
            let (Some(id), false) = (id, reference.is_pseudo) else {
                self.losses.at(
                    LossCode::ReferenceUnresolved,
                    position,
                    "the reply names no message",
                );
                continue;
            };
            if is_written {
                self.losses
                    .at(LossCode::ReferenceDropped, position, "a payload has one reply");
                continue;
            }
            is_written = true;
            object.string(key!("parentMessageId"), Some(id), Component::Replies);
            if reference.preview.is_some() {
                self.losses.at(
                    LossCode::ExtraDropped,
                    position,
                    "a payload does not show what it replies to",
                );
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
        self.losses.everywhere(
            LossCode::ExtraDropped,
            lost,
            "payloads have no place for these fields",
        );
    }

    fn fields(&self, message: &'a Message) -> impl Iterator<Item = (&'a str, &'a RawJson)> + use<'a> {
        static NONE: Extra = Extra(Vec::new());
        let extra = if self.is_native { &message.extra } else { &NONE };
        extra.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

/// Whether the task itself says who made it.
fn names_author(task: Option<&RawJson>) -> bool {
    task.is_some_and(|task| task_text(task, "createdBy").is_some())
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
