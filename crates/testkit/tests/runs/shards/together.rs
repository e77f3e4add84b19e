//! Processes that share one destination: workers, a process that runs or finishes the work alone, and one that only reads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::DatasetError;
use chatmill_engine::shards::{self, ShardSelection};
use chatmill_engine::{RunError, RunOptions, RunSummary};
use chatmill_workshop::TestDir;

use super::super::lots::{During, tiny};
use super::{filled, finish, hashes, plan, root_of, work};

const ALL: ShardSelection = ShardSelection::Part { index: 0, of: 1 };

/// Processes all shards, and calls `act` in the middle of one.
fn work_while(out: &Path, act: &(dyn Fn() + Sync)) -> Result<shards::Worked, RunError> {
    let during = During::new("render", 12_000, act);
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    shards::work(out, &ALL, options, &during, &AtomicBool::new(false))
}

fn assert_taken_away(worked: Result<shards::Worked, RunError>) {
    match worked {
        Err(error @ RunError::TakenAway { .. }) => {
            assert!(error.to_string().contains("`run` or `finish`"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

fn assert_whole(test_dir: &TestDir) {
    assert_eq!(hashes(test_dir, "run"), hashes(test_dir, "out"));
    chatmill_dataset::certify(&test_dir.path("out")).unwrap();
    assert!(!test_dir.path(".out.staging").exists());
}

#[test]
fn a_run_takes_over_a_plan_and_its_workers_stop_with_a_message() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let take_over = || drop::<RunSummary>(test_dir.run("out", &tiny(), 1).unwrap());
    assert_taken_away(work_while(&test_dir.path("out"), &take_over));
    assert_whole(&test_dir);
    let gone = work(&test_dir.path("out"), &ALL);
    assert!(matches!(gone, Err(RunError::NotPlanned { .. })));
}

#[test]
fn a_shard_finished_by_another_worker_needs_no_second_result() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    // Ids collide between shards, so that the finished dataset differs from the files of the worker.
    let overtake = || {
        work(&out, &ALL).unwrap();
        finish(&out).unwrap();
    };
    assert_taken_away(work_while(&out, &overtake));
    assert_whole(&test_dir);
}

#[test]
fn planning_again_keeps_finished_shards() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    let plan_again = || drop(plan(&test_dir, "out"));
    assert_taken_away(work_while(&out, &plan_again));
    assert!(!shards::status(&out).unwrap().done.is_empty());
    work(&out, &ALL).unwrap();
    finish(&out).unwrap();
    assert_whole(&test_dir);
}

#[test]
fn workers_are_refused_during_a_single_run_or_finish() {
    let test_dir = filled();
    test_dir.run("run", &tiny(), 1).unwrap();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    let tried = AtomicBool::new(false);
    let begin = || {
        let refused = work(&out, &ALL);
        let is_refused = matches!(refused, Err(RunError::Dataset(DatasetError::Locked { .. })));
        assert!(is_refused, "{refused:?}");
        tried.store(true, Ordering::SeqCst);
    };
    for stage in ["render", "qualify ids"] {
        let during = During::new(stage, 1, &begin);
        if stage == "render" {
            let stop = AtomicBool::new(false);
            let plan = test_dir.plan("out", &tiny());
            let end = || {
                begin();
                stop.store(true, Ordering::SeqCst);
            };
            let during = During::new(stage, 12_000, &end);
            let stopped = chatmill_engine::run(plan, RunOptions::default(), &during, &stop);
            assert!(matches!(stopped, Err(RunError::Stopped { .. })));
            work(&out, &ALL).unwrap();
        } else {
            shards::finish(&out, RunOptions::default(), &during, &AtomicBool::new(false)).unwrap();
        }
        assert!(tried.swap(false, Ordering::SeqCst), "{stage}");
    }
    assert_whole(&test_dir);
}

/// All files below a folder, with the times of their last changes.
fn everything(folder: &Path) -> BTreeMap<String, std::time::SystemTime> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let changed = fs::metadata(&folder).unwrap().modified().unwrap();
        found.insert(folder.display().to_string(), changed);
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(
                    path.display().to_string(),
                    fs::metadata(&path).unwrap().modified().unwrap(),
                );
            }
        }
    }
    found
}

#[test]
fn status_writes_nothing() {
    let test_dir = filled();
    plan(&test_dir, "out");
    let out = test_dir.path("out");
    work(&out, &ShardSelection::Numbers(vec![0, 2])).unwrap();
    let root = root_of(&test_dir, "out");
    let before = everything(&root);
    assert_eq!(shards::status(&out).unwrap().done, [0, 2]);
    assert_eq!(everything(&root), before);
}
