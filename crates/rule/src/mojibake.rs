//! `mojibake`: UTF-8 that was read as Windows-1252 or Latin-1, such as `Ã©` instead of `é`.
//!
//! A run of characters counts if their bytes are the UTF-8 of one character. One run is enough for letters with accents, symbols and emoji;
//! Greek, Cyrillic and other scripts of two bytes need two in a row, since their first byte is a letter that may well precede a quotation
//! mark.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Part};
use memchr::memchr_iter;

use crate::walk::at_message;

/// Finds text in the wrong encoding: one finding a message, and one for each name and title.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let conversation = &linked.conversation;
    let title = conversation.title.as_deref().map(|title| ("title", title));
    let names = conversation.participants.iter();
    let names = names.filter_map(|participant| Some(("name", participant.name.as_deref()?)));
    for (what, text) in title.into_iter().chain(names) {
        let mended = Mended::of(text);
        if mended.count > 0 {
            let finding = Finding::new(
                &codes::MOJIBAKE,
                format!("a {what} was read in the wrong encoding"),
            );
            findings.push(finding.marking(text).quoting(&mended.text));
        }
    }
    for message in &conversation.messages {
        let mut first: Option<Mended> = None;
        let mut count = 0;
        for text in message.parts.iter().filter_map(text_of) {
            let mended = Mended::of(text);
            count += mended.count;
            if mended.count > 0 && first.is_none() {
                first = Some(mended);
            }
        }
        if let Some(mended) = first {
            let text = "text was read in the wrong encoding; the intended text is";
            let mut finding = at_message(&codes::MOJIBAKE, message, text);
            finding.count = count;
            findings.push(finding.marking_word(&mended.broken).quoting(&mended.shown()));
        }
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => Some(text),
        Part::ToolResult(result) => Some(&result.content),
        Part::ToolCall(_) | Part::Media(_) | Part::CacheMark | Part::Item(_) => None,
    }
}

/// A repaired text.
#[derive(Default)]
struct Mended {
    /// The intended text.
    text: String,
    /// The number of characters that were repaired.
    count: u64,
    /// The first run that was repaired, as written.
    broken: String,
    /// The byte offset in `text` at which it begins.
    at: usize,
}

/// The number of characters quoted around the first repaired one.
const AROUND: usize = 40;

impl Mended {
    fn of(text: &str) -> Self {
        let mut mended = Self::default();
        if !has_lead(text.as_bytes()) {
            return mended;
        }
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let run = run(rest);
            if run.counts() {
                let (broken, after) = rest.split_at(run.bytes);
                if mended.count == 0 {
                    mended.at = mended.text.len();
                    broken.clone_into(&mut mended.broken);
                }
                mended.count += run.meant.chars().count() as u64;
                mended.text.push_str(&run.meant);
                rest = after;
            } else {
                let skipped = run.bytes.max(character.len_utf8());
                let (before, after) = rest.split_at(skipped);
                mended.text.push_str(before);
                rest = after;
            }
        }
        mended
    }

    /// The intended text around the first place.
    fn shown(&self) -> String {
        let (before, after) = self.text.split_at(self.at);
        let skipped = before.chars().count().saturating_sub(AROUND);
        let before: String = before.chars().skip(skipped).collect();
        let after: String = after.chars().take(AROUND + 1).collect();
        format!("{}{before}{after}", if skipped > 0 { "…" } else { "" })
    }
}

/// Consecutive sequences.
#[derive(Default)]
struct Run {
    /// The intended characters.
    meant: String,
    /// The length in bytes as written.
    bytes: usize,
    /// Whether one run is enough evidence.
    is_sure: bool,
}

impl Run {
    fn counts(&self) -> bool {
        self.is_sure || self.meant.chars().nth(1).is_some()
    }
}

fn run(text: &str) -> Run {
    let mut run = Run::default();
    while let Some((character, bytes)) = text.get(run.bytes..).and_then(sequence) {
        run.bytes += bytes;
        // Letters of Western Europe, punctuation and signs, and all characters of four bytes.
        run.is_sure |= matches!(u32::from(character), 0x80..0x100 | 0x2000..0x2C00 | 0x1_0000..);
        run.meant.push(character);
    }
    run
}

/// The intended character at the beginning of a text, and the bytes of the characters that were written for it.
fn sequence(text: &str) -> Option<(char, usize)> {
    let mut characters = text.chars();
    let lead = characters.next().filter(|lead| is_lead(*lead))?;
    let length = match u32::from(lead) {
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let mut bytes = [0; 4];
    let mut read = 0;
    for (place, character) in bytes
        .iter_mut()
        .zip(std::iter::once(lead).chain(characters))
        .take(length)
    {
        *place = byte(character)?;
        read += character.len_utf8();
    }
    let decoded = std::str::from_utf8(bytes.get(..length)?).ok()?;
    decoded.chars().next().map(|character| (character, read))
}

fn is_lead(character: char) -> bool {
    matches!(u32::from(character), 0xC2..=0xF4)
}

/// Whether a text has a character that can begin a sequence; most texts have none. In UTF-8 all such characters have the same first byte.
fn has_lead(text: &[u8]) -> bool {
    memchr_iter(0xC3, text).any(|at| matches!(text.get(at + 1), Some(0x82..=0xB4)))
}

/// The byte that Windows-1252 or Latin-1 reads as a character.
fn byte(character: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(u32::from(character)) {
        return Some(byte);
    }
    let at = UPPER.iter().position(|upper| *upper == character)?;
    u8::try_from(0x80 + at).ok()
}

/// The characters of Windows-1252 for the bytes 0x80 to 0x9F; U+FFFD for bytes without one.
const UPPER: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}',
    '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbled_text_is_decoded_to_the_intended_text() {
        for (broken, meant, count) in [
            ("cafÃ©", "café", 1),
            ("itâ€™s â‚¬5", "it’s €5", 2),
            ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "привет", 6),
            ("ðŸ˜€!", "😀!", 1),
            ("20 Â°C", "20 °C", 1),
            ("Ã¼ber", "über", 1),
        ] {
            let mended = Mended::of(broken);
            assert_eq!((mended.text.as_str(), mended.count), (meant, count));
        }
    }

    #[test]
    fn a_lead_is_found_by_its_bytes() {
        for character in '\u{0}'..='\u{2fff}' {
            let text = character.to_string();
            assert_eq!(has_lead(text.as_bytes()), is_lead(character), "{character:?}");
        }
    }

    #[test]
    fn text_of_many_languages_is_silent() {
        for text in [
            "café, naïve, Ångström, NIÑO",
            "« CAFÉ» et « BLÉ »",
            "São João, NÃO, Â, ÇÃO",
            "привет, Ελλάδα, 日本語, 😀",
            "Ãë",
            "",
        ] {
            assert_eq!(Mended::of(text).count, 0, "{text}");
        }
    }
}
