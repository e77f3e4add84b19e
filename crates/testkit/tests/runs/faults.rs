//! Every call to the operating system fails once, in every command. The result must be the same bytes as without a
//! failure, or an error that disappears on repeating, and never a shorter dataset.
//!
//! The calls are those that ask `chatmill_diag::faults`. Ordinary tests try one call of every second kind, a different
//! one in each command; `just every-call` tries all of them.

mod scenes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chatmill_diag::faults::{Call, Fault, count, inject};
use chatmill_drawn::cases;
use chatmill_intake::InputKind;
use chatmill_workshop::TestDir;

use scenes::{Ended, SCENES, Scene};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// The errors that a call can return.
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

/// The portion of the calls that fails.
#[derive(Clone, Copy)]
enum Walk {
    /// One call of every second kind, at places that differ between commands; of each kind if twice as many cases are drawn.
    Short,
    /// Every call, with every error.
    Whole,
}

impl Walk {
    /// The calls of a kind that fail, and the errors, out of `calls` calls; `number` is that of the command.
    fn faults(self, number: usize, call: Call, calls: u64) -> Vec<Fault> {
        let fault = |nth, errno| Fault {
            call,
            nth,
            errno,
            lasting: false,
        };
        let errnos = errnos(call);
        match self {
            Self::Whole => (1..=calls)
                .flat_map(|nth| errnos.iter().map(move |errno| fault(nth, *errno)))
                .collect(),
            // The kinds that are skipped for one command are tried in the next, which makes nearly the same calls.
            Self::Short if calls == 0 || (cases(1) == 1 && (number + call as usize) % 2 == 1) => Vec::new(),
            Self::Short => {
                // With these factors every part of a command fails in one scene or another.
                let nth = 1 + (number as u64 * 37 + call as u64 * 11) % calls;
                vec![fault(nth, errnos[(number + call as usize) % errnos.len()])]
            }
        }
    }
}

/// Walks one scene; returns the number of failed calls by outcome.
fn walk(scene: &Scene, walk: Walk) -> BTreeMap<&'static str, usize> {
    let number = SCENES.iter().position(|other| other.name == scene.name).unwrap();
    let template = TestDir::new();
    (scene.prepare)(&template);
    let fresh = || {
        let shop = TestDir::new();
        copy(&template.path(""), &shop.path(""));
        shop
    };
    let undisturbed = fresh();
    let counted = count();
    let expected = (scene.act)(&undisturbed).unwrap_or_else(|ended| panic!("{}: {ended:?}", scene.name));
    let seen = Call::ALL.map(|call| (call, counted.seen(call)));
    drop(counted);
    let mut ends = BTreeMap::new();
    for (call, calls) in seen {
        for fault in walk.faults(number, call, calls) {
            let what = format!(
                "{}: {call:?} {} of {calls}, errno {}",
                scene.name, fault.nth, fault.errno
            );
            let shop = fresh();
            let injected = inject(fault);
            let ended = (scene.act)(&shop);
            drop(injected);
            let end = match ended {
                Ok(found) => {
                    assert!(found == expected, "{what}: another result, and no error");
                    UNHARMED
                }
                Err(Ended::Repeatable(said)) => {
                    assert!(
                        fault.errno != EINTR,
                        "{what}: an interruption is not an error: {said}"
                    );
                    assert!(!said.is_empty());
                    HEALED
                }
                Err(Ended::Wrong(said)) => panic!("{what}: the request is said to be wrong: {said}"),
            };
            *ends.entry(end).or_default() += 1;
            (scene.look)(&shop).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            let again = (scene.act)(&shop).unwrap_or_else(|ended| panic!("{what}: the repeat: {ended:?}"));
            assert!(again == expected, "{what}: the repeat gives something else");
        }
    }
    ends
}

const UNHARMED: &str = "as without a fault";
const HEALED: &str = "an error, healed by repeating";

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

/// A short walk in which at least `healed` calls must fail with an error that repeating cures.
fn short(name: &str, healed: usize) {
    let ends = walk(named(name), Walk::Short);
    assert!(
        ends.get(HEALED) >= Some(&healed),
        "{name}: hardly anything failed: {ends:?}"
    );
}

#[test]
fn a_run_survives_any_call_that_fails() {
    short("run", 3);
}

#[test]
fn a_run_that_goes_on_survives_any_call_that_fails() {
    short("resume", 3);
}

#[test]
fn shares_survive_any_call_that_fails() {
    short("shares", 3);
}

#[test]
fn shares_that_compare_survive_any_call_that_fails() {
    short("shares that compare", 3);
}

#[test]
fn a_run_that_replaces_survives_any_call_that_fails() {
    short("replace", 3);
}

#[test]
fn a_check_survives_any_call_that_fails() {
    short("check", 2);
}

#[test]
fn an_inspection_survives_any_call_that_fails() {
    short("inspect", 2);
}

#[test]
fn readers_of_a_dataset_survive_any_failing_call() {
    for name in ["report", "export", "diff", "certify"] {
        short(name, 1);
    }
}

/// The second check of a path may have another result than the first: a glob must not be mistaken for a path that does not exist.
#[test]
fn a_pattern_that_cannot_be_looked_at_is_a_failed_input() {
    let shop = TestDir::new();
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
#[ignore = "every call, every error: `just every-call`"]
fn every_call_of_every_command_may_fail() {
    // `SCENE` selects scenes by a part of their names.
    let wanted = std::env::var("SCENE").unwrap_or_default();
    for scene in SCENES.iter().filter(|scene| scene.name.contains(&wanted)) {
        println!("{}: {:?}", scene.name, walk(scene, Walk::Whole));
    }
}
