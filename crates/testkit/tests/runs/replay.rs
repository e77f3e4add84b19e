//! The fuzz targets as ordinary tests: the corpus, all samples, and seeded mutations of both.

use std::fs;
use std::path::Path;

use chatmill_drawn::{cases, random, seed};
use chatmill_testkit::mutate::mutate;
use chatmill_workshop::campaign::{Until, run};
use chatmill_workshop::targets::{TARGETS, corpus, seeds};

/// Replays the whole corpus of a target, and a drawn number of samples and of mutations of both.
///
/// The corpus has inputs that once caused a failure; other tests read the samples as well.
fn replay(name: &str, samples: u32, mutations: u32) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let artifacts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("artifacts");
    let until = Until::Count {
        seeds: cases(samples),
        mutations: cases(mutations),
    };
    let campaign = run(target, seed(), until, &artifacts);
    assert!(campaign.broken.is_empty(), "{:#?}", campaign.broken);
    assert_eq!(campaign.mutations, u64::from(cases(mutations)));
    assert!(campaign.seeds > 50, "only {} seeds", campaign.seeds);
}

#[test]
fn the_scan_target_survives_its_corpus_and_mutations() {
    replay("json_scan", 200, 400);
}

#[test]
fn the_reader_target_survives_its_corpus_and_mutations() {
    replay("reader", 80, 200);
}

#[test]
fn the_record_target_survives_its_corpus_and_mutations() {
    replay("record", 10, 20);
}

#[test]
fn the_tables_target_survives_its_corpus_and_mutations() {
    replay("tables", 100, 200);
}

#[test]
fn the_templates_target_survives_its_corpus_and_mutations() {
    replay("templates", 80, 100);
}

/// If every record were rejected at once, the campaign would prove nothing about the later stages.
#[test]
fn many_mutated_records_still_reach_the_dialects() {
    let target = TARGETS.iter().find(|target| target.name == "record").unwrap();
    let seeds = seeds(target.name);
    let bases: Vec<&Vec<u8>> = seeds.iter().filter(|bytes| (target.is_base)(bytes)).collect();
    let mut random = random(9);
    let reached = (0..200).filter(|_| {
        let base = random.pick(&bases).unwrap();
        (target.is_base)(&mutate(base, &seeds, &mut random))
    });
    let reached = reached.count();
    assert!(reached > 66, "only {reached} of 200 from {} records", bases.len());
}

#[test]
fn every_target_has_a_corpus_and_a_fuzz_target() {
    for target in TARGETS {
        let corpus = corpus(target.name);
        let files = fs::read_dir(&corpus).unwrap().count();
        assert!(files > 2, "{}: {files} files", target.name);
        let own = corpus
            .join("../../fuzz_targets")
            .join(format!("{}.rs", target.name));
        let text = fs::read_to_string(own).unwrap();
        assert!(text.contains(&format!("targets::{}(", target.name)), "{text}");
    }
}
