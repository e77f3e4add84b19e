//! `[redact]`: personal data and secrets, which are counted or replaced.

use std::path::PathBuf;

use chatmill_redact::PersonalKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[redact]`; without it nothing is searched.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedactSection {
    /// Whether personal data is reported or replaced.
    pub mode: RedactMode,
    /// The kinds of personal data that are searched for.
    pub kinds: RedactKinds,
    /// The names of the roster that are not replaced, for example those of bots; case does not matter.
    pub keep: Vec<String>,
    /// The text file with the key of the pseudonyms, 32 bytes or more; a relative path starts at the pipeline
    /// file's folder. `mode = "replace"` needs it; its holder can identify the persons behind pseudonyms.
    pub key_file: Option<PathBuf>,
}

/// The handling of personal data and secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedactMode {
    /// Findings report where it is.
    #[default]
    Report,
    /// Pseudonyms replace it, and findings and rejects quote nothing.
    Replace,
}

/// The kinds of personal data to search for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RedactKinds(pub Vec<PersonalKind>);

impl Default for RedactKinds {
    fn default() -> Self {
        Self(PersonalKind::ALL.to_vec())
    }
}
