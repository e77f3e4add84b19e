//! `preview-mismatch`: a reference shows another text, author, time or type than the message that it names.
//!
//! Previews are commonly cut, with or without an ellipsis, and lose line breaks: the beginning of the target's words agrees with it.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes, cut, steps};
use chatmill_model::{LinkStatus, Linked, Message, OffsetOrigin, Part, Preview, Timestamp};

use crate::walk::references;

/// Finds previews that disagree with their target.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let mut quoted: HashMap<u32, Quoted<'_>> = HashMap::new();
    for referring in references(linked) {
        let Some(preview) = &referring.reference.preview else {
            continue;
        };
        let target = referring.link.target;
        let Some(position) = target.filter(|_| referring.link.status != LinkStatus::Pseudo) else {
            continue;
        };
        let target = cut::at(&linked.conversation.messages, position as usize);
        let text_differs = preview.content.as_deref().is_some_and(|shown| {
            !is_beginning(target, shown)
                && !quoted
                    .entry(position)
                    .or_insert_with(|| Quoted::by(target))
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

fn author_differs(preview: &Preview, target: &Message, linked: &Linked) -> bool {
    if linked.conversation.traits.previews_rename {
        return false;
    }
    let Some(author) = linked.conversation.sender(target) else {
        return false;
    };
    let known = [
        Some(&author.id),
        author.name.as_ref(),
        author.alias.as_ref(),
        target.sender_name.as_ref(),
    ];
    let is_known = |name: &str| known.iter().flatten().any(|known| known.trim() == name.trim());
    let names_another_id = preview.sender.as_ref().is_some_and(|shown| *shown != author.id);
    let name = preview
        .sender_name
        .as_deref()
        .filter(|name| !name.trim().is_empty());
    names_another_id || name.is_some_and(|name| !is_known(name))
}

/// Two times differ if both are known instants that differ, or if both lack an offset and are written differently.
fn time_differs(preview: &Preview, target: &Message) -> bool {
    let (Some(shown), Some(actual)) = (&preview.timestamp, &target.timestamp) else {
        return false;
    };
    if let (Some(shown), Some(actual)) = (shown.instant, actual.instant) {
        shown != actual
    } else {
        let is_local = |time: &Timestamp| time.offset != OffsetOrigin::Explicit;
        is_local(shown) && is_local(actual) && shown.raw.trim() != actual.raw.trim()
    }
}

fn type_differs(preview: &Preview, target: &Message) -> bool {
    let types = preview.source_type.as_ref().zip(target.source_type.as_ref());
    types.is_some_and(|(shown, actual)| shown != actual)
}

/// The words of a quoted message, read once and only as far as previews show them, however many messages quote it.
struct Quoted<'a> {
    has_media: bool,
    has_text: bool,
    /// The words read so far.
    words: Vec<&'a str>,
    rest: Box<dyn Iterator<Item = &'a str> + 'a>,
}

/// Whether a preview is the beginning of the text of a message as written: most are, and agree with it.
fn is_beginning(target: &Message, shown: &str) -> bool {
    matches!(target.parts.as_slice(), [Part::Text(text)] if text.starts_with(shown))
}

impl<'a> Quoted<'a> {
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

    /// Whether `shown` is the text or a beginning of it, ignoring white space and the traces of a cut.
    fn agrees(&mut self, shown: &str) -> bool {
        let shown = without_cut(if self.has_media {
            without_markers(shown)
        } else {
            shown
        });
        if !self.has_text {
            // The preview of a picture cannot be compared.
            return shown.is_empty() || self.has_media;
        }
        let mut wanted = shown.split_whitespace().enumerate().peekable();
        while let Some((place, word)) = wanted.next() {
            if place == self.words.len() {
                self.words.extend(self.rest.next());
            }
            let is_last = wanted.peek().is_none();
            let agrees = |actual: &&str| *actual == word || (is_last && actual.starts_with(word));
            if !self.words.get(place).is_some_and(agrees) {
                return false;
            }
        }
        true
    }
}

/// The preview without the markers of media after its text.
fn without_markers(shown: &str) -> &str {
    let first = ["[Image: ", "[Audio: "]
        .iter()
        .filter_map(|marker| shown.find(marker))
        .min();
    first.and_then(|at| shown.get(..at)).unwrap_or(shown)
}

/// The preview without white space around it, and without an ellipsis or half a character at its end.
fn without_cut(shown: &str) -> &str {
    // Two full stops mark a cut, as three do; a single one is trimmed too, which does no harm to a beginning.
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
