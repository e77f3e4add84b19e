//! `[render]` and `[templates]`: which dialects a conversation is said in.

use std::collections::BTreeMap;

use chatmill_dialect::template::ArgumentStyle;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use toml::value::Datetime;

/// `[render]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSection {
    /// Dialects as `ID` or `ID@PROFILE`, templates of this file by name, or `all`.
    pub dialects: Vec<String>,
}

impl Default for RenderSection {
    fn default() -> Self {
        Self {
            dialects: vec!["all".to_owned()],
        }
    }
}

/// One `[templates.NAME]` section: a chat template that is a dialect under that name, in kebab case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TemplateSection {
    /// A Jinja file; relative paths start at the pipeline file's folder.
    pub template: Option<String>,
    /// A `tokenizer_config.json`: its special tokens, and its template where `template` names none.
    pub tokenizer_config: Option<String>,
    /// Which of the configuration's named templates to use. Without it `default`, and `tool_use` for conversations with
    /// definitions of tools.
    pub named: Option<String>,
    /// How the template wants the arguments of calls; without it, as it prints them best.
    pub arguments: Option<ArgumentStyle>,
    /// Whether the template is told to open an answer behind the last turn.
    pub add_generation_prompt: bool,
    /// The date or time, such as `2024-07-26`, that `strftime_now` says; needed where the template calls it.
    #[serde(deserialize_with = "moment")]
    pub now: Option<String>,
    /// Further variables of the template, such as `enable_thinking` or `bos_token`. Texts whose names end in `_token` are
    /// special tokens.
    pub variables: BTreeMap<String, serde_json::Value>,
    /// Special tokens, beside those of the configuration. Without both, what the template spells as `<|word|>`.
    pub special_tokens: Option<Vec<String>>,
}

/// A text, or a date of TOML's own.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Moment {
        Text(String),
        Date(Datetime),
    }
    let moment = Option::<Moment>::deserialize(deserializer)?;
    Ok(moment.map(|moment| match moment {
        Moment::Text(text) => text,
        Moment::Date(date) => date.to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_may_stand_with_or_without_quotes() {
        let now = |text: &str| toml::from_str::<TemplateSection>(text).unwrap().now;
        for text in ["now = 2024-07-26", "now = \"2024-07-26\""] {
            assert_eq!(now(text).as_deref(), Some("2024-07-26"));
        }
        assert_eq!(
            now("now = 2024-07-26T10:00:00").as_deref(),
            Some("2024-07-26T10:00:00")
        );
        assert_eq!(now(""), None);
    }
}
