//! The metrics of conditions, and their values in a run.

use std::collections::BTreeMap;

use chatmill_model::target_name;
use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::figures::{Case, RunFigures, TokenFigure};
use crate::report::{MoneyBasis, MoneyFigure, TokenCount};

/// A metric that a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Metric {
    Conversations,
    Messages,
    Inputs,
    InputsMissing,
    Rejects,
    RejectRatio,
    #[strum(serialize = "findings.error")]
    Errors,
    #[strum(serialize = "findings.warning")]
    Warnings,
    Tokens,
    TokensPerMessage,
    TokensCommon,
    Money,
}

/// The values of a metric in both runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading<'c> {
    metric: &'static str,
    /// Dialect, profile, coverage, and the encoding or the model; all empty for a value of the whole run.
    pub(super) of: [&'c str; 4],
    /// Whether it is included in the sum of all models.
    pub(super) is_part: bool,
    pub(super) before: Option<f64>,
    /// The value of the earlier run at today's prices, if it is money.
    pub(super) repriced: Option<f64>,
    pub(super) after: Option<f64>,
}

/// The column with the money of all models together.
pub(super) const ALL_MODELS: &str = "all models";

/// The key of a value of the whole run.
const WHOLE: [&str; 4] = [""; 4];

impl Reading<'_> {
    /// The name of the metric, with dialect and column, for messages.
    pub(super) fn subject(&self) -> String {
        let [dialect, profile, _, column] = self.of;
        if column.is_empty() {
            return self.metric.to_owned();
        }
        format!("{} of {} in {column}", self.metric, target_name(dialect, profile))
    }
}

impl Metric {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// The second key of a selector, after `dialect`, if the metric has dialects.
    pub(super) fn column(self) -> Option<&'static str> {
        match self {
            Self::Tokens | Self::TokensPerMessage | Self::TokensCommon => Some("encoding"),
            Self::Money => Some("model"),
            _ => None,
        }
    }

    /// Whether the metric has a value only if there is an earlier run.
    pub(super) fn needs_earlier(self) -> bool {
        matches!(self, Self::InputsMissing | Self::TokensCommon)
    }

    /// The values of the metric in both runs.
    pub(super) fn readings(self, case: &Case) -> Vec<Reading<'_>> {
        match (self, &case.before) {
            (Self::InputsMissing, before) => {
                let missing = before.as_ref().map(|before| before.missing.count as f64);
                vec![self.reading(WHOLE, None, missing)]
            }
            (Self::TokensCommon, before) => {
                let changes = before.iter().flat_map(|before| &before.tokens);
                let shared = changes.filter_map(|change| Some((change, change.before?, change.after?)));
                let common = |count: TokenCount| Some(count.tokens_common as f64);
                shared
                    .map(|(change, before, after)| self.reading(change.key(), common(before), common(after)))
                    .collect()
            }
            (_, before) => {
                let after = self.of_run(&case.after);
                match before {
                    None => after,
                    Some(before) => {
                        let mut readings = joined(self.of_run(&before.figures), after);
                        if self == Self::Money {
                            reprice(&mut readings, &money(&before.repriced));
                        }
                        readings
                    }
                }
            }
        }
    }

    /// The values of one run, in the form for a run without an earlier one.
    fn of_run(self, figures: &RunFigures) -> Vec<Reading<'_>> {
        let single = |value: u64| vec![self.reading(WHOLE, None, Some(value as f64))];
        match self {
            Self::Conversations => single(figures.conversations),
            Self::Messages => single(figures.messages),
            Self::Inputs => single(figures.inputs),
            Self::Rejects => single(figures.rejects),
            Self::RejectRatio => vec![self.reading(WHOLE, None, Some(figures.reject_ratio()))],
            Self::Errors => single(figures.errors),
            Self::Warnings => single(figures.warnings),
            Self::Tokens => self.of_tokens(figures, |figure| Some(figure.tokens as f64)),
            Self::TokensPerMessage => self.of_tokens(figures, |figure| {
                let messages = figure.messages_rendered;
                (messages > 0).then(|| figure.tokens as f64 / messages as f64)
            }),
            Self::Money => {
                let money = money(&figures.money).into_iter();
                money
                    .map(|(of, is_part, amount)| Reading {
                        is_part,
                        ..self.reading(of, None, Some(amount))
                    })
                    .collect()
            }
            // These metrics compare two runs.
            Self::InputsMissing | Self::TokensCommon => Vec::new(),
        }
    }

    fn reading(self, of: [&str; 4], before: Option<f64>, after: Option<f64>) -> Reading<'_> {
        Reading {
            metric: self.name(),
            of,
            is_part: false,
            before,
            repriced: None,
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
            .map(|figure| self.reading(figure.key(), None, value(figure)))
            .collect()
    }
}

/// The values of money, and whether each is included in the sum of all models: money of a model is; tokens without a model have a figure
/// for each price, and no sum.
fn money(figures: &[MoneyFigure]) -> Vec<([&str; 4], bool, f64)> {
    let mut sums: BTreeMap<[&str; 4], f64> = BTreeMap::new();
    let mut values = Vec::new();
    for figure in figures {
        let [dialect, profile, coverage, _] = figure.key();
        let is_part = figure.basis != MoneyBasis::Each;
        if is_part {
            *sums.entry([dialect, profile, coverage, ALL_MODELS]).or_default() += figure.amount;
        }
        values.push((figure.key(), is_part, figure.amount));
    }
    values.extend(sums.into_iter().map(|(of, sum)| (of, false, sum)));
    values
}

/// Sets the cost of the earlier run at the prices of the later one.
fn reprice(readings: &mut [Reading<'_>], repriced: &[([&str; 4], bool, f64)]) {
    let amounts: BTreeMap<_, _> = repriced
        .iter()
        .map(|(of, is_part, amount)| ((*of, *is_part), *amount))
        .collect();
    for reading in readings {
        reading.repriced = amounts.get(&(reading.of, reading.is_part)).copied();
    }
}

/// The values of both runs: those of the later run first, then those that only the earlier run has.
fn joined<'c>(before: Vec<Reading<'c>>, mut after: Vec<Reading<'c>>) -> Vec<Reading<'c>> {
    let places = after
        .iter()
        .enumerate()
        .map(|(place, reading)| ((reading.of, reading.is_part), place));
    let places: BTreeMap<_, _> = places.collect();
    let mut gone = Vec::new();
    for earlier in before {
        let place = places.get(&(earlier.of, earlier.is_part));
        match place.and_then(|place| after.get_mut(*place)) {
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
