//! `[select]`, `[dedup]` and `[mix]`: which conversations stay. These are the words of the file; [`Selection`](crate::plan::Selection) is what
//! `[select]` means.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU8;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[select]`: what is left out counts as filtered, under the name of the first key that leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelectSection {
    /// The earliest end of a conversation that is kept: an RFC 3339 time or a date (UTC).
    pub since: Option<String>,
    /// The time before which a conversation that is kept starts: an RFC 3339 time or a date (UTC).
    pub until: Option<String>,
    /// The ids of the conversations that are kept.
    pub conversations: Option<Vec<String>>,
    /// The share of conversations that is kept, between 0 and 1, chosen by the hash of their id.
    pub sample: Option<f64>,
    /// The seed of samples, here and in `[[input]]` sections: another number draws other conversations.
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

/// `[select.decontaminate]`: leaves out conversations that have words in a row in common with an evaluation, or ask one of its
/// questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecontaminateSection {
    /// The evaluation files, one or a list: JSON lines, JSON, CSV, Parquet, plain text, or anything else that chatmill reads. Each
    /// text of a row counts. A file that is a table or JSON by its name or header has to parse. Relative paths start at the pipeline file's
    /// folder.
    pub against: Paths,
    /// The number of words in a row that a conversation must not have in common with an evaluation. Letters and digits make words,
    /// case aside; a question of fewer words counts where a user's message is equal to it.
    #[serde(default = "default_ngram")]
    pub ngram: u32,
}

/// Words in a row from which two texts have something in common, unless the pipeline file says otherwise.
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
    /// The paths as they are written.
    pub(crate) fn paths(&self) -> &[String] {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Many(paths) => paths,
        }
    }
}

/// `[[select.where]]`: a condition over a field of the record or a length. A field that is missing or of another kind meets none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhereSection {
    /// The field: `extra.KEY` (what the source keeps of the record; `extra.KEY.KEY` below it), `turns`, or a length in tokens:
    /// `tokens@ENCODING` of all messages, calls and results, `answer_tokens@ENCODING` of each answer, `turn_tokens@ENCODING` of each turn.
    pub field: String,
    /// The comparison.
    pub op: Operator,
    /// A number or a text; for `in` a list of them.
    pub value: WhereValue,
}

/// How a field is compared.
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
    /// Its word in a pipeline file.
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

    /// Whether it holds where the left side stands to the right as `order` says.
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

/// What a field is compared with.
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

/// `[dedup]`. The first in the order of the inputs is never a duplicate. Without the section nothing is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DedupSection {
    /// The treatment of conversations that have the same content as an earlier one, whatever their ids and times.
    pub exact: Treatment,
    /// The treatment of near duplicates: conversations that share most of their shingles of three words with an earlier one,
    /// and are not equal to it.
    pub near: Treatment,
    /// The share of common shingles from which two conversations are near duplicates, between 0.5 and 1.
    pub threshold: f64,
    /// What is compared: whole conversations, or the question that each begins with.
    #[serde(skip_serializing_if = "Compared::is_default")]
    pub by: Compared,
    /// The earlier datasets of chatmill, one folder or a list, whose conversations always come first: `exact` and `near` hold for what
    /// repeats one of them, too, and what is left out for it counts as `dedup.against`. Relative paths start at the pipeline file's folder.
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
    /// Whether conversations are compared at all.
    pub fn is_on(&self) -> bool {
        self.exact != Treatment::Off || self.near != Treatment::Off
    }

    /// The threshold, where near duplicates are looked for.
    pub(crate) fn near_threshold(&self) -> Option<f64> {
        (self.near != Treatment::Off).then_some(self.threshold)
    }
}

/// What two conversations are compared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// All that is said in them.
    #[default]
    Conversation,
    /// The first message of a person, case and white space aside. Conversations without one are compared as wholes, for equality.
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

/// `[mix]`: what the weights of `[[input]]` sections weigh, and how much is taken of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MixSection {
    /// The unit of weights and of the total: `bytes` (of the records after decompression), `conversations`, or `tokens@ENCODING` (of
    /// all messages, calls and results).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The most that the dataset takes of all inputs, in this unit: a number, or a text that ends with `k`, `M` or `G` (thousands,
    /// millions, thousands of millions). What is beyond counts as filtered by `mix.total`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<MixTotal>,
}

impl MixSection {
    /// Datasets that are no mix keep the manifest that they had before there were units.
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

/// The handling of duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// Duplicates are not searched for.
    #[default]
    Off,
    /// Duplicates are kept; the columns `cluster` and `duplicate` of `conversations` name them.
    Mark,
    /// Duplicates are left out and count as filtered.
    Filter,
}
