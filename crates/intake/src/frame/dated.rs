//! Recognises a chat that was exported as text by the beginnings of its lines.

use chatmill_diag::cut;

/// The number of lines that are inspected.
const LINES: usize = 16;

/// The line that begins a session of aider; a file may begin inside a session.
const SESSION: &str = "# aider chat started at 9-9-9 ";

/// The number of lines in which such a line is looked for.
const SESSION_LINES: usize = 1024;

/// The first line of an IRC log, as irssi, `WeeChat`, bots, bouncers, `HexChat` and mIRC write it. `9` is a run of
/// digits, `@` a run of letters.
const FIRST: [&str; 16] = [
    "--- Log opened @ @ 9 9:9:9 9",
    "9:9 <",
    "9:9 -!- ",
    "9-9-9 9:9:9\t",
    "9-9-9T9:9:9  <",
    "9-9-9T9:9:9  *",
    "[9 @ 9:9] <",
    "[9 @ 9:9] *",
    "[9 @ 9:9] -",
    "[9:9:9] <",
    "[9:9:9] *",
    "**** BEGIN LOGGING AT @ @ 9 9:9:9 9",
    "Session Start: @ @ 9 9:9:9 9",
    "Session Time: @ @ 9 9:9:9 9",
    "[9:9] <",
    "[9:9] * ",
];

/// One of the first lines of a chat from `KakaoTalk` or LINE. `…` is any text before the next character.
const AMONG_FIRST: [&str; 11] = [
    "--------------- 9\u{b144} 9\u{c6d4} 9\u{c77c} @ ---------------",
    "--------------- @, @ 9, 9 ---------------",
    "[…] [@ 9:9] ",
    "[…] [9:9 @] ",
    "9\u{b144} 9\u{c6d4} 9\u{c77c} @ 9:9, ",
    "9. 9. 9. @ 9:9, ",
    "9. 9. 9. 9:9, ",
    "@ 9, 9 at 9:9 @, ",
    "@ 9, 9, 9:9 @, ",
    "[LINE] ",
    "9/9/9(@)",
];

/// Marks of writing direction, which phones write at the start of lines.
const MARKS: [char; 6] = [
    '\u{feff}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}', '\u{2068}',
];

/// Whether one of the first lines begins like a line of a chat.
pub(super) fn begins(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let mut lines = lines.take(SESSION_LINES).enumerate();
    lines.any(|(at, line)| {
        let text = String::from_utf8_lossy(cut::up_to(line, 96));
        let text = text.trim_start_matches(MARKS);
        let is = |form: &&str| has_form(text, form);
        is(&SESSION)
            || at < LINES && (is_dated(text) || AMONG_FIRST.iter().any(&is))
            || at == 0 && FIRST.iter().any(is)
    })
}

/// Whether a line begins with a form.
fn has_form(line: &str, form: &str) -> bool {
    let mut rest = line;
    let mut signs = form.chars();
    while let Some(sign) = signs.next() {
        let after = match sign {
            // A day of one digit may be padded with a blank.
            '9' => rest
                .trim_start_matches(' ')
                .trim_start_matches(|sign: char| sign.is_ascii_digit()),
            '@' => rest.trim_start_matches(|sign: char| sign.is_alphabetic() || sign == '.'),
            '…' => {
                let next = signs.clone().next().and_then(|next| rest.find(next));
                next.and_then(|at| rest.get(at..)).unwrap_or(rest)
            }
            // The character between the time and AM or PM differs between versions.
            ' ' => rest.strip_prefix([' ', '\u{202f}']).unwrap_or(rest),
            sign => rest.strip_prefix(sign).unwrap_or(rest),
        };
        if after.len() == rest.len() {
            return false;
        }
        rest = after;
    }
    true
}

/// Whether a line begins with a date, a time and their delimiter: `12/9/20, 23:55 - Ann: ` or `[09.12.20, 23:55:01]
/// Ann: `, with the digits and words of any phone's language; the oldest have a colon after the time. Lines of
/// program logs mostly do not match: they begin with the year and a hyphen, and have seconds or a word after the time.
fn is_dated(text: &str) -> bool {
    let signs = text.chars().filter(|sign| !MARKS.contains(sign));
    let plain: String = signs
        .map(|sign| match sign {
            '\u{60c}' => ',',
            '\u{202f}' | '\u{a0}' => ' ',
            sign => plain_digit(sign),
        })
        .collect();
    // Canadian phones write `10 h 05 min 30 s` in French.
    let plain = plain
        .replacen(" h ", ":", 1)
        .replacen(" min ", ":", 1)
        .replacen(" s]", "]", 1);
    dated(&plain).is_some()
}

/// Converts a digit of any script that phones use to ASCII; other characters stay.
pub fn plain_digit(sign: char) -> char {
    let zeros = ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}'];
    let digit = zeros.iter().find_map(|zero| {
        let value = u32::from(sign).checked_sub(u32::from(*zero))?;
        char::from_digit(value, 10)
    });
    digit.unwrap_or(sign)
}

fn dated(text: &str) -> Option<()> {
    let inside = text.strip_prefix('[');
    let (first, rest) = digits(inside.unwrap_or(text))?;
    let separator = rest.chars().next().filter(|sign| "./-".contains(*sign))?;
    let (_, rest) = digits(rest.strip_prefix(separator)?.trim_start_matches(' '))?;
    let (_, rest) = digits(rest.strip_prefix(separator)?.trim_start_matches(' '))?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let rest = rest.strip_prefix(" \u{433}.").unwrap_or(rest);
    let is_like_log = inside.is_none() && !rest.starts_with(',') && first.len() > 2 && separator == '-';
    let after = rest.trim_start_matches([',', ' ']);
    // A word before the time, or AM or PM.
    let time = after.trim_start_matches(|sign: char| !sign.is_ascii_digit());
    let word = after.strip_suffix(time)?.trim_end();
    let behind = time.trim_start_matches(|sign: char| sign.is_ascii_digit() || ":.".contains(sign));
    let time = time.strip_suffix(behind)?;
    let (time, behind) = match time.strip_suffix(':') {
        Some(time) if time.contains(':') => (time, format!(":{behind}")),
        _ => (time, behind.to_owned()),
    };
    let is_time = time.len() >= 4 && time.contains([':', '.']);
    let has_seconds = time.matches([':', '.']).count() == 2;
    let ends: &[&str] = match inside {
        Some(_) => &["] "],
        None if is_like_log => &[" - "],
        None => &[" - ", ": "],
    };
    let is_end = |end: &&str| {
        behind.split_once(*end).is_some_and(|(gap, rest)| match *end {
            _ if is_like_log => !has_seconds && HALVES.contains(&gap.trim()),
            // A name and another colon follow.
            ": " if !has_seconds => is_half(gap) && rest.contains(": "),
            _ => gap.chars().count() <= 8 || is_half(gap),
        })
    };
    let is_word = word.chars().count() <= 4 || is_half(word) && !word.is_ascii();
    (is_time && is_word && ends.iter().any(is_end)).then_some(())
}

/// What may follow a time in a line that begins like a program's log.
const HALVES: [&str; 9] = ["", "AM", "PM", "am", "pm", "a.m.", "p.m.", "a. m.", "p. m."];

/// Whether a text may be the words for a half of the day, which are long in some languages.
fn is_half(text: &str) -> bool {
    let is_of_word = |sign: char| !sign.is_ascii() || sign.is_ascii_alphabetic() || " .".contains(sign);
    text.chars().count() <= 16 && text.chars().all(is_of_word)
}

/// Splits at most four digits from the beginning of a text.
fn digits(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let found = text.strip_suffix(rest)?;
    (!found.is_empty() && found.len() <= 4).then_some((found, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::testing::cases;

    #[test]
    fn lines_of_a_chat_begin_with_their_time() {
        cases("dated", |_, text| begins(text.as_bytes()).to_string());
    }
}
