//! Windows: the range of a conversation that a rendering shows, and where the conversation may be cut.
//!
//! A range never separates a call from its result: neither a silence nor an answer between the two ends it. A conversation is cut into
//! sessions first, then at the turns of the perspective. The history that a dialect shows and the budget only move the beginning inside the
//! range. System text before a range stays, and replies to messages outside of it are quoted as usual.
//!
//! Why: docs/decisions/2026-11-21-window-boundaries.md.

use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::{Linked, Message, MessageKind, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::placeholders::Placeholders;
pub use crate::view::cut_points::CutPoints;
use crate::view::policy::TurnsInARow;
use crate::view::targets::{
    Exchange, OwnTurns, SkippedTargets, Targets, has_content, only_answers_calls, wordless,
};

/// The range of a conversation that a rendering shows: positions, with each end one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRange {
    /// Beginning of its session.
    pub session_start: u32,
    /// End of its session.
    pub session_end: u32,
    /// Beginning of the range; later than that of the session if it had to fit a budget.
    pub start: u32,
    /// End of the range; earlier than that of the session if it ends with an answer.
    pub end: u32,
    /// The position from which the perspective's turns are trained on; earlier turns are context.
    pub trained_from: u32,
}

impl WindowRange {
    /// The range of a whole session.
    pub(crate) fn session(start: u32, end: u32) -> Self {
        Self {
            session_start: start,
            session_end: end,
            start,
            end,
            trained_from: 0,
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

/// The settings that divide a conversation into several renderings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// A silence longer than this, in microseconds, starts a new session.
    pub session_gap: Option<i64>,
    /// How much of a session a range shows.
    pub mode: WindowMode,
    /// What a range ends with, if it ends with its target.
    pub targets: Targets,
    /// How media that are only named are treated.
    pub placeholders: Placeholders,
    /// How messages of one speaker in a row are treated, to count turns that are not trained on.
    pub turns: TurnsInARow,
}

/// The ranges of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowRanges {
    /// The ranges, in order.
    pub ranges: Vec<WindowRange>,
    /// Numbers of turns that are not the target of any range.
    pub skipped_targets: SkippedTargets,
}

/// Returns the ranges of a conversation in order: one per session, one per answer of the perspective, or one per exchange, which a budget
/// may join with its neighbours.
///
/// An answer is the perspective's last text before another participant speaks; calls, results and notices in between belong to it. Without
/// a perspective there are no answers.
pub fn window_ranges(
    linked: &Linked,
    cut_points: &CutPoints,
    perspective: Option<usize>,
    cuts: Cuts,
) -> WindowRanges {
    let mut found = WindowRanges::default();
    if cuts.mode == WindowMode::Document {
        found.ranges = sessions(linked, cut_points, cuts.session_gap, None);
        for session in &found.ranges {
            let positions = session.start..session.end;
            found.skipped_targets.without_own_words += wordless_in(linked, positions, perspective, cuts);
        }
        return found;
    }
    let Some(speaker) = perspective else {
        return found;
    };
    for session in sessions(linked, cut_points, cuts.session_gap, perspective) {
        let positions = session.start..session.end;
        let all_wordless = wordless_in(linked, positions.clone(), perspective, cuts);
        let turns = OwnTurns::of(linked, cut_points, speaker, positions, cuts.placeholders);
        let skipped = &mut found.skipped_targets;
        let targets = match cuts.mode {
            WindowMode::Consecutive => turns.exchanges(cuts.targets, skipped),
            WindowMode::PerTurn | WindowMode::Document => turns.targets(cuts.targets, skipped),
        };
        // Samples show only messages from the first to the last of them.
        let shown = match (targets.first(), targets.last()) {
            (Some(first), Some(last)) => {
                wordless_in(linked, first.start..last.end, perspective, cuts).min(all_wordless)
            }
            _ => all_wordless,
        };
        skipped.without_own_words += shown;
        skipped.outside += all_wordless - shown;
        let range = |exchange: Exchange| WindowRange {
            start: exchange.start,
            end: exchange.end,
            trained_from: exchange.target,
            ..session
        };
        found.ranges.extend(targets.into_iter().map(range));
    }
    found
}

/// Returns the turns of an uncut conversation that are not trained on.
pub fn skipped_in_whole(linked: &Linked, perspective: Option<usize>, cuts: Cuts) -> SkippedTargets {
    SkippedTargets {
        without_own_words: wordless_in(linked, 0..u32::MAX, perspective, cuts),
        ..SkippedTargets::default()
    }
}

fn wordless_in(linked: &Linked, positions: Range<u32>, perspective: Option<usize>, cuts: Cuts) -> u64 {
    let all = linked.conversation.messages.iter();
    let messages = all.take(positions.end as usize).skip(positions.start as usize);
    wordless(messages, perspective, cuts.placeholders, cuts.turns)
}

/// Returns the positions, in order, where a range may begin later than its session: before messages of participants other than the
/// perspective, so that an answer is not separated from its question.
pub fn turn_starts(linked: &Linked, cut_points: &CutPoints, perspective: Option<usize>) -> Vec<u32> {
    let is_others = |message: &&Message| {
        message.kind == MessageKind::Message
            && matches!(message.role, Role::User | Role::Assistant)
            && (perspective.is_none() || message.sender != perspective && has_content(message))
            && cut_points.allow(message.position)
    };
    let others = linked.conversation.messages.iter().filter(is_others);
    others.map(|message| message.position).collect()
}

/// The messages that a dialect renders, counted by position.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Number of messages without system text before each position; one more for the end.
    turns: Vec<u32>,
    /// Positions of system text.
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

    /// Counts the messages of a range, without system text.
    pub(crate) fn turns(&self, range: Range<usize>) -> u64 {
        let before = |place: usize| *cut::at(&self.turns, place);
        u64::from(before(range.end).saturating_sub(before(range.start)))
    }

    /// Returns the positions of system text in a range.
    pub(crate) fn system(&self, range: Range<usize>) -> &[u32] {
        let place = |end: usize| self.system.partition_point(|position| (*position as usize) < end);
        cut::slice(&self.system, place(range.start)..place(range.end))
    }
}

/// Whether a message is system text, which stays before every window.
pub(crate) fn is_system_text(message: &Message) -> bool {
    message.kind == MessageKind::Message && message.role == Role::System
}

fn messages(linked: &Linked, start: u32, end: u32) -> impl Iterator<Item = &Message> {
    let all = &linked.conversation.messages;
    all.iter().take(end as usize).skip(start as usize)
}

/// Returns the sessions of a conversation. Each has a turn; system text after a silence belongs to the turn that follows it. With
/// `answers_of`, an answer of that participant belongs to the session of its question, however late it comes.
fn sessions(
    linked: &Linked,
    cut_points: &CutPoints,
    gap: Option<i64>,
    answers_of: Option<usize>,
) -> Vec<WindowRange> {
    let end = u32::try_from(linked.conversation.messages.len()).unwrap_or(u32::MAX);
    let mut sessions = Vec::new();
    let mut start = 0;
    let mut has_turn = false;
    let mut latest: Option<i64> = None;
    let mut boundary = None;
    for message in messages(linked, 0, end) {
        if message.kind != MessageKind::Message {
            continue;
        }
        let instant = message.timestamp.as_ref().and_then(|timestamp| timestamp.instant);
        if let (Some(gap), Some(latest), Some(instant)) = (gap, latest, instant)
            && instant.saturating_sub(latest) > gap
            && boundary.is_none()
            && cut_points.allow(message.position)
        {
            boundary = Some(message.position);
        }
        latest = latest.max(instant);
        if message.role == Role::System {
            continue;
        }
        if answers_of.is_some() {
            let is_own = message.sender == answers_of;
            if is_own {
                boundary = None;
            }
            if is_own || only_answers_calls(message) || !has_content(message) {
                has_turn = true;
                continue;
            }
        }
        if let Some(boundary) = boundary.take()
            && has_turn
        {
            sessions.push(WindowRange::session(start, boundary));
            start = boundary;
        }
        has_turn = true;
    }
    sessions.push(WindowRange::session(start, end));
    sessions
}
