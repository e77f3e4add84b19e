//! What providers logged, beside what is counted.

use chatmill_report::bill::{BillRow, BilledUsage, Price};

use crate::figures::count;
use crate::table::{Column, column};

/// Columns of what was logged; none where nothing was of these rows.
pub(super) fn logged_columns<'c>(rows: &[&BillRow]) -> Vec<Column<'c, BillRow>> {
    if rows.iter().all(|row| row.cell.logged_requests == 0) {
        return Vec::new();
    }
    vec![
        column("logged", |row: &BillRow| count(row.cell.logged_requests)),
        column("logged sent", |row: &BillRow| count(row.cell.logged_input)),
        column("from cache", |row: &BillRow| count(row.cell.logged_cached_input)),
        column("logged written", |row: &BillRow| count(row.cell.logged_output)),
    ]
}

/// What a row costs by what the provider logged; nothing where it did not log every request.
pub(super) fn logged(price: &Price, row: &BillRow) -> Option<f64> {
    let cell = &row.cell;
    let usage = BilledUsage {
        input: cell.logged_input,
        cached_input: cell.logged_cached_input,
        output: cell.logged_output,
        requests: cell.logged_requests,
    };
    let is_whole = cell.logged_requests > 0 && cell.logged_requests == cell.requests;
    is_whole.then(|| price.cost(&usage))
}
