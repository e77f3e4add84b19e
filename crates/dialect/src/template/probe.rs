//! Determines how a template wants its input by rendering small conversations.

use chatmill_model::Role;

use super::engine::Engine;
use super::losses::Trims;
use super::meter::Allowance;
use super::output::answers::{PROBED_ID, Surroundings};
use super::{ArgumentStyle, TemplateDialect, plain};

/// Determines whether arguments are printed as JSON if they are an object, or only if they are text.
pub(super) fn arguments(dialect: &TemplateDialect, allowance: &mut Allowance) -> ArgumentStyle {
    let mut prints = |arguments: &str| {
        let contents = ["\"\"", "null", "\"c\""].into_iter();
        let mut messages = contents.flat_map(|content| calls(content, arguments));
        messages.any(|messages| {
            let printed = dialect.probe(&messages, allowance);
            // Neither Python's notation nor JSON inside a JSON string.
            printed.contains("probed") && !printed.contains("'probed'") && !printed.contains("\\\"probed")
        })
    };
    if !prints(r#"{"probed":"yes"}"#) && prints(r#""{\"probed\":\"yes\"}""#) {
        ArgumentStyle::String
    } else {
        ArgumentStyle::Object
    }
}

/// Whether calls are printed only if the content of their turn is null, and not if it is empty.
pub(super) fn wants_null(dialect: &TemplateDialect, allowance: &mut Allowance) -> bool {
    let given = match dialect.arguments {
        ArgumentStyle::Object => r#"{"probed":"yes"}"#,
        ArgumentStyle::String => r#""{\"probed\":\"yes\"}""#,
    };
    let mut prints = |content: &str| {
        calls(content, given).any(|messages| dialect.probe(&messages, allowance).contains("look"))
    };
    !prints("\"\"") && prints("null")
}

/// Returns conversations with a call; templates differ in the turns that they allow around a call.
fn calls(content: &str, arguments: &str) -> impl Iterator<Item = String> + use<> {
    let call = format!(
        r#"{{"id":"abcdefghi","type":"function","function":{{"name":"look","arguments":{arguments}}}}}"#
    );
    let user = r#"{"role":"user","content":"u"}"#;
    let result = r#"{"role":"tool","tool_call_id":"abcdefghi","name":"look","content":"r"}"#;
    let answer = r#"{"role":"assistant","content":"a"}"#;
    let calling = format!(r#"{{"role":"assistant","content":{content},"tool_calls":[{call}]}}"#);
    let conversations = [
        format!("[{user},{calling},{result},{answer}]"),
        format!("[{user},{calling},{result}]"),
        format!("[{user},{calling}]"),
    ];
    conversations.into_iter()
}

/// Determines the roles of texts that lose the white space at their ends.
pub(super) fn trims(dialect: &TemplateDialect, allowance: &mut Allowance) -> Trims {
    // An em space is white space that templates do not write themselves.
    let blunt = "\u{2003}probed\u{2003}";
    let mut loses = |messages: &str| {
        let printed = dialect.probe(messages, allowance);
        printed.contains("probed") && !printed.contains(blunt)
    };
    let turn = |role: &str, content: &str| format!(r#"{{"role":"{role}","content":"{content}"}}"#);
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"look","arguments":{}}}]}"#;
    let result = format!(r#"{{"role":"tool","tool_call_id":"abcdefghi","name":"look","content":"{blunt}"}}"#);
    let (user, answer) = (turn("user", "u"), turn("assistant", "a"));
    let conversations = [
        (
            Role::System,
            format!("[{},{user},{answer}]", turn("system", blunt)),
        ),
        (Role::User, format!("[{},{answer}]", turn("user", blunt))),
        (Role::Assistant, format!("[{user},{}]", turn("assistant", blunt))),
        (Role::Tool, format!("[{user},{call},{result},{answer}]")),
    ];
    let trimmed = conversations.into_iter().filter(|(_, messages)| loses(messages));
    Trims(trimmed.map(|(role, _)| role).collect())
}

/// Determines the texts that a template writes around turns of users, tools and the assistant.
pub(super) fn surroundings(
    dialect: &TemplateDialect,
    engine: &Engine,
    allowance: &mut Allowance,
) -> Surroundings {
    let arguments = match dialect.arguments {
        ArgumentStyle::Object => r#"{"at":"probed call"}"#,
        ArgumentStyle::String => r#""{\"at\":\"probed call\"}""#,
    };
    let user = r#"{"role":"user","content":"probed question"}"#;
    let answer = r#"{"role":"assistant","content":"probed answer"}"#;
    let more = r#"{"role":"assistant","content":"probed line"}"#;
    let next = r#"{"role":"user","content":"probed word"}"#;
    let content = if dialect.wants_null { "null" } else { "\"\"" };
    let call = format!(
        r#"{{"role":"assistant","content":{content},"tool_calls":[{{"id":"{PROBED_ID}","type":"function","function":{{"name":"look","arguments":{arguments}}}}}]}}"#
    );
    let result =
        format!(r#"{{"role":"tool","tool_call_id":"{PROBED_ID}","name":"look","content":"probed result"}}"#);
    let mut render = |messages: &[&str], asks| {
        let messages = plain(&format!("[{}]", messages.join(","))).unwrap_or_default();
        let printed = dialect.asked(engine, (messages, None), asks, allowance);
        printed.unwrap_or_default()
    };
    let mut found = Surroundings::default();
    found.add_prompt(Role::User, &render(&[user], true), "probed question");
    found.add_prompt(Role::Assistant, &render(&[user, answer], true), "probed answer");
    found.add_prompt(
        Role::Tool,
        &render(&[user, &call, &result], true),
        "probed result",
    );
    let (text, alone) = (
        render(&[user, answer, next], false),
        render(&[user, answer], false),
    );
    found.add_head(Role::User, &text, &alone, ["probed answer", "probed word"]);
    // Templates may print thoughts of the last turn only, so both places are probed.
    for turns in [&[user, answer, more][..], &[user, answer, more, next]] {
        let text = render(turns, false);
        found.add_head(Role::Assistant, &text, &alone, ["probed answer", "probed line"]);
    }
    let (text, alone) = (
        render(&[user, &call, &result], false),
        render(&[user, &call], false),
    );
    found.add_head(Role::Tool, &text, &alone, ["probed call", "probed result"]);
    found
}
