//! Facts about Suna's code of 2025-11-07, found by running it, that concern the lists it sends: 18 of its vectors.
//!
//! | Not here | Why |
//! |---|---|
//! | cached blocks of lists, of media, of absent content, of other roles (5) | Suna's code concatenates them without a separator, prints program text, and writes roles that no list has. |
//! | thresholds, chunks, marks added to messages (18) | They choose what to cache by a budget of tokens; the dialect caches everything before the newest user turn. |
//! | compression, truncation, middle-out (10) | They change an archive before it is written. |
//! | reading rows, calls in texts | The sources do that. |

use chatmill_dialect::LossCode;
use chatmill_golden::vectors;
use chatmill_testkit::conversations::{read, rendering};
use serde_json::{Value, json};

/// A list in a dialect, and the codes and amounts of its losses.
fn render(dialect: &str, messages: &Value) -> (Value, Vec<(LossCode, u64)>) {
    let linked = read("openai-messages", &json!({ "messages": messages }).to_string());
    let (text, losses) = rendering(dialect, &linked);
    let losses = losses.iter().map(|loss| (loss.code, loss.amount));
    (serde_json::from_str(&text).unwrap(), losses.collect())
}

/// The content of a list without its wrapping: role, text, ids of calls, and id of the answered call.
fn essence(list: &Value) -> Vec<Value> {
    let calls = |message: &Value| -> Vec<Value> {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        // A call without an id gets one from the dialect.
        calls
            .map(|call| call.get("id").cloned().unwrap_or(json!("call_0")))
            .collect()
    };
    let messages = list.as_array().unwrap().iter();
    messages
        .map(|message| {
            json!([
                message["role"],
                message["content"],
                calls(message),
                message["tool_call_id"]
            ])
        })
        .collect()
}

#[test]
fn the_filter_keeps_the_same_messages_as_the_original_code() {
    let cases = vectors("dialects/suna-bedrock", "filter");
    assert_eq!(cases.len(), 7);
    for case in cases {
        let (list, losses) = render("suna-bedrock@2025-11-07", &case["input"]);
        let name = &case["name"];
        assert_eq!(essence(&list), essence(&case["expected"]), "{name}");
        let before = case["input"].as_array().unwrap().len();
        let dropped: u64 = losses
            .iter()
            .filter(|(code, _)| {
                matches!(
                    code,
                    LossCode::OrphanResultDropped | LossCode::DuplicateResult | LossCode::ToolResultDropped
                )
            })
            .map(|(_, amount)| amount)
            .sum();
        assert_eq!(
            before as u64,
            list.as_array().unwrap().len() as u64 + dropped,
            "{name}: every drop is declared"
        );
    }
}

#[test]
fn seven_patterns_detect_a_text_that_embeds_a_result() {
    let cases = vectors("dialects/suna-bedrock", "embedded");
    assert_eq!(cases.len(), 9);
    for case in cases {
        let messages = json!([{"role": "user", "content": "hello"}, case["input"]]);
        let (list, losses) = render("suna-bedrock@2025-11-07", &messages);
        let is_embedded = case["expected"].as_bool().unwrap();
        let left = if is_embedded { 1 } else { 2 };
        assert_eq!(list.as_array().unwrap().len(), left, "{}", case["name"]);
        let declared = losses.contains(&(LossCode::ToolResultDropped, 1));
        assert_eq!(declared, is_embedded, "{}", case["name"]);
    }
}

#[test]
fn a_cached_block_is_worded_as_the_code_words_it() {
    let cases = vectors("dialects/suna-cached", "block");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let mut messages = case["input"].as_array().unwrap().clone();
        messages.push(json!({"role": "user", "content": "and now"}));
        let (list, _) = render("suna-cached", &json!(messages));
        let block = &list[0]["content"][0];
        assert_eq!(block["text"], case["expected"], "{}", case["name"]);
        assert_eq!(block["cache_control"], json!({"type": "ephemeral"}));
        assert_eq!(list[1]["content"], "and now");
    }
}
