//! Files that are not JSON: tables, documents.

/// The word for a table with a header.
pub(super) const TABLE: &str = "csv";

/// Beginnings of an agent file that was encoded as JSON twice.
const LETTA: [&[u8]; 2] = [b"\"{\\n  \\\"agents\\\"", b"\"{\\\"agents\\\""];

/// Whether a text begins with one of these words; the zeros of UTF-16 are ignored.
pub(super) fn begins(head: &[u8], words: &[String]) -> bool {
    let text = head.strip_prefix(b"\xFF\xFE").unwrap_or(head);
    let signs = text.iter().copied().filter(|byte| *byte != 0);
    let plain: Vec<u8> = signs.skip_while(u8::is_ascii_whitespace).take(64).collect();
    words.iter().any(|word| plain.starts_with(word.as_bytes()))
}

/// Whether a file is an agent file of Letta that was encoded as JSON twice.
pub(super) fn is_letta(head: &[u8]) -> bool {
    LETTA.iter().any(|start| head.starts_with(start))
}
