//! Rows of the table `conversation_history` of version 3: an account's export has them as objects, a dump as columns.
//!
//! | Column | Becomes |
//! |---|---|
//! | `channel_id`, `personality_id` | the conversation: what was said to one personality in one channel |
//! | `persona_id`, `personality_id` | the speaker, by `role` |
//! | `content`, `thinking_content` | text and reasoning |
//! | `discord_message_id` | a second id: the first of the messages that Discord cut the row into |
//! | `message_metadata.referencedMessages` | references with previews |
//! | `deleted_at` | where it is set, the row is a notice: the bot does not see it any more |
//!
//! Names are read in camel case, as the export writes them, and in snake case. Roles may be capitalised. Everything else
//! is an extra field of the message.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use chatmill_diag::{Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::table::TableMap;
use chatmill_model::{Conversation, Extra, Message, Part, Preview, RawJson, Reference, ReferenceForm, Role};

use super::columns::{self, METADATA, cell, column, spelling};
use super::request::{RequestError, request_error};
use super::speakers::Speakers;
use super::{ID, active, records};
use crate::base::{ExtraFields, Keep as _, Site, Times, compact, id, message_kind, present, text, words};
use crate::frame::{FrameView, Reading};
use crate::layout::{Element, ListReader, has, holds, list};
use crate::rust_format::table_map;

/// The table, as a dump has it.
pub(super) fn tables() -> Vec<TableMap> {
    let requires = words!(id channel_id personality_id role content);
    let names = ["tzurot", ID, "conversation_history"];
    vec![table_map(names, &requires, &["message_metadata"])]
}

/// Whether a record is a row of the table.
pub(super) fn is_row(record: Value<'_>) -> bool {
    is_like_row(|key| record.get(key).is_some())
}

/// Whether a record, or the first object of a list, is a row, as far as a sketch shows it.
pub(super) fn is_sketched(record: &RecordSketch) -> bool {
    is_like_row(|wanted| has(record, wanted)) || is_like_row(|wanted| holds(record, "", wanted))
}

fn is_like_row(has: impl Fn(&str) -> bool) -> bool {
    let either = |camel, snake| has(camel) || has(snake);
    has("role")
        && has("content")
        && either("personalityId", "personality_id")
        && either("channelId", "channel_id")
}

/// The conversation of a row.
pub(super) fn place(row: Value<'_>) -> Option<String> {
    let channel = cell(row, "channelId")?;
    let personality = cell(row, "personalityId")?;
    Some(format!("{channel}/{personality}"))
}

/// Reads one row, or those of one conversation.
pub(super) fn read<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Reading, RequestError<'d>> {
    let root = frame.root();
    let rows = records(&frame, limits)?;
    if root.kind() != Kind::Array && place(root).is_none() {
        let text = "the row names no channel or no personality: it belongs to no conversation";
        return Err(request_error(&codes::MISSING_FIELD, text, "", root));
    }
    let personality = |row: &Value<'d>| cell(*row, "personalityId");
    let personalities = rows.iter().filter_map(personality).map(Cow::into_owned);
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        speakers: Speakers::new(personalities.collect(), HashSet::new()),
        ids: HashMap::new(),
        times: Times::new(frame.options),
    };
    for row in &rows {
        reader.announce(*row);
    }
    for (index, row) in (0..).zip(&rows) {
        let path = || list::row_path(frame, index);
        let read = |row| columns::repeated(row).map_or(Ok(()), |key| Err(key.into()));
        if reader.list.element(Element::Row, path, *row, read).is_some() {
            reader.read(index, *row);
        }
    }
    reader.times.finish(&mut reader.list.notes);
    let first = rows.iter().find_map(personality);
    let place = || rows.iter().find_map(|row| place(*row));
    Ok(reader.list.finish(Conversation {
        source_id: frame.key.map(str::to_owned).or_else(place),
        shape: "history",
        participants: reader.speakers.participants,
        extra: Extra(first.iter().map(|id| active(id)).collect()),
        ..Conversation::default()
    }))
}

struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    speakers: Speakers,
    /// The id of the row for each Discord message.
    ids: HashMap<String, String>,
    times: Times,
}

impl Reader<'_, '_> {
    /// Records the Discord messages of a row.
    fn announce(&mut self, row: Value<'_>) {
        let Some(id) = cell(row, "id") else { return };
        for chunk in columns::chunks(row) {
            self.ids.entry(chunk).or_insert_with(|| id.clone().into_owned());
        }
    }

    fn read(&mut self, index: u32, row: Value<'_>) {
        let id = cell(row, "id").map(Cow::into_owned);
        let mut site = self.list.site(id.as_deref(), row);
        if id.is_none() {
            site.empty("id");
        }
        let role = role(row, &mut site);
        let word = row.get("role").and_then(Value::as_str);
        let personality = cell(row, "personalityId");
        let sender = if role == Role::Assistant {
            personality.as_deref().map(|id| self.speakers.agent(id))
        } else {
            let persona = cell(row, "personaId").map(Cow::into_owned);
            Some(self.speakers.account(persona))
        };
        let is_deleted = column(row, "deletedAt").is_some();
        let parts = parts(row, is_deleted, &mut site);
        let references = references(row, &self.ids, &mut site);
        let field = spelling(row, "createdAt");
        let timestamp = self.times.read(column(row, "createdAt"), field, &mut site);
        let extra = extra(row, &mut site);
        self.list.push(Message {
            id,
            external_id: columns::chunks(row).into_iter().next(),
            sender,
            kind: message_kind(is_deleted),
            source_type: word.filter(|word| *word != role.as_str()).map(Cow::into_owned),
            timestamp,
            parts,
            references,
            extra,
            ..self.list.message(role, row.span(), index)
        });
    }
}

fn role(row: Value<'_>, site: &mut Site<'_>) -> Role {
    let value = row.get("role").unwrap_or(row);
    let word = value.as_str().unwrap_or_default().to_ascii_lowercase();
    let role = word.parse().ok().filter(|role| *role != Role::Tool);
    role.unwrap_or_else(|| {
        let text = "the role is none of the known words: the message is read as a user's";
        site.error("role", text, value);
        Role::User
    })
}

fn parts(row: Value<'_>, is_deleted: bool, site: &mut Site<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(thought) = column(row, "thinkingContent").and_then(Value::as_str)
        && !is_deleted
    {
        parts.push(Part::Reasoning(thought.into_owned()));
    }
    let Some(content) = column(row, "content") else {
        site.empty("content");
        return parts;
    };
    let part = if is_deleted { Part::Notice } else { Part::Text };
    parts.push(part(text(Some(content)).unwrap_or_else(|| {
        let text = "the content is not a string and is read as its JSON text";
        site.error("content", text, content);
        content.raw().to_owned()
    })));
    parts
}

fn references(row: Value<'_>, ids: &HashMap<String, String>, site: &mut Site<'_>) -> Vec<Reference> {
    let Some(metadata) = column(row, METADATA) else {
        return Vec::new();
    };
    let field = spelling(row, METADATA);
    if metadata.kind() != Kind::Object {
        let text = "the metadata is not an object and is kept as it is";
        site.warn(field, text, metadata);
        return Vec::new();
    }
    let Some(list) = present(metadata, "referencedMessages") else {
        return Vec::new();
    };
    if list.kind() != Kind::Array || list.items().any(|quoted| quoted.kind() != Kind::Object) {
        let text = "referencedMessages is not a list of objects: other elements are no references";
        site.warn(&format!("{field}.referencedMessages"), text, list);
    }
    let objects = list.items().filter(|quoted| quoted.kind() == Kind::Object);
    objects.map(|quoted| reference(quoted, ids)).collect()
}

fn reference(quoted: Value<'_>, ids: &HashMap<String, String>) -> Reference {
    let word = |key: &str| quoted.get(key).and_then(id);
    let role = word("authorRole");
    let personality = word("authorPersonalityId").filter(|_| role.as_deref() == Some("assistant"));
    Reference {
        target: word("discordMessageId").map(|id| ids.get(&id).cloned().unwrap_or(id)),
        preview: Some(Preview {
            content: text(quoted.get("content")),
            sender: personality
                .or_else(|| word("authorDiscordId"))
                .or_else(|| word("authorUsername")),
            sender_name: word("authorDisplayName").or_else(|| word("authorUsername")),
            from_agent: matches!(role.as_deref(), Some("assistant" | "bot")),
            ..Preview::default()
        }),
        form: ReferenceForm::Object(RawJson(compact(quoted))),
        ..Reference::default()
    }
}

/// All fields that have no other place, and the ids of Discord if there are several.
fn extra(row: Value<'_>, site: &mut Site<'_>) -> Extra {
    let mut fields = ExtraFields::new();
    for (key, value) in row.fields() {
        let is_carried = match &*key {
            "content" => true,
            "discordMessageId" | "discord_message_id" => columns::chunks(row).len() == 1,
            "thinkingContent" | "thinking_content" => value.kind() == Kind::String,
            "deletedAt" | "deleted_at" | "messageMetadata" | "message_metadata" => false,
            key => columns::is_read(key) && matches!(value.kind(), Kind::String | Kind::Number),
        };
        if !is_carried && !value.is_null() {
            fields.keep(key, value);
        }
    }
    site.repeated_keys(row, |_| false);
    Extra(fields)
}
