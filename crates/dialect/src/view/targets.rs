//! Targets of samples: the turns of a participant inside a session that a sample can end with.
//!
//! A turn is everything that the participant writes until another participant speaks; calls, results and notices in between belong to it. A
//! sample begins with words of others, so a turn that opens a session is not a target. It ends with words or, if steps are requested, with
//! a call.

use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::{Linked, Message, MessageKind, Part, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::placeholders::Placeholders;
use crate::view::cut_points::CutPoints;
use crate::view::policy::TurnsInARow;

/// What a rendering ends with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TargetsSetting")]
pub enum Targets {
    /// Words: a turn that ends with a call is not learned on its own.
    #[default]
    Answers,
    /// Words or a call: each message of the perspective is a step that is learned.
    Steps,
}

/// Numbers of turns, or of steps of turns, without a sample, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedTargets {
    /// No message of others precedes them.
    pub without_question: u64,
    /// They end with a call, and answers are requested.
    pub without_words: u64,
    /// Another call has no result yet.
    pub without_result: u64,
    /// They are media that are only named.
    pub without_own_words: u64,
    /// They are such media before the first sample of a session or after its last one.
    pub outside: u64,
}

impl SkippedTargets {
    /// Adds other numbers.
    pub fn add(&mut self, other: Self) {
        self.without_question += other.without_question;
        self.without_words += other.without_words;
        self.without_result += other.without_result;
        self.without_own_words += other.without_own_words;
        self.outside += other.outside;
    }

    /// Returns all numbers above zero, with their reasons.
    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("nobody speaks before the turn", self.without_question),
            ("the turn ends with a call", self.without_words),
            ("an older call has no result yet", self.without_result),
            ("the turn is a medium that is only named", self.without_own_words),
            (
                "the turn is a medium that is only named, at an end of its session",
                self.outside,
            ),
        ];
        all.into_iter().filter(|(_, count)| *count > 0)
    }
}

/// A turn, or a step of one, with the messages before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// The position where it begins, with messages of others.
    pub(crate) start: u32,
    /// The first position that is trained on: the beginning of the turn or step.
    pub(crate) target: u32,
    /// The position where a sample of it ends.
    pub(crate) end: u32,
}

/// A turn of a participant.
struct OwnTurn {
    /// Positions of its messages with words or calls, in order.
    steps: Vec<u32>,
    /// The end of its last words, if a cut is allowed there.
    words: Option<u32>,
    /// Whether a message of others precedes it.
    is_answer: bool,
    /// The position where another participant speaks next.
    next: u32,
}

/// The turns of a participant in a session, and the position where others begin to speak.
pub(crate) struct OwnTurns<'a> {
    linked: &'a Linked,
    cut_points: &'a CutPoints,
    turns: Vec<OwnTurn>,
    /// The position where another participant speaks first, if a sample may begin there.
    first: Option<u32>,
}

impl<'a> OwnTurns<'a> {
    /// Finds the turns of a participant in a session.
    pub(crate) fn of(
        linked: &'a Linked,
        cut_points: &'a CutPoints,
        speaker: usize,
        session: Range<u32>,
        placeholders: Placeholders,
    ) -> Self {
        let mut turns: Vec<OwnTurn> = Vec::new();
        let mut first = None;
        let mut is_open = false;
        let all = &linked.conversation.messages;
        for message in all.iter().take(session.end as usize).skip(session.start as usize) {
            let is_turn = message.kind == MessageKind::Message && message.role != Role::System;
            if !is_turn || only_answers_calls(message) {
                continue;
            }
            let position = message.position;
            if message.sender != Some(speaker) {
                if has_content(message) {
                    if let Some(turn) = turns.last_mut().filter(|_| is_open) {
                        turn.next = position;
                    }
                    is_open = false;
                    first = first.or(Some(position).filter(|position| cut_points.allow(*position)));
                }
                continue;
            }
            if !is_open {
                turns.push(OwnTurn {
                    steps: Vec::new(),
                    words: None,
                    is_answer: first.is_some(),
                    next: session.end,
                });
                is_open = true;
            }
            let Some(turn) = turns.last_mut() else { continue };
            if placeholders.exclude(message) {
                continue;
            }
            if has_own_words(message) && cut_points.allow(position + 1) {
                turn.words = Some(position + 1);
            }
            if has_own_words(message) || calls(message) {
                turn.steps.push(position);
            }
        }
        turns.retain(|turn| !turn.steps.is_empty());
        Self {
            linked,
            cut_points,
            turns,
            first,
        }
    }

    /// Returns an exchange for each target; all of them begin where another participant speaks first.
    pub(crate) fn targets(&self, targets: Targets, skipped: &mut SkippedTargets) -> Vec<Exchange> {
        let mut found = Vec::new();
        for turn in &self.turns {
            let Some(start) = self.first.filter(|_| turn.is_answer) else {
                skipped.without_question += turn.samples(targets);
                continue;
            };
            match (targets, turn.steps.first().copied(), turn.words) {
                (Targets::Answers, Some(target), Some(end)) => found.push(Exchange { start, target, end }),
                (Targets::Answers, ..) => skipped.without_words += 1,
                (Targets::Steps, ..) => {
                    for &target in &turn.steps {
                        if self.cut_points.allow(target) {
                            let end = target + 1;
                            found.push(Exchange { start, target, end });
                        } else {
                            skipped.without_result += 1;
                        }
                    }
                }
            }
        }
        found
    }

    /// Divides the session into exchanges. A sample can end with any of them, and the next one can begin a sample.
    pub(crate) fn exchanges(&self, targets: Targets, skipped: &mut SkippedTargets) -> Vec<Exchange> {
        let mut found: Vec<Exchange> = Vec::new();
        let Some(mut start) = self.first else {
            skipped.without_question += self.turns.len() as u64;
            return found;
        };
        // Turns that a sample may not end with belong to the next turn that a sample may end with.
        let mut waiting = 0;
        let mut target = None;
        let mut words = None;
        for turn in &self.turns {
            if !turn.is_answer {
                skipped.without_question += 1;
                continue;
            }
            let (Some(first), Some(last)) = (turn.steps.first().copied(), turn.steps.last().copied()) else {
                continue;
            };
            let last_words = turn.words.filter(|end| *end == last + 1);
            let is_call = targets == Targets::Steps && self.asks(last) && self.cut_points.allow(last);
            match last_words.or(is_call.then_some(last + 1)) {
                Some(end) if self.cut_points.allow(turn.next) => {
                    let target = target.take().unwrap_or(first);
                    found.push(Exchange { start, target, end });
                    start = turn.next;
                    waiting = 0;
                    words = None;
                }
                _ => {
                    waiting = if turn.words.is_some() { 0 } else { waiting + 1 };
                    words = turn.words.or(words);
                    target = target.or(Some(first));
                }
            }
        }
        // The last exchange ends with the last words of the session.
        if let Some((target, end)) = target.zip(words) {
            found.push(Exchange { start, target, end });
        }
        skipped.without_words += waiting;
        found
    }

    /// Whether the message at a position calls a tool.
    fn asks(&self, position: u32) -> bool {
        calls(cut::at(&self.linked.conversation.messages, position as usize))
    }
}

/// Counts the turns of a speaker, or of all agents, that have only media which are only named. Each message is a turn, as exports count
/// them; where policy merges messages in a row, the merged messages are one turn.
pub(crate) fn wordless<'m>(
    messages: impl IntoIterator<Item = &'m Message>,
    speaker: Option<usize>,
    placeholders: Placeholders,
    turns: TurnsInARow,
) -> u64 {
    let in_a_row = turns == TurnsInARow::Merge;
    let (mut found, mut open, mut has_words) = (0, 0, false);
    let mut close = |open: &mut u64, has_words: &mut bool| {
        found += match (in_a_row, *has_words) {
            (false, _) => *open,
            (true, has_words) => u64::from(*open > 0 && !has_words),
        };
        (*open, *has_words) = (0, false);
    };
    for message in messages {
        let is_turn = message.kind == MessageKind::Message && message.role != Role::System;
        if !is_turn || only_answers_calls(message) {
            continue;
        }
        let is_own = speaker.map_or(message.role == Role::Assistant, |speaker| {
            message.sender == Some(speaker)
        });
        if is_own && placeholders.exclude(message) {
            open += 1;
        } else if is_own {
            has_words = true;
        } else if has_content(message) {
            close(&mut open, &mut has_words);
        }
    }
    close(&mut open, &mut has_words);
    found
}

impl OwnTurn {
    /// Returns the number of samples that the turn would make.
    fn samples(&self, targets: Targets) -> u64 {
        match targets {
            Targets::Answers => 1,
            Targets::Steps => self.steps.len() as u64,
        }
    }
}

/// Whether a message has content: words, a medium, a quote, a call or a result.
pub(crate) fn has_content(message: &Message) -> bool {
    let is_content = |part: &Part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
        _ => false,
    };
    message.parts.iter().any(is_content) || !message.references.is_empty()
}

/// Whether a message has only results.
pub(crate) fn only_answers_calls(message: &Message) -> bool {
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_) | Part::CacheMark);
    message.role == Role::Tool
        || !message.parts.is_empty() && message.own_parts().all(|(_, part)| is_result(part))
}

fn calls(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
}

/// Whether a message has words or media and calls no tool.
fn has_own_words(message: &Message) -> bool {
    let is_content = |part: &Part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Media(_) => true,
        _ => false,
    };
    !calls(message) && message.parts.iter().any(is_content)
}
