//! Files that are not JSON: transcripts, tables, documents.

/// The word for a table with a header.
pub(super) const TABLE: &str = "csv";

/// Beginnings of an agent file that was encoded as JSON twice.
const LETTA: [&[u8]; 2] = [b"\"{\\n  \\\"agents\\\"", b"\"{\\\"agents\\\""];

/// Whether a file is such an agent file.
pub(super) fn is_letta(head: &[u8]) -> bool {
    LETTA.iter().any(|start| head.starts_with(start))
}

/// The first lines that are not empty.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.trim_ascii().is_empty()).take(8)
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
    use super::is_table;

    #[test]
    fn a_header_of_words_and_a_line_as_long_are_a_table() {
        assert!(is_table(b"room;who;text\n1;ann;hello\n"));
        assert!(is_table(b"\"room id\",who\n1,ann\n"));
        assert!(!is_table(b"Hello, Ann\n"));
        assert!(!is_table(b"{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n"));
    }
}
