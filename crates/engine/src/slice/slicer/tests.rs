use chatmill_diag::{Finding, codes};

use super::super::CutCounts;
use super::*;
use crate::plan::typed_in_tests;
use crate::progress::Silent;

mod boards;

fn slicer<'p>(
    inputs: &'p [PlannedInput],
    limits: &'p Limits,
    slice_bytes: usize,
    stop: &'p AtomicBool,
) -> Slicer<'p> {
    let spill = std::env::temp_dir();
    Slicer::new(inputs, limits, slice_bytes, None, spill, stop, &Silent)
}

#[test]
fn a_slice_ends_after_so_many_inputs_however_small_they_are() {
    let refused = Finding::new(&codes::NOT_A_REGULAR_FILE, "a device");
    let inputs: Vec<PlannedInput> = (0..=MAX_INPUTS_PER_SLICE)
        .map(|number| PlannedInput::of(&number.to_string(), InputKind::Refused(Box::new(refused.clone()))))
        .collect();
    let (limits, stop) = (Limits::default(), AtomicBool::new(false));
    let mut slicer = slicer(&inputs, &limits, 1 << 20, &stop);
    let mut begun = Vec::new();
    while let Some(slice) = slicer.next_slice() {
        let entries = slice.steps.iter().filter(|step| matches!(step, Step::Entry(_)));
        begun.push(entries.count());
    }
    assert_eq!(begun, [MAX_INPUTS_PER_SLICE, 1]);
    assert_eq!(slicer.cut_totals.each().count(), 2);
}

#[test]
fn recognitions_are_dropped_with_their_slice() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(
            folder.path().join(name),
            r#"{"messages":[{"role":"user","content":"hi"}]}"#,
        )
        .unwrap();
    }
    let inputs = typed_in_tests(&[folder.path().to_string_lossy().into_owned()]);
    let (limits, stop) = (Limits::default(), AtomicBool::new(false));
    let mut slicer = slicer(&inputs, &limits, 1, &stop);
    let mut recognised = Vec::new();
    while slicer.next_slice().is_some() {
        recognised.push(slicer.recognised.len());
    }
    // The last slice contains only the end of the last entry.
    assert_eq!(recognised, [1, 1, 1, 0]);
}

/// The bound covers the memory per input during a run, in addition to its path and counts.
#[test]
fn planned_inputs_with_their_counts_take_less_than_150_bytes() {
    let each = size_of::<PlannedInput>() + size_of::<CutCounts>();
    assert!(each < 150, "{each} bytes");
}
