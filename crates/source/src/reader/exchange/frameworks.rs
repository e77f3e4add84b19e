//! Messages as the frameworks around models write them: `LangChain`'s, Gemini's, the AI SDK's, OpenTelemetry's.
//!
//! They differ in names alone: a list of parts, each of a type, and the role by some word.

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use super::pieces::{Words, answer, attachments, call, invocations, invoked, media, says};
use crate::reader::{
    Keep as _, SaidAgain, Site, Turn, arguments, message_object, parts, present, role_words, text, word,
};

/// Reads a message of a framework's; none where it is none.
pub(super) fn read(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Option<Turn> {
    // A constructor's envelope: the class, and what it was made of.
    if let (Some(inside), Some(class)) = (present(value, "kwargs"), present(value, "id")) {
        class.mark(Mark::Taken);
        let class = class.items().last().and_then(Value::as_str)?;
        return Some(langchain(inside, &class, site, limits));
    }
    if let Some(class) = text(value.get("type"))
        && let Some(inside) = present(value, "data").or(Some(value))
        && present(inside, "content").is_some()
        && present(value, "role").is_none()
        && role_of_class(&class).is_some()
    {
        return Some(langchain(inside, &class, site, limits));
    }
    if let Some(inner) = present(value, "content").filter(|inner| present(*inner, "parts").is_some()) {
        return read(inner, site, limits);
    }
    let list = present(value, "parts").map_or_else(
        || {
            present(value, "content")
                .filter(|list| has_own_parts(*list))
                .map(|list| ("content", list))
        },
        |list| Some(("parts", list)),
    );
    if let Some((field, list)) = list.filter(|(_, list)| list.kind() == Kind::Array) {
        return Some(of_parts(value, field, list, site, limits));
    }
    if ["toolInvocations", "experimental_attachments"]
        .iter()
        .any(|key| present(value, key).is_some())
    {
        return Some(of_ui(value, site, limits));
    }
    let is_call = present(value, "toolName").is_some() && present(value, "role").is_none();
    is_call.then(|| {
        let mut turn = Turn {
            role: Some(Role::Assistant),
            ..Turn::default()
        };
        read_part(&mut turn, "", value, "tool-call", site, limits);
        turn
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

fn langchain(value: Value<'_>, class: &str, site: &mut Site<'_>, limits: &Limits) -> Turn {
    let mut turn = Turn {
        role: role_of_class(class).or_else(|| role_words::role(class)),
        id: text(value.get("id")),
        ..Turn::default()
    };
    let known = [
        "type",
        "role",
        "id",
        "content",
        "name",
        "status",
        "tool_call_id",
        "tool_calls",
    ];
    turn.keep_rest(value, "", &known);
    let content = present(value, "content");
    if turn.role == Some(Role::Tool) {
        let (said, others) = content.map_or_else(Default::default, |content| {
            message_object::answered(content, "content", &mut turn.rest, site)
        });
        turn.parts.push(Part::ToolResult(ToolResult {
            call_id: word(present(value, "tool_call_id"), "tool_call_id", site),
            name: text(value.get("name")),
            content: said,
            is_error: text(value.get("status")).as_deref() == Some("error"),
            media: parts::media_of_answer(&others),
            ..ToolResult::default()
        }));
        turn.parts.extend(others);
        return turn;
    }
    if let Some(content) = content.filter(|content| content.as_str().as_deref() != Some("")) {
        let said = message_object::said(content, "content", &mut turn.rest, site);
        turn.parts.extend(said);
    }
    let other = present(value, "additional_kwargs").and_then(|inside| present(inside, "tool_calls"));
    let own = present(value, "tool_calls").filter(|list| !list.is_empty());
    for (index, call) in own.or(other).into_iter().flat_map(Value::items).enumerate() {
        let function = present(call, "function").unwrap_or(call);
        let given = present(function, "args").or_else(|| present(function, "arguments"));
        let place = format!("tool_calls[{index}]");
        let given = arguments(given, &format!("{place}.args"), site, limits);
        let id = word(present(call, "id"), &format!("{place}.id"), site);
        let name = text(function.get("name"));
        turn.parts.push(Part::ToolCall(ToolCall::new(id, name, given)));
    }
    turn
}

/// Whether a list holds parts that only a framework writes.
fn has_own_parts(list: Value<'_>) -> bool {
    list.items().any(|part| {
        matches!(
            text(part.get("type")).as_deref(),
            Some("tool-call" | "tool-result" | "tool_call_response" | "tool-approval-request")
        )
    })
}

/// A message whose parts are in a list.
pub(super) fn of_parts(
    value: Value<'_>,
    field: &str,
    list: Value<'_>,
    site: &mut Site<'_>,
    limits: &Limits,
) -> Turn {
    let word = text(value.get("role"));
    let mut turn = Turn {
        role: word.as_deref().and_then(role_words::role),
        name: text(value.get("name")),
        ..Turn::default()
    };
    for (index, part) in list.items().enumerate() {
        let path = format!("{field}[{index}]");
        if let Some(said) = text(Some(part)) {
            turn.parts.push(Part::Text(said));
            continue;
        }
        let kind = text(part.get("type")).unwrap_or_default();
        if !read_part(&mut turn, &path, part, &kind, site, limits) {
            turn.unknown(&path, part, site);
        }
    }
    let known = [
        "role",
        "name",
        "id",
        "toolInvocations",
        "experimental_attachments",
        field,
    ];
    turn.id = text(value.get("id"));
    invocations(&mut turn, value, site, limits);
    attachments(&mut turn, value, site);
    turn.keep_rest(value, "", &known);
    if field == "parts" {
        let copies = UI_COPIES
            .into_iter()
            .filter(|key| says(&turn.parts, value.get(key)));
        let copies: Vec<&str> = copies.collect();
        turn.rest.retain(|(key, _)| !copies.contains(&key.as_str()));
    }
    turn
}

/// Fields of a message of the AI SDK's that say again what its parts say.
const UI_COPIES: [&str; 2] = ["content", "reasoning"];

/// Reads what the AI SDK gives for one request: text, thoughts and calls beside each other; none where there is neither.
pub(super) fn result(value: Value<'_>, limits: &Limits, site: &mut Site<'_>) -> Option<Turn> {
    let mut turn = Turn {
        role: Some(Role::Assistant),
        ..Turn::default()
    };
    let field = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| text(value.get(key)))
            .filter(|said| !said.is_empty())
    };
    turn.parts
        .extend(field(&["reasoningText", "reasoning"]).map(Part::Reasoning));
    turn.parts
        .extend(field(&["text", "generation", "output_text"]).map(Part::Text));
    for (index, call) in present(value, "toolCalls")
        .into_iter()
        .flat_map(Value::items)
        .enumerate()
    {
        invoked(
            &mut turn,
            &format!("toolCalls[{index}]"),
            call,
            None,
            site,
            limits,
        );
    }
    let known = [
        "reasoningText",
        "reasoning",
        "text",
        "generation",
        "output_text",
        "toolCalls",
        "usage",
    ];
    turn.keep_rest(value, "", &known);
    // Each step of the request says its words, too, and the last those of the whole.
    let words = Words::of(&turn.parts);
    for step in present(value, "steps").into_iter().flat_map(Value::items) {
        let pieces = present(step, "content").into_iter().flat_map(Value::items);
        for holder in std::iter::once(step).chain(pieces) {
            words.say(holder.get("text"));
        }
    }
    (!turn.parts.is_empty()).then_some(turn)
}

/// A message of the AI SDK's user interface, version 4, without parts.
pub(super) fn of_ui(value: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> Turn {
    let word = text(value.get("role"));
    let mut turn = Turn {
        role: word.as_deref().and_then(role_words::role),
        id: text(value.get("id")),
        ..Turn::default()
    };
    turn.parts
        .extend(text(value.get("reasoning")).map(Part::Reasoning));
    invocations(&mut turn, value, site, limits);
    let words = text(value.get("content")).filter(|words| !words.is_empty());
    turn.parts.extend(words.map(Part::Text));
    attachments(&mut turn, value, site);
    let known = [
        "role",
        "id",
        "content",
        "reasoning",
        "toolInvocations",
        "experimental_attachments",
    ];
    turn.keep_rest(value, "", &known);
    turn
}

/// Reads a part of any framework; false where it is none that is known.
fn read_part(
    turn: &mut Turn,
    path: &str,
    part: Value<'_>,
    kind: &str,
    site: &mut Site<'_>,
    limits: &Limits,
) -> bool {
    let field = |keys: &[&str]| keys.iter().find_map(|key| present(part, key));
    match kind {
        "text" | "reasoning" | "thinking" => {
            let Some(said) =
                field(&["content", "text", "thinking", "reasoning"]).and_then(|said| text(Some(said)))
            else {
                return false;
            };
            // Details of a thought say it again, piece by piece.
            let mut again = SaidAgain::of(&said);
            for detail in present(part, "details").into_iter().flat_map(Value::items) {
                detail
                    .get("text")
                    .filter(|piece| piece.string().is_some_and(|piece| again.holds(&piece)))
                    .and_then(Value::as_str);
            }
            let is_text = kind == "text";
            turn.parts.push(if is_text {
                Part::Text(said)
            } else {
                Part::Reasoning(said)
            });
            true
        }
        "tool_call" | "tool-call" | "tool_use" | "server_tool_call" => {
            let given = field(&["arguments", "args", "input"]);
            call(
                turn,
                path,
                field(&["id", "toolCallId"]),
                field(&["name", "toolName"]),
                given,
                site,
                limits,
            );
            true
        }
        "tool_call_response" | "tool-result" | "tool_result" => {
            let result = field(&["response", "result", "output", "content"]);
            answer(
                turn,
                field(&["id", "toolCallId", "tool_use_id"]),
                field(&["name", "toolName"]),
                result,
                ["isError", "is_error"]
                    .iter()
                    .any(|key| part.get(key).and_then(Value::as_bool) == Some(true)),
            );
            true
        }
        "uri" | "blob" | "file" | "image" => media(turn, part, kind),
        "tool-invocation" => {
            let Some(inside) = present(part, "toolInvocation") else {
                return false;
            };
            invoked(
                turn,
                &format!("{path}.toolInvocation"),
                inside,
                None,
                site,
                limits,
            );
            true
        }
        "dynamic-tool" => {
            invoked(turn, path, part, None, site, limits);
            true
        }
        "step-start" => true,
        "source" | "source-url" | "source-document" | "tool-approval-request" | "tool-approval-response" => {
            turn.keep(path, part);
            true
        }
        _ if kind.starts_with("data-") => {
            turn.keep(path, part);
            true
        }
        _ if kind.starts_with("tool-") && present(part, "toolCallId").is_some() => {
            invoked(turn, path, part, kind.strip_prefix("tool-"), site, limits);
            true
        }
        "" => plain(turn, path, part, site, limits),
        _ => false,
    }
}

/// A part of Gemini's, which its only name tells.
fn plain(turn: &mut Turn, path: &str, part: Value<'_>, site: &mut Site<'_>, limits: &Limits) -> bool {
    if let Some(said) = text(part.get("text")) {
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        turn.parts.push(if is_thought {
            Part::Reasoning(said)
        } else {
            Part::Text(said)
        });
        return true;
    }
    for key in ["function_call", "functionCall"] {
        if let Some(inner) = present(part, key) {
            call(
                turn,
                path,
                present(inner, "id"),
                present(inner, "name"),
                present(inner, "args"),
                site,
                limits,
            );
            turn.role = turn.role.or(Some(Role::Assistant));
            return true;
        }
    }
    for key in ["function_response", "functionResponse"] {
        if let Some(inner) = present(part, key) {
            answer(
                turn,
                present(inner, "id"),
                present(inner, "name"),
                present(inner, "response"),
                false,
            );
            return true;
        }
    }
    false
}
