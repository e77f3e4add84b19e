//! What dialects and coverages are called on the page.

use chatmill_model::target_name;

use crate::report::TokenCell;

/// Coverages with their headings.
const COVERAGES: [(&str, &str); 3] = [
    ("whole", "Whole histories"),
    ("window", "Windows of histories"),
    ("single-turn", "Single turns"),
];

pub(super) fn target(cell: &TokenCell) -> String {
    target_name(&cell.dialect, &cell.profile)
}

pub(super) fn heading(coverage: &str) -> &str {
    COVERAGES
        .iter()
        .find(|(id, _)| *id == coverage)
        .map_or(coverage, |(_, heading)| heading)
}
