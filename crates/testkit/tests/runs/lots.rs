//! Shards: however the inputs are divided, the rows are those of the whole, and the files depend only on plan and inputs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use chatmill_engine::{Plan, Progress, RunError, RunOptions, RunSummary, Silent};
use chatmill_workshop::TestDir;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::json;

const BARE: &str =
    "[render]\ndialects = [\"openai-chat\", \"group-chat\"]\n[count]\nencodings = [\"cl100k_base\"]\n";

pub(super) fn tiny() -> String {
    format!("{BARE}[shards]\nbytes = 2048\n")
}

/// A request with this id, as a line.
fn request(id: &str, text: &str) -> String {
    json!({"id": id, "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}]})
        .to_string()
        + "\n"
}

/// A row of a thread, as a line.
pub(super) fn row(thread: &str, number: usize) -> String {
    let role = if number.is_multiple_of(2) {
        "user"
    } else {
        "assistant"
    };
    json!({
        "message_id": format!("{thread}-{number}"), "thread_id": thread, "type": role, "is_llm_message": true,
        "content": {"role": role, "content": format!("row {number} of {thread}")},
        "metadata": {}, "created_at": format!("2026-01-01T00:{:02}:{:02}+00:00", number / 60, number % 60),
    })
    .to_string()
        + "\n"
}

/// Lines with everything that can be between records and in place of them.
pub(super) fn lines(count: usize) -> String {
    let mut text = "\u{feff}\r\n".to_owned();
    for number in 0..count {
        // Each id occurs twice, far apart.
        text += &request(
            &format!("c{}", number % 50),
            &format!("{number} {}", "word ".repeat(number % 30)),
        );
        match number % 17 {
            3 => text += "\n \t\r\n",
            5 => text += "{\"messages\": [broken\r\n",
            7 => text += "{\"messages\":[{\"role\":\"user\",\"content\":\"<|endoftext|>\"}]}{}\n",
            11 => {
                text += &request("long", &"long ".repeat(1_200));
            }
            _ => {}
        }
    }
    text + request("last", "without a line break at its end").trim_end()
}

/// The rows of every table, as text.
fn tables(test_dir: &TestDir, out: &str) -> BTreeMap<String, Vec<String>> {
    let root = test_dir.path(out);
    let manifest = chatmill_dataset::read_manifest(&root).unwrap();
    let tables = manifest.tables.iter().map(|table| {
        let rows = table.files.iter().flat_map(|part| {
            let reader = SerializedFileReader::new(File::open(root.join(&part.path)).unwrap()).unwrap();
            let rows = reader.get_row_iter(None).unwrap();
            rows.map(|row| row.unwrap().to_string()).collect::<Vec<_>>()
        });
        (table.name.clone(), rows.collect())
    });
    tables.collect()
}

fn sorted(mut tables: BTreeMap<String, Vec<String>>) -> BTreeMap<String, Vec<String>> {
    for rows in tables.values_mut() {
        rows.sort_unstable();
    }
    tables
}

fn assert_same(one: &BTreeMap<String, Vec<String>>, other: &BTreeMap<String, Vec<String>>) {
    for (table, rows) in one {
        assert_eq!(rows.len(), other[table].len(), "{table}");
        for (left, right) in rows.iter().zip(&other[table]) {
            assert_eq!(left, right, "{table}");
        }
    }
}

fn lots(summary: &RunSummary) -> usize {
    // The last shard is for files that belong to no slice.
    summary.manifest.shards.len() - 1
}

#[test]
fn a_divided_file_gives_the_rows_of_the_whole_one() {
    let test_dir = TestDir::new();
    let text = lines(70);
    test_dir.write("in/a.jsonl", &text);
    test_dir.write("in/b.jsonl", &text);
    test_dir.write("in/c.jsonl", request("c1", "another file"));
    let whole = test_dir.run("whole", BARE, 1).unwrap();
    let divided = test_dir.run("divided", &tiny(), 1).unwrap();
    assert_eq!(lots(&whole), 1);
    assert!(lots(&divided) > 20, "{} lots", lots(&divided));
    assert_same(&tables(&test_dir, "whole"), &tables(&test_dir, "divided"));
    assert_eq!(whole.manifest.inputs, divided.manifest.inputs);
    assert_eq!(
        serde_json::to_value(&whole.totals).unwrap(),
        serde_json::to_value(&divided.totals).unwrap()
    );
    let repeated = &whole.totals.findings["IN029"];
    assert_eq!(
        (repeated.warnings, repeated.notes),
        (1, 0),
        "the same bytes are said once"
    );
    test_dir.run("threads", &tiny(), 3).unwrap();
    assert_eq!(test_dir.hashes("divided"), test_dir.hashes("threads"));
    let certificate = chatmill_dataset::certify(&test_dir.path("divided")).unwrap();
    assert_eq!(certificate.problems, Vec::<String>::new());
}

#[test]
fn lines_with_the_escapes_of_copy_are_divided_too() {
    let test_dir = TestDir::new();
    let line = r#"{"messages":[{"role":"user","content":"say \\"yes\\" \\\\o/"}]}"#;
    let mut text = format!("{line}\n").repeat(90);
    text += "{broken\n";
    test_dir.write("in/a.jsonl", text);
    let whole = test_dir.run("whole", BARE, 1).unwrap();
    let divided = test_dir.run("divided", &tiny(), 2).unwrap();
    assert_eq!((lots(&whole), lots(&divided)), (1, 3));
    assert_same(&tables(&test_dir, "whole"), &tables(&test_dir, "divided"));
}

#[test]
fn inputs_that_may_share_a_conversation_are_in_one_shard() {
    let test_dir = TestDir::new();
    let rows = |numbers: std::ops::Range<usize>| numbers.map(|number| row("t", number)).collect::<String>();
    test_dir.write("in/a.jsonl", lines(20));
    test_dir.write("in/b-rows.jsonl", rows(0..20));
    test_dir.write("in/c.jsonl", lines(21));
    test_dir.write("in/d-rows.jsonl", rows(20..40));
    test_dir.write("in/e.jsonl", lines(22));
    let whole = test_dir.run("whole", BARE, 1).unwrap();
    let divided = test_dir.run("divided", &tiny(), 2).unwrap();
    assert!(lots(&divided) > 5, "{} lots", lots(&divided));
    let of_thread = |out: &str| {
        let ids = chatmill_workshop::rows::texts(&test_dir.path(out), "messages", "conversation_id");
        ids.iter().filter(|id| id.as_deref() == Some("t")).count()
    };
    assert_eq!((of_thread("whole"), of_thread("divided")), (40, 40));
    assert_same(
        &sorted(tables(&test_dir, "whole")),
        &sorted(tables(&test_dir, "divided")),
    );
    assert_eq!(whole.manifest.inputs, divided.manifest.inputs);
}

#[test]
fn archives_and_compressed_streams_stay_whole() {
    let test_dir = TestDir::new();
    let mut zip = zip::ZipWriter::new(File::create(test_dir.write("in/m.zip", "")).unwrap());
    zip.start_file("a.jsonl", zip::write::SimpleFileOptions::default())
        .unwrap();
    zip.write_all(lines(18).as_bytes()).unwrap();
    zip.finish().unwrap();
    test_dir.write("in/a.jsonl", lines(19));
    test_dir.write("in/z.jsonl", lines(20));
    let section = |source: &str| {
        let pipeline = format!(
            "name = \"t\"\n[[input]]\npath = \"in/**\"\nsource = \"{source}\"\n[output]\npath = \"none\"\n{}",
            tiny()
        );
        let path = test_dir.write("pipeline.toml", pipeline);
        let out = test_dir.path(source);
        let plan = Plan::load(&path, &[], Some(&out), &[]).unwrap();
        chatmill_engine::run(plan, RunOptions::default(), &Silent, &AtomicBool::new(false)).unwrap()
    };
    let named = section("openai-messages");
    let detected = section("auto");
    assert!(lots(&named) > 5);
    assert_eq!(lots(&named), lots(&detected));
    test_dir.run("whole", BARE, 1).unwrap();
    assert_same(&tables(&test_dir, "whole"), &tables(&test_dir, "openai-messages"));
}

#[test]
fn a_limit_is_counted_in_one_shard() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.jsonl", lines(40));
    test_dir.write("in/b.jsonl", lines(41));
    let more = format!("{}[select]\nlimit = 70\n", tiny());
    let summary = test_dir.run("of-all", &more, 2).unwrap();
    assert_eq!(
        (lots(&summary), summary.totals.accepted + summary.totals.rejected),
        (1, 70)
    );
    let of_section = format!(
        "name = \"t\"\n[[input]]\npath = \"in/a.jsonl\"\nlimit = 7\n[[input]]\npath = \"in/b.jsonl\"\n[output]\npath = \"none\"\n{}",
        tiny()
    );
    let path = test_dir.write("pipeline.toml", of_section);
    let plan = Plan::load(&path, &[], Some(&test_dir.path("of-section")), &[]).unwrap();
    let summary =
        chatmill_engine::run(plan, RunOptions::default(), &Silent, &AtomicBool::new(false)).unwrap();
    let first = summary.manifest.inputs.get(0).unwrap();
    assert_eq!(first.accepted + first.rejected, 7);
    assert!(lots(&summary) > 3);
}

#[test]
fn duplicates_are_found_across_shards() {
    let test_dir = TestDir::new();
    let text: String = (0..40)
        .map(|number| request(&format!("c{number}"), &format!("word{} ", number % 25).repeat(40)))
        .collect();
    test_dir.write("in/a.jsonl", text);
    let more = "[dedup]\nexact = \"filter\"\n";
    let whole = test_dir.run("whole", &format!("{BARE}{more}"), 1).unwrap();
    let divided = test_dir.run("divided", &format!("{}{more}", tiny()), 2).unwrap();
    assert_eq!(whole.totals.conversations, 25);
    assert!(lots(&divided) > 3);
    assert_same(&tables(&test_dir, "whole"), &tables(&test_dir, "divided"));
}

/// Performs an act once this many bytes of a stage have been read.
pub(super) struct During<'d> {
    stage: &'static str,
    is_now: AtomicBool,
    left: AtomicU64,
    act: &'d (dyn Fn() + Sync),
}

impl<'d> During<'d> {
    /// An act after this many bytes of a stage.
    pub(super) fn new(stage: &'static str, bytes: u64, act: &'d (dyn Fn() + Sync)) -> Self {
        Self {
            stage,
            is_now: AtomicBool::new(false),
            left: AtomicU64::new(bytes),
            act,
        }
    }
}

impl Progress for During<'_> {
    fn stage(&self, name: &str, _bytes: u64) {
        self.is_now.store(name == self.stage, Ordering::SeqCst);
    }
    fn advance(&self, bytes: u64) {
        if self.is_now.load(Ordering::SeqCst) {
            let before = self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    Some(left.saturating_sub(bytes))
                });
            if before.is_ok_and(|left| left > 0 && left <= bytes) {
                (self.act)();
            }
        }
    }
    fn note(&self, _text: &str) {}
}

fn disturbed(
    test_dir: &TestDir,
    stop: &AtomicBool,
    left: u64,
    act: &(dyn Fn() + Sync),
) -> Result<RunSummary, RunError> {
    let during = During::new("render", left, act);
    chatmill_engine::run(
        test_dir.plan("out", &tiny()),
        RunOptions::default(),
        &during,
        stop,
    )
}

#[test]
fn a_run_stopped_between_shards_resumes_there() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.jsonl", lines(60));
    test_dir.run("whole", &tiny(), 2).unwrap();
    let mut stopped = 0;
    for left in [4_000, 9_000, 20_000] {
        let stop = AtomicBool::new(false);
        let outcome = disturbed(&test_dir, &stop, left, &|| stop.store(true, Ordering::SeqCst));
        stopped += usize::from(matches!(outcome, Err(RunError::Stopped { done }) if done > 0));
    }
    assert!(stopped > 0);
    test_dir.run("out", &tiny(), 1).unwrap();
    assert_eq!(test_dir.hashes("whole"), test_dir.hashes("out"));
}

#[test]
fn a_stretch_that_changed_since_it_was_hashed_ends_the_run() {
    let test_dir = TestDir::new();
    let text = lines(100);
    let path = test_dir.write("in/a.jsonl", &text);
    let changed = text.replacen("\"yes\"", "\"YES\"", 100_000);
    assert_eq!(changed.len(), text.len());
    let stop = AtomicBool::new(false);
    let outcome = disturbed(&test_dir, &stop, 9_000, &|| {
        std::fs::write(&path, &changed).unwrap();
    });
    match outcome {
        Err(RunError::InputChanged(names)) => assert_eq!(names, ["a.jsonl"]),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the run ended as if nothing had changed"),
    }
    assert!(!test_dir.path("out").exists());
}
