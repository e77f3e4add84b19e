//! Every call to the operating system fails once, in every command: what comes of it is the bytes that come without a fault,
//! or an error that repeating heals, and never a shorter dataset.
//!
//! The calls are those that ask `chatmill_diag::faults`. Ordinary tests take samples of them; the whole walk is
//! `cargo test --release -p chatmill-testkit --test faults -- --ignored`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod scenes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use chatmill_diag::faults::{Call, Fault, inject};
use chatmill_intake::InputKind;
use chatmill_workshop::Workshop;

use scenes::{Ended, SCENES, Scene};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// What can be the matter with a call.
fn errnos(call: Call) -> &'static [i32] {
    match call {
        Call::Open | Call::List => &[EIO, EMFILE, EINTR],
        Call::Read | Call::Stat | Call::Lock => &[EIO, EINTR],
        Call::Create => &[ENOSPC, EMFILE, EINTR],
        Call::Write => &[ENOSPC, EIO, EINTR],
        Call::Folder => &[ENOSPC, EIO],
        Call::Seek | Call::Sync | Call::Rename | Call::Remove => &[EIO],
    }
}

/// How much of a walk is done.
#[derive(Clone, Copy)]
enum Walk {
    /// So many calls of each kind, with one error each, in turn.
    Samples(u64),
    /// Every call, with every error.
    Whole,
}

impl Walk {
    /// The calls that fail, and how, of a kind of which there are so many.
    fn faults(self, call: Call, count: u64) -> Vec<Fault> {
        let fault = |nth, errno| Fault {
            call,
            nth,
            errno,
            lasting: false,
        };
        let errnos = errnos(call);
        match self {
            Self::Whole => (1..=count)
                .flat_map(|nth| errnos.iter().map(move |errno| fault(nth, *errno)))
                .collect(),
            Self::Samples(most) => {
                let most = most.min(count);
                // The first and the last among them.
                let nth = |at| 1 + at * (count - 1) / (most - 1).max(1);
                let each = (0..most).zip(errnos.iter().cycle());
                each.map(|(at, errno)| fault(nth(at), *errno)).collect()
            }
        }
    }
}

const NONE: Fault = Fault {
    call: Call::Open,
    nth: 0,
    errno: 0,
    lasting: false,
};

/// Tests of one process would hit each other's calls.
static ALONE: Mutex<()> = Mutex::new(());

/// Walks one scene; gives how many calls failed, by how that ended.
fn walk(scene: &Scene, walk: Walk) -> BTreeMap<&'static str, usize> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let template = Workshop::new();
    (scene.prepare)(&template);
    let fresh = || {
        let shop = Workshop::new();
        copy(&template.path(""), &shop.path(""));
        shop
    };
    let undisturbed = (scene.act)(&fresh());
    let expected = undisturbed.unwrap_or_else(|ended| panic!("{}: {ended:?}", scene.name));
    let mut ends = BTreeMap::new();
    for call in Call::ALL {
        let counted = fresh();
        let injected = inject(Fault { call, ..NONE });
        (scene.act)(&counted).unwrap();
        let count = injected.seen();
        drop(injected);
        for fault in walk.faults(call, count) {
            let what = format!(
                "{}: {call:?} {} of {count}, errno {}",
                scene.name, fault.nth, fault.errno
            );
            let shop = fresh();
            let injected = inject(fault);
            let ended = (scene.act)(&shop);
            drop(injected);
            let end = match ended {
                Ok(found) => {
                    assert!(found == expected, "{what}: another result, and no error");
                    "as without a fault"
                }
                Err(Ended::Repeatable(said)) => {
                    assert!(
                        fault.errno != EINTR,
                        "{what}: an interruption is not an error: {said}"
                    );
                    assert!(!said.is_empty());
                    "an error, healed by repeating"
                }
                Err(Ended::Wrong(said)) => panic!("{what}: the request is said to be wrong: {said}"),
            };
            *ends.entry(end).or_default() += 1;
            (scene.look)(&shop).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            let again = (scene.act)(&shop).unwrap_or_else(|ended| panic!("{what}: the repeat: {ended:?}"));
            assert!(again == expected, "{what}: the repeat gives something else");
        }
    }
    println!("{}: {ends:?}", scene.name);
    ends
}

/// Copies all that a folder holds.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn named(name: &str) -> &'static Scene {
    let mut scenes = SCENES.iter();
    scenes
        .find(|scene| scene.name == name)
        .expect("a scene of that name")
}

fn sampled(name: &str, most: u64) {
    let ends = walk(named(name), Walk::Samples(most));
    let healed = ends.get("an error, healed by repeating").copied();
    assert!(healed > Some(3), "{name}: hardly anything failed: {ends:?}");
}

#[test]
fn a_run_survives_any_call_that_fails() {
    sampled("run", 5);
}

#[test]
fn a_run_that_goes_on_survives_any_call_that_fails() {
    sampled("resume", 3);
}

#[test]
fn shares_survive_any_call_that_fails() {
    sampled("shares", 2);
}

#[test]
fn shares_that_compare_survive_any_call_that_fails() {
    sampled("shares that compare", 3);
}

#[test]
fn a_run_that_replaces_survives_any_call_that_fails() {
    sampled("replace", 3);
}

#[test]
fn a_check_survives_any_call_that_fails() {
    sampled("check", 10);
}

#[test]
fn an_inspection_survives_any_call_that_fails() {
    sampled("inspect", 5);
}

#[test]
fn what_reads_a_dataset_survives_any_call_that_fails() {
    for name in ["report", "export", "diff", "certify"] {
        walk(named(name), Walk::Samples(5));
    }
}

/// A second look may tell something else than the first: a glob is not a path of which nothing is there.
#[test]
fn a_pattern_that_cannot_be_looked_at_is_a_failed_input() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let shop = Workshop::new();
    shop.write("in/a.json", b"{}");
    for pattern in ["in/*.json", "in", "in/a.json"] {
        let injected = inject(Fault {
            call: Call::Stat,
            nth: 1,
            errno: EIO,
            lasting: false,
        });
        let found = chatmill_intake::discover(pattern, &shop.path("")).unwrap();
        drop(injected);
        let kinds: Vec<_> = found.iter().map(|input| &input.kind).collect();
        assert!(
            matches!(kinds.as_slice(), [InputKind::Failed(_)]),
            "{pattern}: {kinds:?}"
        );
    }
}

#[test]
#[ignore = "takes minutes: every call, every error"]
fn every_call_of_every_command_may_fail() {
    // `SCENE` picks some by their name.
    let wanted = std::env::var("SCENE").unwrap_or_default();
    for scene in SCENES.iter().filter(|scene| scene.name.contains(&wanted)) {
        walk(scene, Walk::Whole);
    }
}
