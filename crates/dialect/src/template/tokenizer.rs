//! Reads `tokenizer_config.json`: the templates, and the tokens that they print.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::TemplateError;

/// The chat templates and tokens in the configuration of a tokenizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenizerConfig {
    /// The templates by name; a single template is `default`.
    pub templates: BTreeMap<String, String>,
    /// `bos_token`, `eos_token` and similar ones, which are variables of the template.
    pub tokens: BTreeMap<String, String>,
    /// All special tokens.
    pub special_tokens: Vec<String>,
}

#[derive(Deserialize)]
struct NamedTemplate {
    name: String,
    template: String,
}

impl TokenizerConfig {
    /// Reads a configuration. The error is what is wrong with it.
    pub fn read(json: &str) -> Result<Self, TemplateError> {
        let fields: Map<String, Value> = serde_json::from_str(json).map_err(|error| {
            TemplateError::Tokenizer(format!("it is not a tokenizer configuration: {error}"))
        })?;
        let mut config = Self::default();
        match fields.get("chat_template") {
            None | Some(Value::Null) => {}
            Some(Value::String(template)) => {
                config.templates.insert("default".to_owned(), template.clone());
            }
            Some(list) => {
                let named = Vec::<NamedTemplate>::deserialize(list).map_err(|_| {
                    let message = "chat_template is neither a text nor a list of named texts";
                    TemplateError::Tokenizer(message.to_owned())
                })?;
                let named = named.into_iter().map(|named| (named.name, named.template));
                config.templates.extend(named);
            }
        }
        for (key, value) in &fields {
            if let Some(token) = token(value).filter(|_| key.ends_with("_token")) {
                config.tokens.insert(key.clone(), token.to_owned());
                config.special_tokens.push(token.to_owned());
            }
        }
        for key in ["additional_special_tokens", "extra_special_tokens"] {
            let tokens: Vec<&Value> = match fields.get(key) {
                Some(Value::Array(list)) => list.iter().collect(),
                Some(Value::Object(named)) => named.values().collect(),
                _ => Vec::new(),
            };
            let tokens = tokens.into_iter().filter_map(token);
            config.special_tokens.extend(tokens.map(str::to_owned));
        }
        if let Some(Value::Object(added)) = fields.get("added_tokens_decoder") {
            let special = added
                .values()
                .filter(|added| added.get("special") == Some(&Value::Bool(true)));
            config
                .special_tokens
                .extend(special.filter_map(token).map(str::to_owned));
        }
        config.special_tokens.sort_unstable();
        config.special_tokens.dedup();
        Ok(config)
    }
}

/// Reads a token, which is a text or an object with its content.
fn token(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("content")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_as_text_or_as_objects_and_templates_by_name() {
        let config = TokenizerConfig::read(
            r#"{"chat_template":[{"name":"default","template":"a"},{"name":"tool_use","template":"b"}],
                "bos_token":"<s>","eos_token":{"content":"</s>","special":true},"pad_token":null,
                "additional_special_tokens":["<x>"],"extra_special_tokens":{"image_token":"<i>"},
                "added_tokens_decoder":{"0":{"content":"<s>","special":true},"1":{"content":"word","special":false}}}"#,
        )
        .unwrap();
        assert_eq!(config.templates.get("tool_use").map(String::as_str), Some("b"));
        assert_eq!(config.tokens.len(), 2);
        assert_eq!(config.tokens.get("eos_token").map(String::as_str), Some("</s>"));
        assert_eq!(config.special_tokens, ["</s>", "<i>", "<s>", "<x>"]);
    }

    #[test]
    fn a_configuration_without_a_template_is_read_and_one_that_is_none_is_not() {
        assert_eq!(TokenizerConfig::read("{}").unwrap(), TokenizerConfig::default());
        for wrong in [
            "[]",
            "{",
            r#"{"chat_template":3}"#,
            r#"{"chat_template":[{"name":"x"}]}"#,
        ] {
            assert!(TokenizerConfig::read(wrong).is_err(), "{wrong}");
        }
    }
}
