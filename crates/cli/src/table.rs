//! Text tables that are defined by their columns: a title, and a function that gives the cell of a row.

use crate::output;

/// A column of a table.
pub(crate) struct Column<'c, R> {
    /// The heading.
    pub(crate) title: String,
    show: Box<dyn Fn(&R) -> String + 'c>,
}

/// Makes a column of a title and a function for its cells.
pub(crate) fn column<'c, R>(title: impl Into<String>, show: impl Fn(&R) -> String + 'c) -> Column<'c, R> {
    Column {
        title: title.into(),
        show: Box::new(show),
    }
}

impl<R> Column<'_, R> {
    /// The cell of a row.
    pub(crate) fn show(&self, row: &R) -> String {
        (self.show)(row)
    }
}

/// A table of text columns and then number columns that is at most `columns` columns of the terminal wide; columns of `spare` are left out
/// first.
pub(crate) fn table<'r, R: 'r>(
    columns: &[Column<'_, R>],
    rows: impl Iterator<Item = &'r R>,
    words: usize,
    spare: &[&str],
    width: usize,
) -> String {
    let header = columns.iter().map(|column| &column.title);
    let rows = rows.map(|row| columns.iter().map(|column| column.show(row)).collect());
    output::fitted(header, rows, words, spare, width)
}
