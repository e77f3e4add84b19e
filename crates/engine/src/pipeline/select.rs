//! `[select]`, `[dedup]` and `[mix]`: which conversations a dataset has. These types are the
//! format of the file; the plan resolves `[select]` to a [`Selection`](crate::plan::Selection).

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU8;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[select]`: filters. Excluded records count as filtered, under the name of the first key that excludes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelectSection {
    /// The earliest time at which a selected conversation ends: an RFC 3339 time or a date (UTC).
    pub since: Option<String>,
    /// The time before which a selected conversation starts: an RFC 3339 time or a date (UTC).
    pub until: Option<String>,
    /// The ids of the conversations that are kept.
    pub conversations: Option<Vec<String>>,
    /// The share of conversations that is kept, between 0 and 1, chosen by the hash of their id.
    pub sample: Option<f64>,
    /// The seed of samples, here and in `[[input]]` sections:
    /// a different number selects different conversations.
    #[serde(skip_serializing_if = "chatmill_diag::is_zero")]
    pub seed: u64,
    /// The kind of chat that is kept: `assistant`, `group_chat` or `unknown`.
    pub scene: Option<String>,
    /// The participants, by id or name, who must all be in the roster of a selected conversation.
    pub participants: Option<Vec<String>>,
    /// The least number of turns of a conversation that is kept: messages of people and agents, without system text and tool
    /// results.
    pub min_turns: Option<u64>,
    /// Whether only conversations with a tool call are kept.
    pub with_tool_calls: bool,
    /// The findings that exclude a conversation: codes (`RF001`), the beginnings of codes (`RF`) or names.
    pub without_findings: Option<Vec<String>>,
    /// Conditions over fields of the record and over lengths in tokens; a conversation that is kept meets all of them.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<WhereSection>,
    /// Decontamination: conversations that share words with evaluations are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decontaminate: Option<DecontaminateSection>,
    /// The number of records that are read; the rest is left out.
    pub limit: Option<u64>,
}

/// `[select.decontaminate]`: excludes conversations that share a
/// sequence of words with an evaluation, or ask one of its questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecontaminateSection {
    /// The evaluation files, one or a list: JSON lines, JSON, CSV, Parquet, plain text, or anything
    /// else that chatmill reads. All texts of a row count. A file that is a table or JSON by its
    /// name or header must be readable as such. Relative paths start at the pipeline file's folder.
    pub against: Paths,
    /// The number of consecutive words that a conversation must not share with an evaluation. Words consist of
    /// letters and digits, ignoring case; a question of fewer words counts if a user's message is equal to it.
    #[serde(default = "default_ngram")]
    pub ngram: u32,
}

/// The default number of consecutive words that make an overlap of two texts.
pub(super) const NGRAM: NonZeroU8 = NonZeroU8::MIN.saturating_add(12);

fn default_ngram() -> u32 {
    NGRAM.get().into()
}

/// A path, or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a path or a list of paths")]
#[expect(missing_docs, reason = "the variants are what they hold")]
pub enum Paths {
    One(String),
    Many(Vec<String>),
}

impl Paths {
    /// Returns the paths as written.
    pub(crate) fn paths(&self) -> &[String] {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Many(paths) => paths,
        }
    }
}

/// `[[select.where]]`: a condition over a field of the record or a length.
/// If the field is missing or has another type, the condition is not met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhereSection {
    /// The field: `extra.KEY` (a field of the record that the source keeps; nested:
    /// `extra.KEY.KEY`), `turns`, or a length in tokens: `tokens@ENCODING` of all messages, calls
    /// and results, `answer_tokens@ENCODING` of each answer, `turn_tokens@ENCODING` of each turn.
    pub field: String,
    /// The comparison.
    pub op: Operator,
    /// A number or a text; a list of them for `in`.
    pub value: WhereValue,
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "their words are what they do")]
pub enum Operator {
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = "!=")]
    Unequal,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    AtLeast,
    #[serde(rename = "in")]
    In,
}

impl Operator {
    /// Returns the operator as written in a pipeline file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::In => "in",
        }
    }

    /// Returns whether the comparison is true for this ordering of its two sides.
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal | Self::In => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

/// The value that a field is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number, a text, or a list of numbers or of texts")]
#[expect(missing_docs, reason = "the variants are what they hold")]
pub enum WhereValue {
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl fmt::Display for WhereValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "{text:?}"),
            Self::Numbers(numbers) => write!(out, "{numbers:?}"),
            Self::Texts(texts) => write!(out, "{texts:?}"),
        }
    }
}

/// `[dedup]`. The first conversation in the order of the inputs
/// is never a duplicate. Without the section nothing is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DedupSection {
    /// The treatment of conversations with the same content as an earlier one; ids and times are ignored.
    pub exact: Treatment,
    /// The treatment of near duplicates: conversations that share most of their
    /// shingles of three words with an earlier one without being equal to it.
    pub near: Treatment,
    /// The share of common shingles that makes two conversations near duplicates, between 0.5 and 1.
    pub threshold: f64,
    /// The compared text: whole conversations, or the first question of each.
    #[serde(skip_serializing_if = "Compared::is_default")]
    pub by: Compared,
    /// Earlier datasets of chatmill, one folder or a list. Their conversations come first:
    /// `exact` and `near` also apply to conversations that repeat one of them, and those
    /// are counted as `dedup.against`. Relative paths start at the pipeline file's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Paths>,
}

impl Default for DedupSection {
    fn default() -> Self {
        Self {
            exact: Treatment::Off,
            near: Treatment::Off,
            threshold: 0.8,
            by: Compared::Conversation,
            against: None,
        }
    }
}

impl DedupSection {
    /// Returns whether conversations are compared at all.
    pub fn is_on(&self) -> bool {
        self.exact != Treatment::Off || self.near != Treatment::Off
    }

    /// Returns the threshold for near duplicates; `None` if they are not searched for.
    pub(crate) fn near_threshold(&self) -> Option<f64> {
        (self.near != Treatment::Off).then_some(self.threshold)
    }
}

/// The text by which two conversations are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The whole text of the conversation.
    #[default]
    Conversation,
    /// The first message of a person, ignoring case and white space.
    /// Conversations without one are compared as a whole, for equality.
    Prompt,
}

impl Compared {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes fields by reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// `[mix]`: the unit of the weights of `[[input]]` sections, and the total amount.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MixSection {
    /// The unit of weights and of the total: `bytes` (of the records after decompression),
    /// `conversations`, or `tokens@ENCODING` (of all messages, calls and results).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The maximum for all inputs together, in this unit: a number, or a text that ends with `k`, `M` or `G`
    /// (thousands, millions, thousands of millions). Conversations beyond it are filtered, as `mix.total`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<MixTotal>,
}

impl MixSection {
    /// A default section is not serialized, so that datasets
    /// without a mix keep the manifest of versions without units.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The total of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number, or a text such as \"50M\"")]
#[expect(missing_docs, reason = "the variants are what they hold")]
pub enum MixTotal {
    Number(u64),
    Text(String),
}

/// The treatment of duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// Duplicates are not searched for.
    #[default]
    Off,
    /// Duplicates are kept; the columns `cluster` and `duplicate` of `conversations` name them.
    Mark,
    /// Duplicates are excluded and count as filtered.
    Filter,
}
