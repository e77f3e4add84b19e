//! `[window]`, resolved: how much of a conversation its renderings show.

use chatmill_diag::Limits;
use chatmill_diag::suggest::nearest;
use chatmill_dialect::{Cuts, History};
use chatmill_token::Encoding;

use crate::error::PlanError;
use crate::pipeline::{self, HistoryRule, PerspectiveChoice, PerspectiveRule};

/// A resolved `[window]` section.
#[derive(Clone, Default)]
pub struct WindowPlan {
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

impl WindowPlan {
    /// Checks and resolves the section. `encodings` are those that are counted.
    pub fn new(
        window: &pipeline::Window,
        speaker: &PerspectiveChoice,
        encodings: &[Encoding],
        limits: &Limits,
    ) -> Result<Self, PlanError> {
        let wrong = |key, message: &str| PlanError::Value {
            key,
            message: message.to_owned(),
        };
        if window.per_turn && matches!(speaker, PerspectiveChoice::Rule(PerspectiveRule::None)) {
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
                suggestion: nearest(&most.encoding, encodings.iter().map(Encoding::name)).map(str::to_owned),
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
