//! Conditions on a comparison, for jobs that want to be told: `METRIC[{dialect=…,encoding=…}] OP NUMBER[%]`.
//!
//! A condition looks at what changed from the earlier run to the later one: the difference, or with `%` the difference in
//! percent of the earlier figure. A metric of tokens has a value for each dialect and encoding that both runs counted;
//! the condition is true when it is true for one of them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::report::{Comparison, TokenChange, TokenCount};

/// The metrics by name.
const METRICS: [(&str, Metric); 6] = [
    ("tokens", Metric::Tokens),
    ("tokens_per_message", Metric::TokensPerMessage),
    ("tokens_common", Metric::TokensCommon),
    ("findings.error", Metric::Errors),
    ("rejects", Metric::Rejects),
    ("conversations", Metric::Conversations),
];

/// The operators; a longer one stands before its beginning.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">", Operator::Above),
    ("<", Operator::Below),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    Tokens,
    TokensPerMessage,
    TokensCommon,
    Errors,
    Rejects,
    Conversations,
}

impl Metric {
    /// The value of a run, where the metric is one of tokens.
    fn of_tokens(self, count: TokenCount) -> Option<f64> {
        match self {
            Self::Tokens => Some(count.tokens as f64),
            Self::TokensCommon => Some(count.tokens_common as f64),
            Self::TokensPerMessage => Some(count.tokens as f64 / count.messages_rendered.max(1) as f64),
            Self::Errors | Self::Rejects | Self::Conversations => None,
        }
    }

    fn is_of_tokens(self) -> bool {
        self.of_tokens(TokenCount::default()).is_some()
    }
}

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

/// A condition on a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    metric: Metric,
    dialect: Option<String>,
    encoding: Option<String>,
    operator: Operator,
    number: f64,
    is_percent: bool,
}

/// Why a condition cannot be judged.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConditionError {
    /// It is not of the form of a condition.
    #[error("`{text}`: {reason}")]
    Form {
        /// The condition.
        text: String,
        /// A clause that says what is wrong.
        reason: String,
    },
    /// Nothing that both runs counted is what it asks for.
    #[error("`{text}`: no dialect and encoding that both runs counted is meant; they have {known}")]
    Nothing {
        /// The condition.
        text: String,
        /// What both runs counted.
        known: String,
    },
}

/// A value that a condition objects to.
#[derive(Clone, Debug, PartialEq)]
pub struct Objection {
    /// The condition.
    pub condition: String,
    /// What it is about: a metric, with dialect and encoding where it has them.
    pub subject: String,
    /// In the earlier run.
    pub before: f64,
    /// In the later run.
    pub after: f64,
}

impl fmt::Display for Objection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} went from {} to {}",
            self.condition,
            self.subject,
            plain(self.before),
            plain(self.after)
        )?;
        if self.before > 0.0 {
            let percent = change(self.before, self.after, true);
            write!(formatter, " ({percent:+.1} %)")?;
        }
        Ok(())
    }
}

/// A number with decimals only where it has any.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

fn change(before: f64, after: f64, is_percent: bool) -> f64 {
    let difference = after - before;
    if !is_percent || difference == 0.0 {
        difference
    } else if before == 0.0 {
        f64::INFINITY
    } else {
        difference / before * 100.0
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let fault = |reason: String| ConditionError::Form {
            text: text.to_owned(),
            reason,
        };
        // The selector may hold whatever a name may, so the operator is looked for after it.
        let after_selector = text.find('}').map_or(0, |end| end + 1);
        let (at, sign, operator) = OPERATORS
            .iter()
            .filter_map(|(sign, operator)| {
                let behind = text.get(after_selector..)?;
                Some((after_selector + behind.find(sign)?, *sign, *operator))
            })
            .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())))
            .ok_or_else(|| fault("there is no operator; it is one of > >= < <= == !=".to_owned()))?;
        let (left, right) = (
            text.get(..at).unwrap_or_default().trim(),
            text.get(at + sign.len()..).unwrap_or_default().trim(),
        );
        let (name, selector) = match left.split_once('{') {
            None => (left, ""),
            Some((name, rest)) => match rest.strip_suffix('}') {
                Some(selector) => (name.trim(), selector),
                None => return Err(fault("the selector does not end with }".to_owned())),
            },
        };
        let metric = METRICS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, metric)| *metric)
            .ok_or_else(|| {
                let known: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
                fault(format!(
                    "there is no metric `{name}`; there are {}",
                    known.join(", ")
                ))
            })?;
        let (number, is_percent) = match right.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (right, false),
        };
        let number: f64 = number
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| fault(format!("`{right}` is not a number")))?;
        let mut condition = Self {
            text: text.to_owned(),
            metric,
            dialect: None,
            encoding: None,
            operator,
            number,
            is_percent,
        };
        if !selector.is_empty() && !metric.is_of_tokens() {
            return Err(fault(format!("{name} has no dialects and no encodings")));
        }
        for pair in selector.split(',').filter(|pair| !pair.trim().is_empty()) {
            let place = match pair
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
            {
                Some(("dialect", value)) if !value.is_empty() => (&mut condition.dialect, value),
                Some(("encoding", value)) if !value.is_empty() => (&mut condition.encoding, value),
                _ => {
                    return Err(fault(format!(
                        "`{}` is neither dialect=ID nor encoding=NAME",
                        pair.trim()
                    )));
                }
            };
            if place.0.replace(place.1.to_owned()).is_some() {
                return Err(fault(format!(
                    "`{}` stands beside another of its kind",
                    pair.trim()
                )));
            }
        }
        Ok(condition)
    }
}

impl Condition {
    /// What the condition objects to; nothing when it is false. A condition about a dialect or an encoding that the
    /// runs do not share is an error: it would never be true again.
    pub fn judge(&self, comparison: &Comparison) -> Result<Vec<Objection>, ConditionError> {
        let single = |before: u64, after: u64| {
            let name = METRICS.iter().find(|(_, metric)| *metric == self.metric);
            self.objection(
                name.map_or("", |(name, _)| *name).to_owned(),
                before as f64,
                after as f64,
            )
        };
        match self.metric {
            Metric::Rejects => {
                let change = comparison.rejects;
                Ok(single(change.before, change.after).into_iter().collect())
            }
            Metric::Conversations => {
                let change = comparison.conversations.count;
                Ok(single(change.before, change.after).into_iter().collect())
            }
            Metric::Errors => {
                let errors = || {
                    comparison
                        .findings
                        .iter()
                        .filter(|change| change.severity == "error")
                };
                let before = errors().map(|change| change.count.before).sum();
                let after = errors().map(|change| change.count.after).sum();
                Ok(single(before, after).into_iter().collect())
            }
            Metric::Tokens | Metric::TokensPerMessage | Metric::TokensCommon => self.judge_tokens(comparison),
        }
    }

    fn judge_tokens(&self, comparison: &Comparison) -> Result<Vec<Objection>, ConditionError> {
        let mut objections = Vec::new();
        let mut meant = 0;
        let shared = || {
            comparison
                .tokens
                .iter()
                .filter_map(|change| Some((change, change.before?, change.after?)))
        };
        for (change, before, after) in shared().filter(|(change, ..)| self.means(change)) {
            meant += 1;
            let values = (self.metric.of_tokens(before), self.metric.of_tokens(after));
            if let (Some(before), Some(after)) = values {
                let subject = format!("{} in {}", change.target(), change.encoding);
                objections.extend(self.objection(subject, before, after));
            }
        }
        if meant == 0 && (self.dialect.is_some() || self.encoding.is_some()) {
            let mut known: Vec<String> = shared()
                .map(|(change, ..)| format!("{} in {}", change.target(), change.encoding))
                .collect();
            known.sort();
            known.dedup();
            return Err(ConditionError::Nothing {
                text: self.text.clone(),
                known: if known.is_empty() {
                    "none in common".to_owned()
                } else {
                    known.join(", ")
                },
            });
        }
        Ok(objections)
    }

    fn means(&self, change: &TokenChange) -> bool {
        let is_dialect = self.dialect.as_deref().is_none_or(|dialect| {
            dialect == change.dialect || dialect == format!("{}@{}", change.dialect, change.profile)
        });
        is_dialect
            && self
                .encoding
                .as_deref()
                .is_none_or(|encoding| encoding == change.encoding)
    }

    fn objection(&self, subject: String, before: f64, after: f64) -> Option<Objection> {
        let value = change(before, after, self.is_percent);
        self.operator.holds(value, self.number).then(|| Objection {
            condition: self.text.clone(),
            subject,
            before,
            after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Change, ConversationChanges, FindingChange};

    fn comparison() -> Comparison {
        let count = |tokens, messages_rendered, tokens_common| {
            Some(TokenCount {
                tokens,
                messages_rendered,
                tokens_common,
            })
        };
        let cell = |dialect: &str, encoding: &str, before, after| TokenChange {
            dialect: dialect.to_owned(),
            profile: "document".to_owned(),
            coverage: "whole".to_owned(),
            encoding: encoding.to_owned(),
            before,
            after,
        };
        Comparison {
            conversations: ConversationChanges {
                count: Change {
                    before: 100,
                    after: 90,
                },
                ..ConversationChanges::default()
            },
            rejects: Change { before: 0, after: 2 },
            findings: vec![FindingChange {
                code: "IN001".to_owned(),
                severity: "error".to_owned(),
                count: Change { before: 1, after: 3 },
                ..FindingChange::default()
            }],
            tokens: vec![
                cell(
                    "openai-chat",
                    "o200k_base",
                    count(1000, 100, 900),
                    count(1100, 100, 900),
                ),
                cell(
                    "gryag-compact",
                    "o200k_base",
                    count(500, 100, 400),
                    count(500, 125, 404),
                ),
                cell("sharegpt", "o200k_base", None, count(7, 1, 0)),
            ],
            ..Comparison::default()
        }
    }

    #[test]
    fn conditions_are_true_or_false() {
        let cases = [
            ("conversations < -5%", true),
            ("conversations < -10%", false),
            ("conversations <= -10 %", true),
            ("conversations == -10", true),
            ("conversations != -10", false),
            ("rejects > 0", true),
            ("rejects > 2", false),
            ("rejects>=2", true),
            ("rejects > 1000%", true),
            ("findings.error > 1", true),
            ("findings.error > 200%", false),
            ("tokens > 5%", true),
            ("tokens > 10%", false),
            ("tokens{dialect=openai-chat} > 5%", true),
            ("tokens{dialect=openai-chat@document} > 99", true),
            ("tokens{dialect=gryag-compact} > 0", false),
            (
                "tokens{ dialect = gryag-compact , encoding = o200k_base } > 0",
                false,
            ),
            ("tokens_common{dialect=openai-chat} != 0", false),
            ("tokens_common{dialect=gryag-compact} >= 1%", true),
            ("tokens_per_message{dialect=gryag-compact} < -0.9", true),
            ("tokens_per_message{dialect=gryag-compact} < -20.1%", false),
            ("tokens_per_message > 0.99", true),
        ];
        for (text, expected) in cases {
            let condition: Condition = text.parse().unwrap();
            let objections = condition.judge(&comparison()).unwrap();
            assert_eq!(!objections.is_empty(), expected, "{text}: {objections:?}");
        }
    }

    #[test]
    fn an_objection_says_what_changed() {
        let condition: Condition = "tokens{encoding=o200k_base} > 5%".parse().unwrap();
        let objections = condition.judge(&comparison()).unwrap();
        assert_eq!(
            objections[0].to_string(),
            "tokens{encoding=o200k_base} > 5%: openai-chat in o200k_base went from 1000 to 1100 (+10.0 %)"
        );
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_reason() {
        let cases = [
            ("tokens", "no operator"),
            ("tokens > many", "not a number"),
            ("tokens > inf", "not a number"),
            ("money > 3", "no metric `money`"),
            ("tokens{dialect=a > 3", "does not end with }"),
            ("tokens{model=a} > 3", "neither dialect"),
            ("tokens{dialect=} > 3", "neither dialect"),
            ("tokens{dialect=a,dialect=b} > 3", "another of its kind"),
            ("rejects{dialect=a} > 3", "no dialects"),
            ("", "no operator"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_dialect_that_the_runs_do_not_share_is_no_silent_success() {
        for text in ["tokens{dialect=sharegpt} > 0", "tokens{encoding=r50k_base} > 0"] {
            let condition: Condition = text.parse().unwrap();
            let error = condition.judge(&comparison()).unwrap_err().to_string();
            assert!(error.contains("openai-chat in o200k_base"), "{error}");
        }
    }
}
