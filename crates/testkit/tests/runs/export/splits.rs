//! Splits of exports: nothing moves between parts, and related conversations are in one part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use chatmill_dataset::{Dataset, Texts};
use chatmill_export::{ExportRequest, Format, Split, SplitBy, export};
use chatmill_workshop::TestDir;
use proptest::prelude::*;
use serde_json::Value;

use super::{assert_balanced, batches, chat, json_lines, plain};

/// The conversations of a table, in order.
pub(crate) fn conversations(path: &Path) -> Vec<String> {
    let column = |batch: &RecordBatch| {
        batch
            .column_by_name("conversation_id")
            .unwrap()
            .as_string::<i32>()
            .clone()
    };
    let columns = batches(path).iter().map(column).collect::<Vec<_>>();
    columns
        .iter()
        .flatten()
        .map(|id| id.unwrap().to_owned())
        .collect()
}

/// A list of messages without id and time, with white space in front of its key.
fn list(number: usize, space: &str) -> String {
    format!(
        "{{{space}\"messages\":[{{\"role\":\"user\",\"content\":\"Question {number}\"}},\
         {{\"role\":\"assistant\",\"content\":\"Answer\"}}]}}\n"
    )
}

const CHATS: &str = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";

/// Processes chats and returns the part of each conversation.
fn divided(test_dir: &TestDir, out: &str, split: &Split) -> BTreeMap<String, String> {
    test_dir.run(out, CHATS, 1).unwrap();
    let dataset = Dataset::open(&test_dir.path(out)).unwrap();
    let folder: PathBuf = test_dir.path(&format!("{out}-export"));
    let request = ExportRequest {
        format: Format::Parquet,
        valid_for: None,
        split: Some(split.clone()),
        ..plain("openai-chat")
    };
    let summary = export(&dataset, &request, &folder).unwrap();
    assert_balanced(&summary);
    let mut parts = BTreeMap::new();
    for file in &summary.files {
        for id in conversations(&folder.join(&file.name)) {
            assert_eq!(
                parts.insert(id, file.part.clone()),
                None,
                "a conversation in two parts"
            );
        }
    }
    parts
}

proptest! {
    #![proptest_config(chatmill_drawn::law(3))]

    /// A later file has new conversations, further days of old threads, and copies of old conversations.
    #[test]
    fn adding_data_moves_nothing_and_parts_nothing_that_belongs_together(
        first in proptest::collection::vec((0_u32..12, 1_usize..4), 4..24),
        later in proptest::collection::vec((0_u8..3, any::<prop::sample::Index>()), 1..12),
        by in prop_oneof![Just(SplitBy::Hash), Just(SplitBy::Room)],
    ) {
        // The first file already has several days of a thread. Every day differs, so no content is repeated.
        let thread = |number: u32| if by == SplitBy::Room { format!("room{}/{number}", number % 5) } else { format!("t{number}") };
        let old: Vec<Value> = first.iter().enumerate()
            .map(|(day, (number, messages))| chat(&thread(*number), day as u32, *messages)).collect();
        let lists: Vec<String> = (0..first.len()).map(|number| list(number, "")).collect();
        let split = Split::parse("train=60,dev=20,test=20", by).unwrap();
        let test_dir = TestDir::new();
        test_dir.write("in/1.jsonl", json_lines(&old));
        test_dir.write("in/1.lists.jsonl", lists.concat());
        let before = divided(&test_dir, "before", &split);
        prop_assert_eq!(before.len(), old.len() + lists.len());

        let (mut days, mut copies) = (Vec::new(), Vec::new());
        for (index, (kind, of)) in later.iter().enumerate() {
            let later = 100 + index as u32;
            match kind {
                0 => days.push(chat(&thread(later), later, 2)),
                1 => days.push(chat(&thread(of.get(&first).0), later, 2)),
                // White space makes another record, with another id, from the same words.
                _ => copies.push(list(of.index(lists.len()), &" ".repeat(1 + index))),
            }
        }
        test_dir.write("in/2.jsonl", json_lines(&days));
        test_dir.write("in/2.lists.jsonl", copies.concat());
        let after = divided(&test_dir, "after", &split);
        prop_assert_eq!(after.len(), before.len() + later.len());
        for (id, part) in &before {
            prop_assert_eq!(&after[id], part, "{} moved", id);
        }

        // All conversations of a thread, and all with the same words, are in one part.
        let dataset = Dataset::open(&test_dir.path("after")).unwrap();
        let mut homes: BTreeMap<String, (String, u32)> = BTreeMap::new();
        for batch in dataset.batches("conversations", &["conversation_id", "source_conversation_id", "content_hash"]) {
            let batch = batch.unwrap();
            let [ids, threads, contents] = ["conversation_id", "source_conversation_id", "content_hash"]
                .map(|name| batch.column::<Texts>(name).unwrap());
            for row in 0..batch.rows() {
                let part = &after[ids.at(row)];
                let mut keys = vec![format!("content {}", contents.at(row))];
                if let Some(thread) = threads.get(row) {
                    keys.push(format!("thread {thread}"));
                    keys.extend((by == SplitBy::Room).then(|| format!("room {}", thread.split('/').next().unwrap())));
                }
                for key in keys {
                    let home = homes.entry(key.clone()).or_insert_with(|| (part.clone(), 0));
                    prop_assert_eq!(&home.0, part, "{} is torn apart", key);
                    home.1 += 1;
                }
            }
        }
        let copied = homes.iter().filter(|(key, home)| key.starts_with("content") && home.1 > 1).count();
        prop_assert_eq!(copied > 0, !copies.is_empty(), "copies are recognised");
    }
}

#[test]
fn the_same_running_number_in_two_inputs_is_no_thread_of_both() {
    let rows = |answer: &str| -> String {
        let row = |number| {
            format!(
                "{{\"id\":{number},\"messages\":[{{\"role\":\"user\",\"content\":\"Question {number}\"}},\
                 {{\"role\":\"assistant\",\"content\":\"{answer}\"}}]}}\n"
            )
        };
        (0..20).map(row).collect()
    };
    let test_dir = TestDir::new();
    test_dir.write("in/1.jsonl", rows("Yes"));
    test_dir.write("in/2.jsonl", rows("No"));
    let parts = divided(
        &test_dir,
        "out",
        &Split::parse("train=50,test=50", SplitBy::Hash).unwrap(),
    );
    assert_eq!(parts.len(), 40);
    // The ids of the second input are made unique.
    let first: Vec<&String> = parts
        .iter()
        .filter(|(id, _)| !id.contains('~'))
        .map(|(_, part)| part)
        .collect();
    let second: Vec<&String> = parts
        .iter()
        .filter(|(id, _)| id.contains('~'))
        .map(|(_, part)| part)
        .collect();
    assert_eq!(first.len(), second.len());
    let apart = first.iter().zip(&second).filter(|(one, other)| one != other);
    assert!(apart.count() > 3);
}

#[test]
fn a_split_by_time_puts_the_latest_conversations_last_and_a_thread_where_it_began() {
    let test_dir = TestDir::new();
    let mut chats: Vec<Value> = (0..20).map(|day| chat(&format!("t{day}"), day, 2)).collect();
    // A thread that began early and continues late.
    chats.push(chat("t3", 19, 3));
    let mut timeless = chat("timeless", 5, 2);
    for message in timeless["conversation_list"].as_array_mut().unwrap() {
        message.as_object_mut().unwrap().remove("create_time");
    }
    test_dir.write("in/1.jsonl", json_lines(&chats));
    let split = Split::parse("train=start,test=2026-01-16", SplitBy::Time).unwrap();
    let by_date = divided(&test_dir, "dated", &split);
    for (id, part) in &by_date {
        let day: u32 = id
            .trim_start_matches('t')
            .split('~')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(part, if day < 15 { "train" } else { "test" }, "{id}");
    }
    assert_eq!(by_date.len(), 21);

    let shares = Split::parse("train=3,test=1", SplitBy::Time).unwrap();
    let by_share = divided(&test_dir, "shared", &shares);
    // There are 21 beginnings, because the thread counts twice; the border is the sixteenth.
    assert_eq!(by_share.values().filter(|part| *part == "test").count(), 6);

    test_dir.write("in/2.jsonl", json_lines(&[timeless]));
    test_dir.run("timeless", CHATS, 1).unwrap();
    let dataset = Dataset::open(&test_dir.path("timeless")).unwrap();
    let request = ExportRequest {
        valid_for: None,
        split: Some(split),
        ..plain("openai-chat")
    };
    let summary = export(&dataset, &request, &test_dir.path("timeless-export")).unwrap();
    assert_balanced(&summary);
    assert_eq!(summary.left_out.len(), 1);
    assert!(summary.left_out[0].reason.starts_with("no-time"));
    assert_eq!(summary.files[0].begins, None);
    assert_eq!(summary.files[1].begins.as_deref(), Some("2026-01-16T00:00:00Z"));
}
