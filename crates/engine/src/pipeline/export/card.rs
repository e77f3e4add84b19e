//! `[card]`: texts about the data for the `README.md` of an export.

use chatmill_model::Extra;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::PlanError;

/// `[card]`: texts for `README.md` in the folders that `chatmill export` writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CardSection {
    /// The title; the default is the name of the pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the data and its purpose, in Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The license, by its identifier on the Hugging Face Hub, for example `cc-by-4.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The languages, by their codes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub language: Vec<String>,
    /// The origin of the data: a line of Markdown for each source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// A field of the record, `extra.KEY`: the card counts records by its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl CardSection {
    /// Refuses values that the card cannot show.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        if let Some(by) = self.by.as_ref().filter(|by| Extra::selected(by).is_none()) {
            let problem = format!("`{by}` is no field of the record: write `extra.{by}`");
            return Err(PlanError::value("card.by", problem));
        }
        let is_word = |word: &String| {
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            !word.is_empty() && word.bytes().all(is_allowed)
        };
        let words = self.language.iter().map(|word| ("card.language", word));
        let license = self.license.iter().map(|word| ("card.license", word));
        match words.chain(license).find(|(_, word)| !is_word(word)) {
            None => Ok(()),
            Some((key, word)) => {
                let problem = format!("`{word}` is no identifier: letters, digits, `-`, `.` and `_`");
                Err(PlanError::value(key, problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_to_be_one_of_the_record_and_a_license_an_identifier() {
        let section = CardSection {
            license: Some("cc-by-4.0".to_owned()),
            language: vec!["en".to_owned(), "pt-BR".to_owned()],
            by: Some("extra.language".to_owned()),
            ..CardSection::default()
        };
        assert!(section.check().is_ok());
        for (wrong, key) in [
            (
                CardSection {
                    by: Some("language".to_owned()),
                    ..section.clone()
                },
                "card.by",
            ),
            (
                CardSection {
                    by: Some("extra.".to_owned()),
                    ..section.clone()
                },
                "card.by",
            ),
            (
                CardSection {
                    license: Some("CC BY 4.0".to_owned()),
                    ..section.clone()
                },
                "card.license",
            ),
            (
                CardSection {
                    language: vec![String::new()],
                    ..section.clone()
                },
                "card.language",
            ),
        ] {
            let error = wrong.check().unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
    }
}
