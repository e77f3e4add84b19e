//! `[output]`: where and how the dataset is written.

use chatmill_dataset::Partition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[output]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputSection {
    /// The folder of the dataset; a relative path starts at the pipeline file's folder.
    pub path: String,
    /// The tables that are written; the default is all. `findings`, `rejects` and `totals` are always written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<String>>,
    /// The compression of Parquet pages: `zstd(LEVEL)` or `none`.
    #[serde(default = "zstd")]
    pub compression: String,
    /// The renderings that keep their text: a rule, or a list of dialects.
    #[serde(default)]
    pub content: ContentSetting,
    /// The way in which the files of the table `renderings` are partitioned.
    #[serde(default)]
    pub partition: Partition,
    /// Whether findings, rejects and reports may quote chat text.
    #[serde(default = "yes")]
    pub quote: bool,
}

impl Default for OutputSection {
    fn default() -> Self {
        Self {
            path: ".".to_owned(),
            tables: None,
            compression: zstd(),
            content: ContentSetting::default(),
            partition: Partition::default(),
            quote: yes(),
        }
    }
}

fn zstd() -> String {
    "zstd(1)".to_owned()
}

const fn yes() -> bool {
    true
}

/// The renderings with stored text: a rule, or a list of dialect ids.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "it must be \"all\", \"none\" or a list of dialect ids")]
pub enum ContentSetting {
    /// A rule.
    Rule(ContentRule),
    /// The renderings of these dialects.
    Dialects(Vec<String>),
}

impl Default for ContentSetting {
    fn default() -> Self {
        Self::Rule(ContentRule::All)
    }
}

/// A rule for the text of renderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContentRule {
    /// The text of all renderings is stored.
    All,
    /// No text is stored, only counts and losses.
    None,
}

impl ContentSetting {
    /// Returns whether the text of renderings in a dialect is stored.
    pub fn keeps(&self, dialect: &str) -> bool {
        match self {
            Self::Rule(rule) => *rule == ContentRule::All,
            Self::Dialects(ids) => ids.iter().any(|id| id == dialect),
        }
    }
}
