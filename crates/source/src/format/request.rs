//! Formats whose records are requests to a vendor's API, or lists of its messages: a format file names the fields, and the readers of
//! vendors' messages, which many formats share, read the turns.

use std::borrow::Cow;

use chatmill_diag::Limits;
use chatmill_diag::suggest::nearest;
use chatmill_intake::json::Document;
use chatmill_intake::{RecordSketch, Sketch};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use crate::formats::openai_messages;
use crate::frame::{FrameView, Reading, Row};
use crate::grammar::{GRAMMARS, Grammar, OPENAI, SHAREGPT};
use crate::layout::{RequestForm, Requests};
use crate::source::About;

/// A record that is a request to a vendor's API: turns in a list, the system text, tools, settings, and perhaps the answer beside them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestMap {
    /// The vendor whose message format the turns use.
    pub messages: GrammarWord,
    /// Whether a record is a request as it was sent, and no conversation that was lived through.
    #[serde(default)]
    pub sent: bool,
    /// The name of the record's structure, in the column `shape`.
    pub shape: String,
    /// The field that holds the turns.
    #[serde(default = "messages")]
    pub list: String,
    /// Whether the list may be a text, which is then the only turn.
    #[serde(default)]
    pub may_be_text: bool,
    /// The field of the system prompt.
    pub system: Option<String>,
    /// The field that defines tools.
    #[serde(default = "tools")]
    pub tools: String,
}

fn messages() -> String {
    "messages".to_owned()
}

fn tools() -> String {
    "tools".to_owned()
}

/// A grammar, by its id.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct GrammarWord(pub &'static Grammar);

impl<'de> Deserialize<'de> for GrammarWord {
    fn deserialize<D: Deserializer<'de>>(word: D) -> Result<Self, D::Error> {
        let word = String::deserialize(word)?;
        let ids = || GRAMMARS.iter().map(|grammar| grammar.id);
        if let Some(grammar) = GRAMMARS.iter().find(|grammar| grammar.id == word) {
            return Ok(Self(grammar));
        }
        let advice = match nearest(&word, ids()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the words are {}", ids().collect::<Vec<_>>().join(", ")),
        };
        Err(Error::custom(format!("no vendor is called `{word}`: {advice}")))
    }
}

impl JsonSchema for GrammarWord {
    fn schema_name() -> Cow<'static, str> {
        "GrammarWord".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ids: Vec<&str> = GRAMMARS.iter().map(|grammar| grammar.id).collect();
        json_schema!({ "type": "string", "enum": ids, "description": "The vendor whose messages or blocks these are." })
    }
}

/// The reader for the records of such a format.
#[derive(Debug)]
pub(super) enum RequestReader {
    /// Lists of messages in `OpenAI`'s shape, which have a reader of their own.
    Openai(&'static About),
    /// Requests of any other vendor.
    Requests(Requests),
}

impl RequestReader {
    /// The reader of a format.
    pub(super) fn of(map: &'static RequestMap, about: &'static About) -> Self {
        let GrammarWord(grammar) = map.messages;
        if grammar.is(&OPENAI) {
            return Self::Openai(about);
        }
        Self::Requests(Requests {
            about,
            form: RequestForm {
                list: &map.list,
                may_be_text: map.may_be_text,
                system: map.system.as_deref(),
                tools: &map.tools,
                grammar,
            },
            has_signs: !grammar.is(&SHAREGPT),
        })
    }

    /// Recognises the format by its vendor's blocks, and by what `own` sees in a record.
    pub(super) fn recognise(
        &self,
        sketch: &Sketch,
        own: impl Fn(&RecordSketch) -> Option<(u8, String)>,
    ) -> Option<(u8, Vec<String>)> {
        match self {
            Self::Openai(_) => crate::layout::best(sketch, own),
            Self::Requests(requests) => requests.recognise_by(sketch, own),
        }
    }

    pub(super) fn read(&self, frame: FrameView<'_>, limits: &Limits) -> Reading {
        match self {
            Self::Openai(about) => openai_messages::read(about, about.shapes.first().copied(), frame, limits),
            Self::Requests(requests) => requests.reading(frame, limits),
        }
    }

    pub(super) fn message_path(&self, index: u32) -> Option<String> {
        match self {
            Self::Openai(_) => openai_messages::path(index),
            Self::Requests(requests) => requests.form.path(index),
        }
    }

    pub(super) fn groups_rows(&self, sketch: &Sketch) -> bool {
        matches!(self, Self::Requests(requests) if requests.are_turns(sketch))
    }

    pub(super) fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        match self {
            Self::Openai(_) => None,
            Self::Requests(requests) => requests.turn_rows(document),
        }
    }
}
