//! The same inputs give the same bytes, whatever the number of threads, the spelling of paths or the interruptions.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use chatmill_engine::{Progress, RunError, RunOptions};
use chatmill_workshop::TestDir;
use chatmill_workshop::test_dir::padded;

const FEW: &str = "[render]\ndialects = [\"group-chat\", \"openai-chat\"]\n";

/// Enough small conversations for several slices of 4 MiB, with white space between them.
fn many_slices(test_dir: &TestDir) {
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
    test_dir.write("in/many.jsonl", lines);
}

const BARE: &str = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";

#[test]
fn any_number_of_threads_gives_the_same_files() {
    let test_dir = TestDir::new();
    many_slices(&test_dir);
    let summary = test_dir.run("one", BARE, 1).unwrap();
    let slices = summary.manifest.tables[0].files.len();
    assert!(slices > 2, "the input must be worth several slices, not {slices}");
    assert_eq!((summary.totals.accepted, summary.totals.rejected), (60, 0));
    for (out, threads) in [("two", 2), ("seven", 7)] {
        test_dir.run(out, BARE, threads).unwrap();
        assert_eq!(test_dir.hashes("one"), test_dir.hashes(out), "{threads} threads");
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
    let test_dir = TestDir::new();
    many_slices(&test_dir);
    test_dir.run("whole", BARE, 2).unwrap();
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
        match chatmill_engine::run(test_dir.plan("broken", BARE), options, &progress, &stop) {
            Err(RunError::Stopped { .. }) => interruptions += 1,
            Ok(_) => break,
            Err(error) => panic!("{error}"),
        }
        assert!(
            !test_dir.path("broken").exists(),
            "nothing is published before the end"
        );
    }
    assert!(
        interruptions > 1,
        "the test must really interrupt, not {interruptions} times"
    );
    test_dir.run("broken", BARE, 1).unwrap();
    assert_eq!(test_dir.hashes("whole"), test_dir.hashes("broken"));
}

#[test]
fn a_run_that_writes_few_tables_writes_the_files_of_one_that_writes_all() {
    let test_dir = TestDir::new();
    many_slices(&test_dir);
    test_dir.run("whole", BARE, 2).unwrap();
    let few = format!("tables = [\"losses\", \"messages\"]\n{BARE}");
    let stop = AtomicBool::new(false);
    let progress = StopAfter {
        left: AtomicU64::new(60),
        stop: &stop,
    };
    let stopped = chatmill_engine::run(
        test_dir.plan("few", &few),
        RunOptions::default(),
        &progress,
        &stop,
    );
    assert!(matches!(stopped, Err(RunError::Stopped { .. })));
    test_dir.run("few", &few, 2).unwrap();
    test_dir.run("alone", &few, 1).unwrap();
    assert_eq!(test_dir.hashes("few"), test_dir.hashes("alone"));
    let mut expected = test_dir.hashes("whole");
    expected.retain(|path, _| {
        let table = path.split('/').next().unwrap();
        ["messages", "losses", "totals", "findings", "rejects"].contains(&table)
    });
    let mut found = test_dir.hashes("few");
    // Manifests list the tables, so they differ.
    found.retain(|path, _| path.ends_with(".parquet"));
    assert_eq!(found, expected);
}

#[test]
fn a_second_run_changes_nothing_and_another_plan_is_refused() {
    let test_dir = TestDir::new();
    test_dir.write(
        "in/a.json",
        include_str!("../../../../data-samples/demo/assistant.json"),
    );
    test_dir.run("out", FEW, 1).unwrap();
    let before = test_dir.hashes("out");
    let again = test_dir.run("out", FEW, 2).unwrap();
    assert!(again.elapsed.is_none());
    assert_eq!(before, test_dir.hashes("out"));
    let other = test_dir.run("out", BARE, 1);
    assert!(matches!(other, Err(RunError::Dataset(_))));
    assert_eq!(before, test_dir.hashes("out"));
    let options = RunOptions {
        threads: 1,
        replace: true,
        ..RunOptions::default()
    };
    chatmill_engine::run(
        test_dir.plan("out", BARE),
        options,
        &chatmill_engine::Silent,
        &AtomicBool::new(false),
    )
    .unwrap();
    assert_ne!(before, test_dir.hashes("out"));
}

#[test]
fn equal_ids_are_all_retained_and_qualified_in_the_order_of_inputs() {
    let test_dir = TestDir::new();
    let text = include_str!("../../../../data-samples/demo/assistant.json");
    test_dir.write("in/a.json", text);
    test_dir.write("in/b.json", text);
    let summary = test_dir.run("out", BARE, 1).unwrap();
    assert_eq!(summary.totals.conversations, 2);
    assert_eq!(summary.totals.findings["AS004"].total(), 1);
    let certificate = chatmill_dataset::certify(&test_dir.path("out")).unwrap();
    assert!(certificate.problems.is_empty(), "{:?}", certificate.problems);
}

#[test]
fn a_file_per_dialect_holds_the_same_rows_and_survives_an_interruption() {
    let test_dir = TestDir::new();
    many_slices(&test_dir);
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
    let broken = chatmill_engine::run(test_dir.plan("parted", &parted), options, &progress, &stop);
    assert!(matches!(broken, Err(RunError::Stopped { .. })));
    let summary = test_dir.run("parted", &parted, 1).unwrap();
    test_dir.run("together", &together, 2).unwrap();
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
        let mut rows = chatmill_workshop::test_dir::renderings(&test_dir.path(out), &[]);
        rows.sort();
        rows
    };
    assert_eq!(sorted("parted"), sorted("together"));
    assert_eq!(sorted("parted").len(), 120);
    let certificate = chatmill_dataset::certify(&test_dir.path("parted")).unwrap();
    assert!(certificate.problems.is_empty(), "{:?}", certificate.problems);
    test_dir.run("again", &parted, 2).unwrap();
    assert_eq!(test_dir.hashes("parted"), test_dir.hashes("again"));
}

#[test]
fn a_file_per_dialect_gives_the_same_bill() {
    let test_dir = TestDir::new();
    many_slices(&test_dir);
    let counted = "[count]\nencodings = [\"o200k_base\", \"p50k_base\"]\n";
    let bill = |out: &str, more: &str| {
        test_dir.run(out, &format!("{more}{FEW}{counted}"), 2).unwrap();
        chatmill_report::write(&test_dir.path(out), None).unwrap().tokens
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
    let test_dir = TestDir::new();
    test_dir.write(
        "in/a.json",
        include_str!("../../../../data-samples/demo/assistant.json"),
    );
    let more = "[render]\ndialects = [\"all\"]\n[count]\nencodings = [\"o200k_base\", \"p50k_base\"]\n";
    test_dir.run("own", more, 1).unwrap();
    let options = RunOptions {
        count_mode: chatmill_engine::CountMode::Reference,
        ..RunOptions::default()
    };
    let stop = AtomicBool::new(false);
    chatmill_engine::run(
        test_dir.plan("reference", more),
        options,
        &chatmill_engine::Silent,
        &stop,
    )
    .unwrap();
    assert_eq!(test_dir.hashes("own"), test_dir.hashes("reference"));
}

#[test]
fn the_plan_of_many_inputs_is_as_long_as_that_of_one_and_their_names_and_sections_decide_the_fingerprint() {
    let line =
        r#"{"version":"1.0.0","conversation_meta":{"name":"n","user_details":{}},"conversation_list":[]}"#;
    let fingerprint = |names: &[&str], more: &str| {
        let test_dir = TestDir::new();
        for name in names {
            test_dir.write(&format!("in/{name}"), line);
        }
        let plan = test_dir.run("out", &format!("{BARE}{more}"), 1).unwrap().manifest;
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
    let test_dir = TestDir::new();
    for name in ["a.json", "b.json", "c.json"] {
        test_dir.write(&format!("in/{name}"), line);
    }
    let parted = |first: &str| {
        let text = format!(
            "name = \"test\"\n[[input]]\npath = \"in/{first}\"\n{second}[output]\npath = \"out\"\n{BARE}"
        );
        let mut plan =
            chatmill_engine::Plan::load(&test_dir.write("pipeline.toml", text), &[], None, &[]).unwrap();
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
