//! Files that are not JSON: tables, documents.

/// The word for a table with a header.
pub(super) const TABLE: &str = "csv";

/// Beginnings of an agent file that was encoded as JSON twice.
const LETTA: [&[u8]; 2] = [b"\"{\\n  \\\"agents\\\"", b"\"{\\\"agents\\\""];

/// Whether a file is such an agent file.
pub(super) fn is_letta(head: &[u8]) -> bool {
    LETTA.iter().any(|start| head.starts_with(start))
}
