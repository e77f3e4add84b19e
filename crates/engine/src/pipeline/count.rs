//! `[count]`: the encodings to count in, built-in or defined by the user.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// `[count]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CountSection {
    /// The encodings that tokens are counted in, by name or as
    /// a user-defined vocabulary; an empty list counts nothing.
    pub encodings: Vec<CountedEncoding>,
}

impl Default for CountSection {
    fn default() -> Self {
        Self {
            encodings: vec![CountedEncoding::Named("o200k_base".to_owned())],
        }
    }
}

/// An encoding: the name of a built-in one, or a user-defined vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CountedEncoding {
    /// A built-in encoding, for example `o200k_base`.
    Named(String),
    /// A user-defined vocabulary: `ranks` with `pattern`, or `tokenizer`.
    Own(OwnEncoding),
}

impl<'de> Deserialize<'de> for CountedEncoding {
    /// Deserializes by the form of the value. An untagged enum would only
    /// report that no variant fits; this way the error names the wrong key.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrOwn)
    }
}

struct NameOrOwn;

impl<'de> Visitor<'de> for NameOrOwn {
    type Value = CountedEncoding;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of an encoding, or a table such as { name = \"acme\", ranks = \"acme.tiktoken\", pattern = \"llama3\" }")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<CountedEncoding, E> {
        Ok(CountedEncoding::Named(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CountedEncoding, A::Error> {
        OwnEncoding::deserialize(MapAccessDeserializer::new(map)).map(CountedEncoding::Own)
    }
}

/// A user-defined vocabulary. Paths are relative to the pipeline
/// file; the fingerprint covers the contents of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnEncoding {
    /// The name of the encoding in columns and reports: small letters,
    /// digits and `_`, different from the built-in encodings.
    pub name: String,
    /// The rank file, in the form of tiktoken: on each line a token in base64, a space and its rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<String>,
    /// The pattern that splits texts before `ranks` applies: `o200k`, `qwen`, `llama3`, `cl100k`, `gpt2`, or a regular
    /// expression whose matches are the pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A tokenizer file: the `tokenizer.json` of Hugging Face, a model of `SentencePiece` or a `tekken.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
}
