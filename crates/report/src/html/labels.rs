//! What dialects and coverages are called on the page.

use crate::report::TokenCell;

/// Coverages with their headings.
const COVERAGES: [(&str, &str); 3] = [
    ("whole", "Whole histories"),
    ("window", "Windows of histories"),
    ("single-turn", "Single turns"),
];

pub(super) fn target(cell: &TokenCell) -> String {
    name(&cell.dialect, &cell.profile)
}

pub(super) fn name(dialect: &str, profile: &str) -> String {
    if profile == "document" {
        dialect.to_owned()
    } else {
        format!("{dialect}@{profile}")
    }
}

pub(super) fn heading(coverage: &str) -> &str {
    COVERAGES
        .iter()
        .find(|(id, _)| *id == coverage)
        .map_or(coverage, |(_, heading)| heading)
}
