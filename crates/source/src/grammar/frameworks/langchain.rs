//! Messages of `LangChain`: the output of `dumps` and `messages_to_dict`, and plain messages. Their content consists of
//! OpenAI's and Anthropic's parts.

use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::json::push_compact;
use chatmill_model::{
    ArgumentForm, Arguments, Media, MediaKind, MediaSource, Part, Role, ToolCall, ToolResult,
};

use super::contain_text;
use crate::base::texts::thoughts::{fresh, in_parts};
use crate::base::{
    Keep as _, Site, Turn, arguments, compact, first_present, first_text, items, media, present, roles, text,
    word, words,
};
use crate::grammar::openai::{self, calls, parts};
use crate::grammar::{ANTHROPIC, BlockForm, Grammar, OPENAI, Read, Sign, UsageForm, When, responses, typed};

/// Messages of `LangChain`.
pub(crate) static LANGCHAIN: Grammar = Grammar {
    verified: "langchain-core 1.0, 2026-11",
    signs: &[Sign::Own(is_message)],
    blocks: &[
        typed("reasoning", Read::Own(reasoning)),
        typed("reasoning_content", Read::Own(reasoning)),
        BlockForm::of(When::OneOf(&CALLS), Read::Own(call_block)),
        typed("server_tool_result", Read::Own(server_result)),
        typed("text-plain", Read::Media(MediaKind::File, document)),
        BlockForm::of(When::OneOf(&MEDIA), Read::Media(MediaKind::File, medium)),
        typed("non_standard", Read::Own(wrapped)),
        BlockForm::of(When::Has("type"), Read::Own(block)),
        BlockForm::of(When::Has("type"), Read::Own(responses::hosted_block)),
    ],
    usage: Some(UsageForm {
        input: &["input_tokens"],
        output: &["output_tokens"],
        thoughts: &["output_token_details.reasoning"],
        cached: &["input_token_details.cache_read"],
        written: &["input_token_details.cache_creation"],
        written_for: [
            &["input_token_details.ephemeral_5m_input_tokens"],
            &["input_token_details.ephemeral_1h_input_tokens"],
        ],
        total: Some("total_tokens"),
        ..UsageForm::NOTHING
    }),
    ..Grammar::own("langchain", &["content", "type", "kwargs", "data"], turn)
};

/// Blocks of calls.
const CALLS: [&str; 6] = words!(
    tool_call function_call invalid_tool_call tool_call_chunk server_tool_call custom_tool_call
);

/// Blocks of media.
const MEDIA: [&str; 4] = words!(image audio video file);

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
    match content.filter(|content| content.as_str().as_deref() != Some("")) {
        Some(content) if content.kind() == Kind::Array && parts::is_parts(content) => {
            for (index, block) in content.items().enumerate() {
                let path = format!("content[{index}]");
                if !LANGCHAIN.block(&mut turn, &path, block, site) {
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
    additional(&mut turn, value);
    calls_of(&mut turn, value, site);
    turn
}

/// A field of `additional_kwargs`, in which the client of a vendor puts what the message has no field for.
fn of_client<'d>(message: Value<'d>, key: &str) -> Option<Value<'d>> {
    present(message, "additional_kwargs").and_then(|inside| present(inside, key))
}

/// Reads the thoughts, the refusal and the transcript that are there, unless the content has them.
fn additional(turn: &mut Turn, message: Value<'_>) {
    let given = ["reasoning_content", "reasoning"].map(|key| of_client(message, key));
    for given in given.into_iter().flatten() {
        let thoughts = fresh(in_parts(&turn.parts), thoughts(given));
        turn.parts.splice(..0, thoughts.into_iter().map(Part::Reasoning));
    }
    let transcript = of_client(message, "audio").and_then(|audio| present(audio, "transcript"));
    for words in [of_client(message, "refusal"), transcript].into_iter().flatten() {
        if !contain_text(&turn.parts, Some(words)) {
            turn.parts.extend(text(Some(words)).map(Part::Text));
        }
    }
}

/// Reads the calls next to the content. The client of a vendor repeats them; without the original, the repetition is read.
fn calls_of(turn: &mut Turn, message: Value<'_>, site: &mut Site<'_>) {
    let own = present(message, "tool_calls").filter(|list| !list.is_empty());
    let other = of_client(message, "tool_calls");
    let mut calls = Vec::new();
    for (index, one) in own.or(other).into_iter().flat_map(Value::items).enumerate() {
        calls.push(call(one, &format!("tool_calls[{index}]"), site));
    }
    // They are sent as calls, and have results: only their arguments are invalid.
    for (index, one) in items(message, "invalid_tool_calls").enumerate() {
        let place = format!("invalid_tool_calls[{index}]");
        calls.push(call(one, &place, site));
        turn.keep_rest(one, &place, &["type", "id", "name", "args"]);
    }
    let has_calls = !calls.is_empty() || turn.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let deprecated = of_client(message, "function_call").filter(|_| !has_calls);
    calls.extend(deprecated.map(|one| call(one, "additional_kwargs.function_call", site)));
    calls::add(&mut turn.parts, calls);
    own.zip(other).inspect(|(own, copies)| mark_copies(*own, *copies));
}

/// Thoughts: a text, the text inside an object, and pieces, which are lines of one thought. Empty ones are none.
fn thoughts(value: Value<'_>) -> Vec<String> {
    let inside = present(value, "reasoning_content");
    let own = text(Some(value)).or_else(|| first_text(value, &["reasoning", "text"]));
    let own = own.or_else(|| text(inside).or_else(|| first_text(inside?, &["text"])));
    let pieces = items(value, "summary").chain(items(value, "content"));
    let lines: Vec<String> = pieces.filter_map(|piece| text(piece.get("text"))).collect();
    let mut all: Vec<String> = own.into_iter().collect();
    all.extend(fresh(all.iter().map(String::as_str), vec![lines.join("\n")]));
    all.retain(|thought| !thought.is_empty());
    all
}

/// Reads a block with thoughts.
fn reasoning(turn: &mut Turn, path: &str, block: Value<'_>, _: &mut Site<'_>) -> bool {
    let thoughts = thoughts(block);
    if thoughts.is_empty() {
        return false;
    }
    turn.parts.extend(thoughts.into_iter().map(Part::Reasoning));
    let known = words!(type reasoning text reasoning_content summary content);
    turn.keep_rest(block, path, &known);
    if let Some(inside) = present(block, "reasoning_content") {
        turn.keep_rest(inside, &format!("{path}.reasoning_content"), &["text"]);
    }
    true
}

/// Reads a block with a call.
fn call_block(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    turn.parts.push(Part::ToolCall(call(block, path, site)));
    let known = words!(type id call_id name args arguments input);
    turn.keep_rest(block, path, &known);
    true
}

/// Reads what a tool at the vendor gave.
fn server_result(turn: &mut Turn, path: &str, block: Value<'_>, site: &mut Site<'_>) -> bool {
    let result = ToolResult {
        call_id: word(
            present(block, "tool_call_id"),
            &format!("{path}.tool_call_id"),
            site,
        ),
        is_error: text(block.get("status")).as_deref() == Some("error"),
        ..ToolResult::default()
    };
    let output = present(block, "output").map_or_else(Default::default, media::ResultText::of_value);
    turn.parts.extend(media::result_of(result, (output, Vec::new())));
    let known = words!(type id tool_call_id status output);
    turn.keep_rest(block, path, &known);
    true
}

/// Reads a document of text; one without a text is a file.
fn document(turn: &mut Turn, path: &str, block: Value<'_>, kind: MediaKind, site: &mut Site<'_>) -> bool {
    let Some(words) = text(block.get("text")) else {
        return medium(turn, path, block, kind, site);
    };
    turn.parts.push(Part::Media(Media {
        kind,
        source: MediaSource::Text(words),
        media_type: text(block.get("mime_type")),
        name: text(block.get("title")),
    }));
    turn.keep_rest(block, path, &["type", "id", "text", "mime_type", "title"]);
    true
}

/// Reads a file by its bytes, its address or the id of its upload.
fn medium(turn: &mut Turn, path: &str, block: Value<'_>, _: MediaKind, site: &mut Site<'_>) -> bool {
    let is_read = super::media(turn, path, block, site);
    if is_read {
        let known = words!(type id base64 data url file_id mime_type source_type filename index);
        turn.keep_rest(block, path, &known);
    }
    is_read
}

/// Reads a vendor's block inside a block of no standard.
fn wrapped(turn: &mut Turn, path: &str, outer: Value<'_>, site: &mut Site<'_>) -> bool {
    let inside = present(outer, "value").filter(|inside| inside.get("type").is_some());
    inside.is_some_and(|inside| block(turn, &format!("{path}.value"), inside, site))
}

/// A call, with name and arguments in `function` or next to its id.
fn call(value: Value<'_>, place: &str, site: &mut Site<'_>) -> ToolCall {
    let function = present(value, "function").unwrap_or(value);
    let given = first_present(function, &["args", "arguments"]);
    let given = match text(function.get("input")).filter(|_| given.is_none()) {
        Some(input) => (Arguments::Malformed(input), ArgumentForm::FreeText),
        None => arguments(given, &format!("{place}.args"), site),
    };
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
