//! `[lots]`: how much of the inputs is worked off together.

use chatmill_diag::limits::MIB;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[lots]`. A lot is what one machine takes at a time; part files and their numbers begin anew with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LotsSection {
    /// Bytes of input that a lot should hold. Whole inputs are put together up to this, and a larger file of JSON lines is divided.
    pub bytes: u64,
}

impl Default for LotsSection {
    fn default() -> Self {
        Self { bytes: 1024 * MIB }
    }
}
