//! `preview-mismatch`: a reference shows another text, or another author, than the message that it names.
//!
//! Previews are commonly cut, with or without an ellipsis: a beginning of the target's text agrees with it.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Message, Part, Preview};

use crate::Rule;
use crate::walk::references;

/// Finds previews that disagree with their target.
pub(crate) struct PreviewMismatch;

impl Rule for PreviewMismatch {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::PREVIEW_MISMATCH];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        for referring in references(linked) {
            let Some(preview) = &referring.reference.preview else {
                continue;
            };
            let Some(position) = referring.link.target else {
                continue;
            };
            let Some(target) = linked.conversation.messages.get(position as usize) else {
                continue;
            };
            let text_differs = preview
                .content
                .as_deref()
                .is_some_and(|shown| !agrees(shown, target));
            let author_differs = author_differs(preview, target, linked);
            let what = match (text_differs, author_differs) {
                (true, true) => "text and author",
                (true, false) => "text",
                (false, true) => "author",
                (false, false) => continue,
            };
            let text = format!("preview shows another {what} than its target at position {position}");
            let mut finding = referring.finding(&codes::PREVIEW_MISMATCH, text);
            if let Some(shown) = preview.content.as_deref().filter(|_| text_differs) {
                finding = finding.quoting(shown);
            }
            findings.push(finding);
        }
    }
}

fn author_differs(preview: &Preview, target: &Message, linked: &Linked) -> bool {
    let author = target
        .sender
        .and_then(|sender| linked.conversation.participants.get(sender));
    match (preview.sender.as_deref(), author) {
        (Some(shown), Some(author)) => shown != author.id,
        _ => false,
    }
}

/// Whether `shown` is the target's text or a beginning of it; surrounding white space and a cut's traces do not count.
fn agrees(shown: &str, target: &Message) -> bool {
    let shown = without_cut(shown);
    let mut said = target.parts.iter().filter_map(words).peekable();
    if said.peek().is_none() {
        // Nobody can say what a preview of a picture should show.
        return shown.is_empty() || target.parts.iter().any(|part| matches!(part, Part::Media(_)));
    }
    begins_with(said, shown)
}

/// The preview without white space around it, and without ellipsis or half a character at its end.
fn without_cut(shown: &str) -> &str {
    // Two full stops mark a cut as three do; one alone is trimmed too and does no harm to a beginning.
    let cut = shown.trim().trim_end_matches(['…', '.']);
    cut.trim_end_matches('\u{fffd}').trim_end()
}

fn words(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) | Part::Notice(text) => Some(text),
        Part::ToolResult(result) => Some(&result.content),
        _ => None,
    }
}

/// Whether the texts, joined by line breaks, begin with `wanted`; takes time in the length of `wanted` only.
fn begins_with<'a>(texts: impl Iterator<Item = &'a str>, wanted: &str) -> bool {
    let mut rest = wanted;
    for (index, text) in texts.enumerate() {
        if index > 0 {
            match rest.strip_prefix('\n') {
                Some(after) => rest = after,
                None => return rest.is_empty(),
            }
        }
        let text = if index == 0 { text.trim_start() } else { text };
        if text.starts_with(rest) {
            return true;
        }
        match rest.strip_prefix(text) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use chatmill_model::{LinkStatus, Media, MediaKind, MediaSource};

    fn found(target: Vec<Part>, shown: &str) -> Vec<Finding> {
        found_by(
            target,
            Preview {
                content: Some(shown.to_owned()),
                ..Preview::default()
            },
        )
    }

    fn found_by(target: Vec<Part>, preview: Preview) -> Vec<Finding> {
        let mut sample = Sample::new();
        sample.post("u1", target);
        sample.say("u2", "an answer");
        sample.refer(Some(0), LinkStatus::Resolved, Some(preview));
        sample.check(&PreviewMismatch)
    }

    fn text(text: &str) -> Vec<Part> {
        vec![Part::Text(text.to_owned())]
    }

    #[test]
    fn another_text_is_found_and_quoted_apart() {
        let findings = found(text("ship on Friday"), "ship on Monday");
        assert_eq!(findings.len(), 1);
        assert_eq!(
            findings[0].message,
            "preview shows another text than its target at position 0"
        );
        assert_eq!(findings[0].detail.as_deref(), Some("ship on Monday"));
    }

    #[test]
    fn another_author_is_found() {
        let preview = Preview {
            sender: Some("u2".to_owned()),
            ..Preview::default()
        };
        let findings = found_by(text("ship on Friday"), preview);
        assert_eq!(
            findings[0].message,
            "preview shows another author than its target at position 0"
        );
        let preview = Preview {
            sender: Some("u1".to_owned()),
            ..Preview::default()
        };
        assert!(found_by(text("ship on Friday"), preview).is_empty());
    }

    #[test]
    fn a_text_that_goes_on_after_the_target_ends_is_found() {
        assert_eq!(found(text("ship"), "ship on Friday").len(), 1);
        assert_eq!(found(text(""), "ship").len(), 1);
        assert_eq!(
            found(
                vec![Part::Text("a".to_owned()), Part::Text("b".to_owned())],
                "a\nc"
            )
            .len(),
            1
        );
    }

    #[test]
    fn equal_and_cut_previews_agree() {
        let cuts = [
            "ship on Friday",
            "ship on",
            "ship on …",
            "ship on...",
            "ship on \u{fffd}",
            " ship ",
            "",
            "…",
        ];
        for shown in cuts {
            assert!(found(text("ship on Friday"), shown).is_empty(), "{shown:?}");
        }
        assert!(found(text(" ship on\nFriday"), "ship on\nFri").is_empty());
        assert!(
            found(
                vec![Part::Text("a".to_owned()), Part::Text("b c".to_owned())],
                "a\nb"
            )
            .is_empty()
        );
    }

    #[test]
    fn a_target_that_ends_in_dots_agrees_with_itself() {
        assert!(found(text("well..."), "well...").is_empty());
    }

    #[test]
    fn the_preview_of_a_picture_without_words_may_show_anything() {
        let picture = Part::Media(Media {
            kind: MediaKind::Image,
            source: MediaSource::Upload,
            media_type: None,
            name: None,
        });
        assert!(found(vec![picture], "[Image]").is_empty());
        assert_eq!(found(Vec::new(), "[Image]").len(), 1);
    }

    #[test]
    fn the_preview_of_an_absent_message_has_nothing_to_disagree_with() {
        let mut sample = Sample::new();
        sample.say("u2", "an answer");
        let preview = Preview {
            content: Some("anything".to_owned()),
            ..Preview::default()
        };
        sample.refer(None, LinkStatus::Preview, Some(preview));
        assert!(sample.check(&PreviewMismatch).is_empty());
    }
}
