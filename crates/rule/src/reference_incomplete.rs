//! `reference-incomplete`: the preview of an absent message does not say who spoke, or what.
//!
//! Where the target is in the conversation its preview may be as short as it likes: author and text are known.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{LinkStatus, Linked, Preview, Reference};

use crate::Rule;
use crate::walk::references;

/// Finds previews of absent messages that lack author or text.
pub(crate) struct ReferenceIncomplete;

impl Rule for ReferenceIncomplete {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::REFERENCE_INCOMPLETE];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for referring in references(linked) {
            if matches!(referring.link.status, LinkStatus::Preview | LinkStatus::Dangling)
                && let Some(text) = missing(referring.reference)
            {
                findings.push(referring.finding(&codes::REFERENCE_INCOMPLETE, text));
            }
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
        // A bare id promises nothing: that it dangles says all.
        (false, false) if reference.target.is_some() => None,
        (false, false) => Some("preview has neither author nor text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use chatmill_model::ReferenceForm;

    fn preview(content: Option<&str>, sender: Option<&str>) -> Preview {
        Preview {
            content: content.map(str::to_owned),
            sender: sender.map(str::to_owned),
            ..Preview::default()
        }
    }

    #[test]
    fn a_preview_of_an_absent_message_needs_author_and_text() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.refer(None, LinkStatus::Preview, Some(preview(Some("quoted"), None)));
        sample.refer(None, LinkStatus::Dangling, Some(preview(None, Some("u9"))));
        sample.refer_as(
            Reference {
                target: None,
                preview: Some(preview(None, None)),
                form: ReferenceForm::Id,
                is_pseudo: false,
                nested: Vec::new(),
            },
            None,
            LinkStatus::Dangling,
        );
        let findings = sample.check(&ReferenceIncomplete);
        let texts: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            texts,
            [
                "preview of an absent message has no author",
                "preview of an absent message has no text",
                "preview has neither author nor text",
            ]
        );
    }

    #[test]
    fn complete_previews_bare_ids_and_resolved_references_are_silent() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u1", "two");
        sample.refer(Some(0), LinkStatus::Resolved, Some(preview(Some("one"), None)));
        sample.refer(
            None,
            LinkStatus::Preview,
            Some(preview(Some("quoted"), Some("u9"))),
        );
        sample.refer(None, LinkStatus::Dangling, Some(preview(None, None)));
        sample.refer(None, LinkStatus::Dangling, None);
        assert!(sample.check(&ReferenceIncomplete).is_empty());
    }
}
