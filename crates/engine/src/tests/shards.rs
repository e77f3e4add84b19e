//! Shards: a slice is the same whichever shards were cut before it, and however often it is cut.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::slice::shards::{Shard, divides, shards};
use crate::slice::{CutTotals, Repeats, Slicer};
use crate::{Plan, Silent};

use crate::tests::test_dir::{request, row};

/// Returns a plan over a folder of lines, rows and a document, with shards of a kibibyte and hashed inputs.
fn planned(folder: &Path) -> Plan {
    let write = |name: &str, text: String| {
        std::fs::create_dir_all(folder.join("in")).unwrap();
        std::fs::write(folder.join("in").join(name), text).unwrap();
    };
    let lines = |count: usize| {
        (0..count)
            .map(|number| request(&number.to_string()))
            .collect::<String>()
    };
    write("a.jsonl", lines(90));
    write("b.jsonl", lines(3));
    write(
        "c.jsonl",
        (0..9).map(|number| row("t", &number.to_string(), "x")).collect(),
    );
    write("d.jsonl", lines(90));
    let pipeline =
        "name = \"t\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n[shards]\nbytes = 1024\n";
    let path = folder.join("pipeline.toml");
    std::fs::write(&path, pipeline).unwrap();
    let mut plan = Plan::load(&path, &[], None, &[]).unwrap();
    plan.hash_inputs(&divides, &Silent, &AtomicBool::new(false))
        .unwrap();
    plan
}

/// Cuts some shards; returns the digests of their slices, and the totals.
fn cut(plan: &Plan, shards: &[Shard]) -> (BTreeMap<String, String>, CutTotals) {
    let (stop, spill) = (AtomicBool::new(false), plan.base.join("spill"));
    let mut slicer = Slicer::new(&plan.inputs, plan.limits(), 512, None, spill, &stop, &Silent)
        .in_shards(shards.iter().cloned());
    slicer.is_strict = true;
    slicer.repeats = Some(Repeats::among(&plan.inputs));
    let mut digests = BTreeMap::new();
    while let Some(slice) = slicer.next_slice() {
        digests.insert(slice.id.to_string(), slice.digest());
    }
    assert_eq!(slicer.changed, <[String; 0]>::default());
    (digests, slicer.cut_totals)
}

#[test]
fn slices_are_the_same_in_any_order_of_shards_and_split_over_any_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let all = shards(&plan).unwrap();
    assert!(all.len() > 8, "{} shards", all.len());
    assert!((0..).zip(&all).all(|(number, shard)| shard.number == number));
    let (whole, totals) = cut(&plan, &all);
    assert_eq!(totals.each().count(), whole.len());
    let backwards: Vec<Shard> = all.iter().rev().cloned().collect();
    assert_eq!(cut(&plan, &backwards).0, whole);
    for workers in [2, 3, 7] {
        let mut together = BTreeMap::new();
        for worker in 0..workers {
            let mine: Vec<Shard> = all.iter().skip(worker).step_by(workers).cloned().collect();
            together.extend(cut(&plan, &mine).0);
        }
        assert_eq!(together, whole, "{workers} shares");
    }
}

#[test]
fn shards_hold_each_byte_exactly_once() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let mut places: BTreeMap<usize, u64> = BTreeMap::new();
    for shard in shards(&plan).unwrap() {
        for input in shard.inputs.clone() {
            let read = places.entry(input).or_default();
            match &shard.range {
                Some(range) => {
                    assert_eq!(range.start, *read);
                    *read = range.end;
                }
                None => *read += plan.inputs[input].input.bytes,
            }
        }
    }
    let expected = plan.inputs.iter().map(|planned| planned.input.bytes);
    assert!(places.into_values().eq(expected));
}

#[test]
fn shards_below_the_minimum_size_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let path = plan.base.join("pipeline.toml");
    let refused = Plan::load(&path, &["shards.bytes=1023".to_owned()], None, &[])
        .err()
        .unwrap();
    assert_eq!(refused.to_string(), "shards.bytes: it must be 1024 at least");
}

#[test]
fn the_older_section_lots_is_read_with_a_note_and_refused_beside_shards() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let path = plan.base.join("pipeline.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("[shards]", "[lots]")).unwrap();
    let older = Plan::load(&path, &[], None, &[]).unwrap();
    assert_eq!(older.pipeline.shards.bytes, 1024);
    assert!(plan.notes.is_empty() && older.notes.concat().contains("[lots] is called [shards] now"));
    assert_eq!(older.normalised(), plan.normalised());
    let both = Plan::load(&path, &["shards.bytes=2048".to_owned()], None, &[]);
    let refused = both.err().unwrap().to_string();
    assert!(
        refused.starts_with("lots: it is the older spelling of [shards]"),
        "{refused}"
    );
}
