//! A run in shards with comparison of conversations: all shards are compared before the first is rendered, and the
//! files are those of `run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_engine::shards::{self, ShardSelection, Stage};
use chatmill_engine::{Progress, RunError, RunOptions, RunSummary};
use chatmill_workshop::TestDir;

use super::super::lots::{During, lines, tiny};
use super::{filled, finish, hashes, plan_with, root_of, work};

/// Equal conversations are omitted, nearly equal ones are marked, and the rest is limited to a number of tokens.
fn compared() -> String {
    format!(
        "{}[dedup]\nexact = \"filter\"\nnear = \"mark\"\nthreshold = 0.5\n[mix]\nunit = \"tokens@cl100k_base\"\ntotal = \"1k\"\n\
         [tools]\ninfer = \"input\"\n",
        tiny()
    )
}

const ALL: ShardSelection = ShardSelection::Part { index: 0, of: 1 };

fn run(test_dir: &TestDir) -> RunSummary {
    test_dir.run("run", &compared(), 2).unwrap()
}

/// The number of shards that `of` workers compare together.
fn compare_all(out: &Path, of: u32) -> usize {
    let mut lots = 0;
    for index in 0..of {
        let worked = work(out, &ShardSelection::Part { index, of }).unwrap();
        lots += worked.compared.len();
        assert!(worked.failed.is_empty());
        assert_eq!(worked.stage == Stage::Compare, index + 1 < of);
    }
    lots
}

/// The files with the likenesses of the shards, and the clusters if they are made.
fn kept(test_dir: &TestDir, out: &str) -> Vec<PathBuf> {
    let root = root_of(test_dir, out);
    let lots = fs::read_dir(root.join("lots")).unwrap();
    let lots = lots.map(|entry| entry.unwrap().path());
    let mut kept: Vec<PathBuf> = lots
        .filter(|path| path.extension().is_some_and(|end| end == "likenesses"))
        .collect();
    kept.sort();
    kept.extend(Some(root.join("clusters")).filter(|path| path.exists()));
    kept
}

#[test]
fn shares_that_compare_first_give_the_files_of_a_run() {
    let test_dir = filled();
    let alone = run(&test_dir);
    for reason in ["dedup.exact", "mix.total"] {
        assert!(
            alone.totals.filtered_by.contains_key(reason),
            "some are left out by {reason}"
        );
    }
    let bare = test_dir.run("bare", &tiny(), 2).unwrap();
    assert!(bare.totals.conversations > alone.totals.conversations);
    // The number of workers that compare the shards, and the number that render them.
    for (compared_by, rendered_by) in [(1, 4), (3, 2), (7, 1)] {
        let out = format!("out-{compared_by}");
        let planned = plan_with(&test_dir, &out, &compared());
        let path = test_dir.path(&out);
        assert_eq!(shards::status(&path).unwrap().stage, Stage::Compare);
        // In reverse order, and one of them twice.
        for index in (0..compared_by).rev() {
            let share = ShardSelection::Part {
                index,
                of: compared_by,
            };
            let worked = work(&path, &share).unwrap();
            assert!(!worked.compared.is_empty());
            assert_eq!(worked.stage == Stage::Compare, index > 0);
            if index > 0 {
                let missing = shards::status(&path).unwrap().missing;
                assert_eq!(worked.missing, missing);
                assert!(worked.done.is_empty());
                let again = work(&path, &share).unwrap();
                assert!(again.compared.is_empty(), "{:?}", again.compared);
            }
        }
        // The worker that compared the last shards continued with rendering them.
        let status = shards::status(&path).unwrap();
        assert_eq!(status.stage == Stage::Finish, compared_by == 1);
        assert!(!status.done.is_empty() && status.failed.is_empty());
        for index in (0..rendered_by).rev() {
            let share = ShardSelection::Part {
                index,
                of: rendered_by,
            };
            work(&path, &share).unwrap();
        }
        let status = shards::status(&path).unwrap();
        assert_eq!((status.stage, status.done.len()), (Stage::Finish, planned.shards));
        finish(&path).unwrap();
        assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, &out));
        assert!(!test_dir.path(&format!(".{out}.staging")).exists());
    }
}

#[test]
fn many_workers_on_the_same_shards_give_the_files_of_a_run() {
    let test_dir = filled();
    run(&test_dir);
    plan_with(&test_dir, "out", &compared());
    let out = test_dir.path("out");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| work(&out, &ALL).unwrap());
        }
    });
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn a_worker_killed_in_either_stage_corrupts_nothing() {
    let test_dir = filled();
    run(&test_dir);
    let planned = plan_with(&test_dir, "out", &compared());
    let out = test_dir.path("out");
    for stage in ["compare", "render"] {
        let stop = AtomicBool::new(false);
        let end = || stop.store(true, Ordering::SeqCst);
        let during = During::new(stage, 12_000, &end);
        let stopped = shards::work(&out, &ALL, RunOptions::default(), &during, &stop);
        assert!(matches!(stopped, Err(RunError::Stopped { .. })), "{stage}");
        let status = shards::status(&out).unwrap();
        assert!((1..planned.shards).contains(&status.done.len()), "{stage}");
        assert_eq!(status.stage.as_str(), stage);
        assert!(matches!(finish(&out), Err(RunError::ShardsMissing { .. })));
    }
    // The remains of both interrupted workers.
    let root = root_of(&test_dir, "out");
    let left = root.join("temp/worker-0123456789abcdef");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join(".00001.likenesses.0123456789abcdef.new"), "half").unwrap();
    work(&out, &ALL).unwrap();
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

/// Damages a file; the number identifies the same file of another plan.
type Damage<'d> = &'d dyn Fn(&Path, usize);

#[test]
fn corrupt_or_foreign_comparison_files_of_shards_are_built_again() {
    let test_dir = filled();
    run(&test_dir);
    plan_with(&test_dir, "other", &compared().replace("0.5", "0.6"));
    compare_all(&test_dir.path("other"), 1);
    let others = kept(&test_dir, "other");
    let planned = plan_with(&test_dir, "out", &compared());
    let out = test_dir.path("out");
    let damages: [Damage<'_>; 4] = [
        &|path, _| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        &|path, _| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        },
        &|path, _| fs::write(path, "").unwrap(),
        &|path, number| {
            fs::copy(&others[number], path).unwrap();
        },
    ];
    for damage in damages {
        // All but the last shard, so that no comparison is complete.
        let last = u32::try_from(planned.shards - 1).unwrap();
        work(&out, &ShardSelection::Numbers((0..last).collect())).unwrap();
        damage(&kept(&test_dir, "out")[2], 2);
        let worked = work(&out, &ShardSelection::Numbers(vec![last])).unwrap();
        assert_eq!((worked.stage, worked.missing), (Stage::Compare, vec![2]));
        let status = shards::status(&out).unwrap();
        assert_eq!((status.stage, status.missing), (Stage::Compare, vec![2]));
        // The clusters are made from the likenesses of the shards, as long as these exist.
        let worked = work(&out, &ShardSelection::Numbers(vec![2])).unwrap();
        assert_eq!((worked.stage, worked.compared), (Stage::Render, vec![2]));
        assert_eq!([worked.done, worked.before].concat(), [2]);
        let files = kept(&test_dir, "out");
        let clusters = files.last().unwrap();
        let whole = fs::read(clusters).unwrap();
        damage(clusters, others.len() - 1);
        work(&out, &ShardSelection::Numbers(vec![1])).unwrap();
        assert!(fs::read(clusters).unwrap() == whole);
        for path in files {
            fs::remove_file(path).unwrap();
        }
    }
    // No earlier rendering is lost, and none is used without the clusters of its conversations.
    assert_eq!(shards::status(&out).unwrap().stage, Stage::Compare);
    work(&out, &ALL).unwrap();
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn a_changed_input_fails_its_shard_in_either_stage_until_it_is_restored() {
    let test_dir = filled();
    run(&test_dir);
    let planned = plan_with(&test_dir, "out", &compared());
    let out = test_dir.path("out");
    let text = fs::read_to_string(test_dir.path("in/d.jsonl")).unwrap();
    let changed = text.replacen("\"yes\"", "\"YES\"", 1);
    let is_about_d = |reason: &str| reason.contains("changed since it was planned: d.jsonl");
    test_dir.write("in/d.jsonl", &changed);
    let worked = work(&out, &ALL).unwrap();
    assert_eq!(worked.stage, Stage::Compare);
    assert_eq!(worked.compared.len(), planned.shards - 1);
    let (lot, reason) = worked.failed.first_key_value().unwrap();
    assert!(is_about_d(reason), "{reason}");
    assert_eq!(worked.missing, [*lot]);
    let status = shards::status(&out).unwrap();
    assert_eq!((status.stage, &status.failed), (Stage::Compare, &worked.failed));
    // The file is restored, and changed again before it is rendered.
    test_dir.write("in/d.jsonl", &text);
    let stop = AtomicBool::new(false);
    let change = || drop(test_dir.write("in/d.jsonl", &changed));
    let during = During::new("render", 1, &change);
    let worked = shards::work(&out, &ALL, RunOptions::default(), &during, &stop).unwrap();
    assert_eq!(worked.compared, [*lot]);
    assert_eq!(worked.done.len(), planned.shards - 1);
    assert!(is_about_d(&worked.failed[lot]));
    let status = shards::status(&out).unwrap();
    assert_eq!((status.stage, &status.failed), (Stage::Render, &worked.failed));
    test_dir.write("in/d.jsonl", &text);
    work(&out, &ShardSelection::Numbers(vec![*lot])).unwrap();
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn conversations_beyond_the_comparison_limit_are_refused_over_all_shards() {
    let test_dir = filled();
    let planned = plan_with(
        &test_dir,
        "out",
        &format!("{}[limits]\ncompared = 60\n", compared()),
    );
    let out = test_dir.path("out");
    let last = u32::try_from(planned.shards - 1).unwrap();
    work(&out, &ShardSelection::Numbers((0..last).collect())).unwrap();
    let refused = work(&out, &ShardSelection::Numbers(vec![last]));
    let Err(RunError::TooManyToCompare { found, limit: 60 }) = refused else {
        panic!("{refused:?}");
    };
    assert!(found > 60, "{found}");
}

/// The stages that begin, each once.
#[derive(Default)]
struct Stages(Mutex<Vec<String>>);

impl Progress for Stages {
    fn stage(&self, name: &str, _bytes: u64) {
        self.0.lock().unwrap().push(name.to_owned());
    }
    fn advance(&self, _bytes: u64) {}
    fn note(&self, _text: &str) {}
}

fn stages_of_a_run(test_dir: &TestDir) -> Vec<String> {
    let stages = Stages::default();
    let plan = test_dir.plan("out", &compared());
    chatmill_engine::run(plan, RunOptions::default(), &stages, &AtomicBool::new(false)).unwrap();
    stages.0.into_inner().unwrap()
}

#[test]
fn a_run_resumes_from_compared_shards() {
    let test_dir = filled();
    run(&test_dir);
    plan_with(&test_dir, "out", &compared());
    compare_all(&test_dir.path("out"), 1);
    assert!(!stages_of_a_run(&test_dir).contains(&"compare".to_owned()));
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn a_run_that_was_stopped_while_it_rendered_does_not_compare_again() {
    let test_dir = filled();
    run(&test_dir);
    let stop = AtomicBool::new(false);
    let end = || stop.store(true, Ordering::SeqCst);
    let during = During::new("render", 12_000, &end);
    let plan = test_dir.plan("out", &compared());
    let stopped = chatmill_engine::run(plan, RunOptions::default(), &during, &stop);
    assert!(matches!(stopped, Err(RunError::Stopped { .. })));
    assert!(!stages_of_a_run(&test_dir).contains(&"compare".to_owned()));
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}

#[test]
fn a_shard_without_conversations_is_compared() {
    let test_dir = TestDir::new();
    test_dir.write("in/a.jsonl", lines(40));
    test_dir.write("in/b.jsonl", "\n".repeat(5_000));
    test_dir.write("in/c.jsonl", lines(40));
    run(&test_dir);
    let planned = plan_with(&test_dir, "out", &compared());
    let out = test_dir.path("out");
    assert_eq!(compare_all(&out, 3), planned.shards);
    work(&out, &ALL).unwrap();
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
}
