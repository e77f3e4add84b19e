//! A run in shards: planned, processed in any order by any number of workers, and finished. The files are those of `run`.

mod compared;
mod edited;
mod together;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_engine::shards::{self, Request, ShardSelection, Worked};
use chatmill_engine::{RunError, RunOptions, RunSummary, Silent};
use chatmill_workshop::TestDir;

use super::lots::{During, lines, row, tiny};

/// A plan for shards in a test folder.
fn plan(test_dir: &TestDir, out: &str) -> shards::Planned {
    plan_with(test_dir, out, &tiny())
}

fn plan_with(test_dir: &TestDir, out: &str, more: &str) -> shards::Planned {
    let plan = test_dir.plan(out, more);
    let request = Request {
        pipeline: test_dir.path("pipeline.toml"),
        overrides: Vec::new(),
        inputs: Vec::new(),
        replace: false,
        verify_every: 0,
    };
    shards::plan(plan, request, &Silent, &AtomicBool::new(false)).unwrap()
}

fn work(out: &Path, share: &ShardSelection) -> Result<Worked, RunError> {
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    shards::work(out, share, options, &Silent, &AtomicBool::new(false))
}

fn finish(out: &Path) -> Result<RunSummary, RunError> {
    shards::finish(out, RunOptions::default(), &Silent, &AtomicBool::new(false))
}

/// Files of several shards, with ids that collide across shards.
fn filled() -> TestDir {
    let test_dir = TestDir::new();
    test_dir.write("in/a.jsonl", lines(30));
    test_dir.write("in/b.jsonl", lines(30));
    test_dir.write(
        "in/c.jsonl",
        (0..9).map(|number| row("t", number)).collect::<String>(),
    );
    test_dir.write("in/d.jsonl", lines(10));
    test_dir
}

fn hashes(test_dir: &TestDir, out: &str) -> BTreeMap<String, String> {
    test_dir.hashes(out)
}

#[test]
fn shares_in_any_order_give_the_files_of_a_run() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 2).unwrap();
    for of in [1_u32, 3, 7] {
        let out = format!("shares-{of}");
        let planned = plan(&test_dir, &out);
        assert!(planned.shards > 7, "{} lots", planned.shards);
        let path = test_dir.path(&out);
        // In reverse order, and then the last one again.
        for index in (0..of).rev() {
            let worked = work(&path, &ShardSelection::Part { index, of }).unwrap();
            assert!(worked.failed.is_empty() && worked.before.is_empty());
        }
        let again = work(&path, &ShardSelection::Part { index: 0, of }).unwrap();
        assert!(again.done.is_empty() && !again.before.is_empty());
        let status = shards::status(&path).unwrap();
        assert_eq!((status.done.len(), status.missing.len()), (planned.shards, 0));
        assert!(!path.exists(), "nothing is there before it is finished");
        finish(&path).unwrap();
        assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, &out), "{of} shares");
        assert!(!test_dir.path(&format!(".{out}.staging")).exists());
    }
}

#[test]
fn a_mostly_misread_file_is_reported_once_in_shards_as_in_a_run() {
    let test_dir = TestDir::new();
    let good = "{\"conversations\":[{\"from\":\"human\",\"value\":\"Hi\"},{\"from\":\"gpt\",\"value\":\"Hello.\"}]}\n";
    let odd = "{\"conversations\":\"Hi\"}\n";
    test_dir.write("in/a.jsonl", [good, odd, odd].concat().repeat(60));
    test_dir.write("in/b.jsonl", "{\"day\":1}\n".repeat(500));
    test_dir.write("in/c.csv", format!("sepal,petal\n{}", "1,2\n".repeat(900)));
    let summary = test_dir.run("run", &tiny(), 2).unwrap();
    let totals = &summary.totals;
    assert_eq!(
        (totals.framed, totals.rejected, totals.refused_inputs),
        (1_580, 1_520, 2)
    );
    assert_eq!(
        (totals.findings["SR035"].errors, totals.findings["SR003"].errors),
        (1, 1_400)
    );
    let planned = plan(&test_dir, "out");
    assert!(planned.shards > 3, "{} lots", planned.shards);
    let out = test_dir.path("out");
    work(&out, &ShardSelection::Part { index: 0, of: 1 }).unwrap();
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
    assert!(chatmill_dataset::certify(&out).unwrap().holds());
}

#[test]
fn two_workers_can_process_the_same_shards_at_once() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    let all = ShardSelection::Part { index: 0, of: 1 };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| work(&out, &all).unwrap());
        }
    });
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn remains_of_a_killed_worker_are_harmless_and_the_number_of_workers_may_change() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    // A run that was stopped in the middle of a shard: files without a receipt of their shard, and a folder that was not removed.
    let stop = AtomicBool::new(false);
    let end = || stop.store(true, Ordering::SeqCst);
    let during = During::new("render", 12_000, &end);
    let stopped = shards::work(
        &out,
        &ShardSelection::Part { index: 0, of: 2 },
        RunOptions::default(),
        &during,
        &stop,
    );
    assert!(matches!(stopped, Err(RunError::Stopped { .. })));
    assert!(!shards::status(&out).unwrap().done.is_empty());
    let root = root_of(&test_dir, "out");
    std::fs::create_dir_all(root.join("temp/worker-0123456789abcdef")).unwrap();
    std::fs::write(
        root.join("temp/worker-0123456789abcdef/messages.00000-00000.parquet"),
        "half",
    )
    .unwrap();
    std::fs::write(root.join("data/messages/part-00001-00000.parquet"), "half").unwrap();
    for index in 0..3 {
        work(&out, &ShardSelection::Part { index, of: 3 }).unwrap();
    }
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

fn root_of(test_dir: &TestDir, out: &str) -> PathBuf {
    let entries = std::fs::read_dir(test_dir.path(&format!(".{out}.staging"))).unwrap();
    let mut entries = entries.map(|entry| entry.unwrap().path());
    entries.find(|path| path.join("plan.json").is_file()).unwrap()
}

#[test]
fn missing_and_corrupt_shards_are_named_and_can_be_run_again() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    work(&out, &ShardSelection::Numbers(vec![0, 2])).unwrap();
    let said = finish(&out).err().unwrap().to_string();
    assert!(said.contains("--shards 1,3-"), "{said}");
    work(&out, &ShardSelection::Part { index: 0, of: 1 }).unwrap();
    std::fs::write(
        root_of(&test_dir, "out").join("data/messages/part-00002-00000.parquet"),
        "lost",
    )
    .unwrap();
    let said = finish(&out).err().unwrap().to_string();
    assert!(said.contains("--shards 2"), "{said}");
    assert_eq!(shards::status(&out).unwrap().missing, [2]);
    work(&out, &ShardSelection::Numbers(vec![2])).unwrap();
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn a_shard_with_a_changed_input_fails_and_the_others_finish() {
    let test_dir = filled();
    let planned = plan(&test_dir, "out");
    let out = test_dir.path("out");
    let text = std::fs::read_to_string(test_dir.path("in/d.jsonl")).unwrap();
    test_dir.write("in/d.jsonl", text.replacen("\"yes\"", "\"YES\"", 1));
    let worked = work(&out, &ShardSelection::Part { index: 0, of: 1 }).unwrap();
    assert_eq!(worked.failed.len(), 1);
    assert_eq!(worked.done.len(), planned.shards - 1);
    let status = shards::status(&out).unwrap();
    let (lot, reason) = status.failed.iter().next().unwrap();
    assert!(
        reason.contains("changed since it was planned: d.jsonl"),
        "{reason}"
    );
    assert!(finish(&out).is_err());
    test_dir.write("in/d.jsonl", text);
    work(&out, &ShardSelection::Numbers(vec![*lot])).unwrap();
    assert!(shards::status(&out).unwrap().failed.is_empty());
    finish(&out).unwrap();
}

#[test]
fn a_run_resumes_from_finished_shards() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    work(&test_dir.path("out"), &ShardSelection::Part { index: 1, of: 2 }).unwrap();
    test_dir.run("out", &tiny(), 2).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn a_plan_that_is_lost_or_another_is_refused() {
    let test_dir = filled();
    let out = test_dir.path("out");
    let all = ShardSelection::Part { index: 0, of: 1 };
    assert!(matches!(work(&out, &all), Err(RunError::NotPlanned { .. })));
    assert!(matches!(finish(&out), Err(RunError::NotPlanned { .. })));
    assert!(matches!(
        work(Path::new("nowhere/at/all"), &all),
        Err(RunError::NotPlanned { .. })
    ));
    let lots = plan(&test_dir, "out").shards;
    for share in [
        ShardSelection::Part { index: 3, of: 3 },
        ShardSelection::Numbers(vec![u32::try_from(lots).unwrap()]),
    ] {
        assert!(matches!(work(&out, &share), Err(RunError::NoSuchShard { .. })));
    }
    test_dir.write("in/e.jsonl", lines(3));
    let said = work(&out, &all).err().unwrap().to_string();
    assert!(said.contains("4 inputs were planned, and there are 5"), "{said}");
    std::fs::remove_file(test_dir.path("in/e.jsonl")).unwrap();
    let pipeline = test_dir.path("pipeline.toml");
    let text = std::fs::read_to_string(&pipeline).unwrap();
    std::fs::write(&pipeline, text.replace("\"group-chat\"", "\"suna-llm\"")).unwrap();
    let said = work(&out, &all).err().unwrap().to_string();
    assert!(said.contains("changed since"), "{said}");
    std::fs::write(&pipeline, text).unwrap();
    let file = root_of(&test_dir, "out").join("plan.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version));
    std::fs::write(&file, text.replace(&version, "\"version\":\"0.0.1\"")).unwrap();
    let said = work(&out, &all).err().unwrap().to_string();
    assert!(said.contains("chatmill 0.0.1"), "{said}");
}
