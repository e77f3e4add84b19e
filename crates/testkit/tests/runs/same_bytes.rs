//! The same inputs give the same bytes, whatever the number of threads, the spelling of paths or the interruptions.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use chatmill_engine::{Progress, RunError, RunOptions};
use chatmill_workshop::Workshop;
use chatmill_workshop::workshop::padded;

const FEW: &str = "[render]\ndialects = [\"group-chat\", \"openai-chat\"]\n";

/// Enough small conversations, with white space between them, for several slices of 4 MiB.
fn many_slices(workshop: &Workshop) {
    let mut lines = String::new();
    for conversation in 0..60 {
        let mut messages = String::new();
        for message in 0..12 {
            let comma = if message > 0 { "," } else { "" };
            write!(
                messages,
                r#"{comma}{{"message_id":"m{message}","create_time":"2026-01-01T00:00:00Z","sender":"u1","type":"text","content":"{}","refer_list":[]}}"#,
                format!("word{message} ").repeat(4)
            )
            .unwrap();
        }
        let record = format!(
            r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"c{conversation}","name":"n","user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{messages}]}}"#
        );
        lines += &padded(&record, 170_000);
        lines.push('\n');
    }
    workshop.write("in/many.jsonl", lines);
}

const BARE: &str = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";

#[test]
fn any_number_of_threads_gives_the_same_files() {
    let workshop = Workshop::new();
    many_slices(&workshop);
    let summary = workshop.run("one", BARE, 1).unwrap();
    let slices = summary.manifest.tables[0].files.len();
    assert!(slices > 2, "the input must be worth several slices, not {slices}");
    assert_eq!((summary.totals.accepted, summary.totals.rejected), (60, 0));
    for (out, threads) in [("two", 2), ("seven", 7)] {
        workshop.run(out, BARE, threads).unwrap();
        assert_eq!(workshop.hashes("one"), workshop.hashes(out), "{threads} threads");
    }
}

/// Stops the run after a number of progress reports.
struct StopAfter<'s> {
    left: AtomicU64,
    stop: &'s AtomicBool,
}

impl Progress for StopAfter<'_> {
    fn stage(&self, _name: &str, _bytes: u64) {}
    fn advance(&self, _bytes: u64) {
        let before = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if before.is_err() {
            self.stop.store(true, Ordering::SeqCst);
        }
    }
    fn note(&self, _text: &str) {}
}

#[test]
fn an_interrupted_run_goes_on_and_ends_with_the_same_files() {
    let workshop = Workshop::new();
    many_slices(&workshop);
    workshop.run("whole", BARE, 2).unwrap();
    let mut interruptions = 0;
    for patience in [3, 20, 60, 110, 150] {
        let stop = AtomicBool::new(false);
        let progress = StopAfter {
            left: AtomicU64::new(patience),
            stop: &stop,
        };
        let options = RunOptions {
            threads: 2,
            ..RunOptions::default()
        };
        match chatmill_engine::run(workshop.plan("broken", BARE), options, &progress, &stop) {
            Err(RunError::Stopped { .. }) => interruptions += 1,
            Ok(_) => break,
            Err(error) => panic!("{error}"),
        }
        assert!(
            !workshop.path("broken").exists(),
            "nothing is published before the end"
        );
    }
    assert!(
        interruptions > 1,
        "the test must really interrupt, not {interruptions} times"
    );
    workshop.run("broken", BARE, 1).unwrap();
    assert_eq!(workshop.hashes("whole"), workshop.hashes("broken"));
}

#[test]
fn a_run_that_writes_few_tables_writes_the_files_of_one_that_writes_all() {
    let workshop = Workshop::new();
    many_slices(&workshop);
    workshop.run("whole", BARE, 2).unwrap();
    let few = format!("tables = [\"losses\", \"messages\"]\n{BARE}");
    let stop = AtomicBool::new(false);
    let progress = StopAfter {
        left: AtomicU64::new(60),
        stop: &stop,
    };
    let stopped = chatmill_engine::run(
        workshop.plan("few", &few),
        RunOptions::default(),
        &progress,
        &stop,
    );
    assert!(matches!(stopped, Err(RunError::Stopped { .. })));
    workshop.run("few", &few, 2).unwrap();
    workshop.run("alone", &few, 1).unwrap();
    assert_eq!(workshop.hashes("few"), workshop.hashes("alone"));
    let mut expected = workshop.hashes("whole");
    expected.retain(|path, _| {
        let table = path.split('/').next().unwrap();
        ["messages", "losses", "totals", "findings", "rejects"].contains(&table)
    });
    let mut found = workshop.hashes("few");
    // Manifests say which tables there are.
    found.retain(|path, _| path.ends_with(".parquet"));
    assert_eq!(found, expected);
}

#[test]
fn a_second_run_changes_nothing_and_another_plan_is_refused() {
    let workshop = Workshop::new();
    workshop.write(
        "in/a.json",
        include_str!("../../../../data-samples/demo/assistant.json"),
    );
    workshop.run("out", FEW, 1).unwrap();
    let before = workshop.hashes("out");
    let again = workshop.run("out", FEW, 2).unwrap();
    assert!(again.elapsed.is_none());
    assert_eq!(before, workshop.hashes("out"));
    let other = workshop.run("out", BARE, 1);
    assert!(matches!(other, Err(RunError::Dataset(_))));
    assert_eq!(before, workshop.hashes("out"));
    let options = RunOptions {
        threads: 1,
        replace: true,
        ..RunOptions::default()
    };
    chatmill_engine::run(
        workshop.plan("out", BARE),
        options,
        &chatmill_engine::Silent,
        &AtomicBool::new(false),
    )
    .unwrap();
    assert_ne!(before, workshop.hashes("out"));
}

#[test]
fn equal_ids_are_all_kept_and_qualified_in_the_order_of_inputs() {
    let workshop = Workshop::new();
    let text = include_str!("../../../../data-samples/demo/assistant.json");
    workshop.write("in/a.json", text);
    workshop.write("in/b.json", text);
    let summary = workshop.run("out", BARE, 1).unwrap();
    assert_eq!(summary.totals.conversations, 2);
    assert_eq!(summary.totals.findings["AS004"].total(), 1);
    let certificate = chatmill_dataset::certify(&workshop.path("out")).unwrap();
    assert!(certificate.faults.is_empty(), "{:?}", certificate.faults);
}

#[test]
fn a_file_per_dialect_holds_the_same_rows_and_survives_an_interruption() {
    let workshop = Workshop::new();
    many_slices(&workshop);
    let parted = format!("partition = \"dialect\"\n{FEW}[count]\nencodings = []\n");
    let together = format!("{FEW}[count]\nencodings = []\n");
    let stop = AtomicBool::new(false);
    let progress = StopAfter {
        left: AtomicU64::new(60),
        stop: &stop,
    };
    let options = RunOptions {
        threads: 2,
        ..RunOptions::default()
    };
    let broken = chatmill_engine::run(workshop.plan("parted", &parted), options, &progress, &stop);
    assert!(matches!(broken, Err(RunError::Stopped { .. })));
    let summary = workshop.run("parted", &parted, 1).unwrap();
    workshop.run("together", &together, 2).unwrap();
    let folders: std::collections::BTreeSet<&str> = summary
        .manifest
        .tables
        .iter()
        .find(|table| table.name == "renderings")
        .unwrap()
        .files
        .iter()
        .map(|file| file.path.rsplit_once('/').unwrap().0)
        .collect();
    assert_eq!(
        folders.into_iter().collect::<Vec<_>>(),
        ["renderings/dialect=group-chat", "renderings/dialect=openai-chat"]
    );
    let sorted = |out: &str| {
        let mut rows = chatmill_workshop::workshop::renderings(&workshop.path(out), &[]);
        rows.sort();
        rows
    };
    assert_eq!(sorted("parted"), sorted("together"));
    assert_eq!(sorted("parted").len(), 120);
    let certificate = chatmill_dataset::certify(&workshop.path("parted")).unwrap();
    assert!(certificate.faults.is_empty(), "{:?}", certificate.faults);
    workshop.run("again", &parted, 2).unwrap();
    assert_eq!(workshop.hashes("parted"), workshop.hashes("again"));
}

#[test]
fn a_file_per_dialect_gives_the_same_bill() {
    let workshop = Workshop::new();
    many_slices(&workshop);
    let counted = "[count]\nencodings = [\"o200k_base\", \"p50k_base\"]\n";
    let bill = |out: &str, more: &str| {
        workshop.run(out, &format!("{more}{FEW}{counted}"), 2).unwrap();
        chatmill_report::write(&workshop.path(out), None).unwrap().tokens
    };
    let together = bill("together", "");
    assert!(!together.rows.is_empty());
    assert_eq!(
        serde_json::to_value(bill("parted", "partition = \"dialect\"\n")).unwrap(),
        serde_json::to_value(together).unwrap()
    );
}

#[test]
fn the_reference_counts_the_same_tokens_of_every_part() {
    let workshop = Workshop::new();
    workshop.write(
        "in/a.json",
        include_str!("../../../../data-samples/demo/assistant.json"),
    );
    let more = "[render]\ndialects = [\"all\"]\n[count]\nencodings = [\"o200k_base\", \"p50k_base\"]\n";
    workshop.run("own", more, 1).unwrap();
    let options = RunOptions {
        count_mode: chatmill_engine::CountMode::Reference,
        ..RunOptions::default()
    };
    let stop = AtomicBool::new(false);
    chatmill_engine::run(
        workshop.plan("reference", more),
        options,
        &chatmill_engine::Silent,
        &stop,
    )
    .unwrap();
    assert_eq!(workshop.hashes("own"), workshop.hashes("reference"));
}

#[test]
fn the_plan_of_many_inputs_is_as_long_as_that_of_one_and_their_names_and_sections_decide_the_fingerprint() {
    let line =
        r#"{"version":"1.0.0","conversation_meta":{"name":"n","user_details":{}},"conversation_list":[]}"#;
    let fingerprint = |names: &[&str], more: &str| {
        let workshop = Workshop::new();
        for name in names {
            workshop.write(&format!("in/{name}"), line);
        }
        let plan = workshop.run("out", &format!("{BARE}{more}"), 1).unwrap().manifest;
        let sections = plan.plan["inputs"].as_array().unwrap().clone();
        let listed: Vec<_> = plan.inputs.paths().collect();
        assert_eq!(listed, names);
        (sections, plan.fingerprint)
    };
    let (one, _) = fingerprint(&["a.json"], "");
    let (three, whole) = fingerprint(&["a.json", "b.json", "c.json"], "");
    assert_eq!((one.len(), &one), (1, &three));
    assert_eq!(one[0]["source"], "auto");
    let (_, renamed) = fingerprint(&["a.json", "b.json", "d.json"], "");
    assert_ne!(whole, renamed);
    let second = "[[input]]\npath = \"in/c.json\"\nid_prefix = \"c-\"\n";
    let workshop = Workshop::new();
    for name in ["a.json", "b.json", "c.json"] {
        workshop.write(&format!("in/{name}"), line);
    }
    let parted = |first: &str| {
        let text = format!(
            "name = \"test\"\n[[input]]\npath = \"in/{first}\"\n{second}[output]\npath = \"out\"\n{BARE}"
        );
        let mut plan =
            chatmill_engine::Plan::load(&workshop.write("pipeline.toml", text), &[], None, &[]).unwrap();
        plan.hash_inputs(
            &|_, _| Ok(false),
            &chatmill_engine::Silent,
            &AtomicBool::new(false),
        )
        .unwrap();
        let sections = plan.normalised()["inputs"].as_array().unwrap().len();
        assert_eq!(sections, 2);
        plan.fingerprint()
    };
    assert_ne!(parted("[ab].json"), parted("a.json"));
}
