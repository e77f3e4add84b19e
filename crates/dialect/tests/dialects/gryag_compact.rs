//! gryag's compact transcript, as its code wrote it.
//!
//! Profile `2025-10-17` passes 27 vectors of the code of that day: here, in the tests of labels, and, for histories, in the tests of the
//! readers. The default profile differs in: letters for ids that share six digits under different names, and for a person who speaks twice
//! (ruled out); `[Media]` and counts of media (the document names kinds); names cut at 30; line breaks kept in texts (ruled out); arrows on
//! the bot's lines (ruled out). No profile passes the printed example of the document, which has the first six digits of ids and an arrow
//! that points past the bot. Not applicable: a missing id, a table of letters as an argument, descriptions of media that no prompt uses,
//! estimates of tokens, and later versions.

use chatmill_model::LinkStatus;
use serde_json::Value;

use crate::chat::{TestChat, preview, text};

const CODE: &str = "gryag-compact@2025-10-17";
fn cases(kind: &str) -> Vec<Value> {
    chatmill_golden::vectors("dialects/gryag-compact", kind)
}

#[test]
fn letters_match_those_of_the_code_of_its_day() {
    let cases = cases("letters");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let mut chat = TestChat::new();
        for id in case["input"].as_array().unwrap() {
            let speaker = chat.human(&id.to_string(), "N");
            chat.write(speaker, "x");
        }
        // The line to be answered has no letter and does not count for letters.
        let somebody = chat.human("1", "Z");
        chat.write(somebody, "now");
        let out = chat.only(CODE);
        let labels: Vec<&str> = out
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("N#")?.strip_suffix(": x"))
            .collect();
        let expected: Vec<&str> = case["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| case["expected"][id.to_string()].as_str().unwrap())
            .collect();
        assert_eq!(labels, expected, "{}", case["name"]);
    }
}

#[test]
fn lines_match_those_of_the_code_of_its_day() {
    let cases = cases("line");
    assert_eq!(cases.len(), 8);
    for case in cases {
        let input = &case["input"];
        let mut chat = TestChat::new();
        chat.linked.conversation.traits.extra_format = Some("gryag");
        let bot = chat.agent("bot", "somebody");
        let name = input["username"].as_str().unwrap_or_default();
        let sender = match input["user_id"].as_i64() {
            Some(id) => Some(chat.human(&id.to_string(), name)),
            None => (input["is_bot"] == true).then_some(bot),
        };
        let position = chat.post(sender, vec![text(input["text"].as_str().unwrap())]);
        if let Some(name) = input["reply_to_username"].as_str() {
            let id = input["reply_to_user_id"].as_i64().map(|id| id.to_string());
            let shown = preview("", id.as_deref(), Some(name));
            chat.refer(
                position,
                Some("77".to_owned()),
                Some(shown),
                None,
                LinkStatus::Preview,
            );
        }
        // The last line of a prompt is the current one, which has no arrow.
        chat.write(bot, "and so on");
        let out = chat.only(CODE);
        assert_eq!(
            out.text.lines().next(),
            case["expected"].as_str(),
            "{}",
            case["name"]
        );
    }
}
