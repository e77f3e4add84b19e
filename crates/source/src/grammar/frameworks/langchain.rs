//! Messages of `LangChain`: the output of `dumps` and `messages_to_dict`, and plain messages. Their content consists of
//! OpenAI's and Anthropic's parts.

use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::json::push_compact;
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use crate::base::{Keep as _, Site, Turn, arguments, compact, media, present, roles, text, word, words};
use crate::grammar::openai::{self, calls, parts};
use crate::grammar::{ANTHROPIC, BlockForm, Grammar, OPENAI, Read, Sign, UsageForm, When};

/// Messages of `LangChain`.
pub(crate) static LANGCHAIN: Grammar = Grammar {
    verified: "langchain-core 1.0, 2026-11",
    signs: &[Sign::Own(is_message)],
    blocks: &[BlockForm::of(When::Has("type"), Read::Own(block))],
    usage: Some(UsageForm {
        input: &["input_tokens"],
        output: &["output_tokens"],
        thoughts: &["output_token_details.reasoning"],
        cached: &["input_token_details.cache_read"],
        written: &["input_token_details.cache_creation"],
        written_for: [
            "input_token_details.ephemeral_5m_input_tokens",
            "input_token_details.ephemeral_1h_input_tokens",
        ],
        searches: &[],
        contains_cache: true,
        total: Some("total_tokens"),
    }),
    ..Grammar::own("langchain", &["content", "type", "kwargs", "data"], turn)
};

/// Reads a block as one of OpenAI or Anthropic.
fn block(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    let mut grammars = [&OPENAI, &ANTHROPIC].into_iter();
    grammars.any(|grammar| grammar.block(turn, path, block, site))
}

/// A message without its envelope, and the name of its class.
fn opened(value: Value<'_>) -> Option<(Value<'_>, String)> {
    // A constructor's envelope: the class, and its arguments.
    if let (Some(inside), Some(class)) = (present(value, "kwargs"), present(value, "id")) {
        let class = class.items().last()?.string()?;
        return Some((inside, class.into_owned()));
    }
    let class = value.get("type").and_then(Value::string)?;
    let inside = present(value, "data").unwrap_or(value);
    let is_message = present(inside, "content").is_some() && present(value, "role").is_none();
    (is_message && role_of_class(&class).is_some()).then(|| (inside, class.into_owned()))
}

/// Whether a message is one of `LangChain`.
fn is_message(value: Value<'_>) -> bool {
    opened(value).is_some()
}

/// Reads a message; one of another form is read as OpenAI's.
fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    let Some((inside, class)) = opened(value) else {
        return OPENAI.turn(value, site);
    };
    let envelope = if present(value, "kwargs").is_some() {
        "id"
    } else {
        "type"
    };
    value.get(envelope).inspect(|class| class.mark(Mark::Taken));
    message(inside, &class, site)
}

/// The role of a class of `LangChain`, or of its short name.
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

fn message(value: Value<'_>, class: &str, site: &mut Site<'_>) -> Turn {
    let mut turn = Turn {
        role: role_of_class(class).or_else(|| roles::known_role(class)),
        id: text(value.get("id")),
        ..Turn::default()
    };
    let known = words!(type role id content name status tool_call_id tool_calls invalid_tool_calls);
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
    let beside = |key: &str| present(value, "additional_kwargs").and_then(|inside| present(inside, key));
    let thought = text(beside("reasoning_content")).filter(|thought| !thought.is_empty());
    turn.parts.extend(thought.map(Part::Reasoning));
    match content.filter(|content| content.as_str().as_deref() != Some("")) {
        Some(content) if content.kind() == Kind::Array && parts::is_parts(content) => {
            for (index, block) in content.items().enumerate() {
                let path = format!("content[{index}]");
                if !own_block(&mut turn, &path, block, site) {
                    parts::part(&mut turn, &path, block, site);
                }
            }
        }
        Some(content) => {
            let own_text = openai::content_parts(content, "content", &mut turn.rest, site);
            turn.parts.extend(own_text);
        }
        None => {}
    }
    let own = present(value, "tool_calls").filter(|list| !list.is_empty());
    let other = beside("tool_calls");
    let mut calls = Vec::new();
    for (index, one) in own.or(other).into_iter().flat_map(Value::items).enumerate() {
        calls.push(call(one, &format!("tool_calls[{index}]"), site));
    }
    // They are sent as calls, and have results: only their arguments are invalid.
    let invalid = present(value, "invalid_tool_calls")
        .into_iter()
        .flat_map(Value::items);
    for (index, one) in invalid.enumerate() {
        let place = format!("invalid_tool_calls[{index}]");
        calls.push(call(one, &place, site));
        turn.keep_rest(one, &place, &["type", "id", "name", "args"]);
    }
    calls::add(&mut turn.parts, calls);
    own.zip(other).inspect(|(own, copies)| mark_copies(*own, *copies));
    turn
}

/// Reads a thought or a call in a block of a form that only `LangChain` writes.
fn own_block(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    match text(block.get("type")).as_deref() {
        Some("reasoning") => {
            let pieces = || {
                let summary = block.get("summary").into_iter().flat_map(Value::items);
                let pieces: Vec<String> = summary.filter_map(|piece| text(piece.get("text"))).collect();
                Some(pieces.join("\n")).filter(|thought| !thought.is_empty())
            };
            let Some(thought) = text(block.get("reasoning")).or_else(pieces) else {
                return false;
            };
            turn.parts.push(Part::Reasoning(thought));
            turn.keep_rest(block, path, &["type", "reasoning", "summary"]);
        }
        Some("tool_call" | "function_call" | "invalid_tool_call" | "tool_call_chunk") => {
            turn.parts.push(Part::ToolCall(call(block, path, site)));
            let known = words!(type id call_id name args arguments);
            turn.keep_rest(block, path, &known);
        }
        _ => return false,
    }
    true
}

/// A call, with name and arguments in `function` or next to its id.
fn call(value: Value<'_>, place: &str, site: &mut Site<'_>) -> ToolCall {
    let function = present(value, "function").unwrap_or(value);
    let given = present(function, "args").or_else(|| present(function, "arguments"));
    let given = arguments(given, &format!("{place}.args"), site);
    let id = present(value, "call_id").or_else(|| present(value, "id"));
    let id = word(id, &format!("{place}.id"), site);
    ToolCall::new(id, text(function.get("name")), given)
}

/// Marks the arguments that a vendor's list of calls repeats as a JSON text.
fn mark_copies(own: Value<'_>, copies: Value<'_>) {
    let of = |call: Value<'_>| {
        present(call, "id")
            .and_then(Value::string)
            .map(std::borrow::Cow::into_owned)
    };
    let all: std::collections::HashMap<_, _> = own.items().map(|call| (of(call), call)).collect();
    for copy in copies.items() {
        let written = present(copy, "function").and_then(|function| present(function, "arguments"));
        let original = all.get(&of(copy)).and_then(|call| present(*call, "args"));
        if let Some(((original, copy), written)) = original.zip(written).zip(written.and_then(Value::string))
        {
            let mut plain = String::new();
            push_compact(&mut plain, &written);
            if plain == compact(original) {
                copy.mark(Mark::Taken);
            }
        }
    }
}
