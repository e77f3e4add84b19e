//! Cases that fixtures cannot show well: limits, and inputs that are too long or too deep to write down.

use std::fmt::Write as _;

use chatmill_diag::{Limits, RejectLevel, Severity};
use chatmill_intake::json;
use chatmill_model::ReferenceForm;

use crate::tests::frame::{self, read_at};
use crate::{GROUP_CHAT, Reading, Source, find};

const META: &str = r#""conversation_meta":{"name":"N","user_details":{"u":{"role":"user"}}}"#;

fn message(id: &str, rest: &str) -> String {
    format!(
        r#"{{"message_id":"{id}","create_time":"2026-01-01T00:00:00Z","sender":"u","type":"text","content":"c"{rest}}}"#
    )
}

fn record(messages: &[String]) -> String {
    format!(
        r#"{{"version":"1.0.0",{META},"conversation_list":[{}]}}"#,
        messages.join(",")
    )
}

fn read(record: &str, limits: &Limits) -> Reading {
    frame::read(&GROUP_CHAT, record.as_bytes(), limits)
}

fn codes(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.code.name).collect()
}

#[test]
fn a_conversation_at_the_limit_is_read_and_a_larger_one_is_rejected() {
    let limits = Limits {
        messages_per_conversation: 2,
        ..Limits::default()
    };
    let two = [message("a", ""), message("b", "")];
    assert_eq!(
        read(&record(&two), &limits).conversation.unwrap().messages.len(),
        2
    );
    let three = [message("a", ""), message("b", ""), message("c", "")];
    let reading = read(&record(&three), &limits);
    assert!(reading.conversation.is_none());
    let error = reading.error.unwrap();
    assert_eq!(
        (error.code.name, error.severity),
        ("conversation-too-large", Severity::Error)
    );
}

#[test]
fn a_rejected_message_keeps_its_bytes_place_and_cut_head() {
    let limits = Limits {
        reject_head: 5,
        ..Limits::default()
    };
    let text = record(&[message("a", ""), "[\"\\ud83d\"]".to_owned()]);
    let reading = read_at(&GROUP_CHAT, text.as_bytes(), 1000, None, &limits);
    let [reject] = reading.rejects.as_slice() else {
        panic!("{:?}", reading.rejects)
    };
    let start = text.find("[\"\\ud83d\"]").unwrap();
    assert_eq!(reject.level, RejectLevel::Message);
    assert_eq!(
        (reject.span.start, reject.span.end),
        (1000 + start as u64, 1010 + start as u64)
    );
    assert_eq!(
        reject.head, br#"["\ud"#,
        "the original bytes, not the repaired ones"
    );
    assert_eq!(reject.hash, blake3::hash(br#"["\ud83d"]"#).to_hex().to_string());
    assert_eq!(
        reading.conversation.unwrap().messages[0].origin.start,
        1000 + text.find("{\"message_id").unwrap() as u64
    );
    assert_eq!(
        (reading.rows.rows, reading.rows.messages, reading.rows.rejected),
        (2, 1, 1)
    );
}

#[test]
fn the_path_of_a_message_leads_to_it_even_after_a_rejected_one() {
    let text = record(&["1".to_owned(), message("a", r#","refer_list":[7]"#)]);
    let document = json::scan(text.as_bytes(), 128).unwrap();
    let reading = read(&text, &Limits::default());
    let conversation = reading.conversation.unwrap();
    let finding = &reading.findings[0];
    assert_eq!(finding.position, Some(0));
    let message = GROUP_CHAT.message_path(conversation.messages[0].origin.index);
    let path = message.unwrap() + ".refer_list[0]";
    let span = document.locate(&path).unwrap();
    assert_eq!(&text[span.clone()], "7");
    assert_eq!(
        finding.span.map(|found| (found.start, found.end)),
        Some((span.start as u64, span.end as u64))
    );
}

/// A preview with this many levels of nested previews.
fn nested(levels: u32) -> String {
    let mut text = String::new();
    for level in 0..levels {
        write!(
            text,
            r#"{{"message_id":"p{level}","content":"x","refer_list":["s", "#
        )
        .unwrap();
    }
    text.push_str(r#"{"message_id":"last"}"#);
    text.push_str(&"]}".repeat(levels as usize));
    text
}

#[test]
fn previews_at_the_limit_stay_and_deeper_ones_are_cut_with_a_note() {
    let limits = Limits {
        preview_depth: 3,
        ..Limits::default()
    };
    let form = |levels: u32| {
        let reading = read(
            &record(&[message("a", &format!(r#","refer_list":[{}]"#, nested(levels)))]),
            &limits,
        );
        let reference = reading.conversation.as_ref().unwrap().messages[0].references[0].clone();
        let ReferenceForm::Object(raw) = reference.form else {
            panic!("an object")
        };
        (raw.as_str().to_owned(), codes(&reading))
    };
    let whole = |levels: u32| nested(levels).replace(", ", ",");
    assert_eq!(form(3), (whole(3), vec![]));
    let (raw, codes) = form(4);
    assert_eq!(codes, ["preview-too-deep"]);
    assert_eq!(
        raw,
        whole(4).replace(
            r#","refer_list":["s",{"message_id":"last"}]"#,
            r#","refer_list":["s"]"#
        )
    );
    let (raw, _) = form(50);
    assert!(raw.contains("p3") && !raw.contains("p4"));
    assert!(json::scan(raw.as_bytes(), 128).is_ok());
}

#[test]
fn ten_thousand_speakers_outside_the_roster_are_each_added_once() {
    let messages: Vec<String> = (0..20_000)
        .map(|number| {
            message("m", "").replace(r#""sender":"u""#, &format!(r#""sender":"x{}""#, number % 10_000))
        })
        .collect();
    let conversation = read(&record(&messages), &Limits::default()).conversation.unwrap();
    assert_eq!(conversation.participants.len(), 10_001);
    assert_eq!(conversation.messages[10_000].sender, Some(1));
}

#[test]
fn sources_are_found_by_their_id_only() {
    assert_eq!(find("group-chat").map(Source::id), Some("group-chat"));
    assert!(find("Group-Chat").is_none());
}
