//! Resolves `[window]`: the part of a conversation (a window) that a rendering shows; see docs/windows.md.

use chatmill_diag::Limits;
use chatmill_dialect::{Cuts, Dialect, History, Placeholders, Targets, WindowMode};

use super::budget::{Budget, BudgetSources};
use super::require;
use crate::error::PlanError;
use crate::pipeline::{HistoryRule, HistorySetting, PerspectiveChoice, PerspectiveRule, WindowSection};

/// A resolved `[window]` section.
#[derive(Clone, Default)]
pub struct WindowPlan {
    /// The amount of history that a rendering shows.
    pub history: History,
    /// The settings that divide a conversation into several renderings.
    pub cuts: Cuts,
    /// The maximum tokens of a rendering, if they are limited.
    pub budget: Option<Budget>,
    /// The dialects that decide how long a window may be: all their renderings of it must fit in the budget. They are
    /// the template of the budget, or with `same_for_all` all dialects with windows. If empty, each dialect decides
    /// for itself.
    pub planners: Vec<Dialect>,
    /// The maximum number of messages at the end of a window that the next one repeats as context.
    pub overlap: u32,
    /// The maximum number of windows of a conversation per perspective (`limits.windows`).
    pub most: u64,
}

/// Returns whether a dialect has windows: it shows several messages, from the perspective of a participant.
fn has_windows(target: &Dialect) -> bool {
    !target.is_neutral() && !target.is_single_turn()
}

impl WindowPlan {
    /// Checks and resolves the section.
    pub fn new(
        window: &WindowSection,
        speaker: &PerspectiveChoice,
        sources: &BudgetSources<'_>,
        limits: &Limits,
    ) -> Result<Self, PlanError> {
        let (key, mode) = mode(window)?;
        let is_nobody = matches!(speaker, PerspectiveChoice::Rule(PerspectiveRule::None));
        let is_consecutive = mode == WindowMode::Consecutive;
        let problem = "with perspective.as = \"none\" there are no turns; name a participant there or set mode = \"document\"";
        require(mode == WindowMode::Document || !is_nobody, key, problem)?;
        let problem = "a rendering of mode \"document\" ends where the conversation does; take mode \"per_turn\" or \"consecutive\"";
        let has_steps = window.targets == Targets::Steps;
        require(
            mode != WindowMode::Document || !has_steps,
            "window.targets",
            problem,
        )?;
        let problem = "only renderings of mode \"consecutive\" overlap";
        require(is_consecutive || window.overlap == 0, "window.overlap", problem)?;
        let problem =
            "in mode \"consecutive\" max_tokens limits what a rendering shows, and overlap what it repeats";
        let is_default = window.history == HistorySetting::default();
        require(!is_consecutive || is_default, "window.history", problem)?;
        let problem = "it must be 1 at least, or \"document\" or \"all\"";
        require(
            window.history != HistorySetting::Messages(0),
            "window.history",
            problem,
        )?;
        let problem = "only a budget makes windows differ; set window.max_tokens or leave it out";
        require(
            !window.same_for_all || window.max_tokens.is_some(),
            "window.same_for_all",
            problem,
        )?;
        let history = match window.history {
            _ if is_consecutive => History::All,
            HistorySetting::Rule(HistoryRule::Document) => History::Document,
            HistorySetting::Rule(HistoryRule::All) => History::All,
            HistorySetting::Messages(messages) => History::Messages(messages),
        };
        let budget = window.max_tokens.as_ref();
        let budget = budget.map(|most| sources.budget(most, limits)).transpose()?;
        let (budget, planners) = match budget {
            Some((budget, None)) if window.same_for_all => {
                let planners = sources.targets.iter().filter(|target| has_windows(target));
                (Some(budget), planners.cloned().collect())
            }
            Some((budget, template)) => (Some(budget), Vec::from_iter(template)),
            None => (None, Vec::new()),
        };
        let gap = window.session_gap.seconds;
        Ok(Self {
            history,
            cuts: Cuts {
                session_gap: gap.map(|seconds| i64::from(seconds) * 1_000_000),
                mode,
                targets: window.targets,
                placeholders: if window.learn_placeholders {
                    Placeholders::Learned
                } else {
                    Placeholders::Alone
                },
                ..Cuts::default()
            },
            budget,
            planners,
            overlap: window.overlap,
            most: limits.windows,
        })
    }

    /// Returns whether a setting other than the history divides conversations or limits what a rendering shows.
    pub(crate) fn cut(&self) -> bool {
        (Cuts {
            placeholders: Placeholders::default(),
            ..self.cuts
        }) != Cuts::default()
            || self.budget.is_some()
    }
}

/// Returns the mode, and the key that sets it.
fn mode(window: &WindowSection) -> Result<(&'static str, WindowMode), PlanError> {
    let problem = "it is the older spelling of window.mode, which is also set; remove it";
    require(
        window.mode.is_none() || window.per_turn.is_none(),
        "window.per_turn",
        problem,
    )?;
    Ok(match window.per_turn {
        Some(true) => ("window.per_turn", WindowMode::PerTurn),
        _ => ("window.mode", window.mode.unwrap_or_default()),
    })
}
