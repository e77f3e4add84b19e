//! Facts about Suna's code, found by running it, that concern lists of messages: 25 of its vectors.
//!
//! | Not here | Why |
//! |---|---|
//! | reading rows (15), compressed rows | Rows of the database belong to another source. |
//! | a result without an id | Suna's code calls it unpaired; here it is paired by order and name, with a note. |
//! | XML in texts (13) | Calls written as text belong to rows of that era; the text of a list is never searched for calls. |
//! | filters, chunks, thresholds, truncation | They write requests and read nothing. |

use chatmill_diag::{Finding, Limits};
use chatmill_model::{Arguments, CallStatus, Linked, Part};
use chatmill_testkit::conversations::reading;
use serde_json::{Value, json};

fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("sources/openai-messages", kind)
}

fn read(messages: &Value) -> (Linked, Vec<Finding>) {
    let limits = Limits::default();
    let text = json!({ "messages": messages }).to_string();
    let reading = reading("openai-messages", &text, &limits);
    let linked = chatmill_link::link(reading.conversation.unwrap(), &limits).0;
    (linked, reading.findings)
}

fn parts(linked: &Linked) -> impl Iterator<Item = &Part> {
    let messages = linked.conversation.messages.iter();
    messages.flat_map(|message| &message.parts)
}

/// The ids of calls or results with this status.
fn ids(linked: &Linked, status: CallStatus) -> Vec<String> {
    let part = |pairing: &chatmill_model::Pairing| {
        let place = pairing.call.or(pairing.result).unwrap();
        let message = &linked.conversation.messages[place.position as usize];
        match &message.parts[place.part as usize] {
            Part::ToolCall(call) => call.id.clone().unwrap(),
            Part::ToolResult(result) => result.call_id.clone().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let found = linked.pairings.iter().filter(|pairing| pairing.status == status);
    found.map(part).collect()
}

#[test]
fn there_are_vectors_of_each_kind_of_case() {
    let counts = ["pairing", "arguments", "cache mark", "block"].map(|kind| cases(kind).len());
    assert_eq!(counts, [8, 5, 5, 7]);
}

#[test]
fn orphaned_results_and_unanswered_calls_are_those_that_the_validator_finds() {
    for case in cases("pairing") {
        let (linked, _) = read(&case["input"]);
        let found = json!({
            "orphaned": ids(&linked, CallStatus::Orphaned),
            "unanswered": ids(&linked, CallStatus::Unanswered),
        });
        assert_eq!(found, case["expected"], "{}", case["name"]);
    }
}

#[test]
fn arguments_are_usable_where_the_validator_finds_an_object() {
    for case in cases("arguments") {
        let (linked, findings) = read(&json!([case["input"]]));
        let usable: Vec<&str> = parts(&linked)
            .filter_map(|part| match part {
                Part::ToolCall(call) if matches!(call.arguments, Arguments::Object(_)) => call.id.as_deref(),
                _ => None,
            })
            .collect();
        assert_eq!(json!(usable), case["expected"]["usable"], "{}", case["name"]);
        let is_wrong = findings.iter().any(|finding| finding.code.name == "wrong-type");
        assert_eq!(
            is_wrong,
            case["input"]["tool_calls"].is_string(),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn a_cache_mark_is_read_and_changes_no_text() {
    for case in cases("cache mark") {
        let (linked, findings) = read(&json!([case["input"]]));
        let marks = parts(&linked)
            .filter(|part| matches!(part, Part::CacheMark))
            .count();
        assert_eq!(json!(marks), case["expected"]["marks"], "{}", case["name"]);
        let texts: Vec<&str> = linked.conversation.messages[0].texts().collect();
        let written = case["input"]["content"].as_array().unwrap().iter();
        let written: Vec<&str> = written.filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(texts, written, "{}", case["name"]);
        assert_eq!(
            findings,
            [],
            "{}: a mark alone makes no cached block",
            case["name"]
        );
    }
}

#[test]
fn a_block_is_one_message_and_repeated_messages_are_counted() {
    for case in cases("block") {
        let mut messages = case["input"]["messages"].as_array().unwrap().clone();
        let before = messages.len();
        let mark = json!({"type": "ephemeral"});
        let block = json!({"type": "text", "text": case["input"]["block"], "cache_control": mark});
        messages.push(json!({"role": "user", "content": [block]}));
        let (linked, findings) = read(&json!(messages));
        assert_eq!(linked.conversation.messages.len(), before + 1);
        let calls_in_block = linked.conversation.messages[before].parts.iter();
        assert!(
            calls_in_block
                .clone()
                .all(|part| matches!(part, Part::Text(_) | Part::CacheMark))
        );
        let of = |name: &str| -> u64 {
            let found = findings.iter().filter(|finding| finding.code.name == name);
            found.map(|finding| finding.count).sum()
        };
        assert_eq!(of("cached-block"), 1, "{}", case["name"]);
        assert_eq!(
            json!(of("history-repeated")),
            case["expected"]["repeated"],
            "{}",
            case["name"]
        );
    }
}
