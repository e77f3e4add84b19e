//! A message object: `{"role", "content", "tool_calls", …}`.
//!
//! Rows of databases hold such objects in a column. Fields without a place in the model (`audio`, `annotations`, …) are
//! retained by their paths inside the object.

use std::borrow::Cow;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use crate::base::roles::{self, api_role, known_role, training_role};
use crate::base::texts::thoughts::{fresh, in_parts};
use crate::base::{ExtraFields, Keep as _, Site, Turn, id, media, present, raw, text, text_of, word, words};
use crate::grammar::openai::{calls, parts};

/// The fields of a message with a place in the model; a message must not have one of them twice.
pub(super) const FIELDS: [&str; 14] = words!(
    role content name tool_calls tool_call_id function_call refusal reasoning reasoning_content thinking thinking_blocks
    reasoning_details message_id id
);

/// Whether a message, or a turn with `from`, has the role of a call. Several in a row, before their results, are calls of one turn.
pub(crate) fn is_call(message: Value<'_>) -> bool {
    let role = present(message, "role").or_else(|| present(message, "from"));
    role.and_then(Value::string)
        .is_some_and(|role| roles::is_call(&role))
}

/// The fields with the thoughts of a message as a text, in the order of the thoughts.
const THOUGHTS: [&str; 3] = words!(reasoning_content reasoning thinking);

/// A message object without its content, which [`content`] returns.
#[derive(Debug, Default)]
pub(crate) struct MessageObject {
    /// The role, if the message states a known one.
    pub role: Option<Role>,
    /// Name of the tool, or of the speaker.
    pub name: Option<String>,
    /// Id of the call that it answers.
    pub call_id: Option<String>,
    /// Id of the message.
    pub message_id: Option<String>,
    /// The reasoning of the model.
    pub thoughts: Vec<String>,
    /// The text of a refusal, or the transcript of a spoken answer.
    pub refusal: Option<String>,
    /// The calls of the message.
    pub calls: Vec<ToolCall>,
    /// Fields without a place, by path.
    pub rest: ExtraFields,
}

impl MessageObject {
    /// Whether an object is a message: it has a field that only messages have.
    pub(crate) fn is_one(object: Value<'_>) -> bool {
        object.kind() == Kind::Object
            && ["role", "content", "tool_calls", "function_call"]
                .iter()
                .any(|key| object.get(key).is_some())
    }

    /// Reads everything but the content of a message inside a row, and reports duplicate keys.
    pub(crate) fn in_row(object: Value<'_>, site: &mut Site<'_>) -> Self {
        site.repeated_keys(object, |key| FIELDS.contains(&key));
        let message = Self::read(object, site);
        if let (None, Some(value)) = (message.role, present(object, "role")) {
            site.warn("role", UNKNOWN_ROLE, value);
        }
        message
    }

    /// Reads everything but the content. A field that is null counts as absent.
    fn read(object: Value<'_>, site: &mut Site<'_>) -> Self {
        let mut message = Self::default();
        let (mut thoughts, mut blocks, mut details): ([Option<String>; 3], _, _) = Default::default();
        // One walk over the fields: looking each one up would be a walk for each. Of a repeated field the last value is used, with a
        // finding.
        for (key, value) in object.fields().filter(|(_, value)| !value.is_null()) {
            let is_read = match &*key {
                "content" => true,
                "name" => {
                    message.name = word(Some(value), "name", site);
                    true
                }
                "tool_call_id" => {
                    message.call_id = word(Some(value), "tool_call_id", site);
                    true
                }
                "message_id" => {
                    message.message_id = word(Some(value), "message_id", site);
                    true
                }
                "role" => {
                    message.role = value.as_str().as_deref().and_then(training_role);
                    value.mark(Mark::Taken);
                    true
                }
                "reasoning_content" | "reasoning" | "thinking" => {
                    let mut named = THOUGHTS.iter().zip(&mut thoughts);
                    if let Some((_, thought)) = named.find(|(name, _)| **name == key) {
                        *thought = text(Some(value));
                    }
                    value.kind() == Kind::String
                }
                "thinking_blocks" => {
                    blocks = Some(value);
                    value.kind() == Kind::Array
                }
                "reasoning_details" => {
                    details = Some(value);
                    value.kind() == Kind::Array
                }
                "tool_calls" => {
                    let calls = calls::calls(value, &mut message.rest, site);
                    let is_read = calls.is_some();
                    message.calls.splice(..0, calls.into_iter().flatten());
                    is_read
                }
                "function_call" => {
                    let call = calls::function_call(value, &mut message.rest, site);
                    let is_read = call.is_some();
                    message.calls.extend(call);
                    is_read
                }
                // Ollama names the tool of a result in this field.
                "tool_name" if present(object, "name").is_none() && is_answer(object) => {
                    message.name = word(Some(value), "tool_name", site);
                    true
                }
                // The transcript of a spoken answer, which has no content.
                "audio" if content(object).is_none_or(is_empty) => {
                    message.refusal = message.refusal.take().or(text(value.get("transcript")));
                    message.rest.keep_rest(value, "audio", &["transcript"]);
                    continue;
                }
                // The refusal is part of the text, and is also kept as a field, which distinguishes it from other text.
                "refusal" => {
                    message.refusal = text(Some(value));
                    message.rest.push((key.into_owned(), raw(value)));
                    continue;
                }
                _ => false,
            };
            if !is_read {
                message.rest.keep(key, value);
            }
        }
        for thought in thoughts {
            message.think(thought.into_iter().collect());
        }
        message.blocks_of_thought(blocks);
        message.details_of_thought(details);
        message
    }

    /// Adds thoughts, unless they are known: some gateways write them under several names.
    fn think(&mut self, thoughts: Vec<String>) {
        let known = self.thoughts.iter().map(String::as_str);
        let thoughts = fresh(known, thoughts);
        self.thoughts.extend(thoughts);
    }

    /// Reads thoughts that `LiteLLM` repeats in Anthropic's blocks.
    fn blocks_of_thought(&mut self, blocks: Option<Value<'_>>) {
        let mut thoughts = Vec::new();
        for (index, block) in blocks.into_iter().flat_map(Value::items).enumerate() {
            let path = format!("thinking_blocks[{index}]");
            match text(block.get("thinking")) {
                Some(thought) => {
                    thoughts.push(thought);
                    self.rest.keep_rest(block, &path, &["type", "thinking"]);
                }
                None => self.rest.keep(path, block),
            }
        }
        self.think(thoughts);
    }

    /// Reads thoughts in the pieces of `OpenRouter`, which usually writes them as `reasoning`, too.
    fn details_of_thought(&mut self, details: Option<Value<'_>>) {
        let mut thought = String::new();
        for (index, detail) in details.into_iter().flat_map(Value::items).enumerate() {
            let path = format!("reasoning_details[{index}]");
            let piece = ["text", "summary"]
                .iter()
                .find_map(|key| Some((*key, text(detail.get(key))?)));
            match piece {
                Some((key, words)) => {
                    thought.push_str(&words);
                    self.rest
                        .keep_rest(detail, &path, &["type", "format", "index", "id", key]);
                }
                None => self.rest.keep(path, detail),
            }
        }
        let is_new = !thought.is_empty() && !self.thoughts.iter().any(|known| known.contains(&thought));
        self.think(is_new.then_some(thought).into_iter().collect());
    }
}

/// Whether a message has the role of a tool.
fn is_answer(object: Value<'_>) -> bool {
    let role = present(object, "role").and_then(Value::string);
    role.and_then(|role| training_role(&role)) == Some(Role::Tool)
}

/// Whether content is an empty text.
fn is_empty(content: Value<'_>) -> bool {
    content.string().is_some_and(|text| text.is_empty())
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
    site.error_if_strict(field, NO_CONTENT, value);
    vec![Part::Text(text_of(value))]
}

/// The finding about a role, in logs and rows.
const UNKNOWN_ROLE: &str = "the role is none of the known words";

/// The finding about content of another form.
const NO_CONTENT: &str = "the content is neither a string nor a list of parts and is read as its JSON text";

/// Reads a tool's result: its text, and its other parts. Values that are not parts are results in JSON.
pub(crate) fn answered(
    value: Value<'_>,
    field: &str,
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) -> (media::ResultText, Vec<Part>) {
    let Some(shown) = parts::shown(value, field, site) else {
        if site.is_strict && value.kind() != Kind::String {
            site.warn(field, NO_CONTENT, value);
        }
        return (media::ResultText::of_value(value), Vec::new());
    };
    rest.extend(shown.rest);
    media::divided(shown.parts)
}

/// Reads a message in this shape with any fields.
pub(super) fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let read = MessageObject::read(value, site);
    let mut turn = Turn {
        role: role(value, &read, site),
        id: read.message_id,
        name: read.name,
        ..Turn::default()
    };
    let word = present(value, "role").and_then(Value::as_str);
    turn.word = word
        .filter(|word| turn.role.is_none_or(|role| role.as_str() != word))
        .map(Cow::into_owned);
    // A refusal or a transcript takes the place of an empty text.
    let content = content(value).filter(|content| read.refusal.is_none() || !is_empty(*content));
    let is_call = turn.word.as_deref().is_some_and(roles::is_call);
    // These words belong to the format and do not name a speaker.
    turn.word = turn
        .word
        .filter(|word| training_role(word).is_none() || api_role(word).is_some());
    let mut rest = read.rest;
    let pictures = pictures(value, &mut rest, site);
    if turn.role == Some(Role::Tool) {
        let mut answer = content.map_or_else(Default::default, |content| {
            answered(content, "content", &mut turn.rest, site)
        });
        answer.1.extend(pictures);
        let result = ToolResult {
            call_id: read.call_id,
            name: turn.name.clone(),
            ..ToolResult::default()
        };
        turn.parts.extend(media::result_of(result, answer));
    } else {
        if let Some(words) = content
            .and_then(|content| text(Some(content)))
            .filter(|_| is_call)
        {
            turn.parts.extend(calls::spelled_turn(&words, site.limits.depth));
        } else if let Some(content) = content {
            let read = content_parts(content, "content", &mut turn.rest, site);
            turn.parts.extend(read);
        }
        turn.parts.extend(pictures);
    }
    let thoughts = fresh(in_parts(&turn.parts), read.thoughts);
    turn.parts.splice(..0, thoughts.into_iter().map(Part::Reasoning));
    turn.parts.extend(read.refusal.map(Part::Text));
    let mut calls = read.calls;
    let other = present(value, "additional_kwargs").and_then(|inside| present(inside, "tool_calls"));
    if let Some(list) = other.filter(|_| calls.is_empty()) {
        calls = calls::calls(list, &mut turn.rest, site).unwrap_or_default();
    }
    calls::add(&mut turn.parts, calls);
    turn.rest.extend(rest);
    if turn.id.is_none() {
        turn.id = present(value, "id").and_then(id);
        turn.rest.retain(|(key, _)| key != "id" || turn.id.is_none());
    }
    if turn.parts.is_empty() && content.is_none() && value.get("audio").is_none() {
        site.lacks("content");
    }
    turn
}

/// Reads the media in `images`: Ollama's are bytes or addresses, and those of gateways are parts.
fn pictures(message: Value<'_>, rest: &mut ExtraFields, site: &mut Site<'_>) -> Vec<Part> {
    let Some(list) = present(message, "images").filter(|list| list.kind() == Kind::Array) else {
        return Vec::new();
    };
    rest.retain(|(key, _)| key != "images");
    let mut turn = Turn::default();
    for (index, picture) in list.items().enumerate() {
        match text(Some(picture)) {
            Some(place) => turn.parts.push(Part::Media(media::picture(place))),
            None => parts::part(&mut turn, &format!("images[{index}]"), picture, site),
        }
    }
    rest.extend(turn.rest);
    turn.parts
}

/// The role of a message: a tool's, if it names the call that it answers.
fn role(value: Value<'_>, read: &MessageObject, site: &mut Site<'_>) -> Option<Role> {
    let stated = present(value, "role");
    let mut role = read.role;
    match stated {
        None => site.lacks("role"),
        Some(stated) if role.is_none() && site.is_strict => {
            let text = "the role is none of the known words: the message is read as a user's";
            site.error("role", text, stated);
        }
        Some(stated) if role.is_none() => {
            role = stated.as_str().as_deref().and_then(known_role);
            site.warn("role", UNKNOWN_ROLE, stated);
        }
        Some(_) => {}
    }
    if role == Some(Role::Tool) || read.call_id.is_none() {
        return role;
    }
    let text = "the message answers a call but has another role than tool: it is read as the result";
    let (path, place) = match stated {
        Some(role) => (".role", role),
        None => (".tool_call_id", value.get("tool_call_id").unwrap_or(value)),
    };
    site.note(&codes::ROLE_CONFLICT, text, path, place);
    Some(Role::Tool)
}
