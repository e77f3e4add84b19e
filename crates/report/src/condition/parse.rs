//! Parses conditions.

use std::str::FromStr;

use strum::VariantNames;

use super::metric::Metric;
use super::{Condition, ConditionError, Operator, Selector};

/// The greatest length of a condition, in bytes.
const MAX_BYTES: usize = 1024;

/// The operators; a longer one comes before its prefix.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">", Operator::Above),
    ("<", Operator::Below),
];

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        condition(text).map_err(|reason| ConditionError {
            text: text.to_owned(),
            reason,
        })
    }
}

fn condition(text: &str) -> Result<Condition, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    // The selector may contain any characters, so the operator is searched for after it.
    let after_selector = text.find('}').map_or(0, |end| end + 1);
    let (left, right, operator) = OPERATORS
        .iter()
        .filter_map(|(sign, operator)| {
            let behind = text.get(after_selector..)?;
            let (left, right) = text.split_at_checked(after_selector + behind.find(sign)?)?;
            Some((left, right.strip_prefix(sign)?, *operator))
        })
        // Of two operators at the same position, the longer one leaves a shorter rest.
        .min_by_key(|(left, right, _)| (left.len(), right.len()))
        .ok_or("there is no operator; it is one of > >= < <= == !=")?;
    let (left, right) = (left.trim(), right.trim());
    let (name, selected) = match left.split_once('{') {
        None => (left, ""),
        Some((name, rest)) => match rest.strip_suffix('}') {
            Some(selected) => (name.trim(), selected),
            None => return Err("the selector does not end with }".to_owned()),
        },
    };
    let metric = name.parse().map_err(|_| {
        let known = Metric::VARIANTS.join(", ");
        format!("there is no metric `{name}`; there are {known}")
    })?;
    let (number, is_percent) = number(right)?;
    if is_percent && metric == Metric::InputsMissing {
        return Err(format!("{name} is a change itself and has no change in percent"));
    }
    Ok(Condition {
        text: text.to_owned(),
        metric,
        selector: selector(selected, metric)?,
        operator,
        number,
        is_percent,
    })
}

/// The number, and whether it is a change in percent.
fn number(text: &str) -> Result<(f64, bool), String> {
    let (digits, is_percent) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), true),
        None => (text, false),
    };
    let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.ok_or_else(|| format!("`{text}` is not a number"))?;
    if number < 0.0 && !is_percent {
        return Err(format!(
            "a plain number is compared with the value of the run, which is never below 0; write a change with %, \
             for example {digits}%"
        ));
    }
    Ok((number, is_percent))
}

fn selector(text: &str, metric: Metric) -> Result<Selector, String> {
    let Some(second) = metric.column() else {
        return if text.trim().is_empty() {
            Ok(Selector::default())
        } else {
            Err(format!("{} has no dialects, encodings or models", metric.name()))
        };
    };
    let mut selector = Selector::default();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let key_value = pair
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()));
        let (place, value) = match key_value {
            Some(("dialect", value)) if !value.is_empty() => (&mut selector.dialect, value),
            Some((key, value)) if key == second && !value.is_empty() => (&mut selector.column, value),
            _ => return Err(format!("`{pair}` is neither dialect=ID nor {second}=NAME")),
        };
        if place.replace(value.to_owned()).is_some() {
            return Err(format!("`{pair}` is given twice"));
        }
    }
    Ok(selector)
}
