//! `--nested struct`: the columns of a table as Arrow lists and structures, for readers without support for the Arrow JSON type.
//!
//! The structure follows from dialect and envelope and never from the rows, so all files of all exports have the same structure. A member that is
//! missing in a record is null. Values with different keys in each record (arguments of calls, parameters of tools) are JSON text in a column of
//! text. A record that does not fit ends the export: nothing is dropped, and no key is invented.

use std::borrow::Cow;

use chatmill_dataset::{Member, NestedValue, Shape};
use serde_json::value::RawValue;

use crate::fields;

/// Form of lists and objects in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NestedAs {
    /// JSON text with the Arrow JSON type: every record keeps its keys exactly.
    #[default]
    Json,
    /// Arrow lists and structures.
    Struct,
}

use Member as M;

const FUNCTION: Shape = Shape::Struct(&[
    M::always("name", Shape::Word),
    M::always("arguments", Shape::Json),
]);
static CALL: Shape = Shape::Struct(&[
    M::maybe("id", Shape::Text),
    M::always("type", Shape::Word),
    M::always("function", FUNCTION),
]);
const CALLS: Member = M::maybe("tool_calls", Shape::List(&CALL));
const ROLE: Member = M::always("role", Shape::Word);
const CALL_ID: Member = M::maybe("tool_call_id", Shape::Text);
const NAME: Member = M::maybe("name", Shape::Word);
const CONTENT: Member = M::maybe("content", Shape::Text);

const REASONING: Member = M::maybe("reasoning_content", Shape::Text);

macro_rules! messages {
    ($($member:expr)?) => {
        Shape::List(const { &Shape::Struct(const { &[ROLE, CALL_ID, NAME, CONTENT, REASONING, $($member,)? CALLS] }) })
    };
}

const MESSAGES: Shape = messages!();
const AXOLOTL_MESSAGES: Shape = messages!(M::maybe("train", Shape::Flag));
const WEIGHTED_MESSAGES: Shape = messages!(M::maybe("weight", Shape::Number));

static TOOL: Shape = Shape::Struct(&[
    M::always("type", Shape::Word),
    M::always(
        "function",
        Shape::Struct(&[
            M::always("name", Shape::Word),
            M::maybe("description", Shape::Text),
            M::maybe("parameters", Shape::Json),
            M::maybe("strict", Shape::Flag),
        ]),
    ),
]);
const TOOLS: Shape = Shape::List(&TOOL);
/// Addresses of media; rows with media in parts have no structure.
const ADDRESSES: Shape = Shape::List(&Shape::Text);

const REQUEST: Shape = Shape::Struct(&[
    M::always("messages", MESSAGES),
    M::maybe("tools", TOOLS),
    M::maybe("parallel_tool_calls", Shape::Flag),
]);

static SHAREGPT_TURN: Shape =
    Shape::Struct(&[M::always("from", Shape::Word), M::always("value", Shape::Text)]);
const CONVERSATIONS: Shape = Shape::List(&SHAREGPT_TURN);

static FLAT_CALL: Shape = Shape::Struct(&[
    M::maybe("id", Shape::Text),
    M::always("function", Shape::Word),
    M::always("arguments", Shape::Json),
    M::always("type", Shape::Word),
]);
static SAMPLE_TURN: Shape = Shape::Struct(&[
    ROLE,
    CONTENT,
    M::maybe("metadata", Shape::Struct(&[M::always("name", Shape::Word)])),
    CALL_ID,
    M::maybe("function", Shape::Word),
    M::maybe("tool_calls", Shape::List(&FLAT_CALL)),
]);
const SAMPLE_INPUT: Shape = Shape::List(&SAMPLE_TURN);
const SAMPLE_METADATA: Shape = Shape::Struct(&[
    M::always("conversation_id", Shape::Text),
    M::always("perspective", Shape::Word),
    M::always("ordinal", Shape::Number),
    M::always("dialect", Shape::Word),
]);

const REWARD_MODEL: Shape = Shape::Struct(&[
    M::always("style", Shape::Word),
    M::always("ground_truth", Shape::Text),
]);
/// The members that verl's own preparations write; a record with other members needs JSON lines.
const EXTRA_INFO: Shape = Shape::Struct(&[
    M::maybe("index", Shape::Number),
    M::maybe("split", Shape::Word),
    M::maybe("question", Shape::Text),
    M::maybe("answer", Shape::Text),
    M::always("conversation_id", Shape::Text),
]);

/// Keys of lists of messages in any envelope.
const LISTS_OF_MESSAGES: [&str; 8] = [
    "messages",
    "input",
    "prompt",
    "completion",
    "chosen",
    "rejected",
    "preferred_output",
    "non_preferred_output",
];

/// The structure of a key of the records of an envelope, or of a dialect without one; `None` if it is not known.
pub(crate) fn shape(dialect: &str, envelope: Option<&str>, key: &str) -> Option<Shape> {
    if dialect == "sharegpt" {
        return match key {
            "conversations" => Some(CONVERSATIONS),
            "chosen" | "rejected" => Some(SHAREGPT_TURN),
            "tools" | "system" => Some(Shape::Text),
            "images" | "videos" | "audios" => Some(ADDRESSES),
            _ => None,
        };
    }
    let is_known = ["hf-messages", "openai-chat"].contains(&dialect);
    Some(match (envelope, key) {
        _ if !is_known => return None,
        (Some("openai-dpo"), "input") => REQUEST,
        (Some("inspect"), "input") => SAMPLE_INPUT,
        (Some("inspect"), "metadata") => SAMPLE_METADATA,
        (Some("axolotl"), "messages") => AXOLOTL_MESSAGES,
        (Some("openai-sft"), "messages") => WEIGHTED_MESSAGES,
        (Some("verl"), "reward_model") => REWARD_MODEL,
        (Some("verl"), "extra_info") => EXTRA_INFO,
        (_, list) if LISTS_OF_MESSAGES.contains(&list) => MESSAGES,
        (_, "tools") => TOOLS,
        (_, "images") => ADDRESSES,
        (_, "parallel_tool_calls") => Shape::Flag,
        _ => return None,
    })
}

/// A value that does not fit its column's type, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The path below the column, for example `[3].content`.
    path: String,
    reason: Cow<'static, str>,
}

impl Misfit {
    fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            path: String::new(),
            reason: reason.into(),
        }
    }

    fn under(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }

    /// The message for a value of this column.
    pub(crate) fn of(&self, column: &str) -> String {
        format!("`{column}{}` {}", self.path, self.reason)
    }
}

/// Converts a JSON value to a shape.
pub(crate) fn value<'a>(json: &'a str, shape: Shape) -> Result<NestedValue<'a>, Misfit> {
    let text = || fields::string_value(json).map(NestedValue::Text);
    match shape {
        Shape::Word | Shape::Text => {
            text().ok_or_else(|| Misfit::new(format!("is {} and no text", what(json))))
        }
        // A string with JSON in it is used as that JSON.
        Shape::Json => Ok(text().unwrap_or(NestedValue::Text(Cow::Borrowed(json)))),
        Shape::Flag => serde_json::from_str(json)
            .map(NestedValue::Flag)
            .map_err(|_| Misfit::new(format!("is {} and neither true nor false", what(json)))),
        Shape::Number => serde_json::from_str(json)
            .map(NestedValue::Number)
            .map_err(|_| Misfit::new(format!("is {} and no whole number", what(json)))),
        Shape::List(inner) => {
            let elements: Vec<&'a RawValue> = serde_json::from_str(json)
                .map_err(|_| Misfit::new(format!("is {} and no list", what(json))))?;
            let elements = elements.into_iter().enumerate();
            let elements = elements.map(|(index, element)| {
                value(element.get(), *inner).map_err(|misfit| misfit.under(&format!("[{index}]")))
            });
            elements.collect::<Result<_, _>>().map(NestedValue::List)
        }
        Shape::Struct(members) => structure(json, members),
    }
}

fn structure<'a>(json: &'a str, members: &[Member]) -> Result<NestedValue<'a>, Misfit> {
    let fields = fields::of(json).ok_or_else(|| Misfit::new(format!("is {} and no object", what(json))))?;
    let is_known = |name: &str| members.iter().any(|member| member.name == name);
    if let Some(unknown) = fields.iter().find(|field| !is_known(&field.name)) {
        let reason = "is a key that the structure does not have";
        return Err(Misfit::new(reason).under(&format!(".{}", unknown.name)));
    }
    let mut values = Vec::with_capacity(members.len());
    for member in members {
        let field = fields.iter().find(|field| field.name == member.name);
        let value = match field.map(|field| &field.json) {
            Some(Cow::Borrowed(json)) => value(json, member.shape),
            // Fields that were parsed always borrow from the record.
            Some(Cow::Owned(_)) | None if member.may_be_missing => Ok(NestedValue::Missing),
            Some(Cow::Owned(_)) | None => Err(Misfit::new("is missing")),
        };
        values.push(value.map_err(|misfit| misfit.under(&format!(".{}", member.name)))?);
    }
    Ok(NestedValue::Struct(values))
}

/// The JSON type of a value, for messages.
fn what(json: &str) -> &'static str {
    match json.trim_start().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b'n') => "null",
        Some(b't' | b'f') => "true or false",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misfit(json: &str) -> String {
        value(json, MESSAGES).unwrap_err().of("messages")
    }

    #[test]
    fn a_value_that_does_not_fit_is_named_by_its_path() {
        for (json, words) in [
            (
                r#"[{"role":"user","content":[{"type":"text"}]}]"#,
                "`messages[0].content` is a list and no text",
            ),
            (
                r#"[{"role":"user","content":"a"},{"role":"user","content":null}]"#,
                "`messages[1].content` is null and no text",
            ),
            (
                r#"[{"role":"user","mood":"glad"}]"#,
                "`messages[0].mood` is a key that the structure does not have",
            ),
            (r#"[{"content":"a"}]"#, "`messages[0].role` is missing"),
            (r#"{"role":"user"}"#, "`messages` is an object and no list"),
            (
                r#"[{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"}}]}]"#,
                "`messages[0].tool_calls[0].function.arguments` is missing",
            ),
        ] {
            assert_eq!(misfit(json), words);
        }
    }

    #[test]
    fn arguments_are_their_json_text_whether_they_were_an_object_or_a_text() {
        let arguments = |json: &str| match value(json, Shape::Json).unwrap() {
            NestedValue::Text(text) => text.into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(arguments(r#"{"a": 1}"#), r#"{"a": 1}"#);
        assert_eq!(arguments(r#""{\"a\": 1}""#), r#"{"a": 1}"#);
        assert_eq!(arguments("[1]"), "[1]");
    }

    #[test]
    fn every_key_of_the_envelopes_of_messages_has_a_structure() {
        for envelope in crate::ENVELOPES {
            for dialect in envelope.dialects {
                let is_known = ["hf-messages", "openai-chat", "sharegpt"].contains(dialect);
                for (key, kind) in envelope.keys {
                    let is_shaped = *kind != chatmill_dataset::FreeKind::Json
                        || shape(dialect, Some(envelope.id), key).is_some();
                    assert!(is_shaped || !is_known, "{} {key}", envelope.id);
                }
            }
        }
    }
}
