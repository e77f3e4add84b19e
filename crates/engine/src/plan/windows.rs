//! `[window]`, resolved: how much of a conversation its renderings show.

use chatmill_diag::Limits;
use chatmill_dialect::{Cuts, History, Placeholders, Targets, WindowMode};

use super::budget::{Budget, BudgetSources};
use super::target::Target;
use crate::error::PlanError;
use crate::pipeline::{self, HistoryRule, ModeSetting, PerspectiveChoice, PerspectiveRule, TargetsSetting};

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
    !target.dialect.about().neutral && !target.dialect.is_single_turn()
}

impl WindowPlan {
    /// Checks and resolves the section.
    pub fn new(
        window: &pipeline::WindowSection,
        speaker: &PerspectiveChoice,
        sources: &BudgetSources<'_>,
        limits: &Limits,
    ) -> Result<Self, PlanError> {
        let wrong = |key, message: &str| PlanError::Value {
            key,
            message: message.to_owned(),
        };
        let (key, mode) = mode(window)?;
        if mode != WindowMode::Document && matches!(speaker, PerspectiveChoice::Rule(PerspectiveRule::None)) {
            let message = "with perspective.as = \"none\" nobody has turns; name somebody there or write mode = \"document\"";
            return Err(wrong(key, message));
        }
        let targets = match window.targets {
            TargetsSetting::Answers => Targets::Answers,
            TargetsSetting::Steps if mode == WindowMode::Document => {
                let message = "a rendering of mode \"document\" ends where the conversation does; take mode \"per_turn\" or \"consecutive\"";
                return Err(wrong("window.targets", message));
            }
            TargetsSetting::Steps => Targets::Steps,
        };
        if window.overlap > 0 && mode != WindowMode::Consecutive {
            return Err(wrong(
                "window.overlap",
                "only renderings of mode \"consecutive\" overlap",
            ));
        }
        let history = match window.history {
            _ if mode == WindowMode::Consecutive
                && window.history != pipeline::HistorySetting::Rule(HistoryRule::Document) =>
            {
                let message = "in mode \"consecutive\" max_tokens says how much a rendering shows, and overlap how much of it again";
                return Err(wrong("window.history", message));
            }
            _ if mode == WindowMode::Consecutive => History::All,
            pipeline::HistorySetting::Rule(HistoryRule::Document) => History::Document,
            pipeline::HistorySetting::Rule(HistoryRule::All) => History::All,
            pipeline::HistorySetting::Messages(0) => {
                return Err(wrong(
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
            return Err(wrong("window.same_for_all", message));
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
                targets,
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
        (Some(_), Some(_)) => Err(PlanError::Value {
            key: "window.per_turn",
            message: "it is an older spelling of window.mode, which is there, too; leave it out".to_owned(),
        }),
        (None, Some(true)) => Ok(("window.per_turn", WindowMode::PerTurn)),
        (None | Some(ModeSetting::Document), _) => Ok(("window.mode", WindowMode::Document)),
        (Some(ModeSetting::PerTurn), _) => Ok(("window.mode", WindowMode::PerTurn)),
        (Some(ModeSetting::Consecutive), _) => Ok(("window.mode", WindowMode::Consecutive)),
    }
}
