//! The time of a run, from `run.json`. Only the HTML page shows it, since `report.json` and the card of equal runs are equal.

use serde::{Deserialize, Serialize};

/// The time of a run, and its duration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTime {
    /// The beginning of its last attempt, RFC 3339 in UTC.
    pub began_at: String,
    /// The duration of this attempt in seconds, up to the reports.
    pub seconds: f64,
    /// Number of slices that earlier attempts had done.
    #[serde(default)]
    pub resumed_slices: u64,
}
