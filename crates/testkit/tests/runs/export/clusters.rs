//! Splits of datasets with compared conversations: repeats, forks and continuations stay together, and more data moves nothing.

use std::collections::BTreeMap;

use chatmill_dataset::Dataset;
use chatmill_export::{ExportRequest, Format, Split, SplitBy, export};
use chatmill_workshop::TestDir;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::splits::conversations;
use super::{json_lines, plain};

const COMPARED: &str = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n\
                        [dedup]\nexact = \"mark\"\nnear = \"mark\"\n";

/// A chat that began on a day of 2026, with these texts in turn.
fn chat(id: &str, day: usize, texts: &[String]) -> Value {
    let list: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            json!({
                "message_id": format!("m{index}"),
                "create_time": format!("2026-{:02}-{:02}T{:02}:{index:02}:00Z", 1 + day / 28 % 12, 1 + day % 28, day / 336),
                "sender": if index % 2 == 0 { "u1" } else { "b1" },
                "type": "text",
                "content": text,
                "refer_list": [],
            })
        })
        .collect();
    json!({
        "version": "1.0.0",
        "conversation_meta": {"scene": "assistant", "scene_desc": {}, "name": "Desk", "conversation_id": id, "user_details": {
            "u1": {"full_name": "Ann", "role": "user"}, "b1": {"full_name": "Bot", "role": "assistant"}
        }},
        "conversation_list": list,
    })
}

/// Texts that share no sequence of words with those of another subject.
fn texts(subject: usize, number: usize) -> Vec<String> {
    (0..number)
        .map(|text| {
            (0..30).fold(String::new(), |said, word| {
                said + &format!("s{subject}t{text}w{word} ")
            })
        })
        .collect()
}

/// A later chat, and the subject of the earlier one to which it belongs; `None` for an unrelated chat.
fn later(id: &str, day: usize, kind: u8, subject: usize, alone: usize) -> (Value, Option<usize>) {
    let mut said = texts(subject, 4);
    match kind {
        0 => return (chat(id, day, &texts(alone, 4)), None),
        // The same words at another time, all of them or all but one.
        1 => {}
        2 => said[1] = said[1].replacen("w7 ", "changed ", 1),
        // The messages that a fork or a continuation shares with the first chat have the same times.
        3 => {
            said.truncate(2);
            said.extend(texts(alone, 2));
            return (chat(id, subject, &said), Some(subject));
        }
        _ => {
            said.extend(texts(alone, 6));
            return (chat(id, subject, &said), Some(subject));
        }
    }
    (chat(id, day, &said), Some(subject))
}

fn divided(test_dir: &TestDir, out: &str, split: &Split) -> BTreeMap<String, String> {
    test_dir.run(out, COMPARED, 2).unwrap();
    let dataset = Dataset::open(&test_dir.path(out)).unwrap();
    let request = ExportRequest {
        format: Format::Parquet,
        valid_for: None,
        split: Some(split.clone()),
        ..plain("openai-chat")
    };
    let folder = test_dir.path(&format!("{out}-export"));
    let summary = export(&dataset, &request, &folder).unwrap();
    let mut parts = BTreeMap::new();
    for file in &summary.files {
        for id in conversations(&folder.join(&file.name)) {
            assert!(parts.insert(id, file.part.clone()).is_none());
        }
    }
    parts
}

proptest! {
    #![proptest_config(chatmill_drawn::law(2))]

    /// A tenth more chats: new subjects, copies with other ids, near copies, forks and continuations of old ones.
    #[test]
    fn a_tenth_more_moves_nothing_and_duplicates_and_forks_stay_beside_their_first(
        more in proptest::collection::vec((0_u8..5, any::<prop::sample::Index>()), 6),
        by in prop_oneof![Just(SplitBy::Hash), Just(SplitBy::Room)],
    ) {
        const SUBJECTS: usize = 60;
        let test_dir = TestDir::new();
        let first: Vec<Value> = (0..SUBJECTS).map(|subject| chat(&format!("c{subject}"), subject, &texts(subject, 4))).collect();
        test_dir.write("in/1.jsonl", json_lines(&first));
        let split = Split::parse("train=70,dev=10,test=20", by).unwrap();
        let before = divided(&test_dir, "before", &split);
        prop_assert_eq!(before.len(), SUBJECTS);
        prop_assert!(before.values().any(|part| part == "test"));

        let (mut added, mut beside) = (Vec::new(), Vec::new());
        for (index, (kind, subject)) in more.iter().enumerate() {
            let id = format!("late{index}");
            let (value, first) = later(&id, SUBJECTS + index, *kind, subject.index(SUBJECTS), SUBJECTS + index);
            added.push(value);
            beside.extend(first.map(|subject| (id, format!("c{subject}"))));
        }
        test_dir.write("in/2.jsonl", json_lines(&added));
        let after = divided(&test_dir, "after", &split);
        prop_assert_eq!(after.len(), SUBJECTS + more.len());
        let moved = before.iter().filter(|(id, part)| after[*id] != **part).count();
        prop_assert_eq!(moved, 0);
        for (id, first) in beside {
            prop_assert_eq!(&after[&id], &after[&first], "{} is not beside {}", id, first);
        }
    }
}

#[test]
fn a_chat_that_ties_two_groups_together_moves_the_later_one_only() {
    let test_dir = TestDir::new();
    // Ids with hashes in different parts.
    let chats = [
        chat("c0", 0, &texts(0, 4)),
        chat("c1", 1, &texts(1, 4)),
        chat("c2", 2, &texts(2, 4)),
        chat("c3", 3, &texts(3, 4)),
    ];
    test_dir.write("in/1.jsonl", json_lines(&chats));
    let split = Split::parse("train=50,test=50", SplitBy::Hash).unwrap();
    let before = divided(&test_dir, "before", &split);
    let home = &before["c0"];
    let (other, elsewhere) = before.iter().find(|(_, part)| *part != home).expect("two parts");
    // The same thread again, with the content of another one.
    let subject: usize = other.trim_start_matches('c').parse().unwrap();
    test_dir.write("in/2.jsonl", json_lines(&[chat("c0", 9, &texts(subject, 4))]));
    let after = divided(&test_dir, "after", &split);
    assert_eq!(&after["c0"], home, "the oldest decides");
    assert_eq!(&after[other], home);
    assert_ne!(elsewhere, home);
    let still: Vec<&String> = before.keys().filter(|id| *id != other).collect();
    assert!(still.iter().all(|id| after[*id] == before[*id]));
}

#[test]
fn an_export_given_an_earlier_one_keeps_its_conversations_in_place() {
    let test_dir = TestDir::new();
    let chats: Vec<Value> = (0..4)
        .map(|subject| chat(&format!("c{subject}"), 20 + subject, &texts(subject, 4)))
        .collect();
    test_dir.write("in/1.jsonl", json_lines(&chats));
    let split = Split::parse("train=50,test=50", SplitBy::Hash).unwrap();
    let before = divided(&test_dir, "before", &split);
    let home = &before["c0"];
    let (other, _) = before.iter().find(|(_, part)| *part != home).expect("two parts");
    let subject: usize = other.trim_start_matches('c').parse().unwrap();
    // It is older than all others and connects two groups: without the earlier assignment it would decide for both.
    let late = [chat("c0", 0, &texts(subject, 4)), chat("alone", 1, &texts(77, 4))];
    test_dir.write("in/2.jsonl", json_lines(&late));
    let like = |folder: &str| Split {
        like: Some(test_dir.path(folder)),
        ..split.clone()
    };
    let after = divided(&test_dir, "after", &like("before-export"));
    assert!(before.iter().all(|(id, part)| after[id] == *part));
    assert_eq!(after.len(), before.len() + 2);
    // The assignment is passed on to the next export.
    let again = divided(&test_dir, "again", &like("after-export"));
    assert_eq!(after, again);

    let dataset = Dataset::open(&test_dir.path("after")).unwrap();
    let refused = |split: Split, folder: &str| {
        let request = ExportRequest {
            valid_for: None,
            split: Some(split),
            ..plain("openai-chat")
        };
        export(&dataset, &request, &test_dir.path(folder))
            .unwrap_err()
            .to_string()
    };
    assert!(refused(like("nowhere"), "x").contains("cannot read"));
    let renamed = Split {
        like: Some(test_dir.path("before-export")),
        ..Split::parse("learn=50,test=50", SplitBy::Hash).unwrap()
    };
    assert!(refused(renamed, "y").contains("the part `train` is no longer in --split"));
}
