//! Inputs that made parsers and formats slow: each takes about as long per byte as ordinary talk.
//!
//! The bound is generous, for machines are busy; what grows with the square of its size exceeds it many times over.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

use std::time::{Duration, Instant};

use chatmill_testkit::Workshop;
use serde_json::{Value, json};

/// Messages of the traps that are made of many.
const MANY: usize = 12_000;

/// How many times longer per byte than ordinary talk a trap may take.
const PATIENCE: f64 = 25.0;

fn message(id: &str, sender: &str, content: &str) -> Value {
    json!({
        "message_id": id, "create_time": "2026-01-01T00:00:00Z", "sender": sender,
        "role": if sender == "bot_1" { "assistant" } else { "user" }, "type": "text", "content": content,
    })
}

fn chat(messages: Vec<Value>) -> Value {
    json!({
        "version": "1.0.0",
        "conversation_meta": {
            "conversation_id": "x", "name": "n", "scene": "group_chat", "scene_desc": {},
            "user_details": {
                "u1": {"full_name": "Ann", "role": "user"},
                "bot_1": {"full_name": "Helper", "role": "assistant"},
            },
        },
        "conversation_list": messages,
    })
}

/// How long it takes to run a file through every rule and dialect, and its size.
fn time(text: &str) -> (Duration, usize) {
    let shop = Workshop::new();
    shop.write("in/x.jsonl", text);
    let begun = Instant::now();
    let more = "[count]\nencodings = []\n[limits]\nreferences_per_message = 1000000\n";
    let summary = shop.run("out", more, 1).unwrap();
    assert_eq!(summary.totals.framed, text.lines().count() as u64);
    (begun.elapsed(), text.len())
}

fn numbered(make: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..MANY).map(make).collect()
}

fn id(number: usize) -> String {
    format!("m{number}")
}

fn traps() -> Vec<(&'static str, Value)> {
    let long = |content: String| chat(vec![message("m1", "u1", "hi"), message("m2", "bot_1", &content)]);
    let referring = |number: usize, target: usize| {
        let mut message = message(&id(number), "u1", "x");
        message["refer_list"] = json!([id(target)]);
        message
    };
    let mut many_references = message("m1", "u1", "x");
    many_references["refer_list"] = json!(vec!["m0"; MANY]);
    let mut people = chat(numbered(|number| message(&id(number), &format!("person_{number}"), "x")));
    for number in 0..MANY {
        people["conversation_meta"]["user_details"][format!("person_{number}")] =
            json!({"full_name": "Ann Same", "role": "user"});
    }
    let call = |number: usize, id: &str| {
        let mut message = message(&format!("c{number}"), "bot_1", "");
        message["extra"] =
            json!({"tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
        message
    };
    let result = |number: usize, id: &str| {
        let mut message = message(&format!("r{number}"), "bot_1", "done");
        message["role"] = json!("tool");
        message["extra"] = json!({"tool_call_id": id, "name": "f"});
        message
    };
    let mut names = message("m1", "u1", "x");
    for number in 0..MANY {
        names[format!("field_{number}")] = json!(number);
    }
    vec![
        ("one long conversation", chat(numbered(|number| message(&id(number), "u1", "hello there")))),
        ("references to one message", chat(numbered(|number| referring(number, 0)))),
        ("a cycle through all messages", chat(numbered(|number| referring(number, (number + 1) % MANY)))),
        ("a message with many references", chat(vec![message("m0", "u1", "hi"), many_references])),
        ("one id for all messages", chat(numbered(|number| message("same", "u1", &id(number))))),
        ("many participants of one name", people),
        ("strangers", chat(numbered(|number| message(&id(number), &format!("stranger_{number}"), "x")))),
        ("one call id for all calls", chat(numbered(|number| if number % 2 == 0 { call(number, "c") } else { result(number, "c") }))),
        (
            "results in the opposite order of calls",
            chat(numbered(|number| {
                if number < MANY / 2 { call(number, &id(number)) } else { result(number, &id(MANY - 1 - number)) }
            })),
        ),
        ("many fields", chat(vec![names])),
        ("backslashes", long("\\".repeat(200_000))),
        ("quotes", long("\"".repeat(200_000))),
        ("line breaks", long("\n".repeat(200_000))),
        ("spaces", long(" ".repeat(400_000))),
        ("brackets", long("[".repeat(400_000))),
        ("unclosed media markers", long("[Image: a](attachment:".repeat(20_000))),
        ("media markers in media markers", long("[Image: ".repeat(50_000))),
        ("metadata marks", long("[meta] ".repeat(60_000))),
        ("metadata marks with open quotes", long("[meta] a=\"\\".repeat(40_000))),
        ("control tokens", long("<|im_start|>".repeat(30_000))),
        ("half a control token", long("<|im_start".repeat(40_000))),
        ("arguments that are deep", {
            let mut deep = call(1, "c");
            deep["extra"]["tool_calls"][0]["function"]["arguments"] = json!("[".repeat(300_000));
            chat(vec![message("m0", "u1", "go"), deep])
        }),
    ]
}

#[test]
fn no_trap_takes_much_longer_per_byte_than_ordinary_talk() {
    let talk: Vec<Value> =
        (0..100).map(|number| message(&id(number), "u1", &"shall we ship on Friday ".repeat(6))).collect();
    let plain = (chat(talk).to_string() + "\n").repeat(60);
    let (took, bytes) = time(&plain);
    let per_byte = took.as_secs_f64() / bytes as f64;
    let mut slow = Vec::new();
    for (name, trap) in traps() {
        let (took, bytes) = time(&trap.to_string());
        let ratio = took.as_secs_f64() / bytes as f64 / per_byte;
        eprintln!("{name}: {bytes} bytes in {} ms, {ratio:.1} times plain", took.as_millis());
        // What starting a run costs is no matter of bytes.
        let allowed = Duration::from_millis(500) + Duration::from_secs_f64(per_byte * bytes as f64 * PATIENCE);
        if took > allowed {
            slow.push(format!("{name}: {} ms, {ratio:.1} times plain", took.as_millis()));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
