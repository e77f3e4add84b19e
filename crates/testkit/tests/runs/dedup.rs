//! Duplicates through the whole mill: marked, left out, kept together, and counted.

use std::sync::atomic::AtomicBool;

use chatmill_engine::{Plan, RunOptions, RunSummary, Silent};
use chatmill_workshop::workshop::padded;
use chatmill_workshop::{Workshop, rows};
use serde_json::json;

const BARE: &str = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";

/// A line of JSON lines: a room where two people say these texts in turn.
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

/// `one` and `other` say the same; `near` changes a word of it; `apart` says something else.
fn rooms(workshop: &Workshop) {
    let long = text(0..300);
    workshop.write(
        "in/a.jsonl",
        room("one", &[long.clone(), text(300..320)]) + &room("apart", &[text(900..1200)]),
    );
    let touched = long.replacen("word150 ", "changed ", 1);
    workshop.write(
        "in/b.jsonl",
        room("other", &[long, text(300..320)]) + &room("near", &[touched, text(300..320)]),
    );
}

fn column(workshop: &Workshop, out: &str, name: &str) -> Vec<Option<String>> {
    rows::texts(&workshop.path(out), "conversations", name)
}

fn filtered(summary: &RunSummary) -> (u64, u64) {
    assert!(summary.manifest.ledger_balanced);
    (summary.totals.conversations, summary.totals.filtered)
}

#[test]
fn duplicates_are_marked_and_share_the_cluster_of_the_first() {
    let workshop = Workshop::new();
    rooms(&workshop);
    let more = format!("{BARE}[dedup]\nexact = \"mark\"\nnear = \"mark\"\n");
    let summary = workshop.run("out", &more, 2).unwrap();
    assert_eq!(filtered(&summary), (4, 0));
    let some = |word: &str| Some(word.to_owned());
    assert_eq!(
        column(&workshop, "out", "conversation_id"),
        ["one", "apart", "other", "near"].map(some)
    );
    assert_eq!(
        column(&workshop, "out", "duplicate"),
        [None, None, some("exact"), some("near")]
    );
    let clusters = column(&workshop, "out", "cluster");
    assert!(clusters[0].is_some());
    assert_eq!(clusters[1], None);
    assert_eq!([&clusters[2], &clusters[3]], [&clusters[0]; 2]);
}

#[test]
fn what_is_left_out_is_counted_and_the_first_stays() {
    let workshop = Workshop::new();
    rooms(&workshop);
    for (dedup, kept) in [
        ("exact = \"filter\"", &["one", "apart", "near"][..]),
        ("near = \"filter\"", &["one", "apart", "other"]),
        ("near = \"filter\"\nexact = \"filter\"", &["one", "apart"]),
        (
            "near = \"filter\"\nexact = \"filter\"\nthreshold = 1.0",
            &["one", "apart", "near"],
        ),
        ("", &["one", "apart", "other", "near"]),
    ] {
        let out = format!("out-{}-{}", kept.len(), dedup.len());
        let summary = workshop
            .run(&out, &format!("{BARE}[dedup]\n{dedup}\n"), 1)
            .unwrap();
        let ids: Vec<String> = column(&workshop, &out, "conversation_id")
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(ids, kept, "{dedup}");
        assert_eq!(filtered(&summary), (kept.len() as u64, 4 - kept.len() as u64));
        assert!(chatmill_dataset::certify(&workshop.path(&out)).unwrap().holds());
    }
}

#[test]
fn clusters_are_the_same_for_any_number_of_threads_and_more_inputs_change_no_earlier_one() {
    let workshop = Workshop::new();
    let long = format!("{} and so on", "x".repeat(400));
    for file in 0..3 {
        let lines: String = (0..40)
            .map(|n| room(&format!("r{file}-{n}"), &[text(n * 7..n * 7 + 60), long.clone()]))
            // Enough for several slices.
            .map(|line| padded(line.trim_end(), 80_000) + "\n")
            .collect();
        workshop.write(&format!("in/{file}.jsonl"), lines);
    }
    let more = format!("{BARE}[dedup]\nexact = \"mark\"\nnear = \"mark\"\n");
    let summary = workshop.run("one", &more, 1).unwrap();
    assert!(summary.manifest.tables[0].files.len() > 2);
    workshop.run("three", &more, 3).unwrap();
    assert_eq!(workshop.hashes("one"), workshop.hashes("three"));
    let before = column(&workshop, "one", "cluster");
    workshop.write("in/z.jsonl", room("late", &[long]));
    workshop.run("more", &more, 2).unwrap();
    assert_eq!(before, column(&workshop, "more", "cluster")[..before.len()]);
}

#[test]
fn rows_that_were_gathered_are_compared_as_well() {
    let workshop = Workshop::new();
    let samples = chatmill_testkit::samples::samples().join("demo/agent-workspace.sql");
    let dump = std::fs::read_to_string(samples).unwrap();
    workshop.write("in/a/dump.sql", &dump);
    workshop.write("in/b/dump.sql", &dump);
    let run = |out: &str, exact: &str| {
        let pipeline = format!(
            "name = \"t\"\n[[input]]\npath = \"in/**\"\nmerge = false\n[output]\npath = {out:?}\n\
             [render]\ndialects = [\"suna-rows\"]\n[count]\nencodings = []\n[dedup]\nexact = \"{exact}\"\n"
        );
        let path = workshop.write("p.toml", pipeline);
        let plan = Plan::load(&path, &[], None).unwrap();
        let stop = AtomicBool::new(false);
        chatmill_engine::run(plan, RunOptions::default(), &Silent, &stop).unwrap()
    };
    let marked = run("marked", "mark");
    let kept = run("kept", "filter");
    let (twice, rows) = filtered(&marked);
    assert_eq!(rows, 0);
    assert_eq!(
        filtered(&kept),
        (twice / 2, kept.manifest.inputs.get(1).unwrap().framed)
    );
    assert!(twice > 0 && kept.manifest.inputs.get(1).unwrap().accepted == 0);
}

#[test]
fn a_threshold_out_of_range_is_refused() {
    let workshop = Workshop::new();
    rooms(&workshop);
    for threshold in ["0.49", "1.01"] {
        let pipeline = format!(
            "name = \"t\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n[dedup]\nnear = \"mark\"\nthreshold = {threshold}\n"
        );
        let path = workshop.write("p.toml", pipeline);
        let error = Plan::load(&path, &[], None).err().unwrap().to_string();
        assert!(error.contains("dedup.threshold"), "{error}");
    }
}
