//! What providers logged, beside what is counted.

use chatmill_report::bill::{BillRow, Charge, Price};

use crate::figures::count;

/// What stands above what a provider logged.
pub(super) const LOGGED: [&str; 4] = ["logged", "logged sent", "from cache", "logged written"];

/// Whether anything was logged of these rows.
pub(super) fn is_logged(rows: &[&BillRow]) -> bool {
    rows.iter().any(|row| row.cell.logged_requests > 0)
}

/// What was logged of a row.
pub(super) fn logged_counts(row: &BillRow) -> [String; 4] {
    let cell = &row.cell;
    [
        cell.logged_requests,
        cell.logged_input,
        cell.logged_cached_input,
        cell.logged_output,
    ]
    .map(count)
}

/// What a row costs by what the provider logged; nothing where it did not log every request.
pub(super) fn logged(price: &Price, row: &BillRow) -> Option<f64> {
    let cell = &row.cell;
    let charge = Charge {
        input: cell.logged_input,
        cached_input: cell.logged_cached_input,
        output: cell.logged_output,
        requests: cell.logged_requests,
    };
    let is_whole = cell.logged_requests > 0 && cell.logged_requests == cell.requests;
    is_whole.then(|| price.charge(&charge))
}
