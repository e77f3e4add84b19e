//! What may be written of the pieces of a message, and of what was said in its place.

use chatmill_model::Role;
use schemars::JsonSchema;
use serde::Deserialize;

use super::condition::{Choices, Conditions};
use super::path::{MapPath, Paths};
use super::template::{Template, Texts};

/// A piece of a message. What it holds is read in the order that stands here.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct Piece {
    /// Where it is there.
    pub when: Conditions,
    /// Where it is not.
    pub unless: Conditions,
    /// A text that holds JSON: the paths below start in it.
    pub within: Option<MapPath>,
    /// The elements that are such pieces; the paths below then start at each.
    pub each: Option<MapPath>,
    /// Who says it, where that is somebody else than who says the rest: it is a message of its own then.
    pub role: Option<Role>,
    /// What the model thought.
    pub reasoning: Texts,
    /// A picture, sound or file.
    pub file: Option<FileMap>,
    /// Words; at a path also a list of parts as vendors' APIs have them.
    pub text: Texts,
    /// Words in whatever form they stand there: text, a number, a list of texts or of parts as vendors' APIs have them. Anything else is its JSON,
    /// which a finding tells.
    pub content: Option<MapPath>,
    /// Whether lines in front that quote another message, each behind a `>`, are left out with the empty line after them.
    pub unquoted: bool,
    /// A text that is several turns written out, each behind an empty line and `Human:` or `Assistant:`; else it is words.
    pub turns: Option<MapPath>,
    /// A list whose elements `part` reads.
    pub parts: Option<MapPath>,
    /// A whole message in the form of any vendor's API.
    pub message: Option<MapPath>,
    /// A call of a tool.
    pub call: Option<CallMap>,
    /// A list of calls as `OpenAI` writes them.
    pub calls: Option<MapPath>,
    /// What a tool answered.
    pub result: Option<ResultMap>,
    /// What of the piece is kept among the extra fields of the message, though it is without meaning.
    pub keep: Vec<MapPath>,
    /// Fields of the piece without meaning.
    pub ignore: Vec<String>,
}

impl Piece {
    /// Whether its elements are words themselves.
    pub(in crate::format) fn is_of_scalars(&self) -> bool {
        let texts = self.text.0.iter().chain(&self.reasoning.0);
        let texts = texts.filter_map(Template::path).chain(&self.content);
        let files = self.file.iter();
        let files = files.flat_map(|file| file.url.0.iter().chain(&file.name.0));
        texts.chain(files).any(MapPath::is_root)
    }

    /// Whether it reads a message that is words alone.
    pub(in crate::format) fn is_whole(&self) -> bool {
        self.each.is_none() && self.within.is_none() && self.is_of_scalars()
    }
}

/// A picture, sound or file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct FileMap {
    /// What it is: `image`, `audio`, `video`, `file`, or a path to a word that begins so. Else its MIME type says it, or the end of its name.
    pub kind: Choices,
    /// Its MIME type.
    #[serde(rename = "type")]
    pub media_type: Paths,
    /// Its name.
    pub name: Paths,
    /// Its address; one without `://` is a place beside the file, and only its name is known.
    pub url: Paths,
    /// Its bytes in base64.
    pub data: Paths,
    /// Words that go with it; none where they are its name.
    pub caption: Paths,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct CallMap {
    /// The id by which the result names it.
    pub id: Paths,
    /// The tool.
    pub name: Paths,
    /// The arguments: JSON, or text that holds JSON.
    pub arguments: Paths,
}

/// What a tool answered.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct ResultMap {
    /// The id of the call.
    pub call: Paths,
    /// The tool.
    pub name: Paths,
    /// The answer: text, parts as vendors' APIs have them, or JSON.
    pub content: Texts,
    /// Where it is a failure.
    pub error: Conditions,
    /// Whether there is no result where there is no answer, as of a call that is not answered yet.
    pub optional: bool,
}

/// What was said in the place of a message: where it says the same, it is the message itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Others {
    /// Each of them.
    pub each: MapPath,
    /// What it says, piece by piece; paths start at it.
    pub say: Vec<Piece>,
    /// How there came to be several.
    #[serde(default)]
    pub are: OthersAre,
    /// Its rank, where they were ranked: the lowest is the best. Of answers that were ranked or scored, the best is said behind the message,
    /// and the rest are alternatives to it.
    pub rank: Option<MapPath>,
    /// Its score, where they were scored: the more, the better.
    pub score: Option<MapPath>,
    /// The model that gave it.
    #[serde(default)]
    pub model: Paths,
}

/// How there came to be several answers in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum OthersAre {
    /// An answer was asked for again.
    #[default]
    Regenerated,
    /// Several were asked for, of a model or of several.
    Choice,
    /// Somebody judged them worse than the one that is said.
    Rejected,
}
