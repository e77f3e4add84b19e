//! Messages of `LangChain`: what `dumps` and `messages_to_dict` write, and messages as they are. Their content is in parts of
//! OpenAI's and of Anthropic's.

use chatmill_intake::json::{Mark, Value};
use chatmill_model::{Role, ToolCall, ToolResult};

use crate::base::{Keep as _, Site, Turn, arguments, media, present, roles, text, word, words};
use crate::grammar::openai::{self, calls};
use crate::grammar::{ANTHROPIC, BlockForm, Grammar, OPENAI, Read, Sign, UsageForm, When};

/// Messages of `LangChain`.
pub(crate) static LANGCHAIN: Grammar = Grammar {
    signs: &[Sign::Own(is_message)],
    blocks: &[BlockForm::of(When::Has("type"), Read::Own(block))],
    usage: Some(UsageForm {
        input: &["input_tokens"],
        output: &["output_tokens"],
        thoughts: &["output_token_details.reasoning"],
        cached: &["input_token_details.cache_read"],
        written: &["input_token_details.cache_creation"],
        contains_cache: true,
        total: Some("total_tokens"),
    }),
    ..Grammar::own("langchain", &["content", "type", "kwargs", "data"], turn)
};

/// Reads a block as OpenAI's or Anthropic's.
fn block(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    let mut grammars = [&OPENAI, &ANTHROPIC].into_iter();
    grammars.any(|grammar| grammar.block(turn, path, block, site))
}

/// A message without its envelope, and the word for its class.
fn opened(value: Value<'_>) -> Option<(Value<'_>, String)> {
    // A constructor's envelope: the class, and what it was made of.
    if let (Some(inside), Some(class)) = (present(value, "kwargs"), present(value, "id")) {
        let class = class.items().last()?.string()?;
        return Some((inside, class.into_owned()));
    }
    let class = value.get("type").and_then(Value::string)?;
    let inside = present(value, "data").unwrap_or(value);
    let is_message = present(inside, "content").is_some() && present(value, "role").is_none();
    (is_message && role_of_class(&class).is_some()).then(|| (inside, class.into_owned()))
}

/// Whether a message is one of `LangChain`'s.
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

fn message(value: Value<'_>, class: &str, site: &mut Site<'_>) -> Turn {
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
