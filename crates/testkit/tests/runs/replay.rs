//! The fuzz targets as ordinary tests: the corpus, every sample, and seeded mutations of both.

use std::fs;
use std::path::{Path, PathBuf};

use chatmill_drawn::{cases, random};
use chatmill_testkit::mutate::mutate;
use chatmill_workshop::targets::{TARGETS, corpus, seeds};

/// Keeps the bytes that a promise breaks on, where the panic passes by.
struct Kept<'b>(&'static str, &'b [u8]);

impl Kept<'_> {
    fn path(&self) -> PathBuf {
        let artifacts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("artifacts");
        let name: String = blake3::hash(self.1).to_hex().chars().take(16).collect();
        artifacts.join(self.0).join(name)
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let path = self.path();
            // A second panic would hide the first.
            let _ = fs::create_dir_all(path.parent().unwrap_or(&path));
            let _ = fs::write(&path, self.1);
            eprintln!("the bytes are in {}", path.display());
        }
    }
}

/// Replays the whole corpus of a target, and of its samples and of mutations of both as many as are drawn.
///
/// The corpus is what once broke something; a sample is read in other tests as well.
fn replay(name: &str, samples: u32, mutations: u32) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let hold = |bytes: &[u8]| {
        let kept = Kept(target.name, bytes);
        (target.body)(kept.1);
    };
    let seeds = seeds(target.name);
    assert!(seeds.len() > 50, "only {} seeds", seeds.len());
    for file in fs::read_dir(corpus(target.name)).unwrap() {
        hold(&fs::read(file.unwrap().path()).unwrap());
    }
    let mut random = random(20_261_121);
    if cases(samples) as usize >= seeds.len() {
        for seed in &seeds {
            hold(seed);
        }
    } else {
        for _ in 0..cases(samples) {
            hold(random.pick(&seeds).unwrap());
        }
    }
    let bases: Vec<&Vec<u8>> = seeds.iter().filter(|bytes| (target.is_base)(bytes)).collect();
    let mut tried = 0;
    while tried < cases(mutations) {
        let base = random.pick(&bases).unwrap();
        // Large samples cost much and break nothing that small ones do not.
        if base.len() <= 16 * 1024 || random.once_in(20) {
            hold(&mutate(base, &seeds, &mut random));
            tried += 1;
        }
    }
}

#[test]
fn the_scan_holds_for_its_corpus_and_its_mutations() {
    replay("json_scan", 200, 400);
}

#[test]
fn the_reader_holds_for_its_corpus_and_its_mutations() {
    replay("reader", 80, 200);
}

#[test]
fn a_record_holds_for_its_corpus_and_its_mutations() {
    replay("record", 25, 60);
}

#[test]
fn tables_hold_for_their_corpus_and_its_mutations() {
    replay("tables", 100, 200);
}

#[test]
fn templates_hold_for_their_corpus_and_its_mutations() {
    replay("templates", 80, 100);
}

/// A campaign in which everything is rejected at once would prove nothing about what comes after.
#[test]
fn many_mutated_records_still_reach_the_dialects() {
    let target = TARGETS.iter().find(|target| target.name == "record").unwrap();
    let seeds = seeds(target.name);
    let bases: Vec<&Vec<u8>> = seeds.iter().filter(|bytes| (target.is_base)(bytes)).collect();
    let mut random = random(9);
    let reached = (0..300).filter(|_| {
        let base = random.pick(&bases).unwrap();
        (target.is_base)(&mutate(base, &seeds, &mut random))
    });
    let reached = reached.count();
    assert!(
        reached > 100,
        "only {reached} of 300 from {} records",
        bases.len()
    );
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
