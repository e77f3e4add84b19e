//! The findings of a check for many kinds of corruption, with their places, and for valid files.
//!
//! An ordinary test checks a delivery with every kind twice. `just damage` checks a delivery of 5,000 files, or of a
//! given number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use chatmill_diag::{Limits, Severity};
use chatmill_engine::Silent;
use chatmill_engine::check::{CheckOptions, check};
use chatmill_testkit::corruption::{delivery, kinds};

/// The minimum number of kinds.
const KINDS: usize = 80;

/// The results for a delivery.
#[derive(Debug, Default)]
struct Outcome {
    damaged: usize,
    /// The number of damaged files for which one of the right codes was found.
    found: usize,
    /// The number of corruptions that were located within one line.
    located: usize,
    missed: BTreeSet<String>,
    misplaced: BTreeSet<String>,
    sound: usize,
    /// The findings for valid files.
    alarms: Vec<String>,
    findings: usize,
    taken: Duration,
}

/// Checks a delivery of `files` files, which are written into `folder`.
fn outcome(files: usize, folder: &Path) -> Outcome {
    let delivered: BTreeMap<String, _> = delivery(files)
        .map(|file| {
            fs::write(folder.join(&file.name), &file.bytes).unwrap();
            (file.name, file.corruption)
        })
        .collect();
    let options = CheckOptions {
        paths: vec![folder.display().to_string()],
        limits: Limits {
            now: Some("2026-11-23".parse().unwrap()),
            ..Limits::default()
        },
        ..CheckOptions::default()
    };
    let mut said: BTreeMap<String, Vec<(String, u64, Severity)>> = BTreeMap::new();
    let begun = Instant::now();
    let checkup = check(&options, &Silent, &AtomicBool::new(false), &mut |checked| {
        let finding = &checked.located.finding;
        // Findings about a whole file are at its beginning.
        let line = checked.located.line_column.map_or(1, |(line, _)| line);
        let told = (finding.code.code.to_owned(), line, finding.severity);
        said.entry(checked.input).or_default().push(told);
    });
    let taken = begun.elapsed();
    assert_eq!(checkup.unwrap().files.iter().count(), files);
    let mut outcome = Outcome {
        taken,
        ..Outcome::default()
    };
    for (name, corruption) in &delivered {
        let told = said.remove(name).unwrap_or_default();
        outcome.findings += told.len();
        let Some((kind, line)) = corruption else {
            outcome.sound += 1;
            // Findings about times and numbers that are not read do not count as false alarms.
            let alarms = told
                .iter()
                .filter(|(code, _, severity)| code != "SR034" || *severity != Severity::Note);
            outcome
                .alarms
                .extend(alarms.map(|alarm| format!("{name}: {alarm:?}")));
            continue;
        };
        outcome.damaged += 1;
        let right = || told.iter().filter(|(code, ..)| kind.codes.contains(code));
        if right().next().is_none() {
            outcome.missed.insert(format!("{}: {told:?}", kind.name));
            continue;
        }
        outcome.found += 1;
        if right().any(|(_, found, _)| found.abs_diff(*line) <= 1) {
            outcome.located += 1;
        } else {
            outcome
                .misplaced
                .insert(format!("{}: line {line}, {told:?}", kind.name));
        }
    }
    outcome
}

fn assert_complete(outcome: &Outcome) {
    assert!(outcome.missed.is_empty(), "not found: {:#?}", outcome.missed);
    assert!(
        outcome.misplaced.is_empty(),
        "elsewhere: {:#?}",
        outcome.misplaced
    );
    assert!(outcome.alarms.is_empty(), "false alarms: {:#?}", outcome.alarms);
}

#[test]
fn every_kind_of_corruption_is_found_at_its_place_without_false_alarms() {
    let kinds = kinds();
    let names: BTreeSet<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names.len(), kinds.len(), "a kind stands twice");
    assert!(kinds.len() >= KINDS, "only {} kinds", kinds.len());
    let folder = tempfile::tempdir().unwrap();
    let outcome = outcome(4 * kinds.len(), folder.path());
    assert_eq!(outcome.damaged, 2 * kinds.len());
    assert_complete(&outcome);
}

#[test]
#[ignore = "thousands of files: `just damage`"]
fn each_corrupt_file_of_a_delivery_is_found_and_no_sound_one() {
    let files = std::env::var("FILES").map_or(5_000, |files| files.parse().expect("a number of files"));
    println!("{} kinds of damage", kinds().len());
    let passing = tempfile::tempdir().unwrap();
    let kept = std::env::var("KEEP").ok().filter(|kept| !kept.is_empty());
    let folder = kept.as_deref().map_or(passing.path(), Path::new);
    fs::create_dir_all(folder).unwrap();
    let outcome = outcome(files, folder);
    println!(
        "{files} files in {:.2} s: {} findings; of {} damaged files {} found, {} within one line; {} false alarms in {} sound files",
        outcome.taken.as_secs_f64(),
        outcome.findings,
        outcome.damaged,
        outcome.found,
        outcome.located,
        outcome.alarms.len(),
        outcome.sound
    );
    assert_complete(&outcome);
}
