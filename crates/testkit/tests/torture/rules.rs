//! What each vendor refuses, over turns of one kind.

use serde_json::Value;

use super::read::{Arguments, Piece, Role, Turn, blocks, contents, items, list};

/// Where results stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    /// Each in a turn of its own, directly behind the turn that called.
    Turns,
    /// All at the head of the next user turn.
    UserTurn,
    /// All in one turn of nothing else.
    OneTurn,
    /// Behind an open call, with anything between.
    Anywhere,
}

/// Who may follow whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Anybody.
    Free,
    /// A user comes first.
    UserFirst,
    /// A user comes first, and no two in a row are alike.
    Alternating,
}

/// What a vendor wants.
struct Wanted {
    results: Results,
    arguments: Option<Arguments>,
    /// Longest name of a tool in the narrow charset; none: anything.
    tool_name: Option<usize>,
    /// Which ids are refused.
    refuses_id: fn(&str) -> bool,
    /// Who may follow whom.
    order: Order,
    /// Blank texts are refused.
    no_blanks: bool,
    /// System text stands at the start only.
    system_first: bool,
    /// Only users show media.
    media_of_users: bool,
}

const ANYTHING: Wanted = Wanted {
    results: Results::Turns,
    arguments: Some(Arguments::Text),
    tool_name: None,
    refuses_id: str::is_empty,
    order: Order::Free,
    no_blanks: false,
    system_first: false,
    media_of_users: true,
};

fn is_word(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_no_nine(id: &str) -> bool {
    id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_blank(text: &str) -> bool {
    text.trim_matches('\u{feff}')
        .trim()
        .trim_matches('\u{feff}')
        .is_empty()
}

/// What is wrong with a rendering; nothing when it is valid.
pub(crate) fn faults(dialect: &str, text: &str) -> Vec<String> {
    match dialect {
        "chatml" => return chatml(text),
        "gryag-compact" => return wrong(!text.ends_with("[RESPOND]"), "end mark"),
        "jaibber-context" => {
            return wrong(
                !text.starts_with("Respond ONLY to the final user message."),
                "sentence",
            );
        }
        _ => {}
    }
    let value: Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{dialect}: {error} in {text}"));
    let mut faults = Vec::new();
    let turns = match dialect {
        "openai-chat" => {
            let turns = list(
                &value["messages"],
                &["role", "name", "content", "tool_calls", "tool_call_id"],
            );
            let wanted = Wanted {
                tool_name: Some(64),
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            for turn in &turns {
                let is_misnamed = turn.name.as_deref().is_some_and(|name| !is_word(name, 64));
                if is_misnamed || turn.role == Role::Tool && turn.name.is_some() {
                    faults.push("name".to_owned());
                }
            }
            turns
        }
        "hf-messages" => {
            let turns = list(
                &value["messages"],
                &["role", "name", "content", "tool_calls", "tool_call_id"],
            );
            let wanted = Wanted {
                arguments: None,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            turns
        }
        "mistral-chat" => {
            let turns = list(
                &value["messages"],
                &["role", "name", "content", "tool_calls", "tool_call_id"],
            );
            let is_late = turns
                .iter()
                .flat_map(|turn| &turn.pieces)
                .any(|piece| match piece {
                    Piece::Call(id, ..) => is_no_nine(id),
                    _ => false,
                });
            let wanted = Wanted {
                tool_name: Some(64),
                // Only the newest version takes other ids.
                refuses_id: if is_late {
                    |id| id.is_empty() || id == "null"
                } else {
                    is_no_nine
                },
                order: Order::UserFirst,
                system_first: true,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            turns
        }
        "suna-llm" | "suna-list" | "suna-cached" => {
            let turns = list(
                &value,
                &[
                    "role",
                    "name",
                    "content",
                    "tool_calls",
                    "tool_call_id",
                    "message_id",
                ],
            );
            check(&turns, &ANYTHING, &mut faults);
            turns
        }
        "suna-bedrock" => {
            let turns = list(
                &value,
                &[
                    "role",
                    "name",
                    "content",
                    "tool_calls",
                    "tool_call_id",
                    "message_id",
                ],
            );
            let wanted = Wanted {
                results: Results::Anywhere,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            turns
        }
        "openai-responses" => {
            let turns = items(&value["input"]);
            let wanted = Wanted {
                tool_name: Some(64),
                refuses_id: |id| id.is_empty() || id.chars().count() > 64,
                ..ANYTHING
            };
            check(&joined(&turns), &wanted, &mut faults);
            turns
        }
        "anthropic-messages" => {
            let turns = blocks(&value["messages"]);
            let wanted = Wanted {
                results: Results::UserTurn,
                arguments: Some(Arguments::Object),
                tool_name: Some(128),
                refuses_id: |id| !is_word(id, 1000),
                order: Order::Alternating,
                no_blanks: true,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            if let Some(turn) = turns.last()
                && turn.role == Role::Model
                && let Some(Piece::Text(text)) = turn.pieces.last()
                && text.ends_with(char::is_whitespace)
            {
                faults.push("white space at the end".to_owned());
            }
            turns
        }
        "bedrock-converse" => {
            let turns = blocks(&value["messages"]);
            let wanted = Wanted {
                results: Results::UserTurn,
                arguments: Some(Arguments::Object),
                tool_name: Some(64),
                refuses_id: |id| !is_word(id, 64),
                order: Order::Alternating,
                no_blanks: true,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            let uses_tools = turns
                .iter()
                .flat_map(|turn| &turn.pieces)
                .any(|piece| matches!(piece, Piece::Call(..) | Piece::Result(..)));
            if uses_tools && value["toolConfig"]["tools"][0].is_null() {
                faults.push("no tool configuration".to_owned());
            }
            turns
        }
        "gemini-contents" => {
            let turns = contents(&value["contents"]);
            let wanted = Wanted {
                results: Results::OneTurn,
                arguments: Some(Arguments::Object),
                tool_name: Some(128),
                order: Order::UserFirst,
                no_blanks: true,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            for pair in turns.windows(2) {
                let calls = pair[1]
                    .pieces
                    .iter()
                    .any(|piece| matches!(piece, Piece::Call(..)));
                if calls && pair[0].role != Role::User {
                    faults.push("calls behind a turn of the model".to_owned());
                }
            }
            turns
        }
        "gryag-gemini" => {
            let turns = contents(&value);
            let wanted = Wanted {
                arguments: Some(Arguments::Object),
                media_of_users: false,
                ..ANYTHING
            };
            check(&turns, &wanted, &mut faults);
            return faults;
        }
        "sharegpt" => return sharegpt(&value),
        "tzurot" => return tzurot(&value),
        "suna-rows" => return rows(&value),
        "group-chat" => return group_chat(&value),
        "jaibber-events" => return events(&value),
        other => panic!("nobody judges {other}"),
    };
    let is_silent = turns.iter().all(|turn| turn.role == Role::System);
    let may_be_system_only = !matches!(
        dialect,
        "anthropic-messages" | "bedrock-converse" | "gemini-contents" | "mistral-chat" | "suna-cached"
    );
    if turns.is_empty() || is_silent && !may_be_system_only {
        faults.push("nothing is said".to_owned());
    }
    faults
}

fn wrong(is_wrong: bool, what: &str) -> Vec<String> {
    if is_wrong {
        vec![what.to_owned()]
    } else {
        Vec::new()
    }
}

/// Runs of items as turns: calls are one turn of the model.
fn joined(turns: &[Turn]) -> Vec<Turn> {
    let mut joined: Vec<Turn> = Vec::new();
    for turn in turns {
        let is_call = |turn: &Turn| matches!(turn.pieces.first(), Some(Piece::Call(..)));
        match joined.last_mut() {
            Some(last) if is_call(last) && is_call(turn) => last.pieces.extend(turn.pieces.iter().cloned()),
            _ => joined.push(turn.clone()),
        }
    }
    joined
}

/// Pairs calls with results, and looks at every turn.
fn check(turns: &[Turn], wanted: &Wanted, faults: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    let mut before: Option<Role> = None;
    for (index, turn) in turns.iter().enumerate() {
        let mut fault = |what: &str| faults.push(format!("turn {index}: {what}"));
        if !turn.unknown.is_empty() {
            fault("unknown keys");
        }
        let is_first = turns.iter().take(index).all(|turn| turn.role == Role::System);
        if wanted.order != Order::Free && is_first && turn.role == Role::Model {
            fault("the model speaks first");
        }
        if wanted.order == Order::Alternating && before == Some(turn.role) {
            fault("two in a row");
        }
        if wanted.system_first && turn.role == Role::System && !is_first {
            fault("late system text");
        }
        if turn.pieces.is_empty() {
            fault("empty");
        }
        let answers = turn.pieces.iter().any(|piece| matches!(piece, Piece::Result(..)));
        if wanted.results != Results::Anywhere && !open.is_empty() && !answers {
            fault("somebody speaks before the result");
            open.clear();
        }
        let mut has_spoken = false;
        for piece in &turn.pieces {
            match piece {
                Piece::Text(text) => {
                    has_spoken = true;
                    if wanted.no_blanks && is_blank(text) {
                        fault("blank text");
                    }
                }
                Piece::Media => {
                    has_spoken = true;
                    if wanted.media_of_users && turn.role != Role::User {
                        fault("a medium that is not a user's");
                    }
                }
                Piece::Call(id, name, form) => {
                    let is_named =
                        !name.is_empty() && wanted.tool_name.is_none_or(|most| is_word(name, most));
                    if turn.role != Role::Model || !is_named || (wanted.refuses_id)(id) {
                        fault("a call that nobody takes");
                    }
                    if wanted.arguments.is_some_and(|wanted| wanted != *form) {
                        fault("arguments in another form");
                    }
                    open.push(id);
                }
                Piece::Result(id, _) => {
                    match open.iter().position(|open| *open == id.as_str()) {
                        Some(call) => {
                            open.remove(call);
                        }
                        None => fault("a result without a call"),
                    }
                    if has_spoken || wanted.results == Results::UserTurn && turn.role != Role::User {
                        fault("a result behind words");
                    }
                }
            }
        }
        if answers && wanted.results == Results::OneTurn && turn.pieces.len() > 1 && has_spoken {
            fault("results among words");
        }
        if answers && matches!(wanted.results, Results::UserTurn | Results::OneTurn) && !open.is_empty() {
            fault("calls without a result");
            open.clear();
        }
        before = Some(turn.role);
    }
    if wanted.results != Results::Anywhere && !open.is_empty() {
        faults.push("calls without a result at the end".to_owned());
    }
}

fn sharegpt(record: &Value) -> Vec<String> {
    let turns = record["conversations"].as_array().unwrap();
    let words: Vec<&str> = turns.iter().map(|turn| turn["from"].as_str().unwrap()).collect();
    let mut faults = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let is_asking = matches!(*word, "human" | "observation");
        let follows_call = index > 0 && words[index - 1] == "function_call";
        if is_asking != (index % 2 == 0) || follows_call != (*word == "observation") {
            faults.push(format!("turn {index}: {word} out of place"));
        }
    }
    if words.last() != Some(&"gpt") {
        faults.push("the assistant does not have the last word".to_owned());
    }
    faults
}

fn tzurot(request: &Value) -> Vec<String> {
    let [message] = request.as_array().unwrap().as_slice() else {
        return wrong(true, "a request is one message");
    };
    let content = &message["content"];
    // The last release passes lists through as they came; the document's own has text first.
    let is_part = |part: &Value| {
        ["text", "image_url", "audio_url"]
            .iter()
            .any(|kind| part["type"] == **kind)
    };
    let is_list = content
        .as_array()
        .is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_part));
    wrong(
        message["role"] != "user" || !(content.is_string() || is_list),
        "no request",
    )
}

fn rows(rows: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for row in rows.as_array().unwrap() {
        let content = row["content"].as_str().unwrap_or_default();
        let message: Value = serde_json::from_str(content).unwrap_or_default();
        let is_whole =
            row["message_id"].is_string() && row["type"].is_string() && row["is_llm_message"] == true;
        if !is_whole || message["role"] != row["type"] {
            faults.push(format!("no row: {row}"));
        }
    }
    faults
}

/// What both validators of the format ask: the public one, and the importer's but for times, which a source may lack.
fn group_chat(chat: &Value) -> Vec<String> {
    let people = &chat["conversation_meta"]["user_details"];
    let has_head = chat["version"].is_string() && !chat["conversation_meta"]["name"].is_null();
    let mut faults = wrong(!has_head || !people.is_object(), "head");
    let is_known = |id: &Value| id.as_str().is_some_and(|id| people.get(id).is_some());
    for message in chat["conversation_list"].as_array().unwrap() {
        let is_whole = message["message_id"].is_string()
            && message["type"].is_string()
            && message.get("content").is_some()
            && is_known(&message["sender"])
            && matches!(
                message["role"].as_str(),
                None | Some("user" | "assistant" | "tool")
            );
        let may_stand = |reference: &Value| {
            let has_id = reference.get("message_id").is_some();
            reference.is_string() || has_id && reference.get("sender").is_none_or(is_known)
        };
        let references = message["refer_list"].as_array();
        if !is_whole || !references.is_some_and(|list| list.iter().all(may_stand)) {
            faults.push(format!("no message: {message}"));
        }
    }
    faults
}

fn events(events: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for event in events.as_array().unwrap() {
        if !event["type"].is_string() || !event["messageId"].is_string() {
            faults.push(format!("no event: {event}"));
        }
    }
    faults
}

fn chatml(text: &str) -> Vec<String> {
    let mut faults = wrong(text.is_empty(), "nothing is said");
    for turn in text.split_inclusive("<|im_end|>\n") {
        let inside = turn
            .strip_prefix("<|im_start|>")
            .and_then(|turn| turn.strip_suffix("<|im_end|>\n"));
        let is_turn = inside.is_some_and(|inside| {
            let has_role = ["system\n", "user\n", "assistant\n"]
                .iter()
                .any(|role| inside.starts_with(role));
            has_role && !inside.contains("<|im_")
        });
        if !is_turn {
            faults.push(format!("no turn: {turn}"));
        }
    }
    faults
}
