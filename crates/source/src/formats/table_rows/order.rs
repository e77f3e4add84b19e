//! The order of the rows: by `order` if all have one, else by `created_at`; then by their ids if these are numbers, which a
//! database counts up, and then in input order.

use chatmill_diag::{Finding, codes};

use super::row::Row;
use crate::base::{Notes, id, times};

/// Sorts the rows.
pub(super) fn arrange(rows: &mut Vec<Row<'_>>, notes: &mut Notes) {
    let lacking = rows.iter().filter(|row| row.columns.order.is_none()).count();
    if lacking == 0 {
        by_order(rows);
        return;
    }
    if lacking < rows.len()
        && let Some(row) = rows.iter().find(|row| row.columns.order.is_none())
    {
        let text = "order is missing in rows of the conversation: all of it is sorted by created_at";
        let mut finding = Finding::new(&codes::SPARED_FIELD, text).at_path(format!("$[{}]", row.index));
        finding.count = lacking as u64;
        notes.push(finding, Some(row.value));
    }
    let keys = times::keys(rows.iter().map(|row| row.columns.created));
    sort(rows, keys);
}

/// Sorts by number if all are whole numbers, by time if all are times, else by text.
fn by_order(rows: &mut Vec<Row<'_>>) {
    let numbers: Option<Vec<i128>> = rows
        .iter()
        .map(|row| id(row.columns.order?)?.trim().parse().ok())
        .collect();
    if let Some(numbers) = numbers {
        return sort(rows, numbers);
    }
    let times: Option<Vec<i64>> = rows.iter().map(|row| times::order(row.columns.order)).collect();
    if let Some(times) = times {
        return sort(rows, times);
    }
    let texts: Vec<_> = rows.iter().map(|row| row.columns.order.and_then(id)).collect();
    sort(rows, texts);
}

/// Sorts by keys, one for each row, then by ids; rows without ids keep their order if their keys are equal.
fn sort<K: Ord>(rows: &mut Vec<Row<'_>>, keys: Vec<K>) {
    let ids = rows.iter().map(|row| row.id.as_deref()?.parse::<i128>().ok());
    let ids: Option<Vec<i128>> = ids.collect();
    let ids = ids.unwrap_or_else(|| vec![0; rows.len()]);
    let keys = keys.into_iter().zip(ids);
    let mut keyed: Vec<_> = keys.zip(std::mem::take(rows)).collect();
    keyed.sort_by(|(left, _), (right, _)| left.cmp(right));
    rows.extend(keyed.into_iter().map(|(_, row)| row));
}
