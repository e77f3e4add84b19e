//! Messages of agent frameworks and SDKs: `LangChain`'s, Gemini's, the AI SDK's, OpenTelemetry's.
//!
//! They differ only in names: a list of parts, each with a type, and a word for the role.

pub(crate) mod pieces;

use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use crate::base::{
    Keep as _, RepeatedText, Site, Turn, UnknownFields, arguments, filled, first_present, first_text, items,
    media, present, roles, text, word, words,
};
use crate::grammar::openai::{self, calls};
use crate::grammar::{ANTHROPIC, GEMINI, Grammar};
use pieces::{Pieces, Words, contain_text};

/// Messages of the AI SDK.
pub(crate) static AI_SDK: Grammar =
    Grammar::own("ai-sdk", &["role", "content", "parts", "toolInvocations"], ai_sdk);

/// Reads a message of the AI SDK's.
fn ai_sdk(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let lists = ["parts", "content"]
        .into_iter()
        .filter_map(|field| Some((field, present(value, field)?)));
    let list = lists.into_iter().find(|(_, list)| list.kind() == Kind::Array);
    if value.kind() == Kind::Object && present(value, "role").is_none() {
        site.missing("role");
    }
    match list {
        Some((field, list)) => of_parts(value, field, list, site),
        None if value.kind() == Kind::Object => of_ui(value, site),
        None => {
            let mut turn = Turn::default();
            ANTHROPIC.content(&mut turn, "", value, site);
            turn
        }
    }
}

/// Reads a message of a framework's; none where it is none.
pub(crate) fn read(value: Value<'_>, site: &mut Site<'_>) -> Option<Turn> {
    // A constructor's envelope: the class, and what it was made of.
    if let (Some(inside), Some(class)) = (present(value, "kwargs"), present(value, "id")) {
        class.mark(Mark::Taken);
        let class = class.items().last().and_then(Value::as_str)?;
        return Some(langchain(inside, &class, site));
    }
    if let Some(class) = text(value.get("type"))
        && let Some(inside) = present(value, "data").or(Some(value))
        && present(inside, "content").is_some()
        && present(value, "role").is_none()
        && role_of_class(&class).is_some()
    {
        return Some(langchain(inside, &class, site));
    }
    if let Some(inner) = present(value, "content").filter(|inner| present(*inner, "parts").is_some()) {
        return read(inner, site);
    }
    let list = present(value, "parts").map(|list| ("parts", list)).or_else(|| {
        let list = present(value, "content").filter(|_| has_own_parts(value));
        list.map(|list| ("content", list))
    });
    if let Some((field, list)) = list.filter(|(_, list)| list.kind() == Kind::Array) {
        return Some(of_parts(value, field, list, site));
    }
    if first_present(value, &["toolInvocations", "experimental_attachments"]).is_some() {
        return Some(of_ui(value, site));
    }
    let is_call = present(value, "toolName").is_some() && present(value, "role").is_none();
    is_call.then(|| {
        let mut pieces = Pieces::of(Some(Role::Assistant), site);
        pieces.part("", value, "tool-call");
        pieces.turn
    })
}

/// The role that a class of `LangChain`'s, or its short name, speaks as.
fn role_of_class(class: &str) -> Option<Role> {
    let plain = class
        .trim_end_matches("Chunk")
        .trim_end_matches("Message")
        .to_ascii_lowercase();
    match plain.as_str() {
        "human" | "user" => Some(Role::User),
        "ai" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "tool" | "function" => Some(Role::Tool),
        _ => None,
    }
}

fn langchain(value: Value<'_>, class: &str, site: &mut Site<'_>) -> Turn {
    let mut turn = Turn {
        role: role_of_class(class).or_else(|| roles::known_role(class)),
        id: text(value.get("id")),
        ..Turn::default()
    };
    let known = words!(type role id content name status tool_call_id tool_calls);
    turn.keep_rest(value, "", &known);
    let content = present(value, "content");
    if turn.role == Some(Role::Tool) {
        let answered = content.map_or_else(Default::default, |content| {
            openai::answered(content, "content", &mut turn.rest, site)
        });
        let result = ToolResult {
            call_id: word(present(value, "tool_call_id"), "tool_call_id", site),
            name: text(value.get("name")),
            is_error: text(value.get("status")).as_deref() == Some("error"),
            ..ToolResult::default()
        };
        turn.parts.extend(media::result_of(result, answered));
        return turn;
    }
    if let Some(content) = content.filter(|content| content.as_str().as_deref() != Some("")) {
        let own_text = openai::content_parts(content, "content", &mut turn.rest, site);
        turn.parts.extend(own_text);
    }
    let other = present(value, "additional_kwargs").and_then(|inside| present(inside, "tool_calls"));
    let own = present(value, "tool_calls").filter(|list| !list.is_empty());
    let mut calls = Vec::new();
    for (index, call) in own.or(other).into_iter().flat_map(Value::items).enumerate() {
        let function = present(call, "function").unwrap_or(call);
        let given = present(function, "args").or_else(|| present(function, "arguments"));
        let place = format!("tool_calls[{index}]");
        let given = arguments(given, &format!("{place}.args"), site);
        let id = word(present(call, "id"), &format!("{place}.id"), site);
        let name = text(function.get("name"));
        calls.push(ToolCall::new(id, name, given));
    }
    calls::add(&mut turn.parts, calls);
    turn
}

/// Whether the content of a message holds parts that only a framework writes.
pub(super) fn has_own_parts(message: Value<'_>) -> bool {
    message
        .get("content")
        .into_iter()
        .flat_map(Value::items)
        .any(|part| {
            matches!(
                part.get("type").and_then(Value::string).as_deref(),
                Some("tool-call" | "tool-result" | "tool_call_response" | "tool-approval-request")
            )
        })
}

/// A message whose parts are in a list.
pub(crate) fn of_parts(value: Value<'_>, field: &str, list: Value<'_>, site: &mut Site<'_>) -> Turn {
    let mut pieces = begun(value, site);
    pieces.turn.name = text(value.get("name"));
    for (index, part) in list.items().enumerate() {
        let path = format!("{field}[{index}]");
        if let Some(own_text) = text(Some(part)) {
            pieces.turn.parts.push(Part::Text(own_text));
            continue;
        }
        let kind = text(part.get("type")).unwrap_or_default();
        if !pieces.part(&path, part, &kind) {
            pieces.unknown(&path, part);
        }
    }
    pieces.invocations(value);
    pieces.attachments(value);
    let mut turn = pieces.turn;
    let known = words!(role name id toolInvocations experimental_attachments);
    turn.keep_rest(value, "", &[&known[..], &[field]].concat());
    if field == "parts" {
        let copies = UI_COPIES.map(|key| contain_text(&turn.parts, value.get(key)).then_some(key));
        turn.rest.retain(|(key, _)| !copies.contains(&Some(key)));
    }
    turn
}

/// A message with the speaker of its `role`, and its `id`.
fn begun<'p, 's>(value: Value<'_>, site: &'p mut Site<'s>) -> Pieces<'p, 's> {
    let word = text(value.get("role"));
    let mut pieces = Pieces::of(word.as_deref().and_then(roles::known_role), site);
    pieces.turn.id = text(value.get("id"));
    pieces
}

/// Fields of an AI SDK message that repeat its parts.
const UI_COPIES: [&str; 2] = ["content", "reasoning"];

/// Reads what the AI SDK gives for one request: text, thoughts and calls beside each other; none where there is neither.
pub(crate) fn result(value: Value<'_>, site: &mut Site<'_>) -> Option<Turn> {
    let mut pieces = Pieces::of(Some(Role::Assistant), site);
    let field = |keys: &[&str]| first_text(value, keys).filter(|own_text| !own_text.is_empty());
    let thought = field(&["reasoningText", "reasoning"]).map(Part::Reasoning);
    let own_text = field(&["text", "generation", "output_text"]).map(Part::Text);
    pieces.turn.parts.extend(thought.into_iter().chain(own_text));
    for (index, call) in items(value, "toolCalls").enumerate() {
        pieces.invoked(&format!("toolCalls[{index}]"), call, None);
    }
    let mut turn = pieces.turn;
    let known = words!(reasoningText reasoning text generation output_text toolCalls usage);
    turn.keep_rest(value, "", &known);
    // Each step of the request says its words, too, and the last those of the whole.
    let words = Words::of(&turn.parts);
    for step in items(value, "steps") {
        for holder in std::iter::once(step).chain(items(step, "content")) {
            words.have(holder.get("text"));
        }
    }
    (!turn.parts.is_empty()).then_some(turn)
}

/// A message of the AI SDK's user interface, version 4, without parts.
pub(crate) fn of_ui(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let mut pieces = begun(value, site);
    let thought = text(value.get("reasoning")).map(Part::Reasoning);
    pieces.turn.parts.extend(thought);
    pieces.invocations(value);
    let words = filled(value.get("content")).map(Part::Text);
    pieces.turn.parts.extend(words);
    pieces.attachments(value);
    let known = words!(role id content reasoning toolInvocations experimental_attachments);
    pieces.turn.keep_rest(value, "", &known);
    pieces.turn
}

impl Pieces<'_, '_> {
    /// Reads a part of any framework; false where it is none that is known.
    fn part(&mut self, path: &str, part: Value<'_>, kind: &str) -> bool {
        match kind {
            "text" | "reasoning" | "thinking" => {
                let field = first_present(part, &["content", "text", "thinking", "reasoning"]);
                let Some(own_text) = text(field) else { return false };
                // Details of a thought say it again, piece by piece.
                let mut again = RepeatedText::of(&own_text);
                for detail in items(part, "details").filter_map(|detail| detail.get("text")) {
                    if detail.string().is_some_and(|piece| again.holds(&piece)) {
                        detail.as_str();
                    }
                }
                let piece = if kind == "text" {
                    Part::Text
                } else {
                    Part::Reasoning
                };
                self.turn.parts.push(piece(own_text));
            }
            "tool_call" | "tool-call" | "tool_use" | "server_tool_call" => {
                let given = &["arguments", "args", "input"];
                self.call(path, part, [&["id", "toolCallId"], &["name", "toolName"], given]);
            }
            "tool_call_response" | "tool-result" | "tool_result" => {
                let (id, name) = (&["id", "toolCallId", "tool_use_id"], &["name", "toolName"]);
                let is_true = |key: &&str| part.get(key).and_then(Value::as_bool) == Some(true);
                let is_error = ["isError", "is_error"].iter().any(is_true);
                self.answer(
                    part,
                    [id, name, &["response", "result", "output", "content"]],
                    is_error,
                );
            }
            "uri" | "blob" | "file" | "image" => return self.media(part, kind),
            "tool-invocation" => match present(part, "toolInvocation") {
                Some(inside) => self.invoked(&format!("{path}.toolInvocation"), inside, None),
                None => return false,
            },
            "dynamic-tool" => self.invoked(path, part, None),
            "step-start" => {}
            "source"
            | "source-url"
            | "source-document"
            | "tool-approval-request"
            | "tool-approval-response" => self.turn.keep(path, part),
            _ if kind.starts_with("data-") => self.turn.keep(path, part),
            _ if kind.starts_with("tool-") && present(part, "toolCallId").is_some() => {
                self.invoked(path, part, kind.strip_prefix("tool-"));
            }
            "" => return self.plain(path, part),
            _ => return false,
        }
        true
    }

    /// A part of Gemini's, which its only name tells; other fields of it stay unread.
    fn plain(&mut self, path: &str, part: Value<'_>) -> bool {
        let mut turn = Turn {
            unknown_fields: UnknownFields::Unread,
            ..Turn::default()
        };
        let is_read = GEMINI.block(&mut turn, path, part, self.site);
        let is_call = |part: &Part| matches!(part, Part::ToolCall(_));
        if turn.parts.iter().any(is_call) {
            self.turn.role = self.turn.role.or(Some(Role::Assistant));
        }
        self.turn.parts.extend(turn.parts);
        self.turn.rest.extend(turn.rest);
        is_read
    }
}
