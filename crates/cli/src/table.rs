//! Text tables by their columns: a title, and the cell of a row.

use crate::output;

/// A column of a table.
pub(crate) struct Column<'c, R> {
    /// What stands above it.
    pub(crate) title: String,
    show: Box<dyn Fn(&R) -> String + 'c>,
}

/// A column.
pub(crate) fn column<'c, R>(title: impl Into<String>, show: impl Fn(&R) -> String + 'c) -> Column<'c, R> {
    Column {
        title: title.into(),
        show: Box::new(show),
    }
}

impl<R> Column<'_, R> {
    /// Its cell of a row.
    pub(crate) fn show(&self, row: &R) -> String {
        (self.show)(row)
    }
}

/// A table of so many columns of words and then of numbers, which takes at most so much of the terminal; columns go as `spare` names them.
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
