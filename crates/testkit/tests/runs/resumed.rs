//! Sessions that go on in another file under another id: what was copied there is counted once, wherever the files stand.

use chatmill_workshop::Workshop;
use chatmill_workshop::rows::{numbers, texts};
use serde_json::json;

const MORE: &str = "[count]\nencodings = []\n[render]\ndialects = [\"openai-chat\"]\n";

/// A session of these turns, each with its id and that of the one before it; odd ones are answers.
fn session(id: &str, turns: &[(&str, &str)]) -> String {
    let mut lines =
        vec![json!({"type": "queue-operation", "operation": "enqueue", "sessionId": id}).to_string()];
    for (number, (uuid, parent)) in turns.iter().enumerate() {
        let is_answer = number % 2 == 1;
        let (kind, message) = if is_answer {
            let content = json!([{"type": "text", "text": format!("It is {uuid}.")}]);
            let usage = json!({"input_tokens": 3, "output_tokens": 5});
            let message =
                json!({"id": format!("m-{uuid}"), "role": "assistant", "content": content, "usage": usage});
            ("assistant", message)
        } else {
            ("user", json!({"role": "user", "content": format!("And {uuid}?")}))
        };
        let parent = Some(parent).filter(|parent| !parent.is_empty());
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "sessionId": id, "type": kind, "message": message,
            "uuid": uuid, "timestamp": format!("2026-02-01T08:0{number}:00.000Z"),
        });
        lines.push(line.to_string());
    }
    lines.join("\n")
}

const TRUNK: [(&str, &str); 2] = [("u1", ""), ("a1", "u1")];

/// What is said in each conversation, what is learned of it, and the tokens that were logged for all.
fn said(workshop: &Workshop, out: &str) -> (Vec<(String, Vec<String>)>, i64) {
    said_with(workshop, out, "")
}

fn said_with(workshop: &Workshop, out: &str, more: &str) -> (Vec<(String, Vec<String>)>, i64) {
    workshop.run(out, &format!("{MORE}{more}"), 2).unwrap();
    let out = workshop.path(out);
    let of = |column: &str| texts(&out, "messages", column);
    let rows = of("conversation_id").into_iter().zip(of("text")).zip(of("kind"));
    let mut conversations: Vec<(String, Vec<String>)> = Vec::new();
    for ((id, text), kind) in rows {
        let (id, text) = (id.unwrap(), text.unwrap_or_default());
        if kind.as_deref() != Some("message") {
            continue;
        }
        match conversations.iter_mut().find(|(known, _)| *known == id) {
            Some((_, texts)) => texts.push(text),
            None => conversations.push((id, vec![text])),
        }
    }
    conversations.sort();
    let logged = numbers(&out, "messages", "usage_output");
    (conversations, logged.into_iter().flatten().sum())
}

#[test]
fn a_session_that_was_resumed_in_another_file_is_one_conversation() {
    for (old, new) in [("a", "b"), ("b", "a")] {
        let workshop = Workshop::new();
        workshop.write(&format!("in/{old}.jsonl"), session("old", &TRUNK));
        let resumed = [TRUNK.as_slice(), &[("u2", "a1"), ("a2", "u2")]].concat();
        workshop.write(&format!("in/{new}.jsonl"), session("new", &resumed));
        let (conversations, logged) = said(&workshop, "out");
        let words = ["And u1?", "It is a1.", "And u2?", "It is a2."].map(str::to_owned);
        assert_eq!(conversations.len(), 1, "{conversations:?}");
        assert!(conversations[0].0.contains("new"), "{conversations:?}");
        assert_eq!(conversations[0].1, words);
        assert_eq!(logged, 10);
    }
}

#[test]
fn a_resumed_session_is_one_conversation_however_small_lots_are() {
    let workshop = Workshop::new();
    workshop.write("in/a.jsonl", session("old", &TRUNK));
    let between = json!({"messages": [{"role": "user", "content": "In between. ".repeat(200)}]});
    workshop.write("in/b.jsonl", between.to_string());
    let resumed = [TRUNK.as_slice(), &[("u2", "a1"), ("a2", "u2")]].concat();
    workshop.write("in/c.jsonl", session("new", &resumed));
    let (conversations, logged) = said_with(&workshop, "out", "[lots]\nbytes = 1024\n");
    assert_eq!((conversations.len(), logged), (2, 10), "{conversations:?}");
}

#[test]
fn forks_of_a_session_are_conversations_and_what_they_share_is_learned_and_paid_for_once() {
    let workshop = Workshop::new();
    for (name, tail) in [
        ("one", [("u2", "a1"), ("a2", "u2")]),
        ("two", [("u3", "a1"), ("a3", "u3")]),
    ] {
        let turns = [TRUNK.as_slice(), &tail].concat();
        workshop.write(&format!("in/{name}.jsonl"), session(name, &turns));
    }
    let (conversations, logged) = said(&workshop, "out");
    let words: Vec<&[String]> = conversations.iter().map(|(_, words)| words.as_slice()).collect();
    assert_eq!(
        words,
        [
            ["And u1?", "It is a1.", "And u2?", "It is a2."],
            ["And u1?", "It is a1.", "And u3?", "It is a3."]
        ]
    );
    assert_eq!(logged, 15);
    let spans = chatmill_workshop::rows::spans(&workshop.path("out"), "renderings", "learned_spans");
    assert_eq!(spans.iter().map(Vec::len).sum::<usize>(), 3, "{spans:?}");
}

#[test]
fn sessions_whose_first_lines_share_only_an_id_stay_apart() {
    let workshop = Workshop::new();
    workshop.write("in/one.jsonl", session("one", &TRUNK));
    workshop.write(
        "in/two.jsonl",
        session("two", &TRUNK).replace("And u1?", "Or u1?"),
    );
    assert_eq!(said(&workshop, "out").0.len(), 2);
}
