//! Reports and cards that the user edited.

use std::fs;

use crate::tests::support::open;
use crate::{DERIVED, DatasetError, Opening, RECORD, certify, write_derived};

use crate::tests::support::{is_replaced, place, publish, refusal, replacing_work, seal, snapshot};

fn reported() -> (tempfile::TempDir, std::path::PathBuf) {
    let (folder, out) = place();
    publish(&out, "plan-b", 1);
    let files: Vec<(&str, &[u8])> = DERIVED.iter().map(|name| (*name, name.as_bytes())).collect();
    write_derived(&out, &files).unwrap();
    (folder, out)
}

#[test]
fn an_edited_report_or_card_stays_and_is_named() {
    for name in DERIVED {
        let (_folder, out) = reported();
        fs::write(out.join(name), "my own words").unwrap();
        let before = snapshot(&out);
        let errors = [
            refusal(&out, true),
            write_derived(&out, &[("run.json", b"{}"), (name, b"new")]).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, DatasetError::WrongPath { .. }), "{error}");
            assert!(error.to_string().contains(name), "{error}");
            assert!(error.to_string().contains("move it away or delete it"), "{error}");
        }
        assert!(snapshot(&out) == before, "{name}");
        fs::remove_file(out.join(name)).unwrap();
        write_derived(&out, &[(name, b"new")]).unwrap();
        is_replaced(&out);
    }
}

#[test]
fn a_card_edited_during_the_run_stays() {
    let (_folder, out) = reported();
    let sealed = seal(replacing_work(&out, "plan-a"), "plan-a", 3);
    fs::write(out.join("README.md"), "my own words").unwrap();
    assert!(matches!(sealed.publish(), Err(DatasetError::WrongPath { .. })));
    assert_eq!(fs::read(out.join("README.md")).unwrap(), b"my own words");
}

#[test]
fn a_dataset_published_with_reports_can_be_reported_again_and_replaced() {
    let (_folder, out) = place();
    let sealed = seal(crate::tests::support::work(&out, "plan-b"), "plan-b", 1);
    for name in DERIVED {
        sealed.write_derived(name, b"first").unwrap();
    }
    sealed.publish().unwrap();
    for text in ["second", "third"] {
        write_derived(&out, &[("README.md", text.as_bytes())]).unwrap();
    }
    assert!(certify(&out).unwrap().holds());
    is_replaced(&out);
}

#[test]
fn without_the_record_a_report_counts_as_edited() {
    for corruption in ["", "{", "[]", "{\"README.md\": 1}"] {
        let (_folder, out) = reported();
        fs::write(out.join(RECORD), corruption).unwrap();
        assert!(
            matches!(refusal(&out, true), DatasetError::WrongPath { .. }),
            "{corruption}"
        );
        assert!(certify(&out).unwrap().holds(), "the record is not certified");
        assert!(matches!(open(&out, "plan-b", false), Ok(Opening::Finished(_))));
    }
}

#[test]
fn a_report_that_is_a_link_is_not_written_through() {
    let (folder, out) = reported();
    let mine = folder.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    fs::remove_file(out.join("report.html")).unwrap();
    std::os::unix::fs::symlink(&mine, out.join("report.html")).unwrap();
    assert!(write_derived(&out, &[("report.html", b"new")]).is_err());
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    assert!(out.join("report.html").is_symlink());
}
