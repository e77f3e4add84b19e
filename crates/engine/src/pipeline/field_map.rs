//! `[field_map]`: where in the records of any JSON the messages are, and where in a message its words.

use std::collections::BTreeMap;

use chatmill_model::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub roles: BTreeMap<String, Role>,
}
