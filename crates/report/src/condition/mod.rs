//! Conditions on which a job can fail: `METRIC[{KEY=VALUE,…}] OP NUMBER[%]`.
//!
//! A plain number is compared with the value of the run, and a number with `%` with the change since the earlier run, in percent of the
//! earlier value. A metric of tokens or money has a value for each dialect and encoding or model; the condition is true if it is true for
//! one of them.
//!
//! Why: docs/decisions/2026-11-23-nightly-conditions.md.

mod metric;
mod parse;

use std::fmt;

use thiserror::Error;

use crate::figures::Case;
use crate::numbers::money;
use metric::{Metric, Reading};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Unequal,
}

impl Operator {
    #[expect(clippy::float_cmp, reason = "equal means equal to the figure that was typed")]
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}

/// A condition on a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    metric: Metric,
    selector: Selector,
    operator: Operator,
    number: f64,
    is_percent: bool,
}

/// Selects values of a metric; a key that is not given selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Selector {
    dialect: Option<String>,
    /// An encoding or a model: a metric is about tokens or about money.
    column: Option<String>,
}

impl Selector {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn means(&self, reading: &Reading<'_>) -> bool {
        let [dialect, profile, _, column] = reading.of;
        let is_dialect = |wanted: &String| wanted == dialect || *wanted == format!("{dialect}@{profile}");
        // Without a model, the sum of all models is compared, not each of its parts.
        let is_column = |wanted: &String| wanted == column;
        self.dialect.as_ref().is_none_or(is_dialect)
            && self.column.as_ref().map_or(!reading.is_part, is_column)
    }
}

/// The reason why a condition cannot be evaluated: a syntax error, or a selector without a value in either run.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{text}`: {reason}")]
pub struct ConditionError {
    text: String,
    reason: String,
}

/// The outcome of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionOutcome {
    /// The condition was evaluated; empty if it is false.
    Evaluated(Vec<ConditionFailure>),
    /// The condition needs an earlier run, and there is none.
    NotEvaluated,
}

/// A value for which a condition is true.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionFailure {
    /// The condition.
    pub condition: String,
    /// The metric, with dialect and encoding or model, if it has them.
    pub subject: String,
    /// The value of the earlier run, if it has one.
    pub before: Option<f64>,
    /// The value of the earlier run at today's prices, if it is money.
    pub repriced: Option<f64>,
    /// The value of the run; `None` if it has none.
    pub after: Option<f64>,
}

impl fmt::Display for ConditionFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: ", self.condition, self.subject)?;
        match (self.before, self.after) {
            (None, None) => formatter.write_str("there is nothing to compare it with"),
            (Some(before), None) => write!(formatter, "gone, was {}", plain(before)),
            (None, Some(after)) => formatter.write_str(&plain(after)),
            (Some(before), Some(after)) => {
                write!(formatter, "{}, was {}", plain(after), plain(before))?;
                if before > 0.0 {
                    write!(formatter, " ({:+.1} %)", change(before, after))?;
                }
                match self.repriced {
                    Some(repriced) if signed(repriced - before) != "+0" => write!(
                        formatter,
                        ": {} by use, {} by price",
                        signed(after - repriced),
                        signed(repriced - before)
                    ),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// A number; with decimals only if it is not whole, and with enough of them that a small share is not shown as 0.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 {
        format!("{number:.0}")
    } else if number.abs() < 1.0 {
        money(number)
    } else {
        format!("{number:.2}")
    }
}

/// A difference with its sign.
fn signed(difference: f64) -> String {
    let sign = if difference < 0.0 { '−' } else { '+' };
    format!("{sign}{}", plain(difference.abs()))
}

/// The change in percent of the earlier value.
fn change(before: f64, after: f64) -> f64 {
    let difference = after - before;
    if difference == 0.0 {
        0.0
    } else if before == 0.0 {
        f64::INFINITY
    } else {
        difference / before * 100.0
    }
}

impl Condition {
    /// The text of the condition.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the condition needs an earlier run, and so cannot be evaluated on the first one.
    fn needs_earlier(&self) -> bool {
        self.is_percent || self.metric.needs_earlier()
    }

    /// Whether the condition needs prices.
    pub fn is_of_money(&self) -> bool {
        self.metric == Metric::Money
    }

    /// Evaluates the condition on a run. A selected dialect, encoding or model that neither run has is an error, since the condition would
    /// never be true again.
    pub fn evaluate(&self, case: &Case) -> Result<ConditionOutcome, ConditionError> {
        if case.before.is_none() && self.needs_earlier() {
            return Ok(ConditionOutcome::NotEvaluated);
        }
        let all = self.metric.readings(case);
        let meant: Vec<&Reading<'_>> = all
            .iter()
            .filter(|reading| self.selector.means(reading))
            .collect();
        if meant.is_empty() && (self.is_of_money() || !self.selector.is_empty()) {
            return Err(self.nothing(&all));
        }
        let evaluated: Vec<(&Reading<'_>, f64)> = meant
            .iter()
            .filter_map(|reading| Some((*reading, self.value(reading)?)))
            .collect();
        let failure = |subject: String, (before, repriced, after)| ConditionFailure {
            condition: self.text.clone(),
            subject,
            before,
            repriced,
            after,
        };
        if evaluated.is_empty() {
            // A condition without a value to compare must not count as false.
            let gone = meant.first();
            let subject = gone.map_or_else(|| self.metric.name().to_owned(), |reading| reading.subject());
            let before = gone.and_then(|reading| reading.before);
            return Ok(ConditionOutcome::Evaluated(vec![failure(
                subject,
                (before, None, None),
            )]));
        }
        let failures = evaluated
            .into_iter()
            .filter(|(_, value)| self.operator.holds(*value, self.number))
            .map(|(reading, _)| {
                failure(
                    reading.subject(),
                    (reading.before, reading.repriced, reading.after),
                )
            });
        Ok(ConditionOutcome::Evaluated(failures.collect()))
    }

    /// The value that is compared with the number; `None` if the run, or for a change one of the two runs, has none.
    fn value(&self, reading: &Reading<'_>) -> Option<f64> {
        if self.is_percent {
            Some(change(reading.before?, reading.after?))
        } else {
            reading.after
        }
    }

    fn nothing(&self, all: &[Reading<'_>]) -> ConditionError {
        let mut known: Vec<String> = all.iter().map(Reading::subject).collect();
        known.sort();
        known.dedup();
        let reason = if self.is_of_money() && all.is_empty() {
            "without prices for the encodings that are counted there is no money"
        } else {
            "its selector matches nothing in either run"
        };
        if known.is_empty() {
            known.push("nothing of it".to_owned());
        }
        ConditionError {
            text: self.text.clone(),
            reason: format!("{reason}; there is {}", known.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests;
