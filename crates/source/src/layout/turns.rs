//! Converts turns to messages: speakers, and pieces that continue the message before them.
//!
//! A format that writes one turn as several items (reasoning, text, each call) states the relation of each item to its
//! neighbours, and they become one message.

pub(crate) mod weight;

use std::ops::Range;

use chatmill_diag::{Limits, Path, codes};
use chatmill_intake::json::Value;
use chatmill_model::{Conversation, Extra, Message, MessageKind, Part, Role, Timestamp};

use crate::base::{Roster, Site, Times, Turn, are_of_tools, media::hold_place, message_kind, only_answers};
use crate::frame::{FrameView, Reading};
use crate::layout::list::{ListReader, answers};

/// The index of a message that is in no list of the record: only its bytes give its place.
pub(crate) const OUTSIDE_LISTS: u32 = u32::MAX - 1;

/// Reads the turns of one record, in order.
pub(crate) struct Turns<'d, 'r> {
    /// The messages that the turns become.
    pub list: ListReader<'d, 'r>,
    /// The participants.
    pub roster: Roster,
    /// The times of the messages.
    pub times: Times,
    /// The range of the string that contains the JSON being read: offsets inside it have no meaning in the record.
    pub within: Option<Range<usize>>,
    /// Whether the assistant's next turn continues the last message.
    next_continues: bool,
    /// The number of messages before the answer: no piece of a stream continues those of the request.
    pub answered_from: usize,
}

impl<'d, 'r> Turns<'d, 'r> {
    /// A reader without turns.
    pub(crate) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            list: ListReader::new(frame, limits),
            roster: Roster::default(),
            times: Times::new(frame.options),
            within: None,
            next_continues: false,
            answered_from: 0,
        }
    }

    /// Finishes the conversation.
    pub(crate) fn finish(mut self, conversation: Conversation) -> Reading {
        self.times.finish(&mut self.list.notes);
        self.list.finish(Conversation {
            participants: self.roster.participants,
            ..conversation
        })
    }

    /// Reads the time of the next message from a field.
    pub(crate) fn time(
        &mut self,
        (id, message): (Option<&str>, Value<'_>),
        (field, value): (&str, Option<Value<'_>>),
    ) -> Option<Timestamp> {
        let mut site = self.list.site(id, message);
        self.times.read(value, field, &mut site)
    }

    /// Reports a line with this id and an unknown type; `kind` is the field of the type.
    pub(crate) fn unknown_line(&mut self, (id, line): (Option<&str>, Value<'_>), kind: Option<Value<'_>>) {
        let text = "the line is of a type that is not known and is kept as a notice";
        let mut site = self.list.site(id, line);
        site.note(&codes::UNKNOWN_LINE_TYPE, text, ".type", kind.unwrap_or(line));
    }

    /// Reads a turn at `prefix` below its item; the item itself has no prefix.
    pub(crate) fn read(
        &mut self,
        value: Value<'_>,
        prefix: &str,
        turn: impl FnOnce(Value<'_>, &mut Site<'_>) -> Turn,
    ) -> Turn {
        let (known, _limits) = (self.list.notes.findings.len(), self.list.limits);
        let mut site = self.list.site(None, value);
        let turn = turn(value, &mut site);
        site.repeated_keys(value, |_| false);
        let place = self.within.clone().map(|span| self.list.frame.span(span));
        for finding in self.list.notes.findings.iter_mut().skip(known) {
            if let Path::InMessage(suffix) = &mut finding.path {
                match place {
                    Some(_) => suffix.clear(),
                    None => suffix.insert_str(0, prefix),
                }
            }
            finding.span = place.or(finding.span);
        }
        turn
    }

    /// Adds a turn: to the message that it continues, or as a separate message. Findings from `known` on are about it, and
    /// `place` is its path in the record.
    pub(crate) fn add(
        &mut self,
        index: u32,
        value: Value<'_>,
        turn: Turn,
        known: usize,
        place: impl FnOnce() -> String,
    ) {
        self.list.answers.in_pieces |= turn.is_item;
        let next_continues = std::mem::replace(&mut self.next_continues, turn.continued_by_next)
            && turn.role == Some(Role::Assistant)
            && !turn.is_notice;
        let is_assistants =
            |last: &Message| last.role == Role::Assistant && last.kind == MessageKind::Message;
        let has_ended = self.list.answers.ends.last() == Some(&self.list.messages.len());
        let is_of_request = turn.is_cut && self.list.messages.len() == self.answered_from;
        if (turn.continues || next_continues)
            && !is_of_request
            && !has_ended
            && self.list.messages.last().is_some_and(is_assistants)
        {
            let last = self.list.messages.len() - 1;
            self.join(last, value, turn, known, place);
        } else {
            self.push(index, value, turn);
        }
    }

    /// Adds a piece to the message with this position, and moves the findings from `known` on, which are about the piece, there.
    pub(crate) fn join(
        &mut self,
        position: usize,
        value: Value<'_>,
        turn: Turn,
        known: usize,
        place: impl FnOnce() -> String,
    ) {
        let mut turn = Turn {
            role: Some(Role::Assistant),
            ..turn
        };
        turn.join_texts();
        self.list.tools.append(&mut turn.tools);
        self.list.move_findings(known, position, place);
        let merge = if turn.is_cut && !turn.gaps.contains(&0) {
            answers::merge_continuation
        } else {
            answers::merge_piece
        };
        let piece = Message {
            id: turn.id,
            parts: turn.parts,
            extra: Extra(turn.rest),
            ..self.list.message(Role::Assistant, self.span(value), 0)
        };
        let Some(message) = self.list.messages.get_mut(position) else {
            return;
        };
        if let Some(sender) = message.sender {
            self.roster.calls(sender, &piece.parts);
        }
        self.list.rows.merged += 1;
        message.origin.end = piece.origin.end;
        merge(message, piece, self.list.rows.merged);
    }

    /// Adds a turn as a separate message. A turn with calls and their results is divided at the results, because these are the
    /// tool's.
    pub(crate) fn push(&mut self, index: u32, value: Value<'_>, mut turn: Turn) {
        turn.join_texts();
        self.list.tools.append(&mut turn.tools);
        let calls = turn.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        let answers = turn.parts.iter().any(|part| matches!(part, Part::ToolResult(_)));
        if turn.role != Some(Role::Assistant) || !calls || !answers {
            self.push_one(index, value, turn);
            return;
        }
        let pieces = divided(Role::Assistant, std::mem::take(&mut turn.parts));
        let name = turn.name.clone();
        for (number, (role, parts)) in pieces.into_iter().enumerate() {
            // Each further piece counts as a separate row.
            self.list.rows.rows += u64::from(number > 0);
            let piece = Turn {
                role: Some(role),
                name: name.clone().filter(|_| role == Role::Assistant),
                parts,
                ..std::mem::take(&mut turn)
            };
            self.push_one(index, value, piece);
        }
    }

    fn push_one(&mut self, index: u32, value: Value<'_>, mut turn: Turn) {
        let role = match turn.role.unwrap_or(Role::User) {
            Role::User if only_answers(&turn.parts) => Role::Tool,
            role => role,
        };
        hold_place(role, &mut turn.parts, &turn.rest);
        let sender = if role == Role::Tool {
            self.roster.answering(&turn.parts)
        } else {
            self.roster.named(role, turn.name.as_deref())
        };
        self.roster.calls(sender, &turn.parts);
        self.list.push(Message {
            id: turn.id,
            sender: Some(sender),
            kind: message_kind(turn.is_notice),
            source_type: turn.word,
            parts: turn.parts,
            weight: weight::take(value, &mut turn.rest),
            extra: Extra(turn.rest),
            ..self.list.message(role, self.span(value), index)
        });
    }

    /// Whether a message already contains a text. Such a text is marked as read.
    pub(crate) fn repeats(&self, value: Value<'_>) -> bool {
        let Some(text) = value.string() else { return false };
        let is_same = |message: &Message| match message.parts.as_slice() {
            [Part::Text(shown)] => shown.trim() == text.trim(),
            _ => false,
        };
        let is_repeated = self.list.messages.iter().any(is_same);
        is_repeated && value.as_str().is_some()
    }

    /// The range of a value in the record.
    pub(crate) fn span(&self, value: Value<'_>) -> Range<usize> {
        self.within.clone().unwrap_or_else(|| value.span())
    }
}

/// Divides an answer at its results, which are turns of a tool.
pub(crate) fn divided(role: Role, parts: Vec<Part>) -> Vec<(Role, Vec<Part>)> {
    let mut turns: Vec<(Role, Vec<Part>)> = Vec::new();
    for (is_of_tool, part) in are_of_tools(&parts).into_iter().zip(parts) {
        let own = if is_of_tool { Role::Tool } else { role };
        match turns.last_mut() {
            Some((last, parts)) if *last == own => parts.push(part),
            _ => turns.push((own, vec![part])),
        }
    }
    if turns.is_empty() {
        turns.push((role, Vec::new()));
    }
    turns
}
