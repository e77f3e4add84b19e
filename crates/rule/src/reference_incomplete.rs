//! `reference-incomplete`: the preview of a missing message lacks the author or the text.
//!
//! If the target is in the conversation, its preview may have any length: author and text are known.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked, Preview, Reference};

use crate::walk::references;

/// Finds previews of missing messages without author or text.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for referring in references(linked) {
        if matches!(referring.link.status, LinkStatus::Preview | LinkStatus::Dangling)
            && let Some(text) = missing(referring.reference)
        {
            findings.push(referring.finding(&codes::REFERENCE_INCOMPLETE, text));
        }
    }
}

fn missing(reference: &Reference) -> Option<&'static str> {
    let Preview {
        content,
        sender,
        sender_name,
        ..
    } = reference.preview.as_ref()?;
    let has_author = sender.is_some() || sender_name.is_some();
    match (has_author, content.is_some()) {
        (true, true) => None,
        (true, false) => Some("preview of an absent message has no text"),
        (false, true) => Some("preview of an absent message has no author"),
        // A bare id promises no preview: the finding that it dangles is enough.
        (false, false) if reference.target.is_some() => None,
        (false, false) => Some("preview has neither author nor text"),
    }
}
