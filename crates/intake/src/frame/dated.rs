//! Lines of a chat that was written as text: how they begin tells them from any other text.

use chatmill_diag::cut;

/// Lines that are looked at.
const LINES: usize = 16;

/// The line with which sessions of aider begin; a file may begin inside one.
const SESSION: &str = "# aider chat started at 9-9-9 ";

/// Lines in which one of those is sought.
const SESSION_LINES: usize = 1024;

/// The first line of an IRC log: by irssi, `WeeChat`, bots, bouncers and `HexChat`. `9` stands for digits,
/// `@` for letters.
const FIRST: [&str; 12] = [
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
];

/// One of the first lines of a chat of `KakaoTalk` or LINE. `…` stands for any text before the next
/// character.
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

/// Marks of writing direction, which phones put in front of lines.
const MARKS: [char; 6] = [
    '\u{feff}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}', '\u{2068}',
];

/// Whether one of the first lines begins as those of a chat do.
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

/// Whether a line begins in a form.
fn has_form(line: &str, form: &str) -> bool {
    let mut rest = line;
    let mut signs = form.chars();
    while let Some(sign) = signs.next() {
        let after = match sign {
            // A day of one digit may have a blank before it.
            '9' => rest
                .trim_start_matches(' ')
                .trim_start_matches(|sign: char| sign.is_ascii_digit()),
            '@' => rest.trim_start_matches(|sign: char| sign.is_alphabetic() || sign == '.'),
            '…' => {
                let next = signs.clone().next().and_then(|next| rest.find(next));
                next.and_then(|at| rest.get(at..)).unwrap_or(rest)
            }
            // The character between a time and its half of the day differs between versions.
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

/// Whether a line begins with a date, a time and what ends them: `12/9/20, 23:55 - Ann: ` or `[09.12.20, 23:55:01] Ann: `. Lines of
/// logs begin with the year and have no brackets around their times.
fn is_dated(text: &str) -> bool {
    let inside = text.strip_prefix('[');
    let is_date = |sign: char| sign.is_ascii_digit() || "./-".contains(sign);
    let rest = inside.unwrap_or(text);
    let after = rest.trim_start_matches(is_date);
    let date = rest.strip_suffix(after).unwrap_or_default();
    let fields: Vec<&str> = date
        .split(['.', '/', '-'])
        .filter(|field| !field.is_empty())
        .collect();
    let has_comma = after.starts_with(',');
    let is_ours = inside.is_some() || has_comma || fields.first().is_some_and(|first| first.len() <= 2);
    if fields.len() != 3 || fields.iter().any(|field| field.len() > 4) || !is_ours {
        return false;
    }
    let after = after.trim_start_matches([',', ' ', '\u{202f}', '\u{a0}']);
    let behind = after.trim_start_matches(|sign: char| sign.is_ascii_digit() || ":.".contains(sign));
    let time = after.strip_suffix(behind).unwrap_or_default();
    let end = if inside.is_some() { "] " } else { " - " };
    // Between time and text stands at most the half of the day.
    let gap = behind
        .split(end)
        .next()
        .map_or(usize::MAX, |gap| gap.chars().count());
    time.len() >= 4 && time.contains([':', '.']) && behind.contains(end) && gap <= 8
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
