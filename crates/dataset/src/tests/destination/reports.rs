//! Report files: what they replace, and which remains of killed processes are removed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use crate::tests::support::{names, place, publish, snapshot};
use crate::{DatasetError, certify, create_report, write_derived};

#[test]
fn a_report_lies_in_no_input_at_any_depth() {
    let (folder, _) = place();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("in/deep/deeper")).unwrap();
    symlink(at("in/deep"), at("link")).unwrap();
    let input = at("in");
    for report in [
        "in/r",
        "in/deep/r",
        "in/deep/deeper/r",
        "link/r",
        "link/deeper/../r",
    ] {
        let error = create_report(&at(report), &[&input]).unwrap_err();
        assert!(
            error.to_string().contains("in one of the inputs"),
            "{report}: {error}"
        );
    }
    create_report(&at("r"), &[&input, &at("absent")]).unwrap();
    assert_eq!(names(folder.path()), ["in", "link"]);
}

#[test]
fn what_a_killed_process_left_of_a_report_goes_with_the_next_one() {
    let (folder, _) = place();
    let at = |name: &str| folder.path().join(name);
    for left in [
        ".r.json.lock",
        ".r.json.0123456789abcdef.new",
        ".r.json.fedcba9876543210.new",
    ] {
        fs::write(at(left), "").unwrap();
    }
    // Temporary files of another report, and names that only look like temporary files.
    let others = [
        ".other.json.0123456789abcdef.new",
        ".r.json.0123456789ABCDEF.new",
        ".r.json.new",
        "r.json.0123456789abcdef.new",
    ];
    for other in others {
        fs::write(at(other), "").unwrap();
    }
    let mut report = create_report(&at("r.json"), &[]).unwrap();
    report.write_all(b"{}").unwrap();
    report.finish().unwrap();
    drop(report);
    assert_eq!(fs::read(at("r.json")).unwrap(), b"{}");
    let mut expected: Vec<&str> = others.into_iter().chain(["r.json"]).collect();
    expected.sort_unstable();
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn of_two_processes_that_write_a_report_one_writes() {
    let (folder, _) = place();
    let path = folder.path().join("r.json");
    let mut first = create_report(&path, &[]).unwrap();
    let second = create_report(&path, &[]).unwrap_err();
    assert!(matches!(second, DatasetError::Locked { .. }), "{second}");
    assert!(first.is_at(&folder.path().join("./r.json")) && !first.is_at(&folder.path().join("r")));
    first.write_all(b"first").unwrap();
    first.finish().unwrap();
    drop(first);
    assert_eq!(
        snapshot(folder.path()),
        [("r.json".to_owned(), b"first".to_vec())]
    );
}

#[test]
fn what_a_killed_process_left_of_a_datasets_reports_goes_with_the_next_ones() {
    let (folder, out) = place();
    publish(&out, "plan-a", 1);
    let of_another = ".other.0123456789abcdef.new";
    for left in [".out.lock", ".out.0123456789abcdef.new", of_another] {
        fs::write(folder.path().join(left), "").unwrap();
    }
    write_derived(&out, &[("README.md", b"card")]).unwrap();
    assert_eq!(names(folder.path()), [of_another, "out"]);
    assert!(certify(&out).unwrap().holds());
}

#[test]
fn the_reports_of_a_dataset_wait_for_nobody_who_replaces_it() {
    let (_folder, out) = place();
    publish(&out, "plan-a", 1);
    let _run = crate::claim(&out).unwrap();
    let error = write_derived(&out, &[("README.md", b"card")]).unwrap_err();
    assert!(matches!(error, DatasetError::Locked { .. }), "{error}");
}
