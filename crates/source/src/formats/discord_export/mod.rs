//! Files of `DiscordChatExporter`: one channel in a file, or in several parts.
//!
//! The smallest example:
//!
//! ```json
//! {"guild": {"id": "1", "name": "Walks"}, "channel": {"id": "2", "type": "GuildTextChat", "name": "general"},
//!  "messages": [{"id": "3", "type": "Default", "timestamp": "2026-01-05T10:00:00+00:00", "content": "Tomorrow?",
//!    "author": {"id": "4", "name": "ann", "nickname": "Ann", "isBot": false}}], "messageCount": 1}
//! ```
//!
//! Files that name the same channel are one conversation, in the order of the ids, which grow with time. What is neither said nor
//! answered nor a command is a notice. A bot is the assistant. Where `messageCount` is another number, a part may be missing.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{
    Conversation, Customs, Extra, Media, MediaKind, MediaSource, Message, MessageKind, Part, Reference, Role,
    Scene,
};

use crate::frame::{FrameView, Reading, Row};
use crate::reader::{
    Element, Keep as _, Kept, ListReader, Notes, Roster, Times, Wire as _, best, exceeds, has, id, present,
    text, wire, word,
};
use crate::source::{About, Source};

const ID: &str = "discord-export";

/// Kinds of messages that somebody says; all others are events.
const SAID: [&str; 6] = [
    "Default",
    "Reply",
    "ApplicationCommand",
    "ChatInputCommand",
    "ContextMenuCommand",
    "ThreadStarterMessage",
];

/// The source `discord-export`.
#[derive(Debug)]
pub struct DiscordExport;

static ABOUT: About = About {
    id: ID,
    title: "DiscordChatExporter file",
    specification: "the JSON files of DiscordChatExporter, 2020 to 2026, as they are",
    shapes: &["guild", "direct"],
    carries: "people and bots, text, files, stickers and embeds, replies, mentions, reactions and edits as extra fields, events as notices, \
              ids, times",
    customs: Customs::USUAL,
};

impl Source for DiscordExport {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, recognise)
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        true
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        present(root, "messages")?;
        let channel = present(root, "channel").and_then(|channel| id(channel.get("id")?));
        Some(vec![Row::of(Some(channel?), root)])
    }

    fn merges(&self) -> bool {
        true
    }

    fn lies_apart(&self) -> bool {
        true
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::stored(ABOUT.customs, read(*frame, limits))
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let has_all = ["guild", "channel", "messages"]
        .iter()
        .all(|key| has(record, key));
    has_all.then(|| (98, "the record has guild, channel and messages".to_owned()))
}

wire! {
    /// A message.
    Wire {
        id: "id",
        kind: "type",
        timestamp: "timestamp",
        content: "content",
        author: "author",
        attachments: "attachments",
        embeds: "embeds",
        stickers: "stickers",
        mentions: "mentions",
        reference: "reference",
        reactions: "reactions",
        pinned: "isPinned",
        emojis: "inlineEmojis",
        call_ended: "callEndedTimestamp",
        edited: "timestampEdited",
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let files: Vec<Value<'_>> = match root.kind() {
        Kind::Array => root.items().collect(),
        _ => vec![root],
    };
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        roster: Roster::default(),
        times: Times::new(frame.options),
        channel: frame.key.map(str::to_owned),
    };
    let mut count = 0;
    let mut found: Vec<(String, u32, String, Value<'_>)> = Vec::new();
    let mut notes = Notes::new(frame.start);
    for (row, file) in (0..).zip(&files) {
        let path = match root.kind() {
            Kind::Array => format!("$[{row}]"),
            _ => "$".to_owned(),
        };
        let Some(messages) = present(*file, "messages").filter(|list| list.kind() == Kind::Array) else {
            let text = "the record has no list of messages";
            return Err(frame.fault(&codes::MISSING_FIELD, text, format!("{path}.messages"), *file));
        };
        if reader.channel.is_none() {
            reader.channel = present(*file, "channel").and_then(|channel| id(channel.get("id")?));
        }
        count += messages.len() as u64;
        counted(*file, messages.len(), &path, &mut notes);
        for (index, message) in messages.items().enumerate() {
            let id = message.get("id").and_then(id).unwrap_or_default();
            found.push((id, row, format!("{path}.messages[{index}]"), message));
        }
    }
    if let Some(text) = exceeds(count, "the channel", "messages", limits) {
        return Err(frame.fault(&codes::CONVERSATION_TOO_LARGE, text, "$", root));
    }
    if files.len() > 1 {
        // Ids are numbers that grow with time. Stable: what has none stays in front.
        found.sort_by(|one, other| (one.0.len(), &one.0).cmp(&(other.0.len(), &other.0)));
    }
    for (_, row, path, message) in found {
        reader.message(row, message, &path);
    }
    reader.list.notes.findings.append(&mut notes.findings);
    Ok(reader.finish(&files))
}

/// Says where a file holds more or fewer messages than it says.
fn counted(file: Value<'_>, messages: usize, path: &str, notes: &mut Notes) {
    let Some(said) = present(file, "messageCount") else {
        return;
    };
    if said.number_text() != Some(messages.to_string().as_str()) {
        let text = format!("messageCount is {}, and the file holds {messages}", said.raw());
        let finding = Finding::new(&codes::INCOMPLETE_EXPORT, text);
        notes.push(finding.at_path(format!("{path}.messageCount")), Some(said));
    }
}

struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    roster: Roster,
    times: Times,
    channel: Option<String>,
}

impl<'d> Reader<'d, '_> {
    fn message(&mut self, row: u32, value: Value<'d>, path: &str) {
        let Some(wire) = self
            .list
            .element(Element::Message, || path.to_owned(), value, Wire::read)
        else {
            return;
        };
        let wire = wire.without_nulls();
        let mut site = self.list.site(None, value);
        let own = word(wire.id, "id", &mut site);
        let timestamp = self.times.read(wire.timestamp, "timestamp", &mut site);
        let kind = text(wire.kind);
        let is_said = kind.as_deref().is_none_or(|kind| SAID.contains(&kind));
        let mut extra = Kept::new();
        let mut said = match wire.content {
            Some(content) => text(Some(content)).unwrap_or_else(|| {
                site.error("content", "content is not a string and is kept as it is", content);
                extra.keep("content", content);
                String::new()
            }),
            None => String::new(),
        };
        if said.is_empty()
            && let Some(embeds) = wire.embeds
        {
            said = words_of(embeds);
        }
        let mut parts = Vec::new();
        if !is_said {
            let what = kind.as_deref().unwrap_or("event");
            parts.push(Part::Notice(if said.is_empty() { what.to_owned() } else { said }));
        } else if !said.is_empty() {
            parts.push(Part::Text(said));
        }
        media(&wire, &mut parts);
        let mentions = wire.mentions.into_iter().flat_map(Value::items);
        let mentions = mentions.filter_map(|person| id(person.get("id")?)).collect();
        let references = self.reference(&wire, &mut extra);
        for (key, value) in [
            ("embeds", wire.embeds),
            ("reactions", wire.reactions),
            ("timestampEdited", wire.edited),
            ("callEndedTimestamp", wire.call_ended),
        ] {
            extra.keep_some(
                key,
                value.filter(|value| value.kind() != Kind::Array || !value.is_empty()),
            );
        }
        if wire.pinned.and_then(Value::as_bool) == Some(true) {
            extra.keep_some("isPinned", wire.pinned);
        }
        for (key, value) in &wire.others {
            if !value.is_null() {
                extra.keep(key.clone().into_owned(), *value);
            }
        }
        let (sender, role) = self.sender(wire.author);
        self.list.push(Message {
            id: own,
            sender,
            kind: if is_said {
                MessageKind::Message
            } else {
                MessageKind::Notice
            },
            source_type: kind.filter(|kind| kind != "Default"),
            timestamp,
            parts,
            references,
            mentions,
            extra: Extra(extra),
            ..self.list.message(role, value.span(), row)
        });
    }

    fn sender(&mut self, author: Option<Value<'_>>) -> (Option<usize>, Role) {
        let Some(author) = author else {
            return (None, Role::User);
        };
        let word = |key: &str| text(author.get(key)).filter(|word| !word.is_empty());
        let is_bot = author.get("isBot").and_then(Value::as_bool) == Some(true);
        let role = if is_bot { Role::Assistant } else { Role::User };
        let alias = word("name");
        let name = word("nickname").or_else(|| alias.clone());
        let place = match present(author, "id").and_then(id) {
            Some(id) => self.roster.of(role, &id, name.as_deref()),
            None => self.roster.named(role, name.as_deref()),
        };
        if let Some(person) = self.roster.participants.get_mut(place)
            && person.alias.is_none()
            && person.name != alias
        {
            person.alias = alias;
        }
        (Some(place), role)
    }

    /// The message that this one answers; of another channel its place alone is kept.
    fn reference(&self, wire: &Wire<'_>, extra: &mut Kept) -> Vec<Reference> {
        let Some(reference) = wire.reference else {
            return Vec::new();
        };
        let channel = present(reference, "channelId").and_then(id);
        let is_here = channel.is_none() || channel == self.channel;
        match present(reference, "messageId").and_then(id) {
            Some(target) if is_here => vec![Reference {
                target: Some(target),
                ..Reference::default()
            }],
            _ => {
                extra.keep("reference", reference);
                Vec::new()
            }
        }
    }

    fn finish(mut self, files: &[Value<'_>]) -> Reading {
        let first = files.first().copied();
        let guild = first.and_then(|file| present(file, "guild"));
        let channel = first.and_then(|file| present(file, "channel"));
        let word = |object: Option<Value<'_>>, key: &str| {
            text(object.and_then(|object| object.get(key))).filter(|word| !word.is_empty())
        };
        let kind = word(channel, "type").unwrap_or_default();
        let is_direct = kind.starts_with("Direct") || word(guild, "id").as_deref() == Some("0");
        let mut extra = Kept::new();
        extra.keep_some("guild", guild);
        if let Some(channel) = channel {
            extra.keep_rest(channel, "channel", &["id", "name", "topic"]);
        }
        self.times.finish(&mut self.list.notes);
        self.list.finish(Conversation {
            source: ID,
            source_id: self.channel,
            shape: if is_direct { "direct" } else { "guild" },
            scene: Scene::GroupChat,
            title: word(channel, "name"),
            description: word(channel, "topic"),
            participants: self.roster.participants,
            extra: Extra(extra),
            ..Conversation::default()
        })
    }
}

/// What embeds say: bots often say nothing else.
fn words_of(embeds: Value<'_>) -> String {
    let mut lines = Vec::new();
    for embed in embeds.items() {
        lines.extend(
            ["title", "description"]
                .iter()
                .filter_map(|key| text(embed.get(key))),
        );
        for field in present(embed, "fields").into_iter().flat_map(Value::items) {
            let word = |key: &str| text(field.get(key)).unwrap_or_default();
            lines.push(format!("{}: {}", word("name"), word("value")));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn media(wire: &Wire<'_>, parts: &mut Vec<Part>) {
    let word = |item: Value<'_>, key: &str| text(item.get(key)).filter(|word| !word.is_empty());
    for item in wire.attachments.into_iter().flat_map(Value::items) {
        let name = word(item, "fileName");
        let ending = name
            .as_deref()
            .and_then(|name| name.rsplit_once('.'))
            .map(|(_, ending)| ending.to_ascii_lowercase());
        let kind = match ending.as_deref() {
            Some("png" | "jpg" | "jpeg" | "gif" | "webp") => MediaKind::Image,
            Some("mp3" | "ogg" | "wav" | "m4a" | "flac") => MediaKind::Audio,
            Some("mp4" | "webm" | "mov") => MediaKind::Video,
            _ => MediaKind::File,
        };
        parts.push(Part::Media(Media {
            kind,
            source: address(word(item, "url")),
            media_type: None,
            name,
        }));
    }
    for item in wire.stickers.into_iter().flat_map(Value::items) {
        parts.push(Part::Media(Media {
            kind: MediaKind::Image,
            source: address(word(item, "sourceUrl")),
            media_type: None,
            name: word(item, "name"),
        }));
    }
}

/// An address, or nothing but the name where the files lie beside the export.
fn address(url: Option<String>) -> MediaSource {
    url.filter(|url| url.contains("://"))
        .map_or(MediaSource::Upload, MediaSource::Url)
}
