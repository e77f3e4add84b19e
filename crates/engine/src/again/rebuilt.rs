//! Conversations put together from the tables of a dataset, one after the other.
//!
//! Tables hold their rows in the order of the conversations, so each is read once, side by side with the others. What became
//! of references stands in the table; calls and results are paired anew, which changes nothing.

use std::collections::HashMap;

use chatmill_dataset::{
    Batch, Batches, Dataset, DatasetError, Elements, Flags, Numbers, Reals, TextLists, Texts, Times,
};
use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind};
use chatmill_link::link;
use chatmill_model::{
    ArgumentForm, Arguments, Conversation, Extra, Link, LinkStatus, Linked, Media, MediaKind, MediaSource,
    Message, MessageKind, MessageOrigin, OffsetOrigin, Part, Participant, ParticipantKind, Preview, RawJson,
    Reference, ReferenceForm, Role, Scene, Timestamp, ToolCall, ToolResult, Weight,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The key of fields at the record's root among those of a conversation.
const ROOT: &str = "/";

/// The conversations of a dataset.
pub(super) struct Conversations<'d> {
    heads: Rows<'d, Heads>,
    messages: Rows<'d, Said>,
    references: Rows<'d, Referred>,
    limits: Limits,
}

impl<'d> Conversations<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        Ok(Self {
            heads: Rows::of(dataset, "conversations", &HEADS, Heads::of)?,
            messages: Rows::of(dataset, "messages", &SAID, Said::of)?,
            references: Rows::of(dataset, "message_references", &REFERRED, Referred::of)?,
            limits: Limits::default(),
        })
    }

    /// The next conversation, with its id in the dataset.
    pub(super) fn next(&mut self) -> Result<Option<(String, Linked)>, DatasetError> {
        let Some((heads, row)) = self.heads.current() else {
            return match (self.messages.current(), self.references.current()) {
                (None, None) => Ok(None),
                (Some((said, _)), _) => Err(said.batch.fault("it has messages of no conversation")),
                (None, Some((referred, _))) => Err(referred.batch.fault("it has references of no message")),
            };
        };
        let id = heads.id.at(row).to_owned();
        let mut conversation = heads.conversation(row)?;
        self.heads.advance()?;
        let participants: HashMap<String, usize> = conversation
            .participants
            .iter()
            .enumerate()
            .map(|(index, participant)| (participant.id.clone(), index))
            .collect();
        while let Some((said, row)) = self.messages.current()
            && said.id.at(row) == id
        {
            let message = said.message(row, &participants, &conversation, self.limits.depth)?;
            conversation.messages.push(message);
            self.messages.advance()?;
        }
        let mut links: Vec<Vec<Link>> = vec![Vec::new(); conversation.messages.len()];
        while let Some((referred, row)) = self.references.current()
            && referred.id.at(row) == id
        {
            referred.add(row, &mut conversation.messages, &mut links)?;
            self.references.advance()?;
        }
        let (linked, ..) = link(conversation, &self.limits);
        Ok(Some((id, Linked { links, ..linked })))
    }
}

/// The rows of a table, one after the other.
pub(super) struct Rows<'d, C> {
    batches: Batches<'d>,
    cells: fn(Batch) -> Result<C, DatasetError>,
    open: Option<C>,
    row: usize,
    end: usize,
}

impl<'d, C> Rows<'d, C> {
    pub(super) fn of(
        dataset: &'d Dataset,
        table: &str,
        columns: &'d [&'d str],
        cells: fn(Batch) -> Result<C, DatasetError>,
    ) -> Result<Self, DatasetError> {
        let mut rows = Self {
            batches: dataset.batches(table, columns),
            cells,
            open: None,
            row: 0,
            end: 0,
        };
        rows.fill()?;
        Ok(rows)
    }

    pub(super) fn current(&self) -> Option<(&C, usize)> {
        self.open.as_ref().map(|cells| (cells, self.row))
    }

    pub(super) fn advance(&mut self) -> Result<(), DatasetError> {
        self.row += 1;
        self.fill()
    }

    fn fill(&mut self) -> Result<(), DatasetError> {
        while self.row >= self.end {
            let Some(batch) = self.batches.next().transpose()? else {
                self.open = None;
                return Ok(());
            };
            (self.row, self.end) = (0, batch.rows());
            self.open = Some((self.cells)(batch)?);
        }
        Ok(())
    }
}

const HEADS: [&str; 11] = [
    "conversation_id",
    "source_conversation_id",
    "source",
    "format_version",
    "title",
    "description",
    "model",
    "scene",
    "participants",
    "tools",
    "extra",
];

/// Cells of `conversations`.
struct Heads {
    batch: Batch,
    id: Texts,
    source_id: Texts,
    source: Texts,
    format_version: Texts,
    title: Texts,
    description: Texts,
    model: Texts,
    scene: Texts,
    tools: Texts,
    extra: Texts,
    people: Elements,
}

impl Heads {
    fn of(batch: Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            id: batch.texts("conversation_id")?,
            source_id: batch.texts("source_conversation_id")?,
            source: batch.texts("source")?,
            format_version: batch.texts("format_version")?,
            title: batch.texts("title")?,
            description: batch.texts("description")?,
            model: batch.texts("model")?,
            scene: batch.texts("scene")?,
            tools: batch.texts("tools")?,
            extra: batch.texts("extra")?,
            people: batch.elements("participants")?,
            batch,
        })
    }

    fn conversation(&self, row: usize) -> Result<Conversation, DatasetError> {
        let owned = |texts: &Texts| texts.get(row).map(str::to_owned);
        let source = chatmill_source::find(self.source.at(row));
        let source = source.ok_or_else(|| self.batch.fault("it names a source that there is not"))?;
        let mut extra = fields(self.extra.get(row), &self.batch)?;
        let root = extra.0.iter().position(|(name, _)| name == ROOT);
        let envelope = root.map(|place| extra.0.remove(place).1);
        let scenes = [Scene::Assistant, Scene::GroupChat];
        let scene = scenes
            .into_iter()
            .find(|scene| scene.as_str() == self.scene.at(row));
        let tools: Vec<&RawValue> = parsed(self.tools.get(row).unwrap_or("[]"), &self.batch)?;
        Ok(Conversation {
            source: source.id(),
            customs: source.about().customs,
            source_id: owned(&self.source_id),
            format_version: owned(&self.format_version),
            scene: scene.unwrap_or_default(),
            title: owned(&self.title),
            description: owned(&self.description),
            model: self.model.get(row).map(Box::from),
            participants: self.participants(row)?,
            tools: tools.into_iter().map(raw).collect(),
            envelope: fields(envelope.as_ref().map(RawJson::as_str), &self.batch)?,
            extra,
            ..Conversation::default()
        })
    }

    fn participants(&self, row: usize) -> Result<Vec<Participant>, DatasetError> {
        let people = self.people.batch();
        let texts = |name| people.texts(name);
        let (ids, names, aliases, roles) = (texts("id")?, texts("name")?, texts("alias")?, texts("role")?);
        let (kinds, custom_roles) = (texts("kind")?, texts("custom_role")?);
        let (departments, emails, extras) = (texts("department")?, texts("email")?, texts("extra")?);
        let (listed, made) = (people.flags("listed")?, people.flags("is_id_made")?);
        let one = |place: usize| {
            let owned = |texts: &Texts| texts.get(place).map(str::to_owned);
            let known = [ParticipantKind::Human, ParticipantKind::Agent];
            let kind = known.into_iter().find(|kind| kind.as_str() == kinds.at(place));
            Ok(Participant {
                id: ids.at(place).to_owned(),
                is_id_made: made.at(place),
                name: owned(&names),
                alias: owned(&aliases),
                role: owned(&roles),
                kind: kind.unwrap_or_default(),
                custom_role: owned(&custom_roles),
                department: owned(&departments),
                email: owned(&emails),
                listed: listed.at(place),
                extra: fields(extras.get(place), people)?,
            })
        };
        self.people.of(row).map(one).collect()
    }
}

const SAID: [&str; 17] = [
    "conversation_id",
    "position",
    "message_id",
    "sender_id",
    "sender_name",
    "role",
    "kind",
    "source_type",
    "created_at",
    "created_at_raw",
    "text",
    "parts",
    "mentions",
    "weight",
    "model",
    "extra",
    "byte_start",
];

/// Cells of `messages`.
struct Said {
    batch: Batch,
    id: Texts,
    position: Numbers,
    message_id: Texts,
    sender_id: Texts,
    sender_name: Texts,
    role: Texts,
    kind: Texts,
    source_type: Texts,
    created_at: Times,
    created_at_raw: Texts,
    text: Texts,
    parts: Texts,
    mentions: TextLists,
    weight: Reals,
    model: Texts,
    extra: Texts,
    byte_start: Numbers,
}

impl Said {
    fn of(batch: Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            id: batch.texts("conversation_id")?,
            position: batch.numbers("position")?,
            message_id: batch.texts("message_id")?,
            sender_id: batch.texts("sender_id")?,
            sender_name: batch.texts("sender_name")?,
            role: batch.texts("role")?,
            kind: batch.texts("kind")?,
            source_type: batch.texts("source_type")?,
            created_at: batch.times("created_at")?,
            created_at_raw: batch.texts("created_at_raw")?,
            text: batch.texts("text")?,
            parts: batch.texts("parts")?,
            mentions: batch.text_lists("mentions")?,
            weight: batch.reals("weight")?,
            model: batch.texts("model")?,
            extra: batch.texts("extra")?,
            byte_start: batch.numbers("byte_start")?,
            batch,
        })
    }

    fn message(
        &self,
        row: usize,
        participants: &HashMap<String, usize>,
        conversation: &Conversation,
        depth: u32,
    ) -> Result<Message, DatasetError> {
        let owned = |texts: &Texts| texts.get(row).map(str::to_owned);
        let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
        let role = roles.into_iter().find(|role| role.as_str() == self.role.at(row));
        let role = role.ok_or_else(|| self.batch.fault("it has a role that there is not"))?;
        let position = u32::try_from(self.position.at(row)).unwrap_or(u32::MAX);
        if position as usize != conversation.messages.len() {
            return Err(self.batch.fault("its messages are not in order"));
        }
        let sender = self
            .sender_id
            .get(row)
            .and_then(|id| participants.get(id))
            .copied();
        let listed = sender.and_then(|index| conversation.participants.get(index));
        let listed = listed.and_then(|participant| participant.name.as_deref());
        let start = self.byte_start.at(row);
        let origin = MessageOrigin {
            start,
            end: start,
            index: position,
        };
        let instant = self.created_at.get(row);
        let timestamp = self.created_at_raw.get(row).map(|written| Timestamp {
            instant,
            raw: written.to_owned(),
            offset: if instant.is_some() {
                OffsetOrigin::Explicit
            } else {
                OffsetOrigin::Missing
            },
        });
        Ok(Message {
            id: owned(&self.message_id),
            sender,
            // The column holds the name of the roster where the message gives none.
            sender_name: owned(&self.sender_name).filter(|name| listed != Some(name)),
            kind: if self.kind.at(row) == MessageKind::Notice.as_str() {
                MessageKind::Notice
            } else {
                MessageKind::Message
            },
            source_type: owned(&self.source_type),
            timestamp,
            parts: match self.parts.get(row) {
                None => vec![Part::Text(self.text.at(row).to_owned())],
                Some(json) => parts(json, depth, &self.batch)?,
            },
            mentions: self.mentions.at(row),
            weight: self.weight.get(row).and_then(Weight::new),
            model: self.model.get(row).map(Box::from),
            extra: fields(self.extra.get(row), &self.batch)?,
            ..Message::new(role, position, origin)
        })
    }
}

/// A part in the column `parts`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WrittenPart {
    Text {
        text: String,
    },
    Reasoning {
        text: String,
    },
    Notice {
        text: String,
    },
    Media(WrittenMedia),
    ToolCall {
        id: Option<String>,
        name: Option<String>,
        arguments: String,
        #[serde(default)]
        embedded: bool,
        #[serde(default)]
        free_text: bool,
    },
    ToolResult {
        call_id: Option<String>,
        name: Option<String>,
        content: String,
        #[serde(default)]
        is_error: bool,
    },
    CacheMark,
}

#[derive(Deserialize)]
struct WrittenMedia {
    kind: String,
    url: Option<String>,
    inline: Option<String>,
    media_type: Option<String>,
    name: Option<String>,
}

pub(super) fn parts(json: &str, depth: u32, batch: &Batch) -> Result<Vec<Part>, DatasetError> {
    let written: Vec<WrittenPart> = parsed(json, batch)?;
    Ok(written.into_iter().map(|part| part.read(depth)).collect())
}

impl WrittenPart {
    fn read(self, depth: u32) -> Part {
        match self {
            Self::Text { text } => Part::Text(text),
            Self::Reasoning { text } => Part::Reasoning(text),
            Self::Notice { text } => Part::Notice(text),
            Self::Media(media) => Part::Media(media.read()),
            Self::ToolCall {
                id,
                name,
                arguments: text,
                embedded,
                free_text,
            } => {
                let given = match (free_text, embedded) {
                    (true, _) => (Arguments::Malformed(text), ArgumentForm::FreeText),
                    (false, true) => (arguments(text, depth), ArgumentForm::Embedded),
                    (false, false) => (arguments(text, depth), ArgumentForm::Text),
                };
                Part::ToolCall(ToolCall::new(id, name, given))
            }
            Self::ToolResult {
                call_id,
                name,
                content,
                is_error,
            } => Part::ToolResult(ToolResult {
                call_id,
                name,
                content,
                is_error,
                ..ToolResult::default()
            }),
            Self::CacheMark => Part::CacheMark,
        }
    }
}

impl WrittenMedia {
    fn read(self) -> Media {
        let kinds = [
            MediaKind::Image,
            MediaKind::Audio,
            MediaKind::Video,
            MediaKind::Link,
        ];
        let kind = kinds.into_iter().find(|kind| kind.as_str() == self.kind);
        Media {
            kind: kind.unwrap_or(MediaKind::File),
            source: match (self.url, self.inline) {
                (Some(url), _) => MediaSource::Url(url),
                (None, Some(base64)) => MediaSource::Inline(base64),
                (None, None) => MediaSource::Upload,
            },
            media_type: self.media_type,
            name: self.name,
        }
    }
}

/// Arguments by their text, as a source tells an object, other JSON and what is neither apart.
fn arguments(text: String, depth: u32) -> Arguments {
    match json::scan(text.as_bytes(), depth).map(|document| document.root().kind()) {
        Ok(Kind::Object) => Arguments::Object(RawJson(text)),
        Ok(_) => Arguments::NotObject(RawJson(text)),
        Err(_) => Arguments::Malformed(text),
    }
}

const REFERRED: [&str; 9] = [
    "conversation_id",
    "position",
    "path",
    "target_id",
    "target_position",
    "status",
    "same_sender",
    "preview",
    "quoted",
];

/// Cells of `message_references`.
struct Referred {
    batch: Batch,
    id: Texts,
    position: Numbers,
    path: Texts,
    target_id: Texts,
    target: Numbers,
    status: Texts,
    same_sender: Flags,
    preview: Texts,
    quoted: Texts,
}

#[derive(Deserialize)]
struct WrittenPreview {
    content: Option<String>,
    sender: Option<String>,
    sender_name: Option<String>,
    #[serde(default)]
    from_agent: bool,
}

impl Referred {
    fn of(batch: Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            id: batch.texts("conversation_id")?,
            position: batch.numbers("position")?,
            path: batch.texts("path")?,
            target_id: batch.texts("target_id")?,
            target: batch.numbers("target_position")?,
            status: batch.texts("status")?,
            same_sender: batch.flags("same_sender")?,
            preview: batch.texts("preview")?,
            quoted: batch.texts("quoted")?,
            batch,
        })
    }

    /// Adds a reference to its message, below those that show it.
    fn add(&self, row: usize, messages: &mut [Message], links: &mut [Vec<Link>]) -> Result<(), DatasetError> {
        let astray = || self.batch.fault("a reference has no place");
        let position = usize::try_from(self.position.at(row)).unwrap_or(usize::MAX);
        let mut references = &mut messages.get_mut(position).ok_or_else(astray)?.references;
        let mut links = links.get_mut(position).ok_or_else(astray)?;
        // All but the last step name references that stand there already.
        for step in self
            .path
            .at(row)
            .split('.')
            .rev()
            .skip(1)
            .collect::<Vec<_>>()
            .iter()
            .rev()
        {
            let place: usize = step.parse().map_err(|_| astray())?;
            references = &mut references.get_mut(place).ok_or_else(astray)?.nested;
            links = &mut links.get_mut(place).ok_or_else(astray)?.nested;
        }
        let (reference, link) = (self.reference(row)?, self.link(row)?);
        references.push(reference);
        links.push(link);
        Ok(())
    }

    fn link(&self, row: usize) -> Result<Link, DatasetError> {
        let statuses = [
            LinkStatus::Resolved,
            LinkStatus::Preview,
            LinkStatus::Dangling,
            LinkStatus::Itself,
            LinkStatus::Cyclic,
            LinkStatus::Pseudo,
        ];
        let status = statuses
            .into_iter()
            .find(|status| status.as_str() == self.status.at(row));
        Ok(Link {
            target: self.target.get(row).and_then(|target| u32::try_from(target).ok()),
            status: status.ok_or_else(|| self.batch.fault("it has a status that there is not"))?,
            same_sender: self.same_sender.at(row),
            nested: Vec::new(),
        })
    }

    fn reference(&self, row: usize) -> Result<Reference, DatasetError> {
        let shown = self.quoted.get(row).or(self.preview.get(row));
        let preview = shown
            .map(|json| parsed::<WrittenPreview>(json, &self.batch))
            .transpose()?;
        let target = self.target_id.get(row).map(str::to_owned);
        let form = match (self.quoted.get(row), self.preview.get(row)) {
            (Some(_), Some(object)) => ReferenceForm::Object(RawJson(object.to_owned())),
            // Nothing else finds a message that it does not name.
            _ if target.is_none() && self.target.get(row).is_some() => ReferenceForm::Excerpt,
            _ => ReferenceForm::Id,
        };
        Ok(Reference {
            target,
            preview: preview.map(|preview| Preview {
                content: preview.content,
                sender: preview.sender,
                sender_name: preview.sender_name,
                from_agent: preview.from_agent,
                ..Preview::default()
            }),
            form,
            is_pseudo: self.status.at(row) == LinkStatus::Pseudo.as_str(),
            nested: Vec::new(),
        })
    }
}

fn raw(value: &RawValue) -> RawJson {
    RawJson(value.get().to_owned())
}

/// The members of an object in their order.
pub(super) fn fields(json: Option<&str>, batch: &Batch) -> Result<Extra, DatasetError> {
    let Some(json) = json else {
        return Ok(Extra::default());
    };
    let Members(members) = parsed(json, batch)?;
    Ok(Extra(members))
}

struct Members(Vec<(String, RawJson)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, raw(value)));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

fn parsed<'j, T: Deserialize<'j>>(json: &'j str, batch: &Batch) -> Result<T, DatasetError> {
    serde_json::from_str(json)
        .map_err(|error| batch.fault(format!("its JSON is not what a run writes: {error}")))
}
