//! Files that are not JSON: transcripts, tables, documents.

use super::{Known, known};

const PLAIN: u8 = 50;

pub(super) static LOOKS: &[Known] = &[
    known("whatsapp", "a WhatsApp chat", PLAIN, |seen| {
        let mut lines = lines(seen.head);
        lines
            .any(is_dated)
            .then_some("lines begin with a date, a time and a name")
    }),
    known("csv", "a table with a header", PLAIN, |seen| {
        is_table(seen.head)
            .then_some("lines have equally many cells; a [table_map] says which column is what")
    }),
];

/// The first lines that are not empty.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.trim_ascii().is_empty()).take(8)
}

/// Whether a line begins like `12/9/20, 23:55 - Ann: ` or `[09.12.20, 23:55:01] Ann: `.
fn is_dated(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line.get(..line.len().min(80)).unwrap_or(line));
    let text = text.trim_start_matches(['\u{feff}', '\u{200e}', '[']);
    let date: String = text
        .chars()
        .take_while(|character| character.is_ascii_digit() || "./-".contains(*character))
        .collect();
    let parts = date
        .split(['.', '/', '-'])
        .filter(|part| !part.is_empty())
        .count();
    let rest = text.get(date.len()..).unwrap_or_default();
    let rest = rest.trim_start_matches([',', ' ', '\u{202f}']);
    let time: String = rest
        .chars()
        .take_while(|character| character.is_ascii_digit() || *character == ':')
        .collect();
    let after = rest.get(time.len()..).unwrap_or_default();
    parts == 3 && time.contains(':') && (after.contains("] ") || after.contains(" - "))
}

/// Whether a header and at least one line after it have equally many cells, and the header is made of words.
pub(crate) fn is_table(head: &[u8]) -> bool {
    [b',', b';', b'\t'].into_iter().any(|separator| {
        let count = |line: &[u8]| memchr::memchr_iter(separator, line).count();
        let mut all = lines(head);
        let Some(header) = all.next() else { return false };
        let cells = count(header);
        let is_word = |cell: &[u8]| {
            let cell = cell.trim_ascii();
            let inside = cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\""));
            let word = inside.unwrap_or(cell);
            !word.is_empty()
                && word.len() <= 64
                && word
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_ -.".contains(byte))
        };
        cells > 0
            && header.split(|byte| *byte == separator).all(is_word)
            && all.any(|line| count(line) == cells)
    })
}

#[cfg(test)]
mod tests {
    use super::{is_dated, is_table};

    #[test]
    fn lines_of_a_chat_begin_with_their_time() {
        for line in [
            "12/9/20, 23:55 - Ann: hello",
            "[09.12.20, 23:55:01] Ann: hello",
            "\u{200e}[15/01/25, 22:41:30] Ann: \u{200e}<attached: x.jpg>",
            "[2/1/24, 9:03:11\u{202f}PM] Walks: hello",
        ] {
            assert!(is_dated(line.as_bytes()), "{line}");
        }
        for line in ["[1, 2, 3]", "2026-01-02 10:00 INFO started", "hello", "1.2.3"] {
            assert!(!is_dated(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_header_of_words_and_a_line_as_long_are_a_table() {
        assert!(is_table(b"room;who;text\n1;ann;hello\n"));
        assert!(is_table(b"\"room id\",who\n1,ann\n"));
        assert!(!is_table(b"Hello, Ann\n"));
        assert!(!is_table(b"{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n"));
    }
}
