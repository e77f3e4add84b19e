//! The rows of one conversation in a file. They are found in the id column, so that only the pages that contain them are decoded.

use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::RowSelection;

use crate::error::DatasetError;
use crate::read::{Batch, Texts};

/// The column with the conversation of a row, which all tables about conversations have.
pub(super) const CONVERSATION_ID: &str = "conversation_id";

/// The row numbers of a conversation in a file; its ids are read batch by batch.
pub(super) fn rows_of(
    path: &Path,
    ids: impl Iterator<Item = Result<RecordBatch, DatasetError>>,
    conversation: &str,
) -> Result<Vec<usize>, DatasetError> {
    let mut rows = Vec::new();
    let mut first = 0;
    for batch in ids {
        let batch = Batch {
            path: path.to_owned(),
            batch: batch?,
        };
        let ids: Texts = batch.column(CONVERSATION_ID)?;
        rows.extend((0..batch.rows()).filter_map(|row| (ids.at(row) == conversation).then_some(first + row)));
        first += batch.rows();
    }
    Ok(rows)
}

/// The row groups that contain `rows`, and the selection of these rows in them; `counts` are the numbers of rows of all
/// row groups.
pub(super) fn chosen(counts: &[usize], rows: &[usize]) -> (Vec<usize>, RowSelection) {
    let (mut groups, mut ranges) = (Vec::new(), Vec::new());
    let (mut first, mut chosen_rows) = (0, 0);
    let mut rows = rows.iter().peekable();
    for (group, count) in counts.iter().enumerate() {
        let before = ranges.len();
        while let Some(row) = rows.next_if(|row| **row < first + count) {
            let row = row - first + chosen_rows;
            ranges.push(row..row + 1);
        }
        if ranges.len() > before {
            groups.push(group);
            chosen_rows += count;
        }
        first += count;
    }
    (
        groups,
        RowSelection::from_consecutive_ranges(ranges.into_iter(), chosen_rows),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_row_groups_with_a_row_are_chosen_and_rows_are_counted_within_them() {
        let (groups, selection) = chosen(&[3, 4, 0, 2], &[4, 5, 8]);
        assert_eq!(groups, [1, 3]);
        let expected = RowSelection::from_consecutive_ranges([1..3, 5..6].into_iter(), 6);
        assert_eq!(selection, expected);
        let (groups, selection) = chosen(&[3, 4], &[]);
        assert!(groups.is_empty() && !selection.selects_any());
    }
}
