//! Changes of inputs, and of the work on them, during a run: no incomplete dataset is ever published, and repeating the
//! run gives the whole dataset.
#![cfg(unix)]

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_engine::{Progress, Queues, RunError, RunOptions, RunSummary, run};
use chatmill_workshop::TestDir;
use chatmill_workshop::test_dir::padded;

const PLAN: &str =
    "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n";

fn chat(id: &str) -> String {
    format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","scene":"group_chat","scene_desc":{{}},"user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{{"message_id":"m1","create_time":"2026-01-01T00:00:00+02:00","sender":"u1","role":"user","type":"text","content":"hello {id}","refer_list":[]}}]}}"#
    )
}

/// Two files, of which the second gives several slices.
fn inputs(shop: &TestDir) {
    shop.write("in/a.json", chat("a"));
    let lines = (0..60).map(|number| padded(&chat(&format!("b{number}")), 100_000));
    let lines: Vec<String> = lines.collect();
    shop.write("in/b.jsonl", lines.join("\n"));
}

/// Performs an act once, when a stage begins or a slice is done.
struct Meddler<'m> {
    stage: &'m str,
    delivered: u32,
    done: AtomicBool,
    act: &'m (dyn Fn() + Sync),
    notes: Mutex<Vec<String>>,
}

impl<'m> Meddler<'m> {
    fn at(stage: &'m str, act: &'m (dyn Fn() + Sync)) -> Self {
        Self {
            stage,
            delivered: u32::MAX,
            done: AtomicBool::new(false),
            act,
            notes: Mutex::default(),
        }
    }

    fn after(delivered: u32, act: &'m (dyn Fn() + Sync)) -> Self {
        Self {
            delivered,
            ..Self::at("", act)
        }
    }

    fn when(&self, now: bool) {
        if now && !self.done.swap(true, Ordering::SeqCst) {
            (self.act)();
        }
    }
}

impl Progress for Meddler<'_> {
    fn stage(&self, name: &str, _bytes: u64) {
        self.when(name == self.stage);
    }

    fn advance(&self, _bytes: u64) {}

    fn note(&self, text: &str) {
        self.notes.lock().unwrap().push(text.to_owned());
    }

    fn queues(&self, queues: Queues) {
        self.when(queues.delivered >= self.delivered);
    }
}

fn mill(shop: &TestDir, meddler: &Meddler<'_>) -> Result<RunSummary, RunError> {
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    let ended = run(shop.plan("out", PLAN), options, meddler, &AtomicBool::new(false));
    assert!(meddler.done.load(Ordering::SeqCst), "nothing was done to it");
    ended
}

/// The error of a run during which an act was performed; repeating the run must give the result of an undisturbed one.
fn healed(stage: &str, harm: &(dyn Fn(&TestDir) + Sync), mend: &dyn Fn(&TestDir)) -> String {
    let shop = TestDir::new();
    inputs(&shop);
    shop.run("alone", PLAN, 1).unwrap();
    let act = || harm(&shop);
    let said = mill(&shop, &Meddler::at(stage, &act)).err().unwrap().to_string();
    assert!(!shop.path("out").exists(), "{said}");
    mend(&shop);
    shop.run("out", PLAN, 1).unwrap();
    assert!(shop.hashes("out") == shop.hashes("alone"), "{said}");
    said
}

#[test]
fn an_input_that_vanishes_after_it_was_hashed_ends_the_run_and_the_repeat_is_complete() {
    for name in ["a.json", "b.jsonl"] {
        let away = |shop: &TestDir| fs::rename(shop.path("in").join(name), shop.path("kept")).unwrap();
        let back = |shop: &TestDir| fs::rename(shop.path("kept"), shop.path("in").join(name)).unwrap();
        let said = healed("render", &away, &back);
        assert!(
            said.contains(name) && said.contains("run the same command again"),
            "{said}"
        );
        // The file vanishes between its discovery and its hashing.
        let said = healed("hash", &away, &back);
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn an_input_that_changes_its_kind_ends_the_run_without_blocking() {
    let swap = |shop: &TestDir| {
        fs::rename(shop.path("in/b.jsonl"), shop.path("kept")).unwrap();
        let made = Command::new("mkfifo").arg(shop.path("in/b.jsonl")).status();
        assert!(made.unwrap().success());
    };
    let back = |shop: &TestDir| fs::rename(shop.path("kept"), shop.path("in/b.jsonl")).unwrap();
    for stage in ["hash", "render"] {
        let shop = TestDir::new();
        inputs(&shop);
        let act = || swap(&shop);
        let ended = mill(&shop, &Meddler::at(stage, &act));
        if stage == "render" {
            let said = ended.err().unwrap().to_string();
            assert!(
                said.contains("b.jsonl") && said.contains("not a regular file"),
                "{said}"
            );
        } else {
            // It already was no file when it was hashed.
            assert_eq!(
                ended.unwrap().manifest.inputs.get(1).unwrap().refused.as_deref(),
                Some("IN014")
            );
        }
    }
    let said = healed("render", &swap, &back);
    assert!(said.contains("b.jsonl"), "{said}");
}

#[test]
fn slices_that_were_cut_from_other_bytes_than_were_hashed_are_cut_again() {
    let change = |shop: &TestDir| {
        let path = shop.path("in/b.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(shop.path("kept"), &text).unwrap();
        fs::write(&path, text.replace("hello", "adieu")).unwrap();
    };
    let back = |shop: &TestDir| fs::rename(shop.path("kept"), shop.path("in/b.jsonl")).unwrap();
    let said = healed("render", &change, &back);
    assert!(said.contains("b.jsonl") && said.contains("changed"), "{said}");
}

#[test]
fn a_receipt_that_vanishes_while_the_run_works_is_missed_before_anything_is_published() {
    let shop = TestDir::new();
    inputs(&shop);
    shop.run("alone", PLAN, 1).unwrap();
    let staging = || {
        let home = fs::read_dir(shop.path(".out.staging"))
            .unwrap()
            .map(Result::unwrap);
        home.map(|entry| entry.path())
            .find(|path| path.join("receipts").is_dir())
            .unwrap()
    };
    for slice in ["00000-00000", "00000-00001"] {
        let lose = || fs::remove_file(staging().join(format!("receipts/{slice}.json"))).unwrap();
        let said = mill(&shop, &Meddler::after(2, &lose)).err().unwrap().to_string();
        assert!(said.contains("not complete") && said.contains("again"), "{said}");
        assert!(!shop.path("out").exists());
    }
    shop.run("out", PLAN, 1).unwrap();
    assert!(shop.hashes("out") == shop.hashes("alone"));
}
