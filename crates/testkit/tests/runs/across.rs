//! What shows only when all files are seen: run and check say it alike, however many threads look.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use chatmill_dataset::Dataset;
use chatmill_engine::Silent;
use chatmill_engine::check::{CheckOptions, check};
use chatmill_workshop::Workshop;
use serde_json::{Value, json};

fn room(id: &str, name: &str, messages: &[(&str, &str, &[&str])]) -> Value {
    let list: Vec<Value> = messages
        .iter()
        .map(|(id, text, refers)| {
            json!({
                "message_id": id, "create_time": "2026-03-02T09:01:00+00:00", "sender": "ann",
                "role": "user", "type": "text", "content": text, "refer_list": refers,
            })
        })
        .collect();
    json!({
        "version": "1.0.0",
        "conversation_meta": {
            "name": "Room", "group_id": id, "scene": "group_chat", "scene_desc": {},
            "user_details": {"ann": {"full_name": name, "role": "user"}},
        },
        "conversation_list": list,
    })
}

/// Code, file, line and column, and what is said.
type Told = (String, String, Option<(u64, u64)>, String);

/// Everything that a check says.
fn found(workshop: &Workshop, threads: usize) -> Vec<Told> {
    let options = CheckOptions {
        paths: vec![workshop.path("in").to_str().unwrap().to_owned()],
        source: "auto".to_owned(),
        threads,
        ..CheckOptions::default()
    };
    let all = Mutex::new(Vec::new());
    check(&options, &Silent, &AtomicBool::new(false), &mut |checked| {
        let finding = &checked.located.finding;
        let message = finding
            .message
            .replace(workshop.path("in").to_str().unwrap(), "in");
        all.lock().unwrap().push((
            finding.code.code.to_owned(),
            checked.input,
            checked.located.line_column,
            message,
        ));
    })
    .unwrap();
    all.into_inner().unwrap()
}

#[test]
fn conversations_that_contradict_each_other_are_told_with_their_places() {
    let workshop = Workshop::new();
    let first = room("r1", "Ann", &[("m1", "hello", &[]), ("m2", "there", &["m4"])]);
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    workshop.write("in/a.json", pretty(&first));
    let other = room(
        "r1",
        "Bea",
        &[("m1", "bye", &[]), ("m3", "so", &["m2"]), ("m4", "?", &["gone"])],
    );
    let text = pretty(&other);
    workshop.write("in/deep/b.json", &text);
    workshop.write("in/c.json", pretty(&room("r2", "Cid", &[("m1", "hello", &[])])));
    let seen = found(&workshop, 1);
    let line = |needle: &str| {
        let at = text.find(needle).unwrap();
        let line = text[..at].matches('\n').count() as u64 + 1;
        // A message begins at its brace.
        let above = text.lines().take(line as usize).collect::<Vec<_>>();
        1 + above.iter().rposition(|line| line.trim() == "{").unwrap() as u64
    };
    let across: Vec<_> = seen
        .iter()
        .filter(|(code, ..)| ["AS004", "AS005", "PT006", "RF010"].contains(&code.as_str()))
        .map(|(code, file, place, text)| {
            (
                code.as_str(),
                file.as_str(),
                place.map(|place| place.0),
                text.as_str(),
            )
        })
        .collect();
    assert_eq!(
        across,
        [
            (
                "AS004",
                "deep/b.json",
                Some(1),
                "the id `r1` is taken by an earlier conversation, in in/a.json"
            ),
            (
                "AS005",
                "deep/b.json",
                Some(line("\"bye\"")),
                "message `m1` has another sender or body in in/a.json"
            ),
            (
                "PT006",
                "deep/b.json",
                Some(1),
                "participant `ann` has another name in in/a.json"
            ),
            (
                "RF010",
                "a.json",
                Some(25),
                "message `m4` is in another conversation of this id, in in/deep/b.json"
            ),
            (
                "RF010",
                "deep/b.json",
                Some(line("\"so\"")),
                "message `m2` is in another conversation of this id, in in/a.json"
            ),
        ]
    );
    let dangling: Vec<_> = seen.iter().filter(|(code, ..)| code == "RF001").collect();
    assert_eq!(dangling.len(), 3, "what is elsewhere dangles here: {dangling:?}");
}

#[test]
fn files_of_the_same_bytes_are_told_by_run_and_check_alike() {
    let workshop = Workshop::new();
    let chat = room("r1", "Ann", &[("m1", "hello", &[])]).to_string();
    workshop.write("in/a.json", &chat);
    workshop.write("in/b.json", &chat);
    workshop.write(
        "in/c.json",
        room("r1", "Ann", &[("m9", "hellas", &[])]).to_string(),
    );
    workshop.write(
        "in/d.json",
        room("r4", "Ann", &[("m1", "hello", &[])]).to_string(),
    );
    workshop.write("in/empty.json", "");
    workshop.write("in/void.json", "");
    let checked: BTreeSet<(String, String)> = found(&workshop, 1)
        .into_iter()
        .filter(|(code, ..)| code == "AS004" || code == "IN029")
        .map(|(code, file, ..)| (code, file))
        .collect();
    let expected = [("AS004", "b.json"), ("AS004", "c.json"), ("IN029", "b.json")];
    let expected: BTreeSet<_> = expected
        .map(|(code, file)| (code.to_owned(), file.to_owned()))
        .into();
    assert_eq!(checked, expected);
    workshop
        .run(
            "out",
            "[count]\nencodings = []\n[render]\ndialects = [\"openai-chat\"]\n",
            1,
        )
        .ok();
    let dataset = Dataset::open(&workshop.path("out")).unwrap();
    let mut told = BTreeSet::new();
    for batch in dataset.batches("findings", &["code", "input"]) {
        let batch = batch.unwrap();
        let (codes, inputs) = (batch.texts("code").unwrap(), batch.texts("input").unwrap());
        for row in 0..batch.rows() {
            told.insert((codes.at(row).to_owned(), inputs.at(row).to_owned()));
        }
    }
    told.retain(|(code, _)| code == "AS004" || code == "IN029");
    assert_eq!(told, expected);
}

#[test]
fn a_thousand_repeats_are_told_in_one_order_whatever_the_number_of_threads() {
    let workshop = Workshop::new();
    for file in 0..22 {
        let lines: Vec<String> = (0..50)
            .map(|line| {
                let said = format!("{file} {line}");
                room(
                    &format!("r{}", (file + line) % 60),
                    "Ann",
                    &[("m1", &said, &["m2"]), ("m2", "x", &[])],
                )
            })
            .map(|chat| chat.to_string())
            .collect();
        workshop.write(&format!("in/{file:02}.jsonl"), lines.join("\n"));
    }
    let one = found(&workshop, 1);
    let taken = one.iter().filter(|(code, ..)| code == "AS004").count();
    assert_eq!(taken, 22 * 50 - 60);
    assert_eq!(one.iter().filter(|(code, ..)| code == "AS005").count(), taken);
    for threads in [2, 3] {
        assert_eq!(one, found(&workshop, threads));
    }
}
