//! The pipeline file: what a run reads, how it renders and counts, and where it writes.
//!
//! These types are the file's format; `schemas/pipeline.schema.json` is generated from them. Everything has a default but
//! the name, the inputs and the output path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;
use chatmill_dialect::policy::Policy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::PlanError;
pub use crate::table_map::TableMapSection;

/// A pipeline file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Name of the pipeline, for reports.
    pub name: String,
    /// What to read.
    pub input: Vec<InputSection>,
    /// Tables of databases, and what their columns are.
    #[serde(default)]
    pub table_map: BTreeMap<String, TableMapSection>,
    /// What single sources are told.
    #[serde(default)]
    pub sources: Sources,
    /// What to leave out; it counts as filtered.
    #[serde(default)]
    pub select: Select,
    /// Who speaks as the assistant.
    #[serde(default)]
    pub perspective: Perspective,
    /// How much of the history a rendering shows.
    #[serde(default)]
    pub window: Window,
    /// What to do where a dialect has no place for something.
    #[serde(default)]
    pub policy: Policy,
    /// Target dialects.
    #[serde(default)]
    pub render: Render,
    /// Token encodings.
    #[serde(default)]
    pub count: Count,
    /// Where and how to write.
    pub output: Output,
    /// What the machine gives; never part of the fingerprint.
    #[serde(default)]
    pub resources: Resources,
    /// Limits; breaching one is a finding.
    #[serde(default)]
    pub limits: Limits,
}

/// One `[[input]]` section.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputSection {
    /// File, folder, glob or archive; relative paths start at the pipeline file's folder.
    pub path: String,
    /// Source id, or `auto` to detect by content.
    #[serde(default = "auto")]
    pub source: String,
    /// The table map for databases and dumps: a preset, or a `[table_map]` section. Without it every map is tried, those of
    /// this file first.
    #[serde(default)]
    pub tables: Option<String>,
    /// Whether files of this section that hold the same conversation are one conversation. Without it the source decides:
    /// pages of rows and events are merged.
    #[serde(default)]
    pub merge: Option<bool>,
    /// Text put in front of every conversation id of this section.
    #[serde(default)]
    pub id_prefix: String,
}

/// `[sources]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// What `jaibber-events` is told.
    #[serde(rename = "jaibber-events")]
    pub jaibber_events: JaibberEvents,
}

/// `[sources.jaibber-events]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JaibberEvents {
    /// Agents that may answer one another in a chain, as the room is set up; the same as `limits.response_depth`.
    pub max_response_depth: Option<u32>,
}

fn auto() -> String {
    "auto".to_owned()
}

/// `[select]`: what is left out counts as filtered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Select {
    /// Keeps conversations that end at or after this RFC 3339 time or date (UTC).
    pub since: Option<String>,
    /// Keeps conversations that start before this RFC 3339 time or date (UTC).
    pub until: Option<String>,
    /// Keeps these conversation ids.
    pub conversations: Option<Vec<String>>,
    /// Keeps this share of conversations, chosen by the hash of their id; between 0 and 1.
    pub sample: Option<f64>,
    /// Reads this many records and leaves out the rest.
    pub limit: Option<u64>,
}

/// `[perspective]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Perspective {
    /// Who speaks as the assistant.
    #[serde(rename = "as")]
    pub speaker: Speaker,
}

/// Who speaks as the assistant: a word, or a list of participants.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Speaker {
    /// A rule.
    Rule(SpeakerRule),
    /// Participants by id or name, one rendering each.
    Participants(Vec<String>),
}

impl Default for Speaker {
    fn default() -> Self {
        Self::Rule(SpeakerRule::Auto)
    }
}

/// A rule that chooses the perspective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpeakerRule {
    /// The busiest agent, else nobody.
    Auto,
    /// Nobody.
    None,
    /// Each agent in turn.
    EachAgent,
    /// Each participant in turn.
    EachParticipant,
}

/// `[window]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Window {
    /// How much history a rendering shows.
    pub history: History,
    /// Silence that starts a new rendering.
    pub session_gap: SessionGap,
}

/// Silence that starts a new rendering; so far, none does.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionGap {
    /// However long people are silent, it is one rendering.
    #[default]
    None,
}

/// How much history a rendering shows: a word, or a number of messages.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum History {
    /// A rule.
    Rule(HistoryRule),
    /// The last N messages.
    Messages(u32),
}

impl Default for History {
    fn default() -> Self {
        Self::Rule(HistoryRule::Document)
    }
}

/// A rule for the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryRule {
    /// What the dialect's document says.
    Document,
    /// All of it.
    All,
}

/// `[render]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Render {
    /// Dialects as `ID` or `ID@PROFILE`, or `all`.
    pub dialects: Vec<String>,
}

impl Default for Render {
    fn default() -> Self {
        Self {
            dialects: vec!["all".to_owned()],
        }
    }
}

/// `[count]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Count {
    /// Encodings by name; an empty list counts nothing.
    pub encodings: Vec<String>,
}

impl Default for Count {
    fn default() -> Self {
        Self {
            encodings: vec!["o200k_base".to_owned()],
        }
    }
}

/// `[output]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Folder of the dataset; relative paths start at the pipeline file's folder.
    pub path: String,
    /// Page compression: `zstd(LEVEL)` or `none`.
    #[serde(default = "zstd")]
    pub compression: String,
    /// Which renderings keep their text.
    #[serde(default)]
    pub content: Content,
    /// Whether findings, rejects and reports may quote chat text.
    #[serde(default = "yes")]
    pub quote: bool,
}

fn zstd() -> String {
    "zstd(3)".to_owned()
}

const fn yes() -> bool {
    true
}

/// Which renderings keep their text: a word, or a list of dialect ids.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// A rule.
    Rule(ContentRule),
    /// These dialects.
    Dialects(Vec<String>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Rule(ContentRule::All)
    }
}

/// A rule for the text of renderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContentRule {
    /// All keep it.
    All,
    /// None keeps it: counts and losses only.
    None,
}

impl Content {
    /// Whether renderings of a dialect keep their text.
    pub fn keeps(&self, dialect: &str) -> bool {
        match self {
            Self::Rule(rule) => *rule == ContentRule::All,
            Self::Dialects(ids) => ids.iter().any(|id| id == dialect),
        }
    }
}

/// `[resources]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resources {
    /// Worker threads; 0 takes what the machine or its control group gives.
    pub threads: usize,
    /// Memory to work with.
    pub memory: Memory,
    /// Folder for rows that wait for the rest of their conversation; without it, beside the dataset.
    pub spill: Option<PathBuf>,
}

/// Memory to work with; so far, chatmill takes what its slices need.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// What the slices need: about a slice more than there are threads.
    #[default]
    Auto,
}

/// Reads a pipeline from TOML text, with `section.key=value` overrides (TOML values; bare words are strings).
pub fn parse(text: &str, overrides: &[String], shown: &Path) -> Result<Pipeline, PlanError> {
    let file = |message: String| PlanError::Pipeline {
        path: shown.to_path_buf(),
        message,
    };
    let mut table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| file(error.to_string()))?;
    for assignment in overrides {
        assign(&mut table, assignment)?;
    }
    let rendered = toml::to_string(&table).map_err(|error| file(error.to_string()))?;
    // The text as written gives better places than the table, unless an override changed it.
    let source = if overrides.is_empty() { text } else { &rendered };
    toml::from_str(source).map_err(|error| file(with_suggestion(&error.to_string())))
}

fn assign(table: &mut toml::Table, assignment: &str) -> Result<(), PlanError> {
    let wrong = || PlanError::Override {
        text: assignment.to_owned(),
    };
    let (path, value) = assignment.split_once('=').ok_or_else(wrong)?;
    let value = format!("v = {value}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|parsed| parsed.get("v").cloned())
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let last = keys.pop().filter(|key| !key.is_empty()).ok_or_else(wrong)?;
    let mut place = table;
    for key in keys {
        place = place
            .entry(key)
            .or_insert_with(|| toml::Value::Table(toml::Table::new()))
            .as_table_mut()
            .ok_or_else(wrong)?;
    }
    place.insert(last.to_owned(), value);
    Ok(())
}

/// Adds the nearest known key to serde's message about an unknown one.
fn with_suggestion(message: &str) -> String {
    let Some((_, rest)) = message.split_once("unknown field `") else {
        return message.to_owned();
    };
    let Some((unknown, rest)) = rest.split_once('`') else {
        return message.to_owned();
    };
    let known = rest.split('`').skip(1).step_by(2);
    match nearest(unknown, known) {
        Some(key) => format!("{}\ndid you mean `{key}`?", message.trim_end()),
        None => message.to_owned(),
    }
}

/// The candidate most like `word`, if any is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// The JSON Schema of the pipeline file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Pipeline).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "name = \"n\"\n[[input]]\npath = \"a.json\"\n[output]\npath = \"out\"\n";

    #[test]
    fn a_small_pipeline_gets_every_default() {
        let pipeline = parse(SMALL, &[], Path::new("p.toml")).unwrap();
        assert_eq!(pipeline.render.dialects, ["all"]);
        assert_eq!(pipeline.limits, Limits::default());
        assert!(pipeline.output.content.keeps("tzurot"));
    }

    #[test]
    fn what_cannot_be_done_yet_is_refused_and_not_ignored() {
        let gap = format!("{SMALL}[window]\nsession_gap = \"6h\"\n");
        assert!(parse(&gap, &[], Path::new("p.toml")).is_err());
        let none = format!("{SMALL}[window]\nsession_gap = \"none\"\n[resources]\nmemory = \"auto\"\n");
        assert!(parse(&none, &[], Path::new("p.toml")).is_ok());
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_known_one() {
        let text = format!("{SMALL}[limits]\nmax_reject_ration = 0.1\n");
        let error = parse(&text, &[], Path::new("p.toml")).unwrap_err().to_string();
        assert!(error.contains("did you mean `max_reject_ratio`"), "{error}");
    }

    #[test]
    fn overrides_take_toml_values_and_bare_words() {
        let overrides = ["limits.depth=5".to_owned(), "output.path=elsewhere".to_owned()];
        let pipeline = parse(SMALL, &overrides, Path::new("p.toml")).unwrap();
        assert_eq!(pipeline.limits.depth, 5);
        assert_eq!(pipeline.output.path, "elsewhere");
        assert!(parse(SMALL, &["nonsense".to_owned()], Path::new("p.toml")).is_err());
    }
}
