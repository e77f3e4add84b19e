//! Who meets whom over one destination: workers, whoever runs or finishes it alone, and whoever only looks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::DatasetError;
use chatmill_engine::shards::{self, Share};
use chatmill_engine::{RunError, RunOptions, RunSummary};
use chatmill_workshop::Workshop;

use super::super::lots::{During, tiny};
use super::{filled, finish, hashes, plan, root_of, work};

const ALL: Share = Share::Part { index: 0, of: 1 };

/// Works on everything, and lets something happen in the middle of a lot.
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

fn assert_whole(workshop: &Workshop) {
    assert_eq!(hashes(workshop, "run"), hashes(workshop, "out"));
    chatmill_dataset::certify(&workshop.path("out")).unwrap();
    assert!(!workshop.path(".out.staging").exists());
}

#[test]
fn a_run_takes_the_work_over_and_whoever_was_at_it_is_told() {
    let workshop = filled();
    workshop.run("run", &tiny(), 1).unwrap();
    plan(&workshop, "out");
    let take_over = || drop::<RunSummary>(workshop.run("out", &tiny(), 1).unwrap());
    assert_taken_away(work_while(&workshop.path("out"), &take_over));
    assert_whole(&workshop);
    let gone = work(&workshop.path("out"), &ALL);
    assert!(matches!(gone, Err(RunError::NotPlanned { .. })));
}

#[test]
fn a_lot_that_somebody_else_ended_meanwhile_is_finished_without_whoever_still_does_it() {
    let workshop = filled();
    workshop.run("run", &tiny(), 1).unwrap();
    plan(&workshop, "out");
    let out = workshop.path("out");
    // Ids collide over the lots, so that what is finished differs from what the worker would write.
    let overtake = || {
        work(&out, &ALL).unwrap();
        finish(&out).unwrap();
    };
    assert_taken_away(work_while(&out, &overtake));
    assert_whole(&workshop);
}

#[test]
fn who_plans_again_takes_nothing_of_what_is_done() {
    let workshop = filled();
    workshop.run("run", &tiny(), 1).unwrap();
    plan(&workshop, "out");
    let out = workshop.path("out");
    let plan_again = || drop(plan(&workshop, "out"));
    assert_taken_away(work_while(&out, &plan_again));
    assert!(!shards::status(&out).unwrap().done.is_empty());
    work(&out, &ALL).unwrap();
    finish(&out).unwrap();
    assert_whole(&workshop);
}

#[test]
fn nobody_begins_to_work_while_somebody_runs_or_finishes_it_alone() {
    let workshop = filled();
    workshop.run("run", &tiny(), 1).unwrap();
    plan(&workshop, "out");
    let out = workshop.path("out");
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
            let plan = workshop.plan("out", &tiny());
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
    assert_whole(&workshop);
}

/// All that lies below a folder, with when it changed.
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
fn who_asks_how_far_the_work_is_writes_nothing() {
    let workshop = filled();
    plan(&workshop, "out");
    let out = workshop.path("out");
    work(&out, &Share::Lots(vec![0, 2])).unwrap();
    let root = root_of(&workshop, "out");
    let before = everything(&root);
    assert_eq!(shards::status(&out).unwrap().done, [0, 2]);
    assert_eq!(everything(&root), before);
}
