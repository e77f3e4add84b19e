//! Reads the rows of a conversation: their order, repeats, senders and replies.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Mark, Value};
use chatmill_model::{Conversation, Extra, Message, ParticipantKind, Reference, Role, Scene};

use super::cells::{self, cell};
use super::column::Column;
use super::row as single;
use super::stored::{Facts, Stored};
use crate::base::{Keep as _, Times, Turn, present, texts::quoted_json};
use crate::formats::gemini_contents::meta::{self, Meta};
use crate::formats::gemini_contents::reply;
use crate::formats::gemini_contents::roster::Roster;
use crate::frame::{FrameView, Reading};
use crate::grammar::gemini::one;
use crate::layout::{Element, ListReader, list};

/// The bot's name where no row gives one.
const BOT: &str = "gryag";

/// Reads the rows of one chat or thread.
pub(super) fn read<'d>(frame: FrameView<'d>, limits: &Limits, rows: Vec<Value<'d>>) -> Reading {
    let rows: Vec<(u32, Value<'d>)> = (0..).zip(rows).collect();
    let mut well_formed = rows.iter().map(|(_, row)| *row);
    let first = well_formed.find(|row| cells::place(*row).is_some());
    let place = frame.key.map(str::to_owned);
    let mut reader = HistoryReader {
        list: ListReader::new(frame, limits),
        place: place.or_else(|| first.and_then(cells::place)),
        roster: Roster::new(BOT),
        times: Times::new(frame.options),
        replies: Vec::new(),
        seen: HashMap::new(),
        last: None,
    };
    let is_newest_first = is_newest_first(&rows);
    let mut rows = in_order(rows);
    if is_newest_first {
        rows.reverse();
    }
    for (index, row) in rows {
        reader.read(index, row);
    }
    reader.finish(first)
}

/// Whether rows that were queried without their ids are newest first, as in the document's query: most of Telegram's ids,
/// which grow, are smaller than the one before.
fn is_newest_first(rows: &[(u32, Value<'_>)]) -> bool {
    if !rows.iter().all(|(_, row)| cells::is_queried(*row)) {
        return false;
    }
    let ids = rows.iter().filter_map(|(_, row)| cells::message_id(*row));
    let ids: Vec<i64> = ids.collect();
    let pairs = || ids.iter().zip(ids.iter().skip(1));
    let falls = pairs().filter(|(before, after)| after < before).count();
    let rises = pairs().filter(|(before, after)| after > before).count();
    falls > rises
}

/// Sorts rows by their ids; a row without a number stays after the row that it follows.
fn in_order(rows: Vec<(u32, Value<'_>)>) -> Vec<(u32, Value<'_>)> {
    let mut last = i64::MIN;
    let mut keyed: Vec<(i64, u32, Value<'_>)> = Vec::with_capacity(rows.len());
    for (index, row) in rows {
        let id = cell(row, cells::row_id(row)).and_then(|id| id.parse().ok());
        last = id.unwrap_or(last);
        keyed.push((last, index, row));
    }
    keyed.sort_by_key(|(id, ..)| *id);
    keyed.into_iter().map(|(_, index, row)| (index, row)).collect()
}

/// Groups have negative ids in Telegram, people positive ones.
fn scene(row: Value<'_>) -> Scene {
    let place = cells::place(row).unwrap_or_default();
    let chat = place.split('/').next().and_then(|chat| chat.parse::<i64>().ok());
    match chat {
        Some(chat) if chat < 0 => Scene::GroupChat,
        Some(_) => Scene::Assistant,
        None => Scene::Unknown,
    }
}

struct HistoryReader<'d, 'r> {
    list: ListReader<'d, 'r>,
    place: Option<String>,
    roster: Roster,
    times: Times,
    /// The metadata of each message, and whether the bot invented its reply reference.
    replies: Vec<(Meta, bool)>,
    /// Positions of messages with an id, by the hash of their rows.
    seen: HashMap<blake3::Hash, u32>,
    /// The hash of the last row, and the position of its message.
    last: Option<(blake3::Hash, u32)>,
}

impl<'d> HistoryReader<'d, '_> {
    fn read(&mut self, index: u32, row: Value<'d>) {
        let frame = self.list.frame;
        let path = || list::row_path(frame, index);
        let read = |row: Value<'d>| {
            let mut repeated = row.duplicate_keys().into_iter();
            let known = repeated.find(|key| cells::KNOWN.contains(&key.as_str()));
            known.map_or(Ok(()), |key| Err(key.into()))
        };
        if self.list.element(Element::Row, path, row, read).is_none() {
            return;
        }
        if cells::place(row).is_some() {
            self.accept(index, row);
        } else {
            let finding = Finding::new(&codes::MISSING_FIELD, cells::NO_CHAT);
            self.list.reject(row.span(), finding.at_path(path()));
        }
    }

    fn accept(&mut self, index: u32, row: Value<'_>) {
        let limits = self.list.limits;
        let [media, metadata] = [row.get("media"), row.get("metadata")];
        let documents = [media, metadata].map(|value| quoted_json::open(value?, limits));
        let [media_document, metadata_document] = documents.each_ref().map(Option::as_deref);
        let media = Column::of(media, media_document);
        let metadata = Column::of(metadata, metadata_document);
        let stored = Stored::read(media, metadata);
        let facts = Facts::of(row, &stored);
        let id = facts.meta.get("message_id").map(str::to_owned);
        if self.is_repeated(row, id.as_deref()) {
            return;
        }
        let mut site = self.list.site(id.as_deref(), row);
        let role = single::role(row, &mut site);
        let mut content = Turn {
            rest: single::columns(row, &mut site),
            ..Turn::default()
        };
        if let Some(cell) = stored.unread {
            let text = "the column holds neither a list nor an object as JSON and is kept as it is";
            site.warn("media", text, cell);
        }
        for (path, value) in &stored.rest {
            content.keep(path, *value);
        }
        let mut attached = Turn::default();
        media.read(&mut site, |site| {
            for (path, part) in &stored.parts {
                one(&mut attached, path, *part, site);
            }
        });
        single::attachment(row, &mut attached);
        single::text(row, !attached.parts.is_empty(), &mut content, &mut site);
        content.parts.append(&mut attached.parts);
        content.rest.append(&mut attached.rest);
        if role == Role::Assistant {
            let holder = row.get("text").unwrap_or(row);
            meta::find_leak(&content.parts, ".text", holder, &mut site);
        }
        let times = ["ts", "created_at"];
        let time = times.into_iter().find_map(|name| Some((row.get(name)?, name)));
        let timestamp = time.and_then(|(time, name)| self.times.read(Some(time), name, &mut site));
        content.rest.extend(facts.extra);
        let message = Message {
            id,
            timestamp,
            parts: content.parts,
            extra: Extra(content.rest),
            ..self.list.message(role, row.span(), index)
        };
        self.push(row, message, facts.meta, facts.is_machine);
    }

    /// Whether the row repeats an earlier one, apart from its own id and computed columns. A row without Telegram's id is
    /// compared only with the row just before it, because people do write the same text twice.
    fn is_repeated(&mut self, row: Value<'_>, id: Option<&str>) -> bool {
        let body = single::fingerprint(row);
        let position = self.list.messages.len() as u32;
        let original = match (id, self.last) {
            (Some(_), _) => self.seen.get(&body).copied(),
            (None, Some((last, position))) if last == body => Some(position),
            (None, _) => None,
        };
        self.last = Some((body, original.unwrap_or(position)));
        let Some(original) = original else {
            if id.is_some() {
                self.seen.insert(body, position);
            }
            return false;
        };
        self.list.rows.repeated += 1;
        row.mark(Mark::Taken);
        let text = "the row repeats an earlier one except for its own id: it is left out";
        let finding = Finding::new(&codes::REPEATED_ROW, text).at_message(original, id, "");
        self.list.notes.push(finding, Some(row));
        true
    }

    fn push(&mut self, row: Value<'_>, mut message: Message, meta: Meta, is_machine: bool) {
        let (role, extra) = (message.role, &mut message.extra.0);
        if cells::place(row) != self.place {
            for column in ["chat_id", "thread_id"] {
                extra.keep_some(column, present(row, column));
            }
        }
        let is_pseudo = single::is_pseudo_reply(row, role, &meta);
        if is_pseudo {
            let text = "nobody replied: the bot named the latest message of the room";
            let mut site = self.list.site(message.id.as_deref(), row);
            site.note(&codes::PSEUDO_REFERENCE, text, "", row);
        }
        let sender = match role {
            Role::Assistant => self.roster.bot(&meta),
            Role::System => self.roster.speaker(role, &Meta::default()),
            Role::User | Role::Tool => self.roster.speaker(role, &meta),
        };
        if is_machine {
            self.roster.mark_machine(sender);
        }
        message.sender_name = self.roster.other_name(sender, &meta, extra);
        message.sender = Some(sender);
        self.list.push(message);
        self.replies.push((meta, is_pseudo));
    }

    /// Adds what needs the whole roster: replies name the bot's account, and the bot's own rows never do.
    fn finish(mut self, first: Option<Value<'_>>) -> Reading {
        let agents = self.roster.agents();
        for (message, (meta, is_pseudo)) in self.list.messages.iter_mut().zip(self.replies) {
            let reference = reply::reference(&meta, &self.roster, &agents, &mut message.extra.0);
            if let Some(username) = meta.get("reply_to_username") {
                message.extra.keep_text("reply_to_username", username);
            }
            if let Some(sender) = message.sender {
                message.unstated = self.roster.unstated(sender, &meta);
            }
            let reference = reference.map(|reference| Reference {
                is_pseudo,
                ..reference
            });
            message.references.extend(reference);
        }
        self.times.finish(&mut self.list.notes);
        let mut participants = self.roster.participants;
        for participant in &mut participants {
            let is_unnamed = participant.name.is_none() && participant.alias.is_none();
            if participant.kind == ParticipantKind::Agent && participant.id == BOT && is_unnamed {
                participant.name = Some(BOT.to_owned());
            }
        }
        let mut reading = self.list.finish(Conversation {
            shape: first.map_or("nine-columns", cells::shape),
            scene: first.map_or(Scene::Unknown, scene),
            source_id: self.place,
            participants,
            ..Conversation::default()
        });
        let rows = reading.rows.rows;
        reading.conversation = reading
            .conversation
            .filter(|read| rows == 0 || !read.messages.is_empty());
        reading
    }
}
