//! A message object inside a row: `{"role", "content", "tool_calls", …}` in `OpenAI`'s shape.
//!
//! Rows of databases hold such objects in a column of their own. Fields of the object without a place in the
//! model are kept by their paths inside the object.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use crate::base::roles::{self, api_role};
use crate::base::{ExtraFields, Keep as _, Site, Turn, media, present, text, text_of, word, words};
use crate::grammar::openai::{calls, parts};

/// A message object but for its content, which [`content`] gives.
#[derive(Debug, Default)]
pub(crate) struct MessageObject {
    /// The role, where the message states a known one.
    pub role: Option<Role>,
    /// The word that it says it in.
    pub role_word: Option<String>,
    /// Name of the tool, or of the speaker.
    pub name: Option<String>,
    /// Id of the call that it answers.
    pub call_id: Option<String>,
    /// Id of the message.
    pub message_id: Option<String>,
    /// The reasoning of the model.
    pub reasoning: Option<String>,
    /// The calls that it makes.
    pub calls: Vec<ToolCall>,
    /// Fields without a place, by path.
    pub rest: ExtraFields,
}

impl MessageObject {
    /// Whether an object is a message: it has a field that only messages have.
    pub(crate) fn is_one(object: Value<'_>) -> bool {
        object.kind() == Kind::Object
            && ["role", "content", "tool_calls"]
                .iter()
                .any(|key| object.get(key).is_some())
    }

    /// Reads everything but the content. A field that is null counts as absent.
    pub(crate) fn read(object: Value<'_>, site: &mut Site<'_>) -> Self {
        let known = words!(role content name tool_calls tool_call_id message_id);
        site.repeated_keys(object, |key| known.contains(&key));
        let field = |key: &str| present(object, key);
        let mut turn = Self {
            name: word(field("name"), "name", site),
            call_id: word(field("tool_call_id"), "tool_call_id", site),
            message_id: word(field("message_id"), "message_id", site),
            ..Self::default()
        };
        if let Some(value) = field("role") {
            turn.role_word = text(Some(value));
            turn.role = turn.role_word.as_deref().and_then(api_role);
            if turn.role.is_none() {
                site.warn("role", "the role is none of the known words", value);
            }
        }
        if let Some(list) = field("tool_calls") {
            match calls::calls(list, &mut turn.rest, site) {
                Some(calls) => turn.calls = calls,
                None => turn.rest.keep("tool_calls", list),
            }
        }
        for (key, value) in object.fields() {
            match (&*key, value.as_str()) {
                ("reasoning_content", Some(thought)) => turn.reasoning = Some(thought.into_owned()),
                (key, _) if known.contains(&key) || value.is_null() => {}
                (key, _) => turn.rest.keep(key, value),
            }
        }
        turn
    }
}

/// The content of a message object, unless it is null.
pub(crate) fn content(object: Value<'_>) -> Option<Value<'_>> {
    present(object, "content")
}

/// Reads the content of a message: text, or a list of parts. Any other value is read as its JSON text.
pub(crate) fn content_parts(
    value: Value<'_>,
    field: &str,
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) -> Vec<Part> {
    if let Some(text) = value.as_str() {
        return vec![Part::Text(text.into_owned())];
    }
    if value.kind() == Kind::Array && parts::is_parts(value) {
        let read = parts::read(value, field, site);
        rest.extend(read.rest);
        return read.parts;
    }
    let text = "the content is neither a string nor a list of parts and is read as its JSON text";
    site.warn(field, text, value);
    vec![Part::Text(text_of(value))]
}

/// Reads a tool's result: its text, and its other parts. Values that are not parts are results in JSON.
pub(crate) fn answered(
    value: Value<'_>,
    field: &str,
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) -> (String, Vec<Part>) {
    if value.kind() != Kind::Array || !is_shown(value) {
        return (text_of(value), Vec::new());
    }
    let read = parts::read(value, field, site);
    rest.extend(read.rest);
    media::divided(read.parts)
}

/// Whether an answer is a list of parts to show: answers may be any list, also one of objects with a `type`.
fn is_shown(list: Value<'_>) -> bool {
    let is_part = |part: Value<'_>| {
        let word = part.get("type").and_then(Value::as_str);
        matches!(word.as_deref(), Some("text" | "image_url"))
    };
    !list.is_empty() && list.items().all(is_part)
}

/// Reads a message in this shape, whatever its fields are.
pub(super) fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let read = MessageObject::read(value, site);
    let known = ["function_call", "refusal", "id"];
    let mut turn = Turn {
        role: read.role,
        id: read.message_id,
        rest: read.rest,
        ..Turn::default()
    };
    turn.rest.retain(|(key, _)| !known.contains(&key.as_str()));
    if turn.role.is_none() {
        turn.role = read.role_word.as_deref().and_then(roles::known_role);
        turn.word = read.role_word;
    }
    if turn.role.is_none() && turn.word.is_none() {
        site.empty("role");
    }
    turn.id = turn.id.or_else(|| text(value.get("id")));
    let other = text(value.get("reasoning"));
    turn.rest.retain(|(key, _)| key != "reasoning" || other.is_none());
    // Some gateways write one thought under both names.
    let other = other.filter(|other| read.reasoning.as_ref() != Some(other));
    let thoughts = read.reasoning.into_iter().chain(other);
    turn.parts.extend(thoughts.map(Part::Reasoning));
    let content = present(value, "content");
    if turn.role == Some(Role::Tool) {
        let answered = content.map_or_else(Default::default, |content| {
            answered(content, "content", &mut turn.rest, site)
        });
        let result = ToolResult {
            call_id: read.call_id,
            name: read.name,
            ..ToolResult::default()
        };
        turn.parts.extend(media::result_of(result, answered));
        return turn;
    }
    turn.name = read.name;
    if let Some(content) = content {
        turn.parts
            .extend(content_parts(content, "content", &mut turn.rest, site));
    }
    if let Some(refusal) = text(value.get("refusal")) {
        turn.parts.push(Part::Text(refusal));
    }
    let mut calls = read.calls;
    let other = present(value, "additional_kwargs").and_then(|inside| present(inside, "tool_calls"));
    if let Some(list) = other.filter(|_| calls.is_empty()) {
        calls = calls::calls(list, &mut turn.rest, site).unwrap_or_default();
    }
    calls::add(&mut turn.parts, calls);
    if let Some(call) = present(value, "function_call") {
        let call = calls::function_call(call, &mut turn.rest, site);
        turn.parts.extend(call.map(Part::ToolCall));
    }
    if turn.parts.is_empty() && content.is_none() {
        site.empty("content");
    }
    turn
}
