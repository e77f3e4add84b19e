//! The pipeline file: what a run reads, how it renders and counts, and where it writes.
//!
//! These types are the format of the file, one module per section; `schemas/pipeline.schema.json`
//! is generated from them, and so are the descriptions in `docs/settings.md`. `parse` reads a
//! file with overrides of the command line, and `Plan::resolve` turns it into a plan. Everything
//! but the inputs and the output path has a default.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;
use chatmill_dialect::policy::Policy;
use chatmill_source::{Branches, Division, ReadOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod check;
mod count;
mod export;
mod maps;
mod night;
mod output;
mod parse;
mod redact;
mod render;
mod select;
mod view;
mod window;

pub use check::{CheckSection, Config, FailOn, PerPathSection, SeverityWord};
pub use count::{CountSection, CountedEncoding, OwnEncoding};
pub use export::{CardSection, LeakTreatment, SplitSection};
pub use maps::{FieldMapSection, TableMapSection};
pub(crate) use maps::{SenderTableSection, TableNames};
pub use night::NightSection;
pub use output::{ContentRule, ContentSetting, OutputSection};
pub use parse::parse;
pub(crate) use parse::{of_json, table_maps};
pub use redact::{RedactKinds, RedactMode, RedactSection};
pub use render::{RenderSection, TemplateSection};
pub use select::{
    Compared, DecontaminateSection, DedupSection, MixSection, MixTotal, Operator, Paths, SelectSection,
    Treatment, WhereSection, WhereValue,
};
pub use view::{
    Inference, InferenceScope, PerspectiveChoice, PerspectiveRule, PerspectiveSection, PromptSection,
    ToolsSection,
};
pub use window::{HistoryRule, HistorySetting, MaxTokensSetting, SessionGap, WindowSection};

/// A pipeline file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// The name of the pipeline in reports; the default is the file name without its extension.
    #[serde(default)]
    pub name: String,
    /// The files, folders, archives and databases that are read: a section for each path.
    pub input: Vec<InputSection>,
    /// Table maps, by name: the table of a database, or the rows of a
    /// file, that contain messages, and the meaning of each column.
    #[serde(default)]
    pub table_map: BTreeMap<String, TableMapSection>,
    /// The field map for `source = "mapped"`: the paths of the
    /// messages in a JSON record, and of the text in a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_map: Option<FieldMapSection>,
    /// Settings of single sources.
    #[serde(default)]
    pub sources: Sources,
    /// Filters: a record that one of them excludes counts as filtered.
    #[serde(default)]
    pub select: SelectSection,
    /// Deduplication of conversations.
    #[serde(default)]
    pub dedup: DedupSection,
    /// The division of exports with `--split`: which conversations
    /// stay together, and what happens if the parts share text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitSection>,
    /// The mix of the inputs: the unit of their weights, and the total amount.
    #[serde(default, skip_serializing_if = "MixSection::is_default")]
    pub mix: MixSection,
    /// Redaction: personal data and secrets are counted, or replaced by pseudonyms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redact: Option<RedactSection>,
    /// The perspective of renderings: the participant who speaks as the assistant.
    #[serde(default)]
    pub perspective: PerspectiveSection,
    /// Windows: how much of a conversation one rendering shows.
    #[serde(default)]
    pub window: WindowSection,
    /// A system prompt that the pipeline adds to renderings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptSection>,
    /// Tool definitions that the pipeline adds to those of the records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsSection>,
    /// The handling of values for which a dialect has no field.
    #[serde(default)]
    pub policy: Policy,
    /// The dialects (output formats) that are written.
    #[serde(default)]
    pub render: RenderSection,
    /// Chat templates that are rendered as dialects, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, TemplateSection>,
    /// The encodings that tokens are counted in.
    #[serde(default)]
    pub count: CountSection,
    /// Texts for the card of exports, `README.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardSection>,
    /// The dataset: its folder, its tables and their compression.
    pub output: OutputSection,
    /// Shards: the parts of the inputs that machines process one at a time.
    // The serialized key keeps the older spelling, since manifests and fingerprints contain it.
    #[serde(default, rename(serialize = "lots"))]
    pub shards: ShardsSection,
    /// An older spelling of `[shards]`; the next version refuses it.
    #[serde(default, skip_serializing)]
    pub lots: Option<ShardsSection>,
    /// Settings of `chatmill check --pipeline`. They are not part
    /// of the fingerprint, since a run writes every finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckSection>,
    /// Settings of `chatmill night`: retention of datasets, conditions
    /// and notification. They are not part of the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub night: Option<NightSection>,
    /// The resources of the machine that a run uses. They are not part of the fingerprint.
    #[serde(default)]
    pub resources: Resources,
    /// Limits on inputs, conversations and renderings; exceeding one is reported as a finding.
    #[serde(default)]
    pub limits: Limits,
}

impl Pipeline {
    /// Returns the first key that requires a survey of all
    /// conversations before rendering; only a run makes surveys.
    pub fn surveys(&self) -> Option<&'static str> {
        let asked = [
            ("dedup", self.dedup.is_on()),
            (
                "input.weight",
                self.input.iter().any(|section| section.weight.is_some()),
            ),
            ("mix.total", self.mix.total.is_some()),
            ("tools.infer", self.infers_by_input()),
        ];
        let mut asked = asked.into_iter();
        asked.find_map(|(key, is_there)| is_there.then_some(key))
    }

    /// Returns whether the calls of an input define tools in all its conversations.
    pub(crate) fn infers_by_input(&self) -> bool {
        let by_input = |tools: &ToolsSection| tools.infer == Inference::Beyond(InferenceScope::Input);
        self.tools.as_ref().is_some_and(by_input)
    }
}

/// One `[[input]]` section.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputSection {
    /// The file, folder, glob or archive that is read; a relative path starts at the pipeline file's folder.
    pub path: String,
    /// The source (input format) that reads the files: its id, the path of a format file, or `auto` to detect it by content.
    #[serde(default = "auto")]
    pub source: String,
    /// The table map for databases and dumps: a preset, or the name of a `[table_map]` section. By default every map is tried,
    /// those of this file first.
    #[serde(default)]
    pub tables: Option<String>,
    /// Whether files of this section that hold the same conversation are one conversation. Without it the source decides:
    /// pages of rows and events are merged. `true` is refused, before anything is written, for files of whole conversations and
    /// for rows without a conversation id.
    #[serde(default)]
    pub merge: Option<bool>,
    /// The field map of this section, in place of the pipeline file's `[field_map]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_map: Option<FieldMapSection>,
    /// The names of files, and of members of archives, that are not read: globs such as `*.png` or `attachments/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The zone of times without an offset, if the conversation names none: an IANA name (`Europe/Kyiv`) or an offset (`+02:00`).
    /// Without it such times have no instant: they order messages, and stay as they are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The senders that are agents, by id or name, for tables with senders and without roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assistants: Vec<String>,
    /// Whether unmapped columns are guessed. Never set by a file,
    /// since a run must not read differently depending on its data.
    #[serde(skip)]
    pub guesses: bool,
    /// The text that is put in front of every conversation id of this section.
    #[serde(default)]
    pub id_prefix: String,
    /// The weight of this section in the mix, in the unit of `[mix]` (by default bytes after
    /// decompression). A section without weight has weight 1. The section with the least
    /// data for its weight is taken whole, and conversations of the others are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The number of records of this section that are read; the rest is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The share of this section's conversations that is kept, between 0 and 1, chosen by the hash of their id and
    /// `select.seed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<f64>,
}

/// `[sources]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// Settings of the source `jaibber-events`.
    #[serde(rename = "jaibber-events")]
    pub jaibber_events: JaibberEventsSection,
    /// Settings of the source `chatgpt-export`.
    #[serde(rename = "chatgpt-export")]
    pub chatgpt_export: ChatgptExportSection,
    /// Settings of the source `slack-export`.
    #[serde(rename = "slack-export")]
    pub slack_export: SlackExportSection,
}

impl Sources {
    /// Returns the options of sources.
    pub(crate) fn options(&self) -> ReadOptions<'_> {
        ReadOptions {
            branches: self.chatgpt_export.branches,
            division: self.slack_export.conversation,
            zone: None,
        }
    }
}

/// `[sources.chatgpt-export]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatgptExportSection {
    /// The branches of a conversation that are read: an edited question or a regenerated
    /// answer starts a branch. The setting also applies to `claude-export` and `oasst`.
    pub branches: Branches,
}

/// `[sources.slack-export]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlackExportSection {
    /// The unit that becomes one conversation.
    pub conversation: Division,
}

/// `[sources.jaibber-events]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JaibberEventsSection {
    /// The number of agents that may answer one another in a chain, as the chat is configured; it sets `limits.response_depth`.
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
            assistants: Vec::new(),
            guesses: false,
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

/// `[shards]`. A shard is what one machine processes at a time; part files are numbered separately in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShardsSection {
    /// The bytes of input that a shard should have. Whole inputs are
    /// combined up to this size, and a larger file of JSON lines is divided.
    pub bytes: u64,
}

impl Default for ShardsSection {
    fn default() -> Self {
        Self { bytes: 1024 * MIB }
    }
}

/// `[resources]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resources {
    /// The number of worker threads; 0 means as many as the machine or its control group provides.
    pub threads: usize,
    /// The memory that a run may use; `auto` is the only value so far.
    pub memory: Memory,
    /// The folder for rows that wait for the rest of their
    /// conversation; the default is a folder next to the dataset.
    pub spill: Option<PathBuf>,
}

/// The memory of a run; so far, chatmill takes what its slices need.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// As much as the slices need: about one slice more than there are threads.
    #[default]
    Auto,
}

/// Returns the JSON Schema of the pipeline file.
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
    fn unsupported_settings_are_refused() {
        let gap = format!("{SMALL}[window]\nsession_gap = \"6 hours\"\n");
        assert!(parse(&gap, &[], Path::new("p.toml")).is_err());
        let none = format!("{SMALL}[window]\nsession_gap = \"none\"\n[resources]\nmemory = \"auto\"\n");
        assert!(parse(&none, &[], Path::new("p.toml")).is_ok());
    }

    #[test]
    fn night_keeps_fourteen_complete_runs_by_default() {
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
    fn an_error_names_every_accepted_kind_of_value() {
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
