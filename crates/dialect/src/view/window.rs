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

use chatmill_diag::cut;
use chatmill_model::{Linked, Message, MessageKind, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::placeholders::Placeholders;
pub use crate::view::cut_points::CutPoints;
use crate::view::targets::{Exchange, OwnTurns, Targets, Untaught, only_answers_calls, speaks};

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
    /// From where on what the perspective says is learned; before it is context.
    pub learned: u32,
}

impl WindowRange {
    /// All of a session.
    pub(crate) fn session(start: u32, end: u32) -> Self {
        Self {
            session_start: start,
            session_end: end,
            start,
            end,
            learned: 0,
        }
    }
}

/// What a rendering shows of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ModeSetting")]
pub enum WindowMode {
    /// All of it; every turn of the perspective is learned.
    #[default]
    Document,
    /// Everything up to one turn of the perspective, which alone is learned.
    PerTurn,
    /// Exchanges in a row, as many as the budget allows; every turn of the perspective is learned in one of them.
    Consecutive,
}

/// What makes several renderings of one conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// A longer silence than this, in microseconds, starts a new session.
    pub session_gap: Option<i64>,
    /// How much of a session a stretch shows.
    pub mode: WindowMode,
    /// What a stretch ends with, where it ends with what is learned.
    pub targets: Targets,
    /// What becomes of media that are only named.
    pub placeholders: Placeholders,
}

/// The stretches of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretches {
    /// In order.
    pub ranges: Vec<WindowRange>,
    /// Turns that are in none of them as what is learned.
    pub untaught: Untaught,
}

/// The stretches of a conversation in order: one per session; one per answer of the perspective; or one per exchange, which a
/// budget may join with its neighbours.
///
/// An answer is the last thing that the perspective says before somebody else speaks; calls, results and notices on the way
/// belong to it. Who has no turns, or nobody, has no answers.
pub fn stretches(linked: &Linked, borders: &CutPoints, perspective: Option<usize>, cuts: Cuts) -> Stretches {
    let mut found = Stretches::default();
    if cuts.mode == WindowMode::Document {
        found.ranges = sessions(linked, borders, cuts.session_gap, None);
        return found;
    }
    let Some(speaker) = perspective else {
        return found;
    };
    for session in sessions(linked, borders, cuts.session_gap, perspective) {
        let turns = OwnTurns::of(
            linked,
            borders,
            speaker,
            session.start..session.end,
            cuts.placeholders,
        );
        let untaught = &mut found.untaught;
        let learned = match cuts.mode {
            WindowMode::Consecutive => turns.exchanges(cuts.targets, untaught),
            WindowMode::PerTurn | WindowMode::Document => turns.targets(cuts.targets, untaught),
        };
        let range = |exchange: Exchange| WindowRange {
            start: exchange.start,
            end: exchange.end,
            learned: exchange.learned,
            ..session
        };
        found.ranges.extend(learned.into_iter().map(range));
    }
    found
}

/// Where a stretch may begin later than its session, in order: before what somebody else than the perspective says. So an
/// answer is never cut from what it answers.
pub fn turn_starts(linked: &Linked, borders: &CutPoints, perspective: Option<usize>) -> Vec<u32> {
    let is_others = |message: &&Message| {
        message.kind == MessageKind::Message
            && matches!(message.role, Role::User | Role::Assistant)
            && (perspective.is_none() || message.sender != perspective && speaks(message))
            && borders.allow(message.position)
    };
    let others = linked.conversation.messages.iter().filter(is_others);
    others.map(|message| message.position).collect()
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
        let before = |place: usize| *cut::at(&self.turns, place);
        u64::from(before(range.end).saturating_sub(before(range.start)))
    }

    /// Where system text stands in a range.
    pub(crate) fn system(&self, range: Range<usize>) -> &[u32] {
        let place = |end: usize| self.system.partition_point(|position| (*position as usize) < end);
        cut::slice(&self.system, place(range.start)..place(range.end))
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

/// The sessions of a conversation. Each holds a turn; system text after a silence belongs to the turn that follows it. Where
/// answers are somebody's, an answer belongs to the session of its question, however late it comes.
fn sessions(
    linked: &Linked,
    borders: &CutPoints,
    gap: Option<i64>,
    answers_of: Option<usize>,
) -> Vec<WindowRange> {
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
        if answers_of.is_some() {
            let is_own = message.sender == answers_of;
            if is_own {
                border = None;
            }
            if is_own || only_answers_calls(message) || !speaks(message) {
                has_turn = true;
                continue;
            }
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
