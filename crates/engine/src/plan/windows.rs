//! `[window]`, resolved: how much of a conversation its renderings show.

use chatmill_diag::Limits;
use chatmill_dialect::{Cuts, History, Placeholders, Targets, WindowMode};

use super::budget::{Budget, BudgetSources};
use super::target::Target;
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
    /// Dialects whose renderings of a window must fit, whatever dialect it is for; none: that dialect's own.
    pub planners: Vec<Target>,
    /// Messages of context that a stretch repeats of the one before, at most.
    pub overlap: u32,
    /// Stretches of one perspective, at most.
    pub most: u64,
}

/// Whether a dialect has windows of its own: it shows several messages, through somebody's eyes.
fn has_windows(target: &Target) -> bool {
    !target.dialect.is_neutral() && !target.dialect.is_single_turn()
}

impl WindowPlan {
    /// Checks and resolves the section.
    pub fn new(
        window: &pipeline::WindowSection,
        speaker: &PerspectiveChoice,
        sources: &BudgetSources<'_>,
        limits: &Limits,
    ) -> Result<Self, PlanError> {
        let (key, mode) = mode(window)?;
        if mode != WindowMode::Document && matches!(speaker, PerspectiveChoice::Rule(PerspectiveRule::None)) {
            let message = "with perspective.as = \"none\" nobody has turns; name somebody there or write mode = \"document\"";
            return Err(PlanError::value(key, message));
        }
        if window.targets == Targets::Steps && mode == WindowMode::Document {
            let message = "a rendering of mode \"document\" ends where the conversation does; take mode \"per_turn\" or \"consecutive\"";
            return Err(PlanError::value("window.targets", message));
        }
        if window.overlap > 0 && mode != WindowMode::Consecutive {
            return Err(PlanError::value(
                "window.overlap",
                "only renderings of mode \"consecutive\" overlap",
            ));
        }
        let history = match window.history {
            _ if mode == WindowMode::Consecutive
                && window.history != pipeline::HistorySetting::Rule(HistoryRule::Document) =>
            {
                let message = "in mode \"consecutive\" max_tokens says how much a rendering shows, and overlap how much of it again";
                return Err(PlanError::value("window.history", message));
            }
            _ if mode == WindowMode::Consecutive => History::All,
            pipeline::HistorySetting::Rule(HistoryRule::Document) => History::Document,
            pipeline::HistorySetting::Rule(HistoryRule::All) => History::All,
            pipeline::HistorySetting::Messages(0) => {
                return Err(PlanError::value(
                    "window.history",
                    "it must be 1 at least, or \"document\" or \"all\"",
                ));
            }
            pipeline::HistorySetting::Messages(messages) => History::Messages(messages),
        };
        let budget = window.max_tokens.as_ref();
        let budget = budget.map(|most| sources.budget(most, limits)).transpose()?;
        if window.same_for_all && budget.is_none() {
            let message = "only a budget makes windows differ; set window.max_tokens or leave it out";
            return Err(PlanError::value("window.same_for_all", message));
        }
        let (budget, planners) = match budget {
            Some((budget, None)) if window.same_for_all => {
                let planners = sources.targets.iter().filter(|target| has_windows(target));
                (Some(budget), planners.cloned().collect())
            }
            Some((budget, template)) => (Some(budget), Vec::from_iter(template)),
            None => (None, Vec::new()),
        };
        Ok(Self {
            history,
            cuts: Cuts {
                session_gap: window
                    .session_gap
                    .seconds
                    .map(|seconds| i64::from(seconds) * 1_000_000),
                mode,
                targets: window.targets,
                placeholders: if window.learn_placeholders {
                    Placeholders::Learned
                } else {
                    Placeholders::Alone
                },
            },
            budget,
            planners,
            overlap: window.overlap,
            most: limits.windows,
        })
    }

    /// Whether anything but the history decides what a rendering shows.
    pub(crate) fn cut(&self) -> bool {
        (Cuts {
            placeholders: Placeholders::default(),
            ..self.cuts
        }) != Cuts::default()
            || self.budget.is_some()
    }
}

/// The mode, and the key that says so.
fn mode(window: &pipeline::WindowSection) -> Result<(&'static str, WindowMode), PlanError> {
    match (window.mode, window.per_turn) {
        (Some(_), Some(_)) => Err(PlanError::value(
            "window.per_turn",
            "it is an older spelling of window.mode, which is there, too; leave it out",
        )),
        (None, Some(true)) => Ok(("window.per_turn", WindowMode::PerTurn)),
        (mode, _) => Ok(("window.mode", mode.unwrap_or_default())),
    }
}
