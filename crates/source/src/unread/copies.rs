//! The lines that a source has read. A text under a key without meaning is reported only if it has other lines.
//!
//! Many formats write a text twice: the output of a program as the result of a call and as an event, an answer in blocks and as plain text. The
//! comparison is by line, because a copy is often decorated, or joined from several texts.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::hash::Hasher as _;

use chatmill_intake::json::{Kind, Mark, Value};
use rustc_hash::FxHasher;

use super::holds_words;

/// The lines with a meaning in the texts of a frame that were read; collected when the first text is compared with them.
pub(super) struct ReadLines<'f> {
    frame: Value<'f>,
    hashes: OnceCell<HashSet<u64>>,
}

impl<'f> ReadLines<'f> {
    pub(super) fn of(frame: Value<'f>) -> Self {
        Self {
            frame,
            hashes: OnceCell::new(),
        }
    }

    /// Whether every line of a text has no meaning, or is among the lines that were read.
    pub(super) fn repeat(&self, text: &str) -> bool {
        let collected = || {
            let mut hashes = HashSet::new();
            collect(self.frame, false, &mut hashes);
            hashes
        };
        lines(text).all(|line| self.hashes.get_or_init(collected).contains(&hash(line)))
    }
}

/// Adds the lines of the read texts inside a value.
fn collect(value: Value<'_>, is_inside: bool, hashes: &mut HashSet<u64>) {
    let is_read = is_inside || value.marked() == Mark::Taken;
    match value.kind() {
        Kind::String if is_read => {
            if let Some(text) = value.string() {
                hashes.extend(lines(&text).map(hash));
            }
        }
        _ if value.marked() == Mark::Opened => {
            for document in value.opened() {
                collect(document.root(), false, hashes);
            }
        }
        Kind::Array => value.items().for_each(|item| collect(item, is_read, hashes)),
        Kind::Object => value
            .fields()
            .for_each(|(_, field)| collect(field, is_read, hashes)),
        _ => {}
    }
}

/// Whether a text contains words, a time or JSON.
pub(crate) fn has_meaning(text: &str) -> bool {
    lines(text).next().is_some()
}

/// The lines of a text that have a meaning: words, times, JSON.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().flat_map(|line| line.split("<br")).map(str::trim);
    // Programs repeat the message of a failed call after this word.
    let lines = lines.map(|line| line.strip_prefix("Error: ").unwrap_or(line));
    lines.filter(|line| holds_words(line) || is_time(line) || line.starts_with(['{', '[']))
}

/// Whether a text begins with a date, as in ISO 8601.
fn is_time(text: &str) -> bool {
    let shape = b"0000-00-00";
    let is_date = |date: &[u8]| {
        let mut signs = date.iter().zip(shape);
        signs.all(|(sign, shape)| sign == shape || sign.is_ascii_digit() && *shape == b'0')
    };
    text.as_bytes().get(..shape.len()).is_some_and(is_date)
}

/// The hash of the letters and digits of a line outside of tags, because copies as HTML or Markdown add tags and marks.
fn hash(line: &str) -> u64 {
    let mut hasher = FxHasher::default();
    let mut is_tag = false;
    for sign in line.chars() {
        match sign {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag && sign.is_alphanumeric() => hasher.write_u32(sign.into()),
            _ => {}
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_meaning_where_they_hold_words_times_or_json() {
        for text in [
            "two words",
            "2026-11-29",
            "2026-11-29T10:00:00Z",
            "{\"a\":1}",
            "[1]",
            "ok\nall is well",
        ] {
            assert!(has_meaning(text), "{text}");
        }
        for text in ["", "ok", "42", "a1b2c3", "2026-11", "in_progress", "a\nb"] {
            assert!(!has_meaning(text), "{text}");
        }
    }
}
