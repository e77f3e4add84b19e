//! `[window]`, resolved: how much of a conversation its renderings show, and the scales for their budget.

use chatmill_diag::Limits;
use chatmill_dialect::{Cuts, History, Rendering};
use chatmill_model::ComponentSpan;
use chatmill_token::{Encoding, Tallier};

use crate::pipeline::{self, HistoryRule, Speaker, SpeakerRule};
use crate::plan::PlanError;

/// A resolved `[window]` section.
#[derive(Clone, Default)]
pub struct Windows {
    /// How much history a rendering shows.
    pub history: History,
    /// What makes several renderings of one conversation.
    pub cuts: Cuts,
    /// Tokens that a rendering may have.
    pub budget: Option<Budget>,
    /// Stretches of one perspective, at most.
    pub most: u64,
}

/// Tokens that a rendering may have.
#[derive(Clone)]
pub struct Budget {
    /// The encoding in which they are counted.
    pub encoding: Encoding,
    /// Their number.
    pub tokens: u64,
    /// Bytes beyond which a rendering is too large anyway.
    pub bytes: u64,
}

impl Windows {
    /// Checks and resolves the section. `encodings` are those that are counted.
    pub fn new(
        window: &pipeline::Window,
        speaker: &Speaker,
        encodings: &[Encoding],
        limits: &Limits,
    ) -> Result<Self, PlanError> {
        let wrong = |key, message: &str| PlanError::Value {
            key,
            message: message.to_owned(),
        };
        if window.per_turn && matches!(speaker, Speaker::Rule(SpeakerRule::None)) {
            let message =
                "with perspective.as = \"none\" nobody has turns; name somebody there or write false";
            return Err(wrong("window.per_turn", message));
        }
        let history = match window.history {
            pipeline::History::Rule(HistoryRule::Document) => History::Document,
            pipeline::History::Rule(HistoryRule::All) => History::All,
            pipeline::History::Messages(0) => {
                return Err(wrong(
                    "window.history",
                    "it must be 1 at least, or \"document\" or \"all\"",
                ));
            }
            pipeline::History::Messages(messages) => History::Messages(messages),
        };
        let budget = window.max_tokens.as_ref().map(|most| {
            let counted = encodings.iter().find(|encoding| encoding.name() == most.encoding);
            let encoding = counted.ok_or_else(|| PlanError::UnknownWord {
                key: "window.max_tokens.encoding",
                what: "encoding in count.encodings",
                word: most.encoding.clone(),
                suggestion: pipeline::nearest(&most.encoding, encodings.iter().map(Encoding::name))
                    .map(str::to_owned),
            })?;
            if most.tokens == 0 {
                return Err(wrong("window.max_tokens.tokens", "it must be 1 at least"));
            }
            Ok(Budget {
                encoding: encoding.clone(),
                tokens: most.tokens,
                bytes: limits.rendering,
            })
        });
        Ok(Self {
            history,
            cuts: Cuts {
                session_gap: window
                    .session_gap
                    .seconds
                    .map(|seconds| i64::from(seconds) * 1_000_000),
                per_turn: window.per_turn,
            },
            budget: budget.transpose()?,
            most: limits.windows,
        })
    }

    /// Whether anything but the history decides what a rendering shows.
    pub(crate) fn cut(&self) -> bool {
        self.cuts != Cuts::default() || self.budget.is_some()
    }
}

/// Counts renderings against a budget; belongs to one thread.
pub struct Scales {
    budget: Budget,
    tallier: Tallier,
    text: String,
    spans: Vec<ComponentSpan>,
}

impl Scales {
    /// Scales for a budget.
    pub fn new(budget: &Budget) -> Self {
        Self {
            tallier: Tallier::new(std::slice::from_ref(&budget.encoding)),
            budget: budget.clone(),
            text: String::new(),
            spans: Vec::new(),
        }
    }

    /// Whether a rendering fits.
    pub fn fits(&mut self, rendering: &Rendering<'_>) -> bool {
        let segments = rendering.rope.segments().iter();
        if segments.map(|segment| segment.text.len() as u64).sum::<u64>() > self.budget.bytes {
            return false;
        }
        self.text.clear();
        self.spans.clear();
        rendering.rope.write(&mut self.text, &mut self.spans);
        let tallies = self.tallier.tally(&self.text, &self.spans);
        tallies.iter().all(|tally| tally.tokens <= self.budget.tokens)
    }

    /// Why a rendering that does not fit is not valid.
    pub fn refusal(&self) -> String {
        let Budget { encoding, tokens, .. } = &self.budget;
        format!(
            "window.max_tokens: more than {tokens} tokens of {}, and nothing left to cut",
            encoding.name()
        )
    }
}
