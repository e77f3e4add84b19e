//! Formats are recognised by their first records.

use chatmill_diag::Limits;
use chatmill_intake::{Framing, Head};

use crate::Evidence;

fn detect(framing: Framing, text: &str) -> Option<Evidence> {
    evidence(framing, text, true)
}

/// The evidence for a head that ends in the middle of a record.
fn detect_cut(framing: Framing, text: &str) -> Option<Evidence> {
    evidence(framing, text, false)
}

fn evidence(framing: Framing, text: &str, complete: bool) -> Option<Evidence> {
    let head = Head {
        framing,
        complete,
        bytes: text.as_bytes().to_vec(),
    };
    crate::detect(&head, &Limits::default())
}

#[test]
fn the_sixteenth_record_decides_for_the_file() {
    let plain = r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}"#;
    let telling = r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}"#;
    let lines = format!("{}{telling}\n", format!("{plain}\n").repeat(15));
    assert_eq!(
        detect(Framing::Lines, &lines).unwrap().source,
        "anthropic-messages"
    );
}

#[test]
fn one_record_of_another_format_does_not_decide_for_the_file() {
    let chat = r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}"#;
    let rows = r#"{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]}"#;
    for (foreign, others, source) in [
        (rows, chat, "openai-messages"),
        (chat, rows, "sharegpt"),
        (
            r#"{"mapping":{"a":{"id":"a","message":null,"parent":null,"children":[]}},"current_node":"a"}"#,
            chat,
            "openai-messages",
        ),
    ] {
        for place in [0, 3, 8] {
            let mut lines = vec![others; 8];
            lines.insert(place, foreign);
            let evidence = detect(Framing::Lines, &(lines.join("\n") + "\n"));
            assert_eq!(evidence.unwrap().source, source, "{place}: {foreign}");
        }
    }
}

#[test]
fn a_broken_line_does_not_hide_the_record_below_it() {
    let session = r#"{"session_meta":{"user_details":{}},"conversation_list":[{"message_id":"a"}]}"#;
    let evidence = detect(Framing::Lines, &format!("{{broken\n{session}\n")).unwrap();
    assert!(evidence.why[0].contains("session_meta"));
}

#[test]
fn a_bare_list_of_messages_is_known_as_a_file_as_a_line_and_as_an_element() {
    let list = r#"[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]"#;
    let evidence = detect(Framing::Array, list).unwrap();
    assert_eq!((evidence.source, evidence.confidence), ("openai-messages", 60));
    assert!(evidence.why[0].contains("bare list of messages: one conversation"));
    for (framing, text) in [
        (Framing::Lines, format!("{list}\n{list}\n")),
        (Framing::Array, format!("[{list},{list}]")),
    ] {
        let evidence = detect(framing, &text).unwrap();
        assert_eq!((evidence.source, evidence.confidence), ("openai-messages", 60));
        assert!(evidence.why[0].contains("the record is a bare list of messages"));
    }
    let turns = r#"[{"role":"user","parts":[{"text":"x"}]}]"#;
    assert_eq!(detect(Framing::Array, turns).unwrap().source, "gemini-contents");
}

#[test]
fn a_roster_that_fills_the_head_does_not_hide_a_group_chat() {
    let chat: Vec<String> = (0..50)
        .map(|number| format!(r#""u{number}":{{"full_name":"Ann","role":"user"}},"#))
        .collect();
    let chat = chat.concat();
    let text = format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"scene":"group_chat","scene_desc":{{}},"user_details":{{{chat}"#
    );
    for framing in [Framing::Lines, Framing::Documents] {
        let evidence = detect_cut(framing, &text).unwrap();
        assert_eq!(evidence.source, "group-chat");
        assert!(
            evidence.confidence < 80,
            "less sure than with a list: {evidence:?}"
        );
    }
    assert_eq!(
        detect_cut(Framing::Lines, r#"{"conversation_meta":{"user_details":{"#),
        None
    );
    assert_eq!(
        detect(Framing::Lines, &text),
        None,
        "a broken line at the end of a file is not a record"
    );
}
