//! `[field_map]`: where in the records of any JSON the messages are, and where in a message its words.

use std::collections::BTreeMap;

use chatmill_model::Role;
use chatmill_source::{FieldMap, MapPath, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pipeline::{InputSection, Pipeline};
use crate::plan::PlanError;
use crate::table_map::RoleWord;

/// `[field_map]`. A path begins with `$`, the record or the message; `.key`, `["key"]`, `[0]` and `[*]` step on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldMapSection {
    /// The messages, from the record: `$.data.turns`; `$` where each record is one message.
    pub messages: String,
    /// Id of the conversation, from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Title of the conversation, from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who a message speaks as, from the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Id of who speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// Name of who speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// What is said: text, or a list of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// When: ISO 8601, or a number of seconds, milliseconds or microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Id of the message that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Calls of tools, in the shape of `OpenAI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<String>,
    /// Id of the call that the message is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Words for roles, beyond those that everybody uses: `{ visitor = "user", operator = "assistant" }`. A truth value is
    /// written as `true` or `false`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleWord>,
}

impl FieldMapSection {
    /// Reads the paths.
    pub fn resolve(&self) -> Result<FieldMap, PlanError> {
        let path = |text: &String| {
            MapPath::parse(text).map_err(|message| PlanError::Value {
                key: "field_map",
                message,
            })
        };
        let optional = |text: &Option<String>| text.as_ref().map(path).transpose();
        Ok(FieldMap {
            conversation: optional(&self.conversation)?,
            title: optional(&self.title)?,
            messages: path(&self.messages)?,
            role: optional(&self.role)?,
            sender: optional(&self.sender)?,
            sender_name: optional(&self.sender_name)?,
            text: optional(&self.text)?,
            time: optional(&self.time)?,
            reply_to: optional(&self.reply_to)?,
            tool_calls: optional(&self.tool_calls)?,
            tool_call_id: optional(&self.tool_call_id)?,
            message_id: optional(&self.message_id)?,
            roles: self
                .roles
                .iter()
                .map(|(word, role)| (word.clone(), meant(*role)))
                .collect(),
        })
    }
}

const fn meant(word: RoleWord) -> Role {
    match word {
        RoleWord::User => Role::User,
        RoleWord::Assistant => Role::Assistant,
        RoleWord::System => Role::System,
        RoleWord::Tool => Role::Tool,
    }
}

/// The source that reads an input by its own field map, else by that of the pipeline file.
pub fn choose(section: &InputSection, pipeline: &Pipeline) -> Result<&'static dyn Source, PlanError> {
    let map = section.field_map.as_ref().or(pipeline.field_map.as_ref());
    let map = map.ok_or_else(|| PlanError::Value {
        key: "input.source",
        message: "`mapped` needs a [field_map] that says where the messages are".to_owned(),
    })?;
    Ok(chatmill_source::mapped(map.resolve()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> FieldMapSection {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_section_becomes_a_map_and_equal_maps_are_one_source() {
        let text =
            "messages = \"$.turns\"\ntext = \"$.body\"\nroles = { guest = \"user\", true = \"assistant\" }\n";
        let map = section(text).resolve().unwrap();
        assert_eq!(map.roles.get("true"), Some(&Role::Assistant));
        let (one, other) = (chatmill_source::mapped(map.clone()), chatmill_source::mapped(map));
        assert!(std::ptr::addr_eq(one, other));
    }

    #[test]
    fn a_path_that_is_none_is_refused_with_its_reason() {
        let fault = section("messages = \"turns\"").resolve().unwrap_err();
        assert!(fault.to_string().contains("begins with $"), "{fault}");
    }
}
