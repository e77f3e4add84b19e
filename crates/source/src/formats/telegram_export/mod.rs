//! The JSON export of Telegram Desktop: `result.json` of one chat, or of an account with all of its chats.
//!
//! The smallest example:
//!
//! ```json
//! {"name": "Walks", "type": "private_group", "id": 7, "messages": [{"id": 1, "type": "message",
//!   "date": "2026-01-05T10:00:00", "date_unixtime": "1767603600", "from": "Ann", "from_id": "user1", "text": "Tomorrow?"}]}
//! ```
//!
//! Each chat of an account is a conversation: those of `chats`, and those of `left_chats`. `date` is the
//! clock of the computer that exported and has no zone: `date_unixtime` is read, where the export has it.
//! `text` is a string, or a list of strings and of formatted ranges ([`words`]). Ids are unique in one chat
//! only. Entries of the type `service` are notices. In a chat with a bot, the bot is the assistant. A reply
//! to the first entry of a topic is a message in that topic, and no reply.
//!
//! The format needs Rust, because the bot follows from the id of the chat, topics from earlier entries, mentions are cut
//! from text, and the required fields depend on whether an account or a chat is read. No other format needs any of this.

mod words;

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    Conversation, Extra, FormatTraits, Media, MediaKind, MediaSource, Message, Part, Role, Scene,
};

use crate::base::{ExtraFields, Keep as _, Wire as _, id, message_kind, present, reply_to, text, wire};
use crate::frame::{FrameView, Reading};
use crate::layout::{Element, Turns, best, has};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;

static ABOUT: About = About {
    id: "telegram-export",
    title: "Telegram export",
    specification: "the JSON export of Telegram Desktop, as its files are",
    verified: "2026-11",
    shapes: &["chat", "account"],
    carries: "people, channels and bots, text with links, pictures, sound and files by path, replies, polls, forwards and edits as extra \
              fields, service entries as notices, topics, ids, times",
    traits: FormatTraits::USUAL,
};

/// The source `telegram-export`.
pub static TELEGRAM_EXPORT: RustFormat = RustFormat {
    has_scattered_messages: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Stored(read))
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let names = |name: &str| record.names(name);
    if names("chats.list") || has(record, "chats") && has(record, "personal_information") {
        return Some((98, "the record has chats with a list".to_owned()));
    }
    let is_entry = |words: &[&str]| record.has_value("messages[].type", words);
    let is_chat =
        names("messages[].from_id") || names("messages[].date_unixtime") || names("messages[].actor_id");
    let is_old = is_entry(&["message", "service"]) && names("messages[].date") && has(record, "name");
    (is_chat || is_old).then(|| (98, "messages have from_id or date_unixtime".to_owned()))
}

wire! {
    /// An entry of a chat.
    Wire {
        id: "id",
        kind: "type",
        date: "date",
        unixtime: "date_unixtime",
        from: "from",
        from_id: "from_id",
        actor: "actor",
        actor_id: "actor_id",
        action: "action",
        text: "text",
        entities: "text_entities",
        reply: "reply_to_message_id",
        reply_peer: "reply_to_peer_id",
        photo: "photo",
        file: "file",
        file_name: "file_name",
        media_type: "media_type",
        mime_type: "mime_type",
        sticker_emoji: "sticker_emoji",
        poll: "poll",
        title: "title",
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    if root.kind() != Kind::Object {
        return Err(frame.error(&codes::WRONG_TYPE, "the record is not an object", "$", root));
    }
    let mut chats: Vec<(String, Value<'_>)> = Vec::new();
    for key in ["chats", "left_chats"] {
        let list = present(root, key).and_then(|chats| present(chats, "list"));
        let list = list.into_iter().flat_map(Value::items).enumerate();
        chats.extend(list.map(|(index, chat)| (format!("$.{key}.list[{index}]"), chat)));
    }
    let is_account = ["chats", "left_chats"]
        .iter()
        .any(|key| present(root, key).is_some());
    if !is_account {
        chats.push(("$".to_owned(), root));
    }
    let shape = if is_account { "account" } else { "chat" };
    let none = || {
        let text = "the account has no chats";
        frame.error(&codes::MISSING_FIELD, text, "$.chats.list", root)
    };
    let read = |(path, value): (String, _)| (chat(frame, limits, &path, value, shape), value);
    Reading::of_several(frame, chats.into_iter().map(read), limits, none)
}

/// Reads a chat.
fn chat(
    frame: FrameView<'_>,
    limits: &Limits,
    path: &str,
    chat: Value<'_>,
    shape: &'static str,
) -> Result<Reading, Box<Finding>> {
    let place = format!("{path}.messages");
    let Some(messages) = present(chat, "messages") else {
        return Err(frame.error(&codes::MISSING_FIELD, "the chat has no messages", place, chat));
    };
    if messages.kind() != Kind::Array {
        return Err(frame.error(&codes::WRONG_TYPE, "messages is not a list", place, messages));
    }
    frame.bound(("the chat", messages.len(), "messages"), place, messages, limits)?;
    let chat_id = present(chat, "id").and_then(id);
    let kind = text(chat.get("type"));
    let is_with_bot = kind.as_deref() == Some("bot_chat");
    let mut reader = ExportReader {
        turns: Turns::new(frame, limits),
        bot: chat_id
            .as_ref()
            .filter(|_| is_with_bot)
            .map(|id| format!("user{id}")),
        topics: topics(messages),
    };
    for (index, value) in (0..).zip(messages.items()) {
        reader.entry(index, value, path);
    }
    let mut extra = ExtraFields::new();
    if shape == "account" {
        extra.keep_some("type", chat.get("type"));
    } else {
        extra.keep_rest(chat, "", &["messages", "id", "name", "chats", "left_chats"]);
    }
    Ok(reader.turns.finish(Conversation {
        source_id: chat_id,
        shape,
        scene: if is_with_bot {
            Scene::Assistant
        } else {
            Scene::GroupChat
        },
        title: text(chat.get("name")).filter(|name| !name.is_empty()),
        extra: Extra(extra),
        ..Conversation::default()
    }))
}

/// The titles of a forum's topics, by the ids of their first entries.
fn topics(messages: Value<'_>) -> HashMap<String, String> {
    let created = messages.items().filter(|entry| {
        let action = entry.get("action").and_then(Value::as_str);
        action.as_deref() == Some("topic_created")
    });
    created
        .filter_map(|entry| Some((id(entry.get("id")?)?, text(entry.get("title"))?)))
        .collect()
}

struct ExportReader<'d, 'r> {
    turns: Turns<'d, 'r>,
    /// The bot that a chat is with.
    bot: Option<String>,
    topics: HashMap<String, String>,
}

impl<'d> ExportReader<'d, '_> {
    fn entry(&mut self, index: u32, value: Value<'d>, chat: &str) {
        let path = || format!("{chat}.messages[{index}]");
        let Some(wire) = self.turns.list.element(Element::Message, path, value, Wire::read) else {
            return;
        };
        let wire = wire.without_nulls();
        let own = wire.id.and_then(id);
        let kind = text(wire.kind);
        let is_service = kind.as_deref() == Some("service");
        let mut site = self.turns.list.site(own.as_deref(), value);
        if let Some(found) = wire
            .kind
            .filter(|_| kind.as_deref() != Some("message") && !is_service)
        {
            let text = "type is neither message nor service: it is read as a message";
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", found);
        }
        let timestamp = match wire.unixtime {
            Some(_) => self.turns.times.read(wire.unixtime, "date_unixtime", &mut site),
            None => self.turns.times.read(wire.date, "date", &mut site),
        };
        let mut extra = ExtraFields::new();
        let mut mentions = Vec::new();
        let own_text = wire
            .text
            .map(|value| words::read(value, &mut mentions, &mut extra, &mut site))
            .unwrap_or_default();
        let mut parts: Vec<Part> = Vec::new();
        if is_service {
            parts.push(Part::Notice(event(&wire, own_text)));
        } else if !own_text.is_empty() {
            parts.push(Part::Text(own_text));
        }
        if let Some(poll) = wire.poll {
            parts.extend(words::poll(poll).map(Part::Text));
            extra.keep("poll", poll);
        }
        let (mut lines, mut shown) = (Vec::new(), Vec::new());
        for (key, value) in wire.others.iter().filter(|_| parts.is_empty()) {
            if let Some(words) = words::further(key, *value) {
                lines.push(words);
                shown.extend((value.kind() == Kind::String).then_some(&**key));
            }
        }
        parts.extend((!lines.is_empty()).then(|| Part::Text(lines.join("\n"))));
        parts.extend(media(&wire, &mut extra).map(Part::Media));
        let mut references = Vec::new();
        if let Some(target) = wire.reply.and_then(id) {
            match self.topics.get(&target) {
                Some(topic) => extra.keep_text("topic", topic),
                None => references.push(reply_to(target)),
            }
        }
        extra.keep_some("reply_to_peer_id", wire.reply_peer);
        for (key, value) in &wire.others {
            if !value.is_null() && !shown.contains(&&**key) {
                extra.keep(key.clone().into_owned(), *value);
            }
        }
        let sender = self.sender(&wire);
        let is_bot = self.bot.is_some() && wire.from_id.and_then(id) == self.bot;
        let role = if is_bot { Role::Assistant } else { Role::User };
        self.turns.list.push(Message {
            id: own,
            sender,
            kind: message_kind(is_service),
            source_type: text(wire.action),
            timestamp,
            parts,
            references,
            mentions,
            extra: Extra(extra),
            ..self.turns.list.message(role, value.span(), index)
        });
    }

    /// The sender of an entry: identified by an id, a number in old exports, else by name. A deleted account
    /// has no name.
    fn sender(&mut self, wire: &Wire<'_>) -> Option<usize> {
        let own = wire.from_id.or(wire.actor_id).and_then(id);
        let name = text(wire.from.or(wire.actor)).filter(|name| !name.is_empty());
        let is_bot = own.is_some() && own == self.bot;
        let role = if is_bot { Role::Assistant } else { Role::User };
        match (own, name) {
            (Some(own), name) => Some(self.turns.roster.of(role, &own, name.as_deref())),
            (None, Some(name)) => Some(self.turns.roster.named(role, Some(&name))),
            (None, None) => None,
        }
    }
}

/// The text of an event in the export's own words.
fn event(wire: &Wire<'_>, own_text: String) -> String {
    let title = text(wire.title).filter(|title| !title.is_empty());
    let mut what = text(wire.action).unwrap_or_else(|| "service".to_owned());
    for words in title
        .into_iter()
        .chain(Some(own_text).filter(|own_text| !own_text.is_empty()))
    {
        what.push_str(": ");
        what.push_str(&words);
    }
    what
}

/// A picture or a file: its path in the export, or its name if the export leaves it out.
fn media(wire: &Wire<'_>, extra: &mut ExtraFields) -> Option<Media> {
    let word = text(wire.media_type);
    let field = wire.photo.or(wire.file)?;
    let path = text(Some(field))?;
    let kind = match word.as_deref() {
        _ if wire.photo.is_some() => MediaKind::Image,
        Some("sticker") => MediaKind::Image,
        Some("voice_message" | "audio_file") => MediaKind::Audio,
        Some("video_file" | "video_message" | "animation") => MediaKind::Video,
        _ => MediaKind::File,
    };
    // "(File not included. Change data exporting settings to download.)"
    let is_there = !path.starts_with('(');
    if !is_there {
        extra.keep_text(if wire.photo.is_some() { "photo" } else { "file" }, &path);
    }
    if let Some(word) = &word {
        extra.keep_text("media_type", word);
    }
    extra.keep_some("sticker_emoji", wire.sticker_emoji);
    let own_name = path.rsplit('/').next().map(str::to_owned).filter(|_| is_there);
    Some(Media {
        kind,
        source: MediaSource::Upload,
        media_type: text(wire.mime_type),
        name: text(wire.file_name).or(own_name),
    })
}
