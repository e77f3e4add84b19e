//! `preview-mismatch`: a reference shows another text, author, time or type than the message that it names.
//!
//! Previews are commonly cut, with or without an ellipsis, and lose line breaks: a beginning of the target's words agrees
//! with it.

use std::collections::HashMap;

use chatmill_diag::{Code, Finding, Limits, codes, steps};
use chatmill_model::{LinkStatus, Linked, Message, OffsetOrigin, Part, Preview, Timestamp};

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
        let mut quoted: HashMap<u32, Said<'_>> = HashMap::new();
        for referring in references(linked) {
            let Some(preview) = &referring.reference.preview else {
                continue;
            };
            let target = referring.link.target;
            let Some(position) = target.filter(|_| referring.link.status != LinkStatus::Pseudo) else {
                continue;
            };
            let Some(target) = linked.conversation.messages.get(position as usize) else {
                continue;
            };
            let text_differs = preview.content.as_deref().is_some_and(|shown| {
                !quoted
                    .entry(position)
                    .or_insert_with(|| Said::by(target))
                    .agrees(shown)
            });
            let facts = [
                ("text", text_differs),
                ("author", author_differs(preview, target, linked)),
                ("time", time_differs(preview, target)),
                ("type", type_differs(preview, target)),
            ];
            let wrong: Vec<&str> = facts
                .iter()
                .filter(|(_, differs)| *differs)
                .map(|(name, _)| *name)
                .collect();
            let what = match wrong.as_slice() {
                [] => continue,
                [only] => (*only).to_owned(),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
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
    if linked.conversation.customs.previews_rename {
        return false;
    }
    let author = target
        .sender
        .and_then(|sender| linked.conversation.participants.get(sender));
    let Some(author) = author else { return false };
    let known = [
        Some(&author.id),
        author.name.as_ref(),
        author.alias.as_ref(),
        target.sender_name.as_ref(),
    ];
    let is_known = |name: &str| known.iter().flatten().any(|known| known.trim() == name.trim());
    let says_another_id = preview.sender.as_ref().is_some_and(|shown| *shown != author.id);
    let name = preview
        .sender_name
        .as_deref()
        .filter(|name| !name.trim().is_empty());
    says_another_id || name.is_some_and(|name| !is_known(name))
}

/// Two times differ where both are known instants that differ, or both lack an offset and read otherwise.
fn time_differs(preview: &Preview, target: &Message) -> bool {
    let (Some(shown), Some(said)) = (&preview.timestamp, &target.timestamp) else {
        return false;
    };
    if let (Some(shown), Some(said)) = (shown.instant, said.instant) {
        shown != said
    } else {
        let is_local = |time: &Timestamp| time.offset != OffsetOrigin::Explicit;
        is_local(shown) && is_local(said) && shown.raw.trim() != said.raw.trim()
    }
}

fn type_differs(preview: &Preview, target: &Message) -> bool {
    let types = preview.source_type.as_ref().zip(target.source_type.as_ref());
    types.is_some_and(|(shown, said)| shown != said)
}

/// What a quoted message says, read once and no further than it is shown, however many quote it.
struct Said<'a> {
    has_media: bool,
    has_text: bool,
    /// The words that were read.
    words: Vec<&'a str>,
    rest: Box<dyn Iterator<Item = &'a str> + 'a>,
}

impl<'a> Said<'a> {
    fn by(target: &'a Message) -> Self {
        steps::taken(target.parts.len());
        let texts = target.parts.iter().filter_map(words);
        Self {
            has_media: target.parts.iter().any(|part| matches!(part, Part::Media(_))),
            has_text: texts.clone().next().is_some(),
            words: Vec::new(),
            rest: Box::new(texts.flat_map(str::split_whitespace)),
        }
    }

    /// Whether `shown` is the text or a beginning of it; white space and a cut's traces do not count.
    fn agrees(&mut self, shown: &str) -> bool {
        let shown = without_cut(if self.has_media {
            without_markers(shown)
        } else {
            shown
        });
        if !self.has_text {
            // Nobody can say what a preview of a picture should show.
            return shown.is_empty() || self.has_media;
        }
        let mut wanted = shown.split_whitespace().enumerate().peekable();
        while let Some((place, word)) = wanted.next() {
            if place == self.words.len() {
                self.words.extend(self.rest.next());
            }
            let is_last = wanted.peek().is_none();
            let agrees = |said: &&str| *said == word || (is_last && said.starts_with(word));
            if !self.words.get(place).is_some_and(agrees) {
                return false;
            }
        }
        true
    }
}

/// The preview without the marks that stand for media after its text.
fn without_markers(shown: &str) -> &str {
    let first = ["[Image: ", "[Audio: "]
        .iter()
        .filter_map(|marker| shown.find(marker))
        .min();
    first.and_then(|at| shown.get(..at)).unwrap_or(shown)
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

    #[test]
    fn a_message_is_compared_with_each_that_quotes_it() {
        let mut sample = Sample::new();
        sample.post("u1", text("the tide is high at nine"));
        for shown in [
            "the tide is high",
            "the",
            "the tide is low",
            "the tide is high at nine",
            "the tide is high at nine or so",
            "the tide is h",
        ] {
            sample.say("u2", "an answer");
            let preview = Preview {
                content: Some(shown.to_owned()),
                ..Preview::default()
            };
            sample.refer(Some(0), LinkStatus::Resolved, Some(preview));
        }
        let found = sample.check(&PreviewMismatch);
        let positions: Vec<_> = found.iter().map(|finding| finding.position).collect();
        assert_eq!(positions, [Some(3), Some(5)]);
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
    fn another_name_another_time_and_another_type_are_found() {
        let time = |raw: &str, instant| {
            let offset = match instant {
                Some(_) => OffsetOrigin::Explicit,
                None => OffsetOrigin::Missing,
            };
            Some(Timestamp {
                instant,
                raw: raw.to_owned(),
                offset,
            })
        };
        let told = |name: Option<&str>, timestamp: Option<Timestamp>, word: Option<&str>| {
            let mut sample = Sample::new();
            let target = sample.say("u1", "ship on Friday");
            target.sender_name = Some("Ann".to_owned());
            target.timestamp = time("2026-03-02T09:00:00Z", Some(1_772_442_000_000_000));
            target.source_type = Some("text".to_owned());
            sample.say("u2", "an answer");
            let preview = Preview {
                sender_name: name.map(str::to_owned),
                timestamp,
                source_type: word.map(str::to_owned),
                ..Preview::default()
            };
            sample.refer(Some(0), LinkStatus::Resolved, Some(preview));
            let findings = sample.check(&PreviewMismatch);
            findings
                .into_iter()
                .map(|finding| finding.message)
                .collect::<Vec<_>>()
        };
        let differs = |what: &str| {
            vec![format!(
                "preview shows another {what} than its target at position 0"
            )]
        };
        assert_eq!(told(Some("Zed"), None, None), differs("author"));
        assert_eq!(
            told(
                None,
                time("2026-03-02T09:01:00Z", Some(1_772_442_060_000_000)),
                None
            ),
            differs("time")
        );
        assert_eq!(told(None, None, Some("picture")), differs("type"));
        assert_eq!(
            told(Some("Zed"), time("x", Some(1)), Some("picture")),
            differs("author, time and type")
        );
        let same_instant = time("2026-03-02T10:00:00+01:00", Some(1_772_442_000_000_000));
        assert!(told(Some("Ann"), same_instant, Some("text")).is_empty());
        assert!(told(Some("u1"), time("2026-03-02T10:00:00", None), None).is_empty());
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
    fn a_preview_may_lose_line_breaks_and_shows_whole_words_but_for_the_last() {
        assert!(found(text("ship  on\n\nFriday then"), "ship on Friday th…").is_empty());
        assert_eq!(found(text("ship on Friday"), "sh on").len(), 1);
        assert_eq!(found(text("ship onFriday"), "ship on Friday").len(), 1);
    }

    #[test]
    fn markers_of_media_behind_the_text_are_no_part_of_it() {
        let picture = Part::Media(Media {
            kind: MediaKind::Image,
            source: MediaSource::Upload,
            media_type: None,
            name: None,
        });
        let shown = "look\n[Image: https://example.com/a.png]";
        assert!(found(vec![Part::Text("look".to_owned()), picture], shown).is_empty());
        assert_eq!(found(text("look"), shown).len(), 1);
    }

    #[test]
    fn a_reply_that_nobody_made_is_no_preview_of_its_target() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "an answer");
        let preview = Preview {
            content: Some("something else".to_owned()),
            ..Preview::default()
        };
        sample.refer(Some(0), LinkStatus::Pseudo, Some(preview));
        assert!(sample.check(&PreviewMismatch).is_empty());
    }

    #[test]
    fn where_previews_name_authors_otherwise_only_texts_are_compared() {
        let mut sample = Sample::new();
        sample.say("u1", "one");
        sample.say("u2", "an answer");
        let preview = Preview {
            sender: Some("Ann".to_owned()),
            content: Some("two".to_owned()),
            ..Preview::default()
        };
        sample.refer(Some(0), LinkStatus::Resolved, Some(preview));
        let mut linked = sample.linked();
        linked.conversation.customs.previews_rename = true;
        let mut findings = Vec::new();
        PreviewMismatch.check(&linked, &Limits::default(), &mut findings);
        assert_eq!(
            findings[0].message,
            "preview shows another text than its target at position 0"
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
