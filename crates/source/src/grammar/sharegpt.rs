//! Turns of `ShareGPT` records: `from` and `value`, as fine-tuning files of open models have them, or `role` and `content`.
//!
//! Tools have no ids: a `function_call` is JSON text with name and arguments, or a list of such, after a thought or between tags after a
//! text, and the `observation` after it contains the results in their order.

pub(crate) mod tagged;

use std::borrow::Cow;

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{Part, RawJson, Role, ToolResult};

use crate::base::texts::{python, thoughts};
use crate::base::{Keep as _, Site, Turn, present, roles, text, text_of};
use crate::grammar::{Described, Grammar, definition, openai::calls::spelled_turn};

/// Turns of `ShareGPT`.
pub(crate) static SHAREGPT: Grammar = Grammar {
    verified: "2026-11",
    described: Some(Described {
        mark: TAGGED,
        grammar: &SHAREGPT_TAGGED,
        tools: described,
    }),
    ..Grammar::own("sharegpt", &["from", "value", "role", "content"], turn)
};

/// The grammar of records with tags around calls and results.
static SHAREGPT_TAGGED: Grammar = Grammar::own("sharegpt", SHAREGPT.fields, tagged_turn);

/// The tag in a system text that describes tools; records with it have calls and results in tags.
const TAGGED: &str = "<tools>";

/// Tags around calls and results, as Hermes writes them.
const TAGS: [&str; 2] = [CALL, RESPONSE];
const CALL: &str = "<tool_call>";
const RESPONSE: &str = "<tool_response>";

/// The text that LLaMA-Factory writes between the results of several calls.
const BETWEEN_RESULTS: &str = "\n</tool_response>\n<tool_response>\n";

/// The role for a tag.
fn role(tag: &str) -> Option<Role> {
    roles::training_role(tag).or_else(|| match &*roles::plain(tag) {
        "human" => Some(Role::User),
        "gpt" | "chatgpt" | "bot" | "model" => Some(Role::Assistant),
        _ => None,
    })
}

/// Reads a turn, or the system text.
fn turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    read(value, false, site)
}

/// Reads a turn in which calls and results may be in tags.
fn tagged_turn(value: Value<'_>, site: &mut Site<'_>) -> Turn {
    read(value, true, site)
}

fn read(value: Value<'_>, has_tags: bool, site: &mut Site<'_>) -> Turn {
    let (mut turn, limits) = (Turn::default(), site.limits);
    if value.kind() != Kind::Object {
        turn.parts.push(Part::Text(text_of(value)));
        return turn;
    }
    let (tag, field) = if value.get("role").or_else(|| value.get("content")).is_some() {
        ("role", "content")
    } else {
        ("from", "value")
    };
    turn.take_role(tag, value, site, role);
    let is_call = text(value.get(tag)).is_some_and(|tag| roles::is_call(&tag));
    match present(value, field) {
        None => {
            site.missing(field);
            // A tool's text is a result, even if it is empty.
            if turn.role == Some(Role::Tool) && !is_call {
                turn.parts.push(result(String::new()));
            }
        }
        Some(words) => {
            if words.kind() != Kind::String && !is_call {
                let text = format!("the {field} is not a string and is read as its JSON text");
                site.error(field, &text, words);
            }
            let (words, place) = (text_of(words), words);
            // Results that LLaMA-Factory joined have tags only between them; such a text is not read as a text with tags.
            let is_joined = || turn.role == Some(Role::Tool) && is_joined(&words);
            let is_tagged = if is_call {
                words.contains(CALL)
            } else {
                let has_tag = TAGS.iter().any(|tag| words.contains(tag));
                has_tags && has_tag && turn.role != Some(Role::System) && !is_joined()
            };
            match turn.role {
                Some(role) if is_tagged => {
                    let mut problems = Vec::new();
                    turn.parts
                        .extend(tagged::parts(role, &words, limits, &mut problems));
                    for problem in problems {
                        site.push(problem, format!(".{field}"), place);
                    }
                }
                _ if is_call => turn.parts.extend(spelled_turn(&words, limits.depth)),
                Some(Role::Tool) => turn.parts.extend(results(&words, limits)),
                Some(Role::Assistant) => match python::calls(&words, limits) {
                    Some(calls) => turn.parts.extend(calls.into_iter().map(Part::ToolCall)),
                    None => turn.parts.extend(text_parts(words)),
                },
                _ => turn.parts.push(Part::Text(words)),
            }
        }
    }
    // A known tag is the format's own word and contains no information about the archive.
    if turn.role.is_some() {
        turn.word = None;
    }
    turn.keep_rest(value, "", &[tag, field]);
    turn
}

/// Whether a text is several results in the way LLaMA-Factory joins them.
fn is_joined(words: &str) -> bool {
    words
        .split_once(BETWEEN_RESULTS)
        .is_some_and(|(first, _)| !first.contains(RESPONSE))
}

fn result(content: String) -> Part {
    Part::ToolResult(ToolResult {
        content,
        ..ToolResult::default()
    })
}

/// The results of tools: a list in which each result names its tool or its call, else texts between tags, else one result.
fn results(words: &str, limits: &Limits) -> Vec<Part> {
    let listed = json::scan(words.as_bytes(), limits.depth)
        .ok()
        .and_then(|document| {
            let list = document.root();
            let results: Option<Vec<Part>> = list.items().map(named).collect();
            results.filter(|results| list.kind() == Kind::Array && !results.is_empty())
        });
    listed.unwrap_or_else(|| {
        let single = words.split(BETWEEN_RESULTS).map(str::to_owned);
        single.map(result).collect()
    })
}

/// A result in such a list.
fn named(value: Value<'_>) -> Option<Part> {
    let own = ["content", "results", "result", "response", "output"];
    let content = own.iter().find_map(|key| value.get(key))?;
    let known = ["name", "tool_call_id", "role", "type"];
    let is_result = |(key, _): (Cow<'_, str>, _)| known.contains(&&*key) || own.contains(&&*key);
    let (name, call_id) = (text(value.get("name")), text(value.get("tool_call_id")));
    let is_named = name.is_some() || call_id.is_some();
    (is_named && value.fields().all(is_result)).then(|| {
        Part::ToolResult(ToolResult {
            call_id,
            name,
            content: text_of(content),
            ..ToolResult::default()
        })
    })
}

/// The tools that a system text describes: between `<tools>` and `</tools>`, or as a list of objects with a name and parameters.
fn described(described_text: &str, limits: &Limits) -> Vec<RawJson> {
    let tagged = described_text
        .split("<tools>")
        .skip(1)
        .filter_map(|after| after.split_once("</tools>"));
    let mut lists = tagged.map(|(inside, _)| inside.trim()).filter_map(|inside| {
        let lines = inside
            .split('\n')
            .map(|line| python::json_of(line.trim(), limits))
            .collect::<Option<Vec<_>>>();
        python::json_of(inside, limits).map(|list| vec![list]).or(lines)
    });
    let found = lists.next().or_else(|| {
        let list = python::value_at(described_text.get(described_text.find("[{")?..)?)?;
        Some(vec![python::json_of(list, limits)?])
    });
    let texts = found.unwrap_or_default();
    let documents = texts
        .iter()
        .filter_map(|text| json::scan(text.as_bytes(), limits.depth).ok());
    let tools = documents.flat_map(|document| match document.root() {
        list if list.kind() == Kind::Array => list.items().filter(is_tool).map(definition).collect(),
        tool => vec![tool]
            .into_iter()
            .filter(is_tool)
            .map(definition)
            .collect::<Vec<_>>(),
    });
    tools.collect()
}

fn is_tool(tool: &Value<'_>) -> bool {
    let inside = present(*tool, "function").unwrap_or(*tool);
    present(inside, "name").is_some() && present(inside, "parameters").is_some()
}

/// The assistant's text, and the reasoning before it.
fn text_parts(words: String) -> Vec<Part> {
    let Some((thought, turn)) = thoughts::divided(&words) else {
        return vec![Part::Text(words)];
    };
    let mut parts = vec![Part::Reasoning(thoughts::thought(thought))];
    if !turn.is_empty() {
        parts.push(Part::Text(turn.to_owned()));
    }
    parts
}
