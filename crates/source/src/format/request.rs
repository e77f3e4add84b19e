//! Formats with requests to a vendor's API as records, or lists of its messages: a format file names the fields, and the readers of vendors'
//! messages, which many formats share, read the turns.

use std::borrow::Cow;

use chatmill_diag::suggest::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use crate::grammar::{GRAMMARS, Grammar, SHAREGPT};
use crate::layout::{RequestForm, Requests};
use crate::source::About;

/// A record that is a request to a vendor's API: turns in a list, the system text, tools, settings, and perhaps the answer next to them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestMap {
    /// The vendor of the format that the turns use.
    pub messages: GrammarWord,
    /// Whether a record is a request as it was sent, and not a conversation that took place.
    #[serde(default)]
    pub sent: bool,
    /// The name of the record's structure, in the column `shape`.
    pub shape: String,
    /// The field with the turns.
    #[serde(default = "messages")]
    pub list: String,
    /// Whether the list may be a text, which is then the only turn.
    #[serde(default)]
    pub may_be_text: bool,
    /// The field of the system prompt.
    pub system: Option<String>,
    /// The field with the definitions of tools.
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
        json_schema!({ "type": "string", "enum": ids, "description": "The vendor of these messages or blocks." })
    }
}

impl RequestMap {
    /// The reader of the records of such a format.
    pub(super) fn reader(&'static self, about: &'static About) -> Requests {
        let GrammarWord(grammar) = self.messages;
        Requests {
            about,
            form: RequestForm {
                list: &self.list,
                may_be_text: self.may_be_text,
                system: self.system.as_deref(),
                tools: &self.tools,
                grammar,
            },
            has_signs: !grammar.is(&SHAREGPT),
        }
    }
}
