//! Duplicates in whole runs: the same result for any number of threads, and with more inputs.

use chatmill_workshop::test_dir::padded;
use chatmill_workshop::{TestDir, rows};
use serde_json::json;

const BARE: &str = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";

/// A line of JSON: a room in which two people write these texts in turn.
fn room(id: &str, texts: &[String]) -> String {
    let messages: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| {
            let sender = if n % 2 == 0 { "u1" } else { "u2" };
            json!({"message_id": format!("{id}-{n}"), "create_time": format!("2026-03-01T{:02}:00:{n:02}Z", id.len()),
                "sender": sender, "type": "text", "content": text, "refer_list": []})
        })
        .collect();
    let people = json!({"u1": {"full_name": format!("Ann {id}"), "role": "user"}, "u2": {"full_name": "Ben", "role": "user"}});
    json!({"version": "1.0.0", "conversation_meta": {"conversation_id": id, "name": id, "user_details": people},
        "conversation_list": messages})
    .to_string()
        + "\n"
}

fn text(numbers: std::ops::Range<usize>) -> String {
    numbers.fold(String::new(), |text, number| text + &format!("word{number} "))
}

fn column(test_dir: &TestDir, out: &str, name: &str) -> Vec<Option<String>> {
    rows::texts(&test_dir.path(out), "conversations", name)
}

#[test]
fn clusters_are_the_same_for_any_number_of_threads_and_more_inputs_change_no_earlier_one() {
    let test_dir = TestDir::new();
    let long = format!("{} and so on", "x".repeat(400));
    for file in 0..3 {
        let lines: String = (0..40)
            .map(|n| room(&format!("r{file}-{n}"), &[text(n * 7..n * 7 + 60), long.clone()]))
            // The padding makes the input long enough for several slices.
            .map(|line| padded(line.trim_end(), 80_000) + "\n")
            .collect();
        test_dir.write(&format!("in/{file}.jsonl"), lines);
    }
    let more = format!("{BARE}[dedup]\nexact = \"mark\"\nnear = \"mark\"\n");
    let summary = test_dir.run("one", &more, 1).unwrap();
    assert!(summary.manifest.tables[0].files.len() > 2);
    test_dir.run("three", &more, 3).unwrap();
    assert_eq!(test_dir.hashes("one"), test_dir.hashes("three"));
    let before = column(&test_dir, "one", "cluster");
    test_dir.write("in/z.jsonl", room("late", &[long]));
    test_dir.run("more", &more, 2).unwrap();
    assert_eq!(before, column(&test_dir, "more", "cluster")[..before.len()]);
}
