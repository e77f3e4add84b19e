//! `[field_map]`: the paths of messages in any JSON record, and of their fields.

use std::collections::BTreeMap;

use chatmill_model::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[field_map]`. A path begins with `$`, the record or the
/// message, and continues with `.key`, `["key"]`, `[0]` and `[*]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldMapSection {
    /// The path of the messages, from the record: `$.data.turns`, or `$` where each record is one message.
    pub messages: String,
    /// The path of the conversation's id, from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The path of the conversation's title, from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The path of the speaker's role, from the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The path of the sender's id, from the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The path of the sender's name, from the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// The path of the text, from the message: a string, or a list of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The path of the time, from the message: ISO 8601, or a number of seconds, milliseconds or microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The path of the id of the message that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The path of tool calls, in the shape of `OpenAI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<String>,
    /// The path of the id of the call whose result the message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The path of the message's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The roles that values of `role` mean, beyond the common ones: `{ visitor = "user", operator = "assistant" }`. A boolean
    /// is written as `true` or `false`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Role>,
}
