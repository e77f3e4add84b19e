//! `arguments-not-object`: the arguments of a call are JSON, but not an object.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Arguments, Linked};

use crate::walk::{at_arguments, calls};

/// Finds calls with an array, a string, a number or a constant as arguments.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for (message, call) in calls(linked) {
        if let Arguments::NotObject(raw) = &call.arguments {
            let text = format!("arguments are {}, not an object", kind(raw.as_str()));
            findings
                .push(at_arguments(&codes::ARGUMENTS_NOT_OBJECT, message, call, text).quoting(raw.as_str()));
        }
    }
}

/// The kind of a JSON value, by its first character.
fn kind(raw: &str) -> &'static str {
    match raw.trim_start().chars().next() {
        Some('[') => "an array",
        Some('"') => "a string",
        Some('t' | 'f') => "a boolean",
        Some('n') => "null",
        _ => "a number",
    }
}
