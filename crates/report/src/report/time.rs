//! The time of a run, from `run.json`. Only the HTML page shows it: `report.json` and the card of equal runs
//! are equal.

use serde::{Deserialize, Serialize};

/// When a run was, and how long it took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTime {
    /// When its last attempt began, RFC 3339 in UTC.
    pub began_at: String,
    /// Seconds that this attempt took, up to the reports.
    pub seconds: f64,
    /// Slices that earlier attempts had done.
    #[serde(default)]
    pub resumed_slices: u64,
}
