//! The word by which a format file names a vendor.

use std::borrow::Cow;

use chatmill_diag::suggest::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

use super::{GRAMMARS, Grammar};

/// A grammar, by its id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrammarWord(pub &'static Grammar);

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
