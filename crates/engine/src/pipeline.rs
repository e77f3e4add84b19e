//! The pipeline file: what a run reads, how it renders and counts, and where it writes.
//!
//! These types are the file's format; `schemas/pipeline.schema.json` is generated from them. Everything has a default but
//! the inputs and the output path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;
use chatmill_dialect::policy::Policy;
use chatmill_source::{Branches, Division};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod check;
mod count;
mod field_map;
mod night;
mod output;
mod parse;
mod redact;
mod render;
mod select;
mod table_map;
mod view;
mod window;

pub use check::{CheckSection, Config, FailOn, PerPathSection, SeverityWord};
pub use count::{CountSection, CountedEncoding, OwnEncoding};
pub use field_map::FieldMapSection;
pub use night::NightSection;
pub use output::{ContentRule, ContentSetting, OutputSection};
pub use parse::parse;
pub use redact::{RedactKinds, RedactMode, RedactSection};
pub use render::{RenderSection, TemplateSection};
pub use select::{DedupSection, SelectSection, Treatment};
pub use table_map::TableMapSection;
pub use view::{PerspectiveChoice, PerspectiveRule, PerspectiveSection, PromptSection, ToolsSection};
pub use window::{HistoryRule, HistorySetting, MaxTokensSetting, SessionGap, WindowSection};

/// A pipeline file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Name of the pipeline, for reports; without it, that of the file without its ending.
    #[serde(default)]
    pub name: String,
    /// What to read.
    pub input: Vec<InputSection>,
    /// Tables of databases, and what their columns are.
    #[serde(default)]
    pub table_map: BTreeMap<String, TableMapSection>,
    /// Where in records of `source = "mapped"` the messages are, and where in them the words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_map: Option<FieldMapSection>,
    /// What single sources are told.
    #[serde(default)]
    pub sources: Sources,
    /// What to leave out; it counts as filtered.
    #[serde(default)]
    pub select: SelectSection,
    /// What becomes of conversations that repeat others.
    #[serde(default)]
    pub dedup: DedupSection,
    /// Personal data and secrets: counted, or replaced by pseudonyms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redact: Option<RedactSection>,
    /// Who speaks as the assistant.
    #[serde(default)]
    pub perspective: PerspectiveSection,
    /// How much of the history a rendering shows.
    #[serde(default)]
    pub window: WindowSection,
    /// System text of the pipeline's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptSection>,
    /// Definitions of tools beside those of the records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsSection>,
    /// What to do where a dialect has no place for something.
    #[serde(default)]
    pub policy: Policy,
    /// Target dialects.
    #[serde(default)]
    pub render: RenderSection,
    /// Chat templates that are dialects, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, TemplateSection>,
    /// Token encodings.
    #[serde(default)]
    pub count: CountSection,
    /// Where and how to write.
    pub output: OutputSection,
    /// How much is worked off together.
    #[serde(default)]
    pub lots: LotsSection,
    /// How `chatmill check --pipeline` judges files; never part of the fingerprint, for a run writes what it finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckSection>,
    /// What `chatmill night` keeps, objects to and tells; never part of the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub night: Option<NightSection>,
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
    /// The field map of this section, instead of the pipeline file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_map: Option<FieldMapSection>,
    /// Names of files, and of members of archives, that are left out: globs such as `*.png` or `attachments/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The zone of times without an offset, where a conversation names none: an IANA name (`Europe/Kyiv`) or an offset (`+02:00`).
    /// Without it such times have no instant: they order messages, and stay as they are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Text put in front of every conversation id of this section.
    #[serde(default)]
    pub id_prefix: String,
    /// How much of the mix this section is to be, beside the weights of the others, which are 1 where they have none: in bytes of
    /// input. The section that has the fewest for its weight is taken whole, of the others conversations are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Reads this many records of the section and leaves out the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Keeps this share of the section's conversations, chosen by the hash of their id and `select.seed`; between 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<f64>,
}

/// `[sources]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// What `jaibber-events` is told.
    #[serde(rename = "jaibber-events")]
    pub jaibber_events: JaibberEventsSection,
    /// What `chatgpt-export` is told.
    #[serde(rename = "chatgpt-export")]
    pub chatgpt_export: ChatgptExportSection,
    /// What `slack-export` is told.
    #[serde(rename = "slack-export")]
    pub slack_export: SlackExportSection,
}

/// `[sources.chatgpt-export]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatgptExportSection {
    /// Which branches of a conversation are read: an edited question and an answer that was asked for again begin one.
    /// `claude-export` and `oasst` go by it, too.
    pub branches: Branches,
}

/// `[sources.slack-export]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlackExportSection {
    /// What is a conversation.
    pub conversation: Division,
}

/// `[sources.jaibber-events]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JaibberEventsSection {
    /// Agents that may answer one another in a chain, as the room is set up; the same as `limits.response_depth`.
    pub max_response_depth: Option<u32>,
}

impl Default for InputSection {
    fn default() -> Self {
        Self {
            path: String::new(),
            source: auto(),
            tables: None,
            merge: None,
            field_map: None,
            exclude: Vec::new(),
            zone: None,
            id_prefix: String::new(),
            weight: None,
            limit: None,
            sample: None,
        }
    }
}

fn auto() -> String {
    "auto".to_owned()
}

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

/// The JSON Schema of the pipeline file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Pipeline).to_value()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let gap = format!("{SMALL}[window]\nsession_gap = \"6 hours\"\n");
        assert!(parse(&gap, &[], Path::new("p.toml")).is_err());
        let none = format!("{SMALL}[window]\nsession_gap = \"none\"\n[resources]\nmemory = \"auto\"\n");
        assert!(parse(&none, &[], Path::new("p.toml")).is_ok());
    }

    #[test]
    fn a_night_keeps_fourteen_good_ones_where_the_file_does_not_say() {
        let night = |text: &str| {
            let pipeline = parse(&format!("{SMALL}{text}"), &[], Path::new("p.toml")).unwrap();
            pipeline.night
        };
        assert_eq!(night(""), None);
        let section = night("[night]\nfail_if = [\"rejects > 0\"]\n").unwrap();
        assert_eq!((section.keep, section.fail_if.len()), (14, 1));
        for (keep, is_some) in [(0, false), (1, true), (3650, true), (3651, false)] {
            let section = night(&format!("[night]\nkeep = {keep}\n")).unwrap();
            assert_eq!(section.keeps_some(), is_some, "{keep}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_known_one() {
        let text = format!("{SMALL}[limits]\nmax_reject_ration = 0.1\n");
        let error = parse(&text, &[], Path::new("p.toml")).unwrap_err().to_string();
        assert!(error.contains("did you mean `max_reject_ratio`"), "{error}");
    }

    #[test]
    fn where_several_kinds_of_values_may_stand_an_error_names_them() {
        for (assignment, expected) in [
            ("window.history=-1", "a number of messages from 1 on"),
            ("window.history=al", "\"document\", \"all\""),
            ("perspective.as=each_agent", "\"each-agent\""),
            ("output.content=7", "a list of dialect ids"),
        ] {
            let error = parse(SMALL, &[assignment.to_owned()], Path::new("p.toml")).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
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
