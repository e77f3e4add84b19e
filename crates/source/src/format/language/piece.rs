//! The part of the language that describes pieces of messages, and alternatives to a message.

use chatmill_model::Role;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::condition::{Choices, Conditions};
use super::path::{MapPath, Paths};
use super::template::{Template, Texts};
use crate::format::request::GrammarWord;

/// A piece of a message. Its fields are read in the order given here.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub(in crate::format) struct Piece {
    /// The condition under which the piece is read.
    pub when: Conditions,
    /// The condition under which the piece is not read.
    pub unless: Conditions,
    /// A text that holds JSON: the paths below start in it.
    pub within: Option<MapPath>,
    /// The elements that are such pieces; the paths below then start at each.
    pub each: Option<MapPath>,
    /// The role of the piece if it differs from that of the message: the piece then becomes a separate message.
    pub role: Option<Role>,
    /// The reasoning of the model.
    pub reasoning: Texts,
    /// A picture, sound or file.
    pub file: Option<FileMap>,
    /// Text; a list of parts as vendors' APIs have them is read as well.
    pub text: Texts,
    /// Text in any of the usual forms: text, a number, a list of texts or of parts as in vendors' APIs. Any
    /// other value becomes its JSON, with a finding.
    pub content: Option<MapPath>,
    /// Whether leading lines that quote another message, each after a `>`, are left out with the empty line after them.
    pub unquoted: bool,
    /// Whether `<details type="reasoning">` and `<details type="tool_calls">` in the text are thoughts, and calls with their results.
    pub details: bool,
    /// A text of several turns, each after an empty line and `Human:` or `Assistant:`; without these marks it is plain text.
    pub turns: Option<MapPath>,
    /// A list with elements that `part` reads.
    pub parts: Option<MapPath>,
    /// The vendor of `message`, or of the elements of `parts` that no `part` reads.
    #[serde(rename = "as")]
    pub grammar: Option<GrammarWord>,
    /// Whether the piece is a mark between two answers of the model in one message.
    pub step: bool,
    /// A whole message: of the vendor in `as`, otherwise in the form of any vendor's API.
    pub message: Option<MapPath>,
    /// A call of a tool.
    pub call: Option<CallMap>,
    /// A list of calls as `OpenAI` writes them.
    pub calls: Option<MapPath>,
    /// The result of a tool call.
    pub result: Option<ResultMap>,
    /// Values of the piece kept among the extra fields of the message, though they carry no meaning.
    pub keep: Vec<MapPath>,
    /// Fields of the piece that have no meaning.
    pub ignore: Vec<String>,
}

impl<'de> Deserialize<'de> for Piece {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        let piece = Self::deserialize(table)?;
        if piece.grammar.is_some() && piece.parts.is_none() && piece.message.is_none() {
            let text = "`as` names a vendor: also give the path of its blocks as `parts`, or of its message as `message`";
            return Err(Error::custom(text));
        }
        Ok(piece)
    }
}

impl Piece {
    /// Whether its elements are plain texts.
    pub(in crate::format) fn is_of_scalars(&self) -> bool {
        let texts = self.text.0.iter().chain(&self.reasoning.0);
        let texts = texts.filter_map(Template::path).chain(&self.content);
        let files = self.file.iter();
        let files = files.flat_map(|file| file.url.0.iter().chain(&file.name.0));
        texts.chain(files).any(MapPath::is_root)
    }

    /// Whether the piece reads a message that is a plain text.
    pub(in crate::format) fn is_whole(&self) -> bool {
        self.each.is_none() && self.within.is_none() && self.is_of_scalars()
    }
}

/// A picture, sound or file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct FileMap {
    /// The kind of media: `image`, `audio`, `video`, `file`, or a path to a word with such a prefix. If
    /// absent, the MIME type or the file extension decides.
    pub kind: Choices,
    /// The MIME type.
    #[serde(rename = "type")]
    pub media_type: Paths,
    /// The file name.
    pub name: Paths,
    /// The address; one without `://` is a path next to the export, and only its file name is kept.
    pub url: Paths,
    /// The bytes in base64.
    pub data: Paths,
    /// Text that goes with it; ignored if it equals the name.
    pub caption: Paths,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct CallMap {
    /// The id that the result refers to.
    pub id: Paths,
    /// The tool.
    pub name: Paths,
    /// The arguments: JSON, or text with JSON in it.
    pub arguments: Paths,
}

/// The result of a tool call.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct ResultMap {
    /// The id of the call.
    pub call: Paths,
    /// The tool.
    pub name: Paths,
    /// The answer: text, parts as vendors' APIs have them, or JSON.
    pub content: Texts,
    /// The condition under which the result is an error.
    pub error: Conditions,
    /// Whether a result without an answer is left out, as for a call that is not answered yet.
    pub optional: bool,
}

/// Alternatives to a message; an alternative with the same content is the message itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Others {
    /// Each of them.
    pub each: MapPath,
    /// The content of an alternative, piece by piece; paths start at it.
    pub say: Vec<Piece>,
    /// The origin of the alternatives.
    #[serde(default)]
    pub are: OthersAre,
    /// The rank: the lowest is the best. Of ranked or scored answers the best becomes the message, and the
    /// others its alternatives.
    pub rank: Option<MapPath>,
    /// The score: the higher, the better.
    pub score: Option<MapPath>,
    /// The model that wrote the alternative.
    #[serde(default)]
    pub model: Paths,
}

/// The origin of several answers in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum OthersAre {
    /// The answer was requested again.
    #[default]
    Regenerated,
    /// Several answers were requested, from one model or several.
    Choice,
    /// The alternatives were rated worse than the message.
    Rejected,
    /// A person rated the message and all alternatives bad: none is trained on.
    Bad,
}
