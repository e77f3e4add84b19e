//! `malformed-arguments`: the arguments of a call are not JSON.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{ArgumentForm, Arguments, Linked};

use crate::walk::{at_arguments, calls};

/// Finds calls with arguments that are not JSON; empty arguments are only a note.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for (message, call) in calls(linked) {
        if let Arguments::Malformed(text) = &call.arguments
            && call.form != ArgumentForm::FreeText
        {
            findings.push(if text.trim().is_empty() {
                at_arguments(&codes::EMPTY_ARGUMENTS, message, call, "arguments are empty")
            } else {
                at_arguments(
                    &codes::MALFORMED_ARGUMENTS,
                    message,
                    call,
                    "arguments are not JSON",
                )
                .quoting(text)
            });
        }
    }
}
