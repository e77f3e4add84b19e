//! The losses of one rendering, and the forms of a text that they allow.

use std::collections::BTreeMap;

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{Media, MediaKind, MediaSource};

/// The losses that a rendering declares.
#[derive(Clone, Debug)]
pub(super) struct Declared(BTreeMap<(LossCode, Option<u32>), u64>);

impl Declared {
    /// Sums the losses of each code at each position.
    pub(super) fn of(losses: &[Loss]) -> Self {
        let mut amounts = BTreeMap::new();
        for loss in losses {
            *amounts.entry((loss.code, loss.position)).or_default() += loss.amount;
        }
        Self(amounts)
    }

    /// Whether a code is declared anywhere.
    pub(super) fn anywhere(&self, code: LossCode) -> bool {
        let mut from_here = self.0.range((code, None)..);
        from_here.next().is_some_and(|((known, _), _)| *known == code)
    }

    /// The count of a code declared for the message at a position.
    pub(super) fn at(&self, code: LossCode, position: u32) -> u64 {
        self.amount(code, Some(position))
    }

    /// The count of a code declared for the rendering as a whole.
    pub(super) fn whole(&self, code: LossCode) -> u64 {
        self.amount(code, None)
    }

    /// The count of several codes declared for the message at a position.
    pub(super) fn any_at(&self, codes: &[LossCode], position: u32) -> u64 {
        codes.iter().map(|code| self.at(*code, position)).sum()
    }

    /// Whether a code is declared for the message or for the rendering.
    pub(super) fn covers(&self, code: LossCode, position: u32) -> bool {
        self.at(code, position) + self.whole(code) > 0
    }

    fn amount(&self, code: LossCode, position: Option<u32>) -> u64 {
        self.0.get(&(code, position)).copied().unwrap_or(0)
    }

    /// The possible ends of a message's text in the text that was read back, given the losses declared for the message;
    /// empty if the text does not begin there.
    pub(super) fn ends(&self, text: &str, position: u32, read: &str) -> Vec<usize> {
        let has = |code| self.at(code, position) > 0;
        if has(LossCode::Truncated) {
            let all = read.char_indices().map(|(at, _)| at).chain([read.len()]);
            return all.rev().collect();
        }
        if has(LossCode::LeakedMetadataRemoved) && holds_metadata(text) {
            return shortened(text, read);
        }
        let is_lost = |character: char| has(LossCode::ControlCharacterRemoved) && character.is_control();
        let is_blank = |character: char| {
            has(LossCode::NewlineReplaced) && (character.is_whitespace() || is_lost(character))
        };
        let is_added =
            |character| character == '\u{200b}' && self.covers(LossCode::ReservedTextEscaped, position);
        let fed = text.replace("\r\n", "\n");
        let spaced = spaced(&fed);
        let mut forms = vec![text];
        if self.covers(LossCode::ReservedTextEscaped, position) {
            forms.extend([fed.as_str(), spaced.as_str()]);
        }
        if self.covers(LossCode::WhitespaceTrimmed, position) {
            forms.push(text.trim_matches(is_white));
            forms.push(text.trim_end_matches(is_white));
            forms.push(text.trim_start_matches(is_white));
        }
        let ends = forms
            .into_iter()
            .filter_map(|form| end(form, read, is_lost, is_blank, is_added));
        ends.collect()
    }
}

/// A text without the white space that Markdown does not display: tabulators, and blanks in front of a line.
fn spaced(text: &str) -> String {
    let text = text.replace('\t', "    ");
    let lines = text.split('\n').map(|line| {
        let words = line.trim_start_matches(' ');
        let blank = if words.is_empty() { " " } else { "\u{a0}" };
        blank.repeat(line.len() - words.len()) + words
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a character is white space for every vendor.
pub(super) fn is_white(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// The end of a text in the text that was read back, if it begins there.
fn end(
    text: &str,
    read: &str,
    is_lost: impl Fn(char) -> bool,
    is_blank: impl Fn(char) -> bool,
    is_added: impl Fn(char) -> bool,
) -> Option<usize> {
    if let (true, false) = (read.starts_with(text), text.chars().any(&is_blank)) {
        return Some(text.len());
    }
    let mut rest = read;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if is_blank(character) {
            while characters.next_if(|next| is_blank(*next)).is_some() {}
            rest = rest.trim_start_matches(|other: char| other.is_whitespace());
        } else if let Some(after) = rest.strip_prefix(character) {
            rest = after;
        } else if let (Some(after), false) = (
            rest.trim_start_matches(&is_added).strip_prefix(character),
            is_lost(character),
        ) {
            rest = after;
        } else if !is_lost(character) {
            return None;
        }
    }
    Some(read.len() - rest.len())
}

/// The possible ends of a text from which parts were removed, the longest first.
fn shortened(text: &str, read: &str) -> Vec<usize> {
    let mut ends = vec![0];
    let mut rest = read;
    for character in text.chars() {
        if let Some(after) = rest.strip_prefix(character) {
            rest = after;
            ends.push(read.len() - rest.len());
        }
    }
    ends.reverse();
    ends
}

/// Whether a text has what dialects remove from a bot's text: a line of metadata, or an id.
fn holds_metadata(text: &str) -> bool {
    let mut words = chatmill_model::technical::KEYS.iter();
    text.contains("[meta]") || words.any(|word| text.contains(word))
}

/// The text of a document with its title, in the forms that dialects write.
pub(super) fn documents(media: &Media) -> Option<Vec<String>> {
    let MediaSource::Text(text) = &media.source else {
        return None;
    };
    let title = media.name.as_deref().filter(|title| !title.is_empty());
    let titled = |gap: &str| title.map(|title| format!("{title}{gap}{text}"));
    Some(
        ["\n\n", "\n", " "]
            .into_iter()
            .filter_map(titled)
            .chain([text.clone()])
            .collect(),
    )
}

/// The words that replace a medium.
pub(super) fn placeholders(media: &Media) -> [String; 2] {
    let word = match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Video => "Video",
        MediaKind::File => "File",
        MediaKind::Link => "Link",
    };
    let name = media.name.as_deref().filter(|name| !name.is_empty());
    let label = name.or(match &media.source {
        MediaSource::Url(url) => Some(url),
        MediaSource::Inline(_) | MediaSource::Text(_) | MediaSource::Upload => None,
    });
    let bare = format!("[{word}]");
    [
        label.map_or_else(|| bare.clone(), |label| format!("[{word}: {label}]")),
        bare,
    ]
}
