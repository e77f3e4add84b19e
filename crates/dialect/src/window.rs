//! Windows: which stretch of a conversation a rendering shows, and where it may be cut.
//!
//! A stretch is a run of positions. It never splits a call from its result: neither a silence nor an answer between the two
//! ends a stretch. Sessions come first, then the
//! turns of the perspective; how much of the history a dialect shows and how much fits a budget is decided inside the
//! stretch, by moving its beginning. System text before a stretch stays, and replies to messages outside of it are
//! quoted as ever.
//!
//! Why: docs/decisions/2026-11-21-windows-end-where-somebody-else-speaks.md.

use std::ops::Range;

use chatmill_model::{CallStatus, Linked, Message, MessageKind, Part, Role};

/// The stretch of a conversation that a rendering shows: positions, each end one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRange {
    /// Where its session begins.
    pub session_start: u32,
    /// Where its session ends.
    pub session_end: u32,
    /// Where it begins; later than its session where it had to fit a budget.
    pub start: u32,
    /// Where it ends; earlier than its session where it ends with an answer.
    pub end: u32,
}

impl WindowRange {
    /// All of a session.
    pub(crate) fn session(start: u32, end: u32) -> Self {
        Self {
            session_start: start,
            session_end: end,
            start,
            end,
        }
    }
}

/// What makes several renderings of one conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// A longer silence than this, in microseconds, starts a new session.
    pub session_gap: Option<i64>,
    /// Whether each answer of the perspective ends a stretch.
    pub per_turn: bool,
}

/// The stretches of a conversation in order: one per session, or one per answer of the perspective.
///
/// An answer is the last thing that the perspective says before somebody else speaks; calls, results and notices on the way
/// belong to it. Who has no turns, or nobody, has no answers.
pub fn stretches(
    linked: &Linked,
    borders: &CutPoints,
    perspective: Option<usize>,
    cuts: Cuts,
) -> Vec<WindowRange> {
    let sessions = sessions(linked, borders, cuts.session_gap);
    if !cuts.per_turn {
        return sessions;
    }
    let Some(speaker) = perspective else {
        return Vec::new();
    };
    let answered = sessions.into_iter().flat_map(|session| {
        let ends = answers(linked, borders, speaker, session);
        ends.into_iter().map(move |end| WindowRange { end, ..session })
    });
    answered.collect()
}

/// Where a stretch may begin later than its session, in order: before what somebody else than the perspective says. So an
/// answer is never cut from what it answers.
pub fn turn_starts(linked: &Linked, borders: &CutPoints, perspective: Option<usize>) -> Vec<u32> {
    let is_others = |message: &&Message| {
        message.kind == MessageKind::Message
            && matches!(message.role, Role::User | Role::Assistant)
            && (perspective.is_none() || message.sender != perspective)
            && borders.allow(message.position)
    };
    let others = linked.conversation.messages.iter().filter(is_others);
    others.map(|message| message.position).collect()
}

/// Where a conversation may be cut without parting a call from its result.
#[derive(Clone, Debug, Default)]
pub struct CutPoints {
    /// For each position, the nearest place at or before it where a cut is allowed; one more for the end.
    nearest: Vec<u32>,
}

impl CutPoints {
    /// The borders of a conversation. Further results of an answered call tie nothing.
    pub fn of(linked: &Linked) -> Self {
        let length = linked.conversation.messages.len();
        let mut changes = vec![0_i64; length + 2];
        for pairing in &linked.pairings {
            let (Some(call), Some(result)) = (pairing.call, pairing.result) else {
                continue;
            };
            if pairing.status == CallStatus::Duplicate {
                continue;
            }
            let low = call.position.min(result.position) as usize;
            let high = call.position.max(result.position) as usize;
            for (place, change) in [(low + 1, 1), (high + 1, -1)] {
                if let Some(sum) = changes.get_mut(place) {
                    *sum += change;
                }
            }
        }
        // How many calls have their result on the other side.
        let mut parted = 0;
        let mut latest = 0;
        let nearest =
            (0..=u32::try_from(length).unwrap_or(u32::MAX))
                .zip(changes)
                .map(|(position, change)| {
                    parted += change;
                    if parted == 0 {
                        latest = position;
                    }
                    latest
                });
        Self {
            nearest: nearest.collect(),
        }
    }

    /// Whether the conversation may be cut before a position.
    pub fn allow(&self, position: u32) -> bool {
        self.nearest
            .get(position as usize)
            .is_none_or(|nearest| *nearest == position)
    }

    /// The nearest border that is not after a place.
    pub(crate) fn at_or_before(&self, place: usize) -> usize {
        self.nearest.get(place).map_or(place, |nearest| *nearest as usize)
    }
}

/// What a dialect renders before each position of a conversation.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Messages without system text before each position; one more for the end.
    turns: Vec<u32>,
    /// Where system text stands.
    system: Vec<u32>,
}

impl Rendered {
    pub(crate) fn of(messages: &[Message], renders: impl Fn(&Message) -> bool) -> Self {
        let mut rendered = Self {
            turns: vec![0],
            system: Vec::new(),
        };
        let mut turns = 0;
        for message in messages {
            if renders(message) {
                if is_system_text(message) {
                    rendered.system.push(message.position);
                } else {
                    turns += 1;
                }
            }
            rendered.turns.push(turns);
        }
        rendered
    }

    /// Messages of a range, without system text.
    pub(crate) fn turns(&self, range: Range<usize>) -> u64 {
        let before = |place: usize| self.turns.get(place).copied().unwrap_or_default();
        u64::from(before(range.end).saturating_sub(before(range.start)))
    }

    /// Where system text stands in a range.
    pub(crate) fn system(&self, range: Range<usize>) -> &[u32] {
        let place = |end: usize| self.system.partition_point(|position| (*position as usize) < end);
        self.system
            .get(place(range.start)..place(range.end))
            .unwrap_or_default()
    }
}

/// Whether a message is instructions, which stay before every window.
pub(crate) fn is_system_text(message: &Message) -> bool {
    message.kind == MessageKind::Message && message.role == Role::System
}

fn messages(linked: &Linked, start: u32, end: u32) -> impl Iterator<Item = &Message> {
    let all = &linked.conversation.messages;
    all.iter().take(end as usize).skip(start as usize)
}

/// The sessions of a conversation. Each holds a turn; system text after a silence belongs to the turn that follows it.
fn sessions(linked: &Linked, borders: &CutPoints, gap: Option<i64>) -> Vec<WindowRange> {
    let end = u32::try_from(linked.conversation.messages.len()).unwrap_or(u32::MAX);
    let mut sessions = Vec::new();
    let mut start = 0;
    let mut has_turn = false;
    let mut latest: Option<i64> = None;
    let mut border = None;
    for message in messages(linked, 0, end) {
        if message.kind != MessageKind::Message {
            continue;
        }
        let instant = message.timestamp.as_ref().and_then(|timestamp| timestamp.instant);
        if let (Some(gap), Some(latest), Some(instant)) = (gap, latest, instant)
            && instant.saturating_sub(latest) > gap
            && border.is_none()
            && borders.allow(message.position)
        {
            border = Some(message.position);
        }
        latest = latest.max(instant);
        if message.role == Role::System {
            continue;
        }
        if let Some(border) = border.take()
            && has_turn
        {
            sessions.push(WindowRange::session(start, border));
            start = border;
        }
        has_turn = true;
    }
    sessions.push(WindowRange::session(start, end));
    sessions
}

/// Where the answers of a participant end.
fn answers(linked: &Linked, borders: &CutPoints, speaker: usize, session: WindowRange) -> Vec<u32> {
    let mut ends = Vec::new();
    let mut end = None;
    for message in messages(linked, session.start, session.end) {
        if message.kind != MessageKind::Message || message.role == Role::System || only_answers_calls(message)
        {
            continue;
        }
        if message.sender != Some(speaker) {
            ends.extend(end.take());
        } else if is_said(message) && borders.allow(message.position + 1) {
            end = Some(message.position + 1);
        }
    }
    ends.extend(end);
    ends
}

fn only_answers_calls(message: &Message) -> bool {
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_) | Part::CacheMark);
    message.role == Role::Tool || !message.parts.is_empty() && message.parts.iter().all(is_result)
}

/// Whether a message says something and asks no tool.
fn is_said(message: &Message) -> bool {
    let mut says = false;
    for part in &message.parts {
        match part {
            Part::Text(text) => says |= !text.trim().is_empty(),
            Part::Media(_) => says = true,
            Part::ToolCall(_) => return false,
            _ => {}
        }
    }
    says
}
