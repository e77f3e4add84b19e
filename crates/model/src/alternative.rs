//! Alternatives: the answers at one place of a conversation, with the scores and judgements of each.

use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

use crate::message::Message;

/// How a record came by several answers at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum AlternativeOrigin {
    /// The model was asked for its answer again.
    Regenerated,
    /// Somebody wrote another message in its place, and was answered.
    Branch,
    /// Somebody judged the answers, and this one was the better or a good one.
    Chosen,
    /// Somebody judged the answers, and this one was the worse or a bad one.
    Rejected,
    /// Several were asked for, of a model or of several people.
    Choice,
}

impl AlternativeOrigin {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a label of an answer follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum LabelBasis {
    /// The record calls the answer good or bad.
    Stated,
    /// It is the best or the worst of a ranking.
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

/// How an answer was judged, as far as the record says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Its rank among those of its place, as the record numbers them; the best is the lowest.
    pub rank: Option<u64>,
    /// Its score; the more, the better.
    pub score: Option<Score>,
    /// Whether it is good.
    pub label: Option<bool>,
}

/// One of the answers at a place. Those of one place stand together, that of the conversation among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Positions of the messages of the conversation in whose place it stands; empty where the conversation holds no answer
    /// there, so that it stands before the message with this position or at the end.
    pub place: Range<u32>,
    /// How the record came by it.
    pub origin: AlternativeOrigin,
    /// How it was judged.
    pub judgement: Judgement,
    /// Its messages; none where they are those of the conversation at its place. `Message::position` is the index among
    /// these.
    pub messages: Option<Vec<Message>>,
}
