//! Losses that lie in a dialect's nature, and the choice of the messages that a rendering shows.

use std::ops::Range;

use chatmill_model::{Message, MessageKind, Participant, Reference};

use crate::loss::{LossCode, Losses};
use crate::rendering::{Coverage, Extent};
use crate::view::{History, View};
use crate::window::{Borders, Rendered, Stretch, is_system_text};

/// What a dialect has no place for, on any message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Ids of messages.
    MessageIds,
    /// Times.
    Times,
    /// Mentions.
    Mentions,
    /// Further fields.
    Extra,
    /// A name that a message gives its sender beside the roster's.
    SenderNames,
}

/// The messages that a rendering shows.
pub(crate) struct Shown<'a> {
    /// In order of position.
    pub(crate) messages: Vec<&'a Message>,
    /// All messages and notices of the stretch, be they rendered or not.
    pub(crate) stretch: Vec<&'a Message>,
    /// How much of the conversation it is.
    pub(crate) extent: Extent,
}

impl<'a> Shown<'a> {
    /// What the dialect renders of the view's stretch: the newest messages, as many as `document` says, unless the view asks
    /// otherwise, and system text in front of them. What lies outside, and every notice, is declared.
    pub(crate) fn choose(
        view: &View<'a>,
        document: Option<u32>,
        losses: &mut Losses,
        renders: impl Fn(&Message) -> bool,
    ) -> Self {
        let all = view.conversation().messages.as_slice();
        let whole = Stretch::session(0, u32::MAX);
        let stretch = view.window.map_or(whole, |window| window.stretch);
        let end = all.len().min(stretch.end as usize);
        let session = end.min(stretch.session_start as usize)..all.len().min(stretch.session_end as usize);
        let limit = match view.history {
            History::Document => document,
            History::All => None,
            History::Messages(count) => Some(count),
        };
        let mut history = match limit {
            None | Some(0) => limit.map_or(session.start, |_| end),
            Some(limit) => {
                let newest = all.get(session.start..end).unwrap_or_default().iter().rev();
                let mut newest = newest.filter(|message| renders(message) && !is_system_text(message));
                let oldest = newest.nth(limit as usize - 1);
                let is_cut = newest.next().is_some();
                oldest.filter(|_| is_cut).map_or(session.start, place)
            }
        };
        if let History::Messages(_) = view.history {
            let borders = view.shared(|shared| &shared.borders, || Borders::of(view.linked));
            history = borders.at_or_before(history).max(session.start);
        }
        let first = history.max(stretch.start as usize).min(end);
        let mut stretch: Vec<&Message> = Vec::with_capacity(end - first);
        if first > 0 || end < all.len() {
            let rendered = view.shared(|shared| &shared.rendered, || Rendered::of(all, &renders));
            let ahead = rendered.system(0..first).iter();
            stretch.extend(ahead.filter_map(|position| view.message(*position)));
            let behind = session.end..all.len();
            let later = end..session.end;
            let all_of = |range: &Range<usize>| {
                rendered.turns(range.clone()) + rendered.system(range.clone()).len() as u64
            };
            for (outside, reason) in [
                (
                    rendered.turns(0..session.start) + all_of(&behind),
                    "messages of other sessions lie outside the window",
                ),
                (all_of(&later), "later messages lie outside the window"),
                (
                    rendered.turns(session.start..history),
                    "older messages lie outside the window",
                ),
                (
                    rendered.turns(history..first),
                    "older messages were cut to fit the token budget",
                ),
            ] {
                losses.everywhere(LossCode::Truncated, outside, reason);
            }
        }
        stretch.extend(all.get(first..end).unwrap_or_default());
        losses.everywhere(
            LossCode::WeightDropped,
            stretch.iter().filter(|message| message.weight.is_some()).count() as u64,
            "how much a message counts in training has no place",
        );
        for message in &stretch {
            if message.kind == MessageKind::Notice && !renders(message) {
                losses.at(
                    LossCode::NoticeDropped,
                    message.position,
                    "the dialect has no notices",
                );
            }
        }
        Self {
            messages: stretch
                .iter()
                .copied()
                .filter(|message| renders(message))
                .collect(),
            stretch,
            extent: Extent {
                coverage: if limit.is_some() || view.window.is_some() {
                    Coverage::Window
                } else {
                    Coverage::Whole
                },
                first: first as u32,
            },
        }
    }
}

fn place(message: &Message) -> usize {
    message.position as usize
}

/// How many references stand inside others.
fn nested(references: &[Reference]) -> u64 {
    let inner = references.iter().map(|reference| &reference.nested);
    inner.map(|inner| inner.len() as u64 + nested(inner)).sum()
}

/// Declares what `lacks` takes from messages, and what they refer to by way of others: one entry each.
pub(crate) fn declare_messages(view: &View<'_>, messages: &[&Message], lacks: &[Lack], losses: &mut Losses) {
    let count =
        |wanted: &dyn Fn(&Message) -> u64| messages.iter().map(|message| wanted(message)).sum::<u64>();
    for lack in lacks {
        match lack {
            Lack::MessageIds => losses.everywhere(
                LossCode::MessageIdDropped,
                count(&|message| u64::from(message.id.is_some())),
                "the dialect has no place for message ids",
            ),
            Lack::Times => losses.everywhere(
                LossCode::TimestampDropped,
                count(&|message| u64::from(message.timestamp.is_some())),
                "the dialect has no place for times",
            ),
            Lack::Mentions => losses.everywhere(
                LossCode::MentionDropped,
                count(&|message| message.mentions.len() as u64),
                "the dialect has no place for mentions",
            ),
            Lack::Extra => losses.everywhere(
                LossCode::ExtraDropped,
                count(&|message| message.extra.0.len() as u64),
                "the dialect has no place for further fields of a message",
            ),
            Lack::SenderNames => losses.everywhere(
                LossCode::NameDropped,
                count(&|message| {
                    let rosters = view.sender(message).and_then(Participant::own_name);
                    u64::from(
                        message
                            .sender_name
                            .as_deref()
                            .is_some_and(|name| rosters.is_some_and(|rosters| rosters != name)),
                    )
                }),
                "the message gives its sender another name than the roster",
            ),
        }
    }
    losses.everywhere(
        LossCode::ReferenceNested,
        count(&|message| nested(&message.references)),
        "what a quoted message refers to in its turn has no place",
    );
}

/// Declares what a dialect without a place for facts about people and rooms takes from a conversation.
pub(crate) fn declare_conversation(view: &View<'_>, losses: &mut Losses) {
    let conversation = view.conversation();
    let facts = usize::from(conversation.title.is_some())
        + usize::from(conversation.description.is_some())
        + conversation.extra.0.len()
        + conversation.envelope.0.len();
    losses.everywhere(
        LossCode::MetadataDropped,
        facts as u64,
        "the dialect has no place for facts about the conversation",
    );
    let people = conversation
        .participants
        .iter()
        .filter(|participant| has_facts(participant));
    losses.everywhere(
        LossCode::ParticipantDropped,
        people.count() as u64,
        "the dialect has no place for facts about participants",
    );
}

fn has_facts(participant: &Participant) -> bool {
    participant.custom_role.is_some()
        || participant.department.is_some()
        || participant.email.is_some()
        || !participant.extra.is_empty()
}
