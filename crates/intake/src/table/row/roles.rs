//! The table's words for the speaker, and the roles that a map gives them.
//!
//! The original word stays in the row as `source_type`.

use super::{Cell, push_string};

/// The column with the role of the speaker, for sources of rows.
pub(crate) const ROLE: &str = "role";

/// The column with the table's original word for the role, for sources of rows.
pub(crate) const WORD: &str = "source_type";

/// The role that a value of the role column means; `None` if the map gives it none.
pub(crate) fn of<'m>(roles: &'m [(String, String)], cell: &Cell<'_>, is_truth: bool) -> Option<&'m str> {
    let mut roles = roles.iter();
    roles
        .find(|(word, _)| is(cell, word, is_truth))
        .map(|(_, role)| role.as_str())
}

/// Whether a cell contains a word. Tables have several spellings of truth values.
fn is(cell: &Cell<'_>, word: &str, is_truth: bool) -> bool {
    let same: &[&str] = match word {
        "true" => &["true", "t", "1"],
        "false" => &["false", "f", "0"],
        word => return cell.is_one_of(&[Some(word.to_owned())], is_truth),
    };
    same.iter()
        .any(|word| cell.is_one_of(&[Some((*word).to_owned())], is_truth))
}

/// Writes a role and the original word for it.
pub(crate) fn write(role: &str, cell: &Cell<'_>, out: &mut Vec<u8>) {
    push_string(ROLE, out);
    out.push(b':');
    push_string(role, out);
    out.push(b',');
    push_string(WORD, out);
    out.push(b':');
    push_string(&word(cell), out);
}

/// The text of a cell.
pub(crate) fn word(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Text(text) | Cell::Blob(text) => String::from_utf8_lossy(text).into_owned(),
        Cell::Number(text) => text.to_string(),
        Cell::Bool(is) => is.to_string(),
        Cell::Null | Cell::NullWord | Cell::Absent => String::new(),
    }
}
