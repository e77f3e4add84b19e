//! The choices that a dialect leaves open: section `[policy]` of the pipeline file.

use chatmill_diag::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How renderings treat what a dialect can carry in more than one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The place of the names of speakers.
    pub names: Names,
    /// The treatment of replies in dialects that have no field for them.
    pub references: References,
    /// The treatment of pictures, sounds and files.
    pub media: MediaPolicy,
    /// The treatment of a model's reasoning.
    pub reasoning: Reasoning,
    /// The treatment of calls without a result that a turn follows, and of results without a call.
    pub orphans: Orphans,
    /// The treatment of a template's control tokens in chat text.
    pub control_tokens: ControlTokens,
    /// The origin of system text.
    pub system: System,
    /// The text of a compressed message that is rendered.
    pub compressed: Compressed,
    /// The treatment of `[meta]` blocks inside a bot's text.
    pub leaked_metadata: LeakedMetadata,
    /// The treatment of consecutive turns of one role.
    pub turns: TurnsInARow,
    /// The text between messages that become one turn: at most 16 bytes, a blank line if not given. It applies to dialects
    /// with texts as turns.
    #[serde(skip_serializing_if = "Separator::is_default")]
    pub separator: Separator,
}

/// A text between messages that become one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Separator {
    bytes: [u8; Self::MOST],
    length: usize,
}

impl Separator {
    /// Maximum number of bytes of a separator.
    const MOST: usize = 16;

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        let written = cut::slice(&self.bytes, 0..self.length);
        std::str::from_utf8(written).unwrap_or_default()
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Separator {
    fn default() -> Self {
        let mut bytes = [0; Self::MOST];
        bytes.iter_mut().take(2).for_each(|byte| *byte = b'\n');
        Self { bytes, length: 2 }
    }
}

impl TryFrom<String> for Separator {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_sign =
            |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t') || matches!(sign, '<' | '[');
        if text.is_empty() || text.len() > Self::MOST || text.contains(is_sign) {
            let most = Self::MOST;
            return Err(format!(
                "a separator has 1 to {most} bytes, and no `<`, `[` or control character but line breaks and tabs"
            ));
        }
        let mut bytes = [0; Self::MOST];
        bytes
            .iter_mut()
            .zip(text.bytes())
            .for_each(|(to, from)| *to = from);
        Ok(Self {
            bytes,
            length: text.len(),
        })
    }
}

impl From<Separator> for String {
    fn from(separator: Separator) -> Self {
        separator.as_str().to_owned()
    }
}

/// The treatment of consecutive turns of one role, in lists of messages and chat templates that allow them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnsInARow {
    /// They stay as they are.
    #[default]
    Keep,
    /// They become one, with a blank line between messages; not where a field names different speakers, or holds ids.
    Merge,
}

/// The place of the names of speakers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// Into the dialect's own field; where there is none, before the text when several people speak.
    #[default]
    Auto,
    /// Into the dialect's own field; where there is none, nowhere.
    Field,
    /// In front of the text.
    Prefix,
    /// Nowhere.
    #[serde(alias = "none")]
    Drop,
}

/// The treatment of replies in dialects that have no field for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum References {
    /// The text of the target is quoted.
    Quote,
    /// Of a target that the rendering shows, the beginning is quoted; of others all of it.
    #[default]
    Excerpt,
    /// Of a target that the rendering shows, only the author is named; others are quoted.
    Mark,
    /// They are dropped.
    Drop,
}

/// The treatment of pictures, sounds and files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Media")]
pub enum MediaPolicy {
    /// They are carried where the dialect can, else named in the text.
    #[default]
    Keep,
    /// They are named in the text.
    Placeholder,
    /// They are dropped.
    Drop,
}

/// The treatment of a model's reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reasoning {
    /// It is carried where the dialect can.
    Keep,
    /// It is dropped.
    #[default]
    Drop,
}

/// The treatment of calls without a result that a turn follows, and of results without a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Orphans {
    /// A missing result is made up, a result without a call becomes text; both are declared.
    #[default]
    Repair,
    /// Both are dropped.
    Drop,
    /// Both stay, and the rendering is invalid.
    Reject,
}

/// The treatment of a template's control tokens in chat text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControlTokens {
    /// They are escaped.
    #[default]
    Escape,
    /// They stay, and a rendering is invalid if they would forge its turns.
    Keep,
}

/// The origin of system text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// From the system messages of the source.
    #[default]
    Source,
    /// From the instructions that the roster holds for the perspective.
    Agent,
    /// There is none.
    None,
}

/// The text of a compressed message that is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compressed {
    /// What the model saw.
    #[default]
    AsSent,
    /// What the archive holds.
    Stored,
}

/// The treatment of `[meta]` blocks inside a bot's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakedMetadata {
    /// They are removed.
    #[default]
    Clean,
    /// They stay.
    Keep,
}
