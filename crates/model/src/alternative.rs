//! Alternatives: the answers at one place of a conversation, with the scores and judgements of each.

use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

use crate::message::Message;

/// The reason why a record has several answers at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum AlternativeOrigin {
    /// The model was asked again for the same answer.
    Regenerated,
    /// A person sent another message in this place, and got another answer.
    Branch,
    /// A person or a judge compared the answers, and this one was better, or good.
    Chosen,
    /// A person or a judge compared the answers, and this one was worse, or bad.
    Rejected,
    /// Several answers were requested, from one model or from several people.
    Choice,
}

impl AlternativeOrigin {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The basis of an answer's label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum LabelBasis {
    /// The record calls the answer good or bad.
    Stated,
    /// It is the best or the worst in a ranking.
    Ranks,
    /// It has the highest or the lowest score.
    Scores,
}

impl LabelBasis {
    /// The word that summaries use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The score of an answer: always a finite number, so that scores can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score(f64);

impl Score {
    /// A score, of any finite number.
    pub fn new(score: f64) -> Option<Self> {
        score.is_finite().then_some(Self(score))
    }

    /// The number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Score {}

/// The judgement of an answer, as far as the record contains one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Its rank among the answers at its place, as the record numbers them; the lowest is the best.
    pub rank: Option<u64>,
    /// Its score; higher is better.
    pub score: Option<Score>,
    /// Whether it is good.
    pub label: Option<bool>,
}

/// One of the answers at a place. The answers of one place are adjacent in the list, and that of the conversation is among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Positions of the messages that it replaces. Empty if the conversation has no answer there: then the place is before the message with
    /// this position, or at the end.
    pub place: Range<u32>,
    /// The reason why the record has it.
    pub origin: AlternativeOrigin,
    /// The judgement of it.
    pub judgement: Judgement,
    /// Its messages, or `None` if these are the messages of the conversation at its place. `Message::position` is the index in this list.
    pub messages: Option<Vec<Message>>,
}
