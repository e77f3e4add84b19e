//! The columns of what providers logged, next to what is counted.

use chatmill_report::bill::BillRow;
use chatmill_report::numbers::money;

use crate::figures::count;
use crate::table::{Column, column};

/// The columns of logged requests; none if these rows have no logs.
pub(super) fn logged_columns<'c>(rows: &[&BillRow]) -> Vec<Column<'c, BillRow>> {
    let is_logged = |row: &&BillRow| row.cell.logged_requests > 0 || row.cell.logged_cost.is_some();
    if !rows.iter().any(is_logged) {
        return Vec::new();
    }
    let mut columns = vec![
        column("logged", |row: &BillRow| count(row.cell.logged_requests)),
        column("logged sent", |row: &BillRow| count(row.cell.logged_input)),
        column("from cache", |row: &BillRow| count(row.cell.logged_cached_input)),
        column("logged written", |row: &BillRow| count(row.cell.logged_output)),
    ];
    let writes = |row: &BillRow| row.cell.logged_cache_write + row.cell.logged_cache_write_1h;
    if rows.iter().any(|row| writes(row) > 0) {
        columns.insert(3, column("into cache", move |row: &BillRow| count(writes(row))));
    }
    if rows.iter().any(|row| row.cell.logged_cost.is_some()) {
        columns.push(column("log says\nUSD", |row: &BillRow| {
            row.cell.logged_cost.map_or_else(|| "–".to_owned(), money)
        }));
    }
    columns
}
