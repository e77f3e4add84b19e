//! `[render]` and `[templates]`: the dialects that conversations are rendered in.

use std::collections::BTreeMap;

use chatmill_dialect::template::ArgumentStyle;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use toml::value::Datetime;

/// `[render]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSection {
    /// The dialects, as `ID` or `ID@PROFILE`, the names of `[templates]` sections, or `all`.
    pub dialects: Vec<String>,
}

impl Default for RenderSection {
    fn default() -> Self {
        Self {
            dialects: vec!["all".to_owned()],
        }
    }
}

/// One `[templates.NAME]` section: a chat template that becomes a dialect of that name, in kebab case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TemplateSection {
    /// The Jinja file of the template; a relative path starts at the pipeline file's folder.
    pub template: Option<String>,
    /// The `tokenizer_config.json` with the special tokens, and with the template if `template` is not set.
    pub tokenizer_config: Option<String>,
    /// The named template of the configuration to use; by default
    /// `default`, and `tool_use` for conversations with tool definitions.
    pub named: Option<String>,
    /// The form in which the template gets the arguments of
    /// calls; by default the form that the template prints best.
    pub arguments: Option<ArgumentStyle>,
    /// Whether the template is asked to open an answer after the last turn.
    pub add_generation_prompt: bool,
    /// The date or time that `strftime_now` returns, such as `2024-07-26`; a template that calls it needs this key.
    #[serde(deserialize_with = "moment")]
    pub now: Option<String>,
    /// Further variables of the template, such as `enable_thinking` or `bos_token`. Texts whose names end in `_token` are
    /// special tokens.
    pub variables: BTreeMap<String, serde_json::Value>,
    /// The special tokens, in addition to those of the configuration.
    /// Without either, every `<|word|>` of the template is one.
    pub special_tokens: Option<Vec<String>>,
}

/// Reads a text, or a TOML date.
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
