//! Writes messages as payloads, field by field in the order of the document, and declares the losses.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use chatmill_model::{
    Component, Media, MediaSource, Message, MessageKind, Part, Participant, RawJson, Role, Sink,
};

use super::known::{KnownParticipants, shown_name};
use super::renders;
use crate::loss::{LossCode, Losses, reasons};
use crate::naming::messages::MessageIds;
use crate::naming::participants::AGENT;
use crate::naming::unique::free_id;
use crate::text::json;
use crate::text::media::{document_text, kind_of_type};
use crate::transcript::Transcript;
use crate::write::object::{Object, key, list};

/// The name of a person without a name.
const PERSON: &str = "User";

/// Further fields of a message that have a fixed place in a payload.
const WRITTEN_FIELDS: [&str; 5] = [
    "type",
    "responseId",
    "responseDepth",
    "respondingChain",
    "isTaskNotification",
];

/// Fields of other captures of the same system that payloads do not have, and `attachments`, which is a further field only if it is not a
/// list.
const UNPUBLISHED: [&str; 4] = ["sender", "status", "partialText", "attachments"];

/// A field of the source.
type Field<'a> = (&'a str, &'a RawJson);

/// Writes payloads and collects their losses.
pub(super) struct PayloadWriter<'t, 'a> {
    pub(super) transcript: &'t Transcript<'a>,
    /// Whether the conversation was read from this system.
    pub(super) is_native: bool,
    pub(super) ids: MessageIds<'a>,
    /// The project that every payload names.
    pub(super) project: &'a str,
    pub(super) known: KnownParticipants<'a>,
    /// The accounts of agents and of persons without a name, made up on first use.
    pub(super) unnamed_accounts: [OnceCell<&'a str>; 2],
    pub(super) losses: Losses,
}

impl<'a> PayloadWriter<'_, 'a> {
    /// Writes the payload of a message or notice.
    pub(super) fn write(&mut self, message: &'a Message, sink: &mut Sink<'a>) {
        let (texts, media) = self.pieces(message);
        let task = self.field(message, "task");
        let (from, from_username) = match task {
            None => self.sender(message),
            Some(task) if task_text(task, "createdBy").is_some() => (None, None),
            Some(_) => self.known_sender(message),
        };
        let project = Some(self.project).filter(|_| self.field(message, "projectId").is_none());
        let text = match texts.as_slice() {
            [] if task.is_some() => None,
            [title] if task.is_some_and(|task| is_title(task, title)) => None,
            [] => Some(Cow::Borrowed("")),
            [only] => Some(Cow::Borrowed(*only)),
            several => Some(Cow::Owned(several.join("\n"))),
        };
        let (stated_type, word) = (self.field(message, "type"), self.word(message));
        let mut object = Object::open(sink);
        object.string(key!("from"), from, Component::Names);
        object.string(key!("fromUsername"), from_username, Component::Names);
        object.string(key!("projectId"), project, Component::Meta);
        object.string(key!("text"), text, Component::Content);
        object.string(
            key!("messageId"),
            self.id(message, task.is_some()),
            Component::Meta,
        );
        object.raw(key!("type"), stated_type);
        object.string(
            key!("type"),
            word.filter(|_| stated_type.is_none()),
            Component::Meta,
        );
        object.raw(key!("responseId"), self.field(message, "responseId"));
        object.string(key!("agentName"), self.agent_name(message), Component::Names);
        let mentions = self.mentions(message);
        if !mentions.is_empty() {
            list(object.key(key!("mentions")), mentions, |mentioned, sink| {
                sink.json_string(mentioned, Component::Meta);
            });
        }
        if let Some(is_agents) = self.is_agents(message, word) {
            object.word(key!("isAgentMessage"), if is_agents { "true" } else { "false" });
        }
        object.raw(key!("responseDepth"), self.field(message, "responseDepth"));
        object.raw(key!("respondingChain"), self.field(message, "respondingChain"));
        object.raw(
            key!("isTaskNotification"),
            self.field(message, "isTaskNotification"),
        );
        if !media.is_empty() {
            self.files(message, &media, object.key(key!("attachments")));
        }
        object.string(key!("parentMessageId"), self.reply(message), Component::Replies);
        object.fields(self.others(message));
        object.close();
    }

    /// Returns a further field of a message of this system.
    fn field(&self, message: &'a Message, key: &str) -> Option<&'a RawJson> {
        message.extra.get(key).filter(|_| self.is_native)
    }

    /// Returns the texts and files of a message, and declares what is lost of them.
    fn pieces(&mut self, message: &'a Message) -> (Vec<&'a str>, Vec<&'a Media>) {
        let position = message.position;
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for part in &message.parts {
            match part {
                Part::Text(text) | Part::Notice(text) => {
                    if !media.is_empty() {
                        self.losses.at(reasons::TEXT_BEFORE_FILES, position);
                    }
                    texts.push(text.as_str());
                }
                Part::Media(file) if document_text(file).is_some() => {
                    self.losses
                        .at((LossCode::PartFlattened, reasons::DOCUMENT_IS_TEXT), position);
                    texts.extend(file.name.as_deref());
                    texts.extend(document_text(file));
                }
                Part::Media(file) if matches!(file.source, MediaSource::Inline(_)) => {
                    self.losses.at(reasons::PAYLOADS_HOLD_NO_BYTES, position);
                }
                Part::Media(file) => {
                    if kind_of_type(file.media_type.as_deref()) != file.kind {
                        self.losses.at(reasons::FILE_IS_ITS_TYPE, position);
                    }
                    media.push(file);
                }
                Part::ToolCall(_)
                | Part::ToolResult(_)
                | Part::Reasoning(_)
                | Part::CacheMark
                | Part::Item(_) => {}
            }
        }
        let joined = (texts.len() as u64).saturating_sub(1);
        self.losses.several(reasons::TEXTS_ARE_JOINED, position, joined);
        (texts, media)
    }

    /// Returns account and name of the sender; they are made up if the conversation does not have them.
    fn sender(&mut self, message: &'a Message) -> (Option<&'a str>, Option<&'a str>) {
        let position = message.position;
        let sender = self.transcript.view().sender(message);
        let is_agent = message.role == Role::Assistant;
        let nobody = if is_agent { AGENT } else { PERSON };
        let Some(sender) = sender.filter(|sender| !sender.id.is_empty()) else {
            let shown = message.sender_name.as_deref().filter(|name| !name.is_empty());
            let name = shown.or(sender.and_then(Participant::own_name));
            let [agent, person] = &self.unnamed_accounts;
            let unused_name = if is_agent { agent } else { person };
            let generated = || *unused_name.get_or_init(|| self.unused_name(nobody));
            let account = name.unwrap_or_else(generated);
            self.losses.at(reasons::PAYLOAD_NAMES_AN_ACCOUNT, position);
            return (Some(account), name.or(Some(nobody)));
        };
        let account = self.account(sender);
        let name = shown_name(message, sender).or_else(|| self.known.name(sender));
        if name.is_none() {
            self.losses.at(reasons::PAYLOAD_SHOWS_A_NAME, position);
        }
        let generated = if is_agent { nobody } else { account };
        (Some(account), name.or(Some(generated)))
    }

    /// Returns the known account and name of the participant who reports a task; nothing is made up, because such an event need not have a
    /// sender.
    fn known_sender(&self, message: &'a Message) -> (Option<&'a str>, Option<&'a str>) {
        let sender = self.transcript.view().sender(message);
        let account = sender.map(|sender| self.account(sender));
        (account, sender.and_then(|sender| shown_name(message, sender)))
    }

    /// Returns the account of a sender.
    fn account(&self, sender: &'a Participant) -> &'a str {
        let shared = sender.extra.get("userId").filter(|_| self.is_native);
        let account = shared.and_then(|raw| json::decode_string(raw.as_str()));
        account.map_or(sender.id.as_str(), |name| self.transcript.arena().keep(name))
    }

    /// Returns the word, or the word with a number if a participant has it as id.
    fn unused_name(&self, word: &'static str) -> &'a str {
        let roster = self.transcript.roster();
        let is_taken = |id: &str| roster.find(id).is_some();
        self.transcript.arena().keep(free_id(word, is_taken))
    }

    fn id(&mut self, message: &'a Message, is_task: bool) -> Option<&'a str> {
        if message.id.is_some() || is_task {
            return message.id.as_deref();
        }
        self.losses.at(reasons::PAYLOAD_HAS_AN_ID, message.position);
        Some(self.ids.of_position(message.position))
    }

    /// Returns the type: the word of this system, otherwise one for the role.
    fn word(&mut self, message: &'a Message) -> Option<&'a str> {
        let own = message.source_type.as_deref();
        let by_role = match message.role {
            Role::Assistant => "response",
            _ => "message",
        };
        match own {
            Some("api") if self.is_native => Some("message"),
            Some(word) if self.is_native => Some(word),
            None if message.kind == MessageKind::Notice => None,
            None => Some(by_role),
            Some(_) => {
                self.losses.at(reasons::TYPE_OF_NO_PAYLOAD, message.position);
                Some(by_role)
            }
        }
    }

    /// Returns the name of an agent, unless the source has it in a field.
    fn agent_name(&self, message: &'a Message) -> Option<&'a str> {
        if message.role != Role::Assistant || self.field(message, "agentName").is_some() {
            return None;
        }
        let name = self
            .transcript
            .view()
            .sender(message)
            .and_then(Participant::own_name);
        name.or(message.sender_name.as_deref())
    }

    /// Returns the names or ids of mentioned participants.
    fn mentions(&self, message: &'a Message) -> Vec<&'a str> {
        if self.field(message, "mentions").is_some() {
            return Vec::new();
        }
        let mentions = message.mentions.iter();
        mentions.filter_map(|id| self.known.mention(id)).collect()
    }

    /// Returns whether an agent wrote the message, if the payload states that.
    fn is_agents(&self, message: &'a Message, word: Option<&str>) -> Option<bool> {
        let is_agent = message.role == Role::Assistant;
        let states_name = self.field(message, "agentName").is_some();
        let answers = matches!(word, Some("typing" | "chunk" | "response" | "done" | "error"));
        let by_word = matches!(word, Some("message" | "response" | "done"));
        let is_stated = if is_agent { by_word } else { answers || states_name };
        (is_stated && self.field(message, "isAgentMessage").is_none()).then_some(is_agent)
    }

    /// Writes the files of a message.
    fn files(&self, message: &'a Message, media: &[&'a Media], sink: &mut Sink<'a>) {
        let mut facts: BTreeMap<&str, Vec<Field<'a>>> = BTreeMap::new();
        if self.is_native {
            for (key, value) in &message.extra.0 {
                let rest = key.strip_prefix("attachments[");
                if let Some((index, name)) = rest.and_then(|rest| rest.split_once("].")) {
                    facts.entry(index).or_default().push((name, value));
                }
            }
        }
        list(sink, media.iter().enumerate(), |(index, file), sink| {
            // Most files have no further fields.
            let mut facts = facts.remove(index.to_string().as_str()).unwrap_or_default();
            let of = |wanted: &str| facts.iter().find(|(key, _)| *key == wanted).map(|fact| fact.1);
            let url = match &file.source {
                MediaSource::Url(url) => Some(url.as_str()),
                _ => None,
            };
            let mut object = Object::open(sink);
            object.raw(key!("id"), of("id"));
            object.string(key!("filename"), file.name.as_deref(), Component::Meta);
            object.string(key!("mimeType"), file.media_type.as_deref(), Component::Meta);
            object.raw(key!("fileSize"), of("fileSize"));
            object.string(key!("blobUrl"), url, Component::Content);
            facts.retain(|(key, _)| !matches!(*key, "id" | "fileSize"));
            object.fields(facts);
            object.close();
        });
    }

    /// Returns the id of the first message replied to, and declares the others, because a payload has only one.
    fn reply(&mut self, message: &'a Message) -> Option<&'a str> {
        let view = self.transcript.view();
        let mut parent = None;
        for (reference, link) in view.references(message) {
            let target = link.target.and_then(|target| view.message(target));
            let generated = |target: &Message| {
                let has_one = target.kind == MessageKind::Message && renders(target, self.is_native);
                has_one.then(|| self.ids.of_position(target.position))
            };
            let own = target.and_then(|target| target.id.as_deref());
            let id = own.or_else(|| target.and_then(generated));
            let id = id
                .or(reference.target.as_deref())
                .filter(|_| !reference.is_pseudo);
            let cause = match (id, parent) {
                (None, _) => reasons::REPLY_NAMES_NO_MESSAGE,
                (Some(_), Some(_)) => reasons::ONE_REPLY_IN_A_PAYLOAD,
                (Some(_), None) => {
                    parent = id;
                    if reference.preview.is_none() {
                        continue;
                    }
                    reasons::PAYLOAD_SHOWS_NO_QUOTE
                }
            };
            self.losses.at(cause, message.position);
        }
        parent
    }

    /// Returns all other fields of a message of this system, and declares those that are lost.
    fn others(&mut self, message: &'a Message) -> Vec<Field<'a>> {
        let mut others = Vec::new();
        let mut lost = 0;
        for (key, value) in &message.extra.0 {
            if !self.is_native || key.starts_with("envelope.") || UNPUBLISHED.contains(&key.as_str()) {
                lost += 1;
            } else if !WRITTEN_FIELDS.contains(&key.as_str()) && !key.starts_with("attachments[") {
                others.push((key.as_str(), value));
            }
        }
        self.losses
            .whole_rendering(reasons::PAYLOADS_HAVE_NO_SUCH_FIELDS, lost);
        others
    }
}

fn is_title(task: &RawJson, text: &str) -> bool {
    task_text(task, "title").as_deref() == Some(text)
}

fn task_text(task: &RawJson, key: &str) -> Option<String> {
    let fields: BTreeMap<String, serde_json::Value> = serde_json::from_str(task.as_str()).ok()?;
    fields.get(key)?.as_str().map(str::to_owned)
}
