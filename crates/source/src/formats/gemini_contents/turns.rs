//! Reads turns: role, metadata, parts, replies.

use std::borrow::Cow;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Fact, Message, Part, Role};

use super::message_path;
use super::meta::{self, Meta};
use super::reply;
use super::roster::Roster;
use crate::base::{Keep as _, Site, Times, Turn, Wire as _, media::hold_place, text, wire, words};
use crate::grammar::gemini::{is_plain, one};
use crate::layout::{Element, ListReader, list::answers::merge_continuation};

/// Keys of a line that have a place in the model.
const KNOWN: [&str; 10] = words!(
    chat_id thread_id message_id user_id name username reply_to_message_id reply_to_user_id reply_to_name
    reply_excerpt
);

/// A key that the bot's code of 2025-10-17 writes and that has no place in the model.
const SECOND_NAME_OF_REPLY: &str = "reply_to_username";

/// Reads the turns of one history, in order.
pub(super) struct Reader<'d, 'r> {
    /// The messages that the turns become.
    pub list: ListReader<'d, 'r>,
    /// Whether the frame is only the list of turns.
    pub is_bare: bool,
    /// The participants.
    pub roster: Roster,
    /// The times of the turns, where the bot noted them.
    pub times: Times,
    /// The metadata line of each message.
    pub lines: Vec<Meta>,
    /// Whether the first turn may be a system text that was put in front of the history.
    pub begins_with_system_text: bool,
    /// Whether neighbouring contents of the model are pieces of one answer.
    pub joins_answers: bool,
    /// The chat that the first line names.
    pub chat: Option<String>,
    /// The thread that the first line with one names.
    pub thread: Option<String>,
}

wire! {
    /// Fields of a turn.
    Fields {
        role: "role",
        parts: "parts",
        ts: "ts",
    }
}

/// The lines before a turn.
#[derive(Default)]
struct Lines {
    meta: Meta,
    speaker: Option<Meta>,
}

impl Lines {
    /// The line that identifies the sender.
    fn of_sender(&self) -> &Meta {
        match &self.speaker {
            Some(speaker) if self.meta == Meta::default() => speaker,
            _ => &self.meta,
        }
    }
}

impl<'d> Reader<'d, '_> {
    /// Reads system text that is next to the turns: a string, a list of parts, or an object with parts.
    pub(super) fn read_system(&mut self, index: u32, value: Value<'d>) {
        self.list.rows.rows += 1;
        let mut content = Turn::default();
        let mut site = self.list.site(None, value);
        let list = value.get("parts").unwrap_or(value);
        if let Some(text) = text(Some(value)) {
            content.parts.push(Part::Text(text));
        } else if list.kind() == Kind::Array {
            read_parts(list, 0, &mut content, &mut site);
        } else {
            one(&mut content, "parts", list, &mut site);
        }
        let meta = Meta::default();
        let sender = self.roster.speaker(Role::System, &meta);
        self.list.push(Message {
            sender: Some(sender),
            parts: content.parts,
            extra: Extra(content.rest),
            ..self.list.message(Role::System, value.span(), index)
        });
        self.lines.push(meta);
    }

    /// Reads the turn with this index in `contents`.
    pub(super) fn read(&mut self, index: u32, value: Value<'d>) {
        let is_bare = self.is_bare;
        let path = || {
            if is_bare {
                format!("$[{index}]")
            } else {
                message_path(index)
            }
        };
        if let Some(turn) = self.list.element(Element::Message, path, value, Fields::read) {
            self.accept(index, value, &turn, path);
        }
    }

    fn accept(&mut self, index: u32, value: Value<'d>, turn: &Fields<'d>, path: impl FnOnce() -> String) {
        let (stated, known) = (stated_role(turn), self.list.notes.findings.len());
        let first_texts = turn.parts.into_iter().flat_map(Value::items).take(2);
        let (lines, skipped) = lines(first_texts.map(|part| part.get("text").and_then(Value::as_str)));
        let id = lines.meta.get("message_id").map(str::to_owned);
        let mut site = self.list.site(id.as_deref(), value);
        if stated.is_none() {
            match turn.role.filter(|role| !role.is_null()) {
                None => site.empty("role"),
                Some(role) => {
                    let text = "the role is none of the known words: the turn is read as a user's";
                    site.error("role", text, role);
                }
            }
        }
        let mut content = Turn::default();
        match turn.parts.filter(|list| !list.is_null()) {
            None => site.missing("parts"),
            Some(list) if list.kind() == Kind::Array => read_parts(list, skipped, &mut content, &mut site),
            Some(other) => {
                let text = "parts is not a list: what it holds is read as the only part";
                site.error("parts", text, other);
                one(&mut content, "parts", other, &mut site);
            }
        }
        if skipped == 0
            && let Some(Part::Text(text)) = content.parts.first_mut()
        {
            meta::unescape(text);
        }
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        let answers = content.parts.iter().any(is_result);
        let role = match stated {
            _ if self.begins_with_system_text && site.position == 0 => Role::System,
            Some(Role::Assistant) => Role::Assistant,
            _ if answers => Role::Tool,
            Some(role) => role,
            None => Role::User,
        };
        content.role = Some(role);
        // The bot's own histories are bare lists, where each text is a separate line.
        content.joins_texts = skipped == 0 && !self.is_bare;
        content.join_texts();
        if role == Role::Assistant {
            meta::find_leak(&content.parts, ".parts", value, &mut site);
        }
        for (key, field) in &turn.others {
            content.keep(&**key, *field);
        }
        if turn.others.len() > 1 {
            site.repeated_keys(value, |_| false);
        }
        let timestamp = self.times.read(turn.ts, "ts", &mut site);
        unknown_keys(&lines.meta, turn, &mut site);
        hold_place(role, &mut content.parts, &content.rest);
        let sender = self.sender(role, &lines);
        let marked = lines.speaker.as_ref().and_then(|line| line.get("is_bot"));
        if marked == Some("1") {
            self.roster.mark_machine(sender);
        }
        if content.parts.iter().any(|part| matches!(part, Part::ToolCall(_))) {
            self.roster.calls(sender);
        }
        self.place(&lines.meta, &mut content);
        let agents = self.roster.agents();
        let reference = reply::reference(&lines.meta, &self.roster, &agents, &mut content.rest);
        let sender_name = self.roster.other_name(sender, &lines.meta, &mut content.rest);
        let plain = match role {
            Role::Assistant => "model",
            other => other.as_str(),
        };
        let message = Message {
            id,
            sender: Some(sender),
            timestamp,
            sender_name,
            parts: content.parts,
            references: reference.into_iter().collect(),
            source_type: text(turn.role).filter(|word| word != plain),
            extra: Extra(content.rest),
            ..self.list.message(role, value.span(), index)
        };
        if self.joins_answers && is_plain(value) && self.is_behind_answer() {
            self.join(message, known, path);
        } else {
            self.list.push(message);
            self.lines.push(lines.of_sender().clone());
        }
    }

    fn is_behind_answer(&self) -> bool {
        let last = self.list.messages.last();
        last.is_some_and(|last| last.role == Role::Assistant)
    }

    /// Adds a piece to the answer before it; the findings from `known` on are about the piece.
    fn join(&mut self, piece: Message, known: usize, path: impl FnOnce() -> String) {
        let Some(last) = self.list.messages.len().checked_sub(1) else {
            return;
        };
        self.list.move_findings(known, last, path);
        self.list.rows.merged += 1;
        if let Some(answer) = self.list.messages.get_mut(last) {
            answer.origin.end = piece.origin.end;
            merge_continuation(answer, piece, self.list.rows.merged);
        }
    }

    fn sender(&mut self, role: Role, lines: &Lines) -> usize {
        match role {
            Role::Tool => self.roster.answered(),
            Role::Assistant => self.roster.bot(lines.of_sender()),
            role => self.roster.speaker(role, lines.of_sender()),
        }
    }

    /// Notes the fields that each message leaves unstated because other messages state them.
    pub(super) fn note_unstated(&mut self) {
        for (message, meta) in self.list.messages.iter_mut().zip(&self.lines) {
            let unstated = message.sender.map(|sender| self.roster.unstated(sender, meta));
            message.unstated = unstated.unwrap_or_default();
            for (fact, key) in [(Fact::Chat, "chat_id"), (Fact::Thread, "thread_id")] {
                if meta.get(key).is_none() {
                    message.unstated.insert(fact);
                }
            }
            // Without a chat there is no conversation's id that could hold the thread.
            if let (None, Some(thread)) = (&self.chat, meta.get("thread_id"))
                && self.thread.as_deref() == Some(thread)
            {
                message.extra.keep_text("thread_id", thread);
            }
        }
    }

    /// Takes chat and thread from a line; those of another chat, and keys without a place, stay with the message.
    fn place(&mut self, meta: &Meta, content: &mut Turn) {
        for (key, known) in [("chat_id", &mut self.chat), ("thread_id", &mut self.thread)] {
            let Some(own) = meta.get(key) else { continue };
            if known.get_or_insert_with(|| own.to_owned()) != own {
                content.keep_text(key, own);
            }
        }
        for (key, value) in meta.rest(&KNOWN) {
            content.keep_text(key, value);
        }
    }
}

/// Reads the parts of a list, except those that are lines.
fn read_parts(list: Value<'_>, skipped: usize, content: &mut Turn, site: &mut Site<'_>) {
    for (place, part) in list.items().enumerate().skip(skipped) {
        one(content, &format!("parts[{place}]"), part, site);
    }
}

/// Reports a line with keys that the bot never writes: it may be the text of a message.
fn unknown_keys(meta: &Meta, turn: &Fields<'_>, site: &mut Site<'_>) {
    let unknown = meta.rest(&KNOWN).filter(|(key, _)| key != SECOND_NAME_OF_REPLY);
    let keys: Vec<&str> = unknown.map(|(key, _)| key.as_str()).collect();
    let (Some(first), Some(place)) = (keys.first(), turn.parts) else {
        return;
    };
    let text = "the [meta] line has a pair that gryag never writes: it is kept";
    let mut finding = Finding::new(&codes::UNKNOWN_META_KEY, text).quoting(first);
    finding.count = keys.len() as u64;
    site.push(finding, ".parts", place);
}

/// Whether a history opens with system text that was put before it: the first turn is a user's and has no line, while
/// later ones have.
pub(super) fn begins_with_system_text(turns: &[Value<'_>]) -> bool {
    let is_users = |turn: &Value<'_>| turn.get("role").and_then(Value::as_str).as_deref() == Some("user");
    let Some((first, later)) = turns.split_first() else {
        return false;
    };
    let has_line = |turn: &Value<'_>| lines(texts(*turn).into_iter()).1 > 0;
    let is_text = matches!(texts(*first).as_slice(), [Some(_)]) && !has_line(first);
    is_users(first) && is_text && later.iter().any(|turn| is_users(turn) && has_line(turn))
}

/// Whether neighbouring contents of the model are pieces of one answer: in a history with lines, each is a message.
pub(super) fn joins_answers(turns: &[Value<'_>]) -> bool {
    let has_line = |turn: &Value<'_>| lines(texts(*turn).into_iter()).1 > 0;
    let are_pieces = |pair: &[Value<'_>]| pair.iter().all(|turn| is_plain(*turn));
    turns.windows(2).any(are_pieces) && !turns.iter().any(has_line)
}

/// The text of each part of a turn, where it is one.
fn texts(turn: Value<'_>) -> Vec<Option<Cow<'_, str>>> {
    let parts = turn.get("parts").into_iter().flat_map(Value::items);
    parts
        .map(|part| part.get("text").and_then(Value::as_str))
        .collect()
}

/// The role that a turn states.
fn stated_role(turn: &Fields<'_>) -> Option<Role> {
    match &*turn.role?.as_str()? {
        "model" => Some(Role::Assistant),
        "function" => Some(Role::Tool),
        word => word.parse().ok(),
    }
}

/// The lines that the first texts are, and how many parts they take.
fn lines<'t>(texts: impl Iterator<Item = Option<Cow<'t, str>>>) -> (Lines, usize) {
    let mut lines = Lines::default();
    let mut taken = 0;
    for text in texts {
        let Some(text) = text else { break };
        if taken == 0
            && let Some(speaker) = Meta::read_speaker(&text)
        {
            lines.speaker = Some(speaker);
            taken = 1;
            continue;
        }
        if let Some(meta) = Meta::read(&text) {
            lines.meta = meta;
            taken += 1;
        }
        break;
    }
    (lines, taken)
}
