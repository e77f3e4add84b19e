//! Lines of a chat that was exported as text: each message begins with its date and time.

use chatmill_diag::cut;

/// Lines that are looked at.
const LINES: usize = 8;

/// Marks of writing direction, which phones put in front of lines.
const MARKS: [char; 6] = [
    '\u{feff}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}', '\u{2068}',
];

/// Whether one of the first lines begins as a message does: `12/9/20, 23:55 - Ann: ` or `[09.12.20, 23:55:01] Ann: `.
pub(super) fn begins(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n');
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty()).take(LINES);
    lines.any(is_dated)
}

/// Whether a line begins so. Lines of logs begin with the year and have no brackets around their times.
fn is_dated(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(cut::up_to(line, 96));
    let text = text.trim_start_matches(MARKS);
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

    #[test]
    fn lines_of_a_chat_begin_with_their_time() {
        for line in [
            "12/9/20, 23:55 - Ann: hello",
            "[09.12.20, 23:55:01] Ann: hello",
            "\u{200e}[15/01/25, 22:41:30] Ann: \u{200e}<attached: x.jpg>",
            "[2/1/24, 9:03:11\u{202f}PM] Walks: hello",
            "2020-12-09, 23:55 - Ann: hello",
            "9/12/20 23:55 - Ann: hello",
            "[2023/5/4, 16:13:23] Ann: hello",
        ] {
            assert!(begins(line.as_bytes()), "{line}");
        }
        for line in [
            "[1, 2, 3]",
            "[2026-01-02]",
            "2026-01-02 10:00 INFO started",
            "2026-01-02 10:00:00,123 - root - INFO - started",
            "hello",
            "1.2.3",
            "1/2/3 4:5 - x",
            "[2024,10,10] 10:10",
        ] {
            assert!(!begins(line.as_bytes()), "{line}");
        }
    }
}
