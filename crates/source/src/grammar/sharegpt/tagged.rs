//! One turn of a transcript: the line of the role, and the text with its tags.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{Part, Role, ToolCall, ToolResult};

use crate::base::texts::{escapes, python, thoughts};
use crate::base::{roles, text, text_of, texts::escapes::is_tag};
use crate::grammar::openai::calls::spelled_call;

const CALL: [&str; 2] = ["<tool_call>", "</tool_call>"];
const RESPONSE: [&str; 2] = ["<tool_response>", "</tool_response>"];

/// The names of the tags around calls and results.
const TOOLS: [&str; 2] = ["tool_call", "tool_response"];

/// The speaker, as stated in the line of the role.
#[derive(Debug, Default)]
pub(crate) struct Speaker {
    /// The role; an unknown speaker is a user.
    pub role: Option<Role>,
    /// The word for the role, if it is not that of the model.
    pub word: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The rest of the line.
    pub rest: Option<String>,
}

/// Reads the line of the role: a word, and maybe `name=…`.
pub(crate) fn speaker(line: &str, problems: &mut Vec<Finding>) -> Speaker {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut speaker = Speaker {
        role: roles::api_role(word),
        ..Speaker::default()
    };
    if speaker.role.is_none() {
        let text = "the role is none of the known words: the turn is read as a user's";
        let finding = Finding::new(&codes::WRONG_TYPE, text);
        problems.push(finding.quoting(word));
    }
    let plain = speaker.role.unwrap_or(Role::User).as_str();
    speaker.word = (word != plain).then(|| word.to_owned());
    let rest = rest.trim_start();
    match rest.strip_prefix("name=") {
        Some(name) => speaker.name = Some(unquoted(name)).filter(|name| !name.is_empty()),
        None if rest.is_empty() => {}
        None => {
            let text = "the line of the role holds more than a role and a name: it is read as text";
            problems.push(Finding::new(&codes::BEARABLE_TYPE, text));
            speaker.rest = Some(unescaped(rest));
        }
    }
    speaker
}

/// A name without the quotes around it.
fn unquoted(name: &str) -> String {
    let plain = || {
        let inside = name
            .strip_prefix(['"', '\''])
            .and_then(|name| name.strip_suffix(['"', '\'']));
        unescaped(inside.unwrap_or(name))
    };
    let document = json::scan(name.as_bytes(), 0).ok();
    document
        .and_then(|document| text(Some(document.root())))
        .unwrap_or_else(plain)
}

/// A text with its escaped control tokens restored.
fn unescaped(text: &str) -> String {
    escapes::unescaped(text, is_token)
}

/// A text with its escaped control tokens, and tags around calls and results, restored.
fn without_tools(text: &str) -> String {
    escapes::unescaped(text, |text| is_token(text) || is_tag(text, &TOOLS))
}

/// A text with its escaped control tokens and all tags restored.
fn without_tags(text: &str) -> String {
    let names = ["think", TOOLS[0], TOOLS[1]];
    escapes::unescaped(text, |text| is_token(text) || is_tag(text, &names))
}

/// Whether a text continues like a control token after its `<`: a bar, a word of at most 40 characters, a bar and
/// `>`.
fn is_token(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('|') else {
        return false;
    };
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = inside.bytes().take(41).take_while(is_sign).count();
    (1..=40).contains(&length) && inside.get(length..).is_some_and(|rest| rest.starts_with("|>"))
}

/// The parts of a turn.
pub(crate) fn parts(role: Role, body: &str, limits: &Limits, problems: &mut Vec<Finding>) -> Vec<Part> {
    match role {
        Role::System => text_part(unescaped(body)),
        Role::Assistant => assistant(body, limits, problems),
        Role::Tool => answers(body, limits).unwrap_or_else(|| vec![answer(body, limits)]),
        Role::User => answers(body, limits).unwrap_or_else(|| text_part(without_tags(body))),
    }
}

fn text_part(text: String) -> Vec<Part> {
    if text.is_empty() {
        return Vec::new();
    }
    vec![Part::Text(text)]
}

fn assistant(body: &str, limits: &Limits, problems: &mut Vec<Finding>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = body;
    if let Some((thought, rest_of_text)) = thoughts::divided(rest) {
        parts.push(Part::Reasoning(without_tags(thought)));
        rest = rest_of_text;
    }
    let mut pending = String::new();
    while let Some((before, inside, after)) = tagged(rest, CALL) {
        pending.push_str(before);
        if let Some(calls) = calls(inside, limits) {
            let text = pending.trim_end_matches('\n');
            parts.extend(text_part(without_tools(text)));
            pending.clear();
            parts.extend(calls.into_iter().map(Part::ToolCall));
            rest = after.trim_start_matches('\n');
        } else {
            let text = "the text between <tool_call> and </tool_call> is not a call and stays text";
            problems.push(Finding::new(&codes::UNKNOWN_MESSAGE_TYPE, text));
            let length = rest.len() - after.len() - before.len();
            pending.push_str(rest.get(before.len()..before.len() + length).unwrap_or_default());
            rest = after;
        }
    }
    if rest.contains(CALL[0]) {
        let text = "a call begins and does not end: it stays text";
        problems.push(Finding::new(&codes::UNFINISHED_STREAM, text));
    }
    pending.push_str(rest);
    parts.extend(text_part(without_tools(&pending)));
    parts
}

/// The text before, between and after a pair of tags.
fn tagged<'t>(text: &'t str, [open, close]: [&str; 2]) -> Option<(&'t str, &'t str, &'t str)> {
    let (before, rest) = text.split_once(open)?;
    let (inside, after) = rest.split_once(close)?;
    Some((before, inside, after))
}

/// The call between two tags, or the list of calls.
fn calls(inside: &str, limits: &Limits) -> Option<Vec<ToolCall>> {
    let written = python::json_of(&unescaped(inside.trim()), limits)?;
    let document = json::scan(written.as_bytes(), limits.depth).ok()?;
    let called = |value| spelled_call(value, limits.depth);
    match document.root() {
        list if list.kind() == Kind::Array && !list.is_empty() => list.items().map(called).collect(),
        call => called(call).map(|call| vec![call]),
    }
}

/// The results of a turn that contains nothing else.
fn answers(body: &str, limits: &Limits) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some((before, inside, after)) = tagged(rest, RESPONSE) {
        if !before.trim().is_empty() {
            return None;
        }
        parts.push(answer(thoughts::unframed(inside), limits));
        rest = after;
    }
    (!parts.is_empty() && rest.trim().is_empty()).then_some(parts)
}

/// A result: text, or an object with the name of its tool and the content.
fn answer(body: &str, limits: &Limits) -> Part {
    let written = without_tags(body);
    let named = json::scan(written.as_bytes(), limits.depth)
        .ok()
        .and_then(|document| named(document.root()));
    Part::ToolResult(named.unwrap_or(ToolResult {
        content: written,
        ..ToolResult::default()
    }))
}

fn named(value: Value<'_>) -> Option<ToolResult> {
    let keys = ["name", "content", "tool_call_id"];
    if value.kind() != Kind::Object || value.fields().any(|(key, _)| !keys.contains(&&*key)) {
        return None;
    }
    let name = text(value.get("name"))?;
    Some(ToolResult {
        call_id: text(value.get("tool_call_id")).filter(|id| !id.is_empty()),
        name: Some(name).filter(|name| !name.is_empty()),
        content: text_of(value.get("content")?),
        ..ToolResult::default()
    })
}
