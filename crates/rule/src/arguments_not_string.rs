//! `arguments-not-string`: the arguments of a call are a JSON value, in a format that requires a string with JSON.
//!
//! Formats that write a value by definition are exempt, and so are calls of tools that an API defines, which have items of another form, and
//! calls that a source takes from a text or from its metadata.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{ArgumentForm, Linked, TextArguments, ToolCall};

use crate::walk::{at_arguments, calls};

/// Whether the format writes the arguments of such a call as a string.
fn is_text(wanted: TextArguments, call: &ToolCall) -> bool {
    match wanted {
        TextArguments::All => true,
        TextArguments::WithId => call.id.is_some(),
        TextArguments::None => false,
    }
}

/// Finds calls whose arguments are a JSON value in the record.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let wanted = linked.conversation.traits.text_arguments;
    for (message, call) in calls(linked) {
        if call.form == ArgumentForm::Embedded && call.own.is_none() && is_text(wanted, call) {
            let text = "arguments are a JSON value, not a string that contains one";
            findings.push(at_arguments(&codes::ARGUMENTS_NOT_STRING, message, call, text));
        }
    }
}
