//! The metrics: what a condition may look at, and where its values are.

use chatmill_model::target_name;

use crate::figures::{Case, MoneyFigure, RunFigures, TokenFigure};
use crate::report::TokenCount;

/// The metrics by name.
pub(super) const METRICS: [(&str, Metric); 12] = [
    ("conversations", Metric::Conversations),
    ("messages", Metric::Messages),
    ("inputs", Metric::Inputs),
    ("inputs_missing", Metric::InputsMissing),
    ("rejects", Metric::Rejects),
    ("reject_ratio", Metric::RejectRatio),
    ("findings.error", Metric::Errors),
    ("findings.warning", Metric::Warnings),
    ("tokens", Metric::Tokens),
    ("tokens_per_message", Metric::TokensPerMessage),
    ("tokens_common", Metric::TokensCommon),
    ("money", Metric::Money),
];

/// What a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    Conversations,
    Messages,
    Inputs,
    InputsMissing,
    Rejects,
    RejectRatio,
    Errors,
    Warnings,
    Tokens,
    TokensPerMessage,
    TokensCommon,
    Money,
}

/// A value of a metric in both runs, and what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading<'c> {
    metric: &'static str,
    pub(super) dialect: &'c str,
    pub(super) profile: &'c str,
    coverage: &'c str,
    /// The encoding, or the model; empty where the run as a whole is meant.
    pub(super) column: &'c str,
    pub(super) before: Option<f64>,
    pub(super) after: Option<f64>,
}

impl Reading<'_> {
    /// What it is about, for people.
    pub(super) fn subject(&self) -> String {
        if self.column.is_empty() {
            return self.metric.to_owned();
        }
        let target = target_name(self.dialect, self.profile);
        format!("{} of {target} in {}", self.metric, self.column)
    }

    fn is_beside(&self, other: &Self) -> bool {
        (self.dialect, self.profile, self.coverage, self.column)
            == (other.dialect, other.profile, other.coverage, other.column)
    }
}

/// Which selectors a metric understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    None,
    Encodings,
    Models,
}

impl Metric {
    pub(super) fn name(self) -> &'static str {
        let named = METRICS.iter().find(|(_, metric)| *metric == self);
        named.map_or("", |(name, _)| *name)
    }

    pub(super) fn columns(self) -> Columns {
        match self {
            Self::Tokens | Self::TokensPerMessage | Self::TokensCommon => Columns::Encodings,
            Self::Money => Columns::Models,
            Self::Conversations
            | Self::Messages
            | Self::Inputs
            | Self::InputsMissing
            | Self::Rejects
            | Self::RejectRatio
            | Self::Errors
            | Self::Warnings => Columns::None,
        }
    }

    /// Whether it has no value without an earlier run.
    pub(super) fn needs_earlier(self) -> bool {
        matches!(self, Self::InputsMissing | Self::TokensCommon)
    }

    /// Its values in both runs.
    pub(super) fn readings(self, case: &Case) -> Vec<Reading<'_>> {
        match (self, &case.before) {
            (Self::InputsMissing, before) => {
                let missing = before.as_ref().map(|before| before.missing.count as f64);
                vec![self.single(None, missing)]
            }
            (Self::TokensCommon, before) => {
                let changes = before.iter().flat_map(|before| &before.tokens);
                let shared = changes.filter_map(|change| Some((change, change.before?, change.after?)));
                let common = |count: TokenCount| Some(count.tokens_common as f64);
                shared
                    .map(|(change, before, after)| Reading {
                        metric: self.name(),
                        dialect: &change.dialect,
                        profile: &change.profile,
                        coverage: &change.coverage,
                        column: &change.encoding,
                        before: common(before),
                        after: common(after),
                    })
                    .collect()
            }
            (_, before) => {
                let after = self.of_run(&case.after);
                match before {
                    None => after,
                    Some(before) => joined(self.of_run(&before.figures), after),
                }
            }
        }
    }

    /// The values of one run, as those of a run that has none before it.
    fn of_run(self, figures: &RunFigures) -> Vec<Reading<'_>> {
        let single = |value: u64| vec![self.single(None, Some(value as f64))];
        match self {
            Self::Conversations => single(figures.conversations),
            Self::Messages => single(figures.messages),
            Self::Inputs => single(figures.inputs),
            Self::Rejects => single(figures.rejects),
            Self::RejectRatio => vec![self.single(None, Some(figures.reject_ratio()))],
            Self::Errors => single(figures.errors),
            Self::Warnings => single(figures.warnings),
            Self::Tokens => self.of_tokens(figures, |figure| Some(figure.tokens as f64)),
            Self::TokensPerMessage => self.of_tokens(figures, |figure| {
                let messages = figure.messages_rendered;
                (messages > 0).then(|| figure.tokens as f64 / messages as f64)
            }),
            Self::Money => figures.money.iter().map(|figure| self.of_money(figure)).collect(),
            // They are of two runs.
            Self::InputsMissing | Self::TokensCommon => Vec::new(),
        }
    }

    fn single(self, before: Option<f64>, after: Option<f64>) -> Reading<'static> {
        Reading {
            metric: self.name(),
            dialect: "",
            profile: "",
            coverage: "",
            column: "",
            before,
            after,
        }
    }

    fn of_tokens(
        self,
        figures: &RunFigures,
        value: impl Fn(&TokenFigure) -> Option<f64>,
    ) -> Vec<Reading<'_>> {
        // A run that counts nothing has cells without an encoding.
        let counted = figures.tokens.iter().filter(|figure| !figure.encoding.is_empty());
        counted
            .map(|figure| Reading {
                metric: self.name(),
                dialect: &figure.dialect,
                profile: &figure.profile,
                coverage: &figure.coverage,
                column: &figure.encoding,
                before: None,
                after: value(figure),
            })
            .collect()
    }

    fn of_money(self, figure: &MoneyFigure) -> Reading<'_> {
        Reading {
            metric: self.name(),
            dialect: &figure.dialect,
            profile: &figure.profile,
            coverage: &figure.coverage,
            column: &figure.model,
            before: None,
            after: Some(figure.amount),
        }
    }
}

/// The values of both runs: those of the later one first, then what only the earlier one has.
fn joined<'c>(before: Vec<Reading<'c>>, mut after: Vec<Reading<'c>>) -> Vec<Reading<'c>> {
    let mut gone = Vec::new();
    for earlier in before {
        match after.iter_mut().find(|reading| reading.is_beside(&earlier)) {
            Some(reading) => reading.before = earlier.after,
            None => gone.push(Reading {
                before: earlier.after,
                after: None,
                ..earlier
            }),
        }
    }
    after.extend(gone);
    after
}
