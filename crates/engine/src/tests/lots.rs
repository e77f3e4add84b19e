//! Lots: a slice is the same whichever lots are cut before it, and how often.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::slice::lots::{Lot, divides, lots};
use crate::slice::{CutTotals, Repeats, Slicer};
use crate::{Plan, Silent};

use crate::tests::desk::{request, row};

/// A plan over a folder of lines, rows and a document, with lots of a kibibyte, whose inputs were hashed.
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
        "name = \"t\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n[lots]\nbytes = 1024\n";
    let path = folder.join("pipeline.toml");
    std::fs::write(&path, pipeline).unwrap();
    let mut plan = Plan::load(&path, &[], None, &[]).unwrap();
    plan.hash_inputs(&divides, &Silent, &AtomicBool::new(false))
        .unwrap();
    plan
}

/// The digests of the slices of some lots, and what was cut of all.
fn cut(plan: &Plan, lots: &[Lot]) -> (BTreeMap<String, String>, CutTotals) {
    let (stop, spill) = (AtomicBool::new(false), plan.base.join("spill"));
    let mut slicer = Slicer::new(&plan.inputs, plan.limits(), 512, None, spill, &stop, &Silent)
        .in_lots(lots.iter().cloned());
    slicer.is_strict = true;
    slicer.repeats = Some(Repeats::among(&plan.inputs));
    let mut digests = BTreeMap::new();
    while let Some(slice) = slicer.next_slice() {
        digests.insert(slice.id.to_string(), slice.digest());
    }
    assert_eq!(slicer.changed, <[String; 0]>::default());
    (digests, slicer.tally)
}

#[test]
fn slices_are_the_same_in_any_order_of_lots_and_for_any_share_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let all = lots(&plan).unwrap();
    assert!(all.len() > 8, "{} lots", all.len());
    assert!((0..).zip(&all).all(|(number, lot)| lot.number == number));
    let (whole, totals) = cut(&plan, &all);
    assert_eq!(totals.each().count(), whole.len());
    let backwards: Vec<Lot> = all.iter().rev().cloned().collect();
    assert_eq!(cut(&plan, &backwards).0, whole);
    for shares in [2, 3, 7] {
        let mut together = BTreeMap::new();
        for share in 0..shares {
            let mine: Vec<Lot> = all.iter().skip(share).step_by(shares).cloned().collect();
            together.extend(cut(&plan, &mine).0);
        }
        assert_eq!(together, whole, "{shares} shares");
    }
}

#[test]
fn lots_leave_no_byte_out_and_do_not_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let mut places: BTreeMap<usize, u64> = BTreeMap::new();
    for lot in lots(&plan).unwrap() {
        for input in lot.inputs.clone() {
            let read = places.entry(input).or_default();
            match &lot.stretch {
                Some(stretch) => {
                    assert_eq!(stretch.start, *read);
                    *read = stretch.end;
                }
                None => *read += plan.inputs[input].input.bytes,
            }
        }
    }
    let expected = plan.inputs.iter().map(|planned| planned.input.bytes);
    assert!(places.into_values().eq(expected));
}

#[test]
fn a_lot_that_is_too_small_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let path = plan.base.join("pipeline.toml");
    let refused = Plan::load(&path, &["lots.bytes=1023".to_owned()], None, &[])
        .err()
        .unwrap();
    assert_eq!(refused.to_string(), "lots.bytes: it must be 1024 at least");
}
