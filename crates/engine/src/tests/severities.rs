//! The pages of codes list the severities that findings have.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::Silent;
use crate::check::{CheckOptions, check};

#[test]
fn every_severity_of_every_sample_is_on_the_page_of_its_code() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples");
    let options = CheckOptions {
        paths: vec![samples.to_str().unwrap().to_owned()],
        ..CheckOptions::default()
    };
    let (met, untold) = (Mutex::new(BTreeSet::new()), Mutex::new(BTreeSet::new()));
    check(&options, &Silent, &AtomicBool::new(false), &mut |checked| {
        let finding = &checked.located.finding;
        let key = (finding.code.code, finding.severity.as_str());
        if !finding.code.may_be(finding.severity) {
            untold.lock().unwrap().insert(key);
        }
        met.lock().unwrap().insert(key);
    })
    .unwrap();
    assert_eq!(*untold.lock().unwrap(), BTreeSet::new());
    let met = met.lock().unwrap();
    for key in [("SR002", "warning"), ("TM002", "warning"), ("IN005", "note")] {
        assert!(met.contains(&key), "no sample has {key:?}");
    }
}
