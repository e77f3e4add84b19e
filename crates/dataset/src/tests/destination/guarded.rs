//! Nothing is written into a dataset, an export, a store of nights or unfinished work, at any depth and by any spelling.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use crate::tests::support::{interrupted, names, publish, seal, snapshot, work};
use crate::{DatasetError, Folder, NightStore, TemporaryDataset, claim, create_report};

/// One folder of each kind that chatmill creates, with its name in errors.
const OWN: [(&str, &str); 6] = [
    ("out", "the dataset"),
    ("unmarked", "the dataset"),
    ("unlisted", "the dataset"),
    ("export", "the export"),
    ("nights", "the store of scheduled runs"),
    (".later.staging", "the unfinished work"),
];

fn place_with_each() -> TempDir {
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name);
    for dataset in ["out", "unmarked", "unlisted"] {
        publish(&at(dataset), "plan-a", 1);
    }
    // A damaged dataset is still a dataset.
    fs::remove_file(at("unmarked/_SUCCESS")).unwrap();
    fs::remove_file(at("unlisted/manifest.json")).unwrap();
    let export = Folder::create(&at("export")).unwrap();
    let mut summary = export.file("export.json").unwrap();
    summary
        .add(b"{\n  \"program\": \"chatmill\",\n  \"files\": []\n}\n")
        .unwrap();
    summary.finish().unwrap();
    export.publish().unwrap();
    drop(NightStore::open(&at("nights")).unwrap());
    interrupted(&at("later"));
    for (own, _) in OWN {
        fs::create_dir_all(at(own).join("deep/deeper")).unwrap();
        symlink(at(own).join("deep"), at(&format!("link-{own}"))).unwrap();
    }
    place
}

type Act = fn(&Path) -> Result<(), DatasetError>;

/// Every function that writes to a path of the caller's choice.
const ACTS: [Act; 6] = [
    |out| claim(out).map(drop),
    |out| Folder::create(out).map(drop),
    |out| TemporaryDataset::beside(out).map(drop),
    |out| NightStore::open(out).map(drop),
    |out| NightStore::find(out).map(drop),
    |out| create_report(out, &[]).map(drop),
];

#[test]
fn no_output_goes_into_a_folder_of_chatmills_own() {
    let place = place_with_each();
    let before = snapshot(place.path());
    for (own, kind) in OWN {
        for path in [
            format!("{own}/new"),
            format!("{own}/deep/deeper/new"),
            format!("{own}/far/below/new"),
            format!("nowhere/../{own}/far/new"),
            format!("link-{own}/new"),
            format!("link-{own}/deeper/../../new"),
        ] {
            for (number, act) in ACTS.into_iter().enumerate() {
                let error = act(&place.path().join(&path)).expect_err(&path);
                // No folder is created for a report.
                let is_absent = number == 5 && (path.contains("far") || path.contains("nowhere"));
                assert!(
                    is_absent
                        || matches!(error, DatasetError::WrongPath { .. })
                            && error.to_string().contains(kind),
                    "{path}, act {number}: {error}"
                );
            }
        }
        assert!(!place.path().join(own).join("far").exists(), "{own}");
    }
    assert!(snapshot(place.path()) == before);
}

#[test]
fn a_report_replaces_no_file_of_a_folder_of_chatmills_own() {
    let place = place_with_each();
    let before = snapshot(place.path());
    for (file, _) in &before {
        let error = create_report(&place.path().join(file), &[]).unwrap_err();
        assert!(matches!(error, DatasetError::WrongPath { .. }), "{file}: {error}");
    }
    assert!(snapshot(place.path()) == before);
}

#[test]
fn folders_beside_and_above_those_of_chatmill_are_free() {
    let place = place_with_each();
    let pipeline = place.path().join("several");
    for dataset in ["demo", "other"] {
        publish(&pipeline.join(dataset), "plan-a", 1);
    }
    for place in [place.path(), &pipeline] {
        for (number, act) in ACTS.into_iter().enumerate() {
            act(&place.join(format!("new-{number}"))).unwrap();
        }
    }
    assert!(names(&pipeline).starts_with(&["demo".to_owned(), "new-3".to_owned()]));
}

#[test]
fn what_only_has_the_name_of_a_mark_is_no_folder_of_chatmill() {
    let place = TempDir::new().unwrap();
    for (name, text) in [
        ("manifest.json", "{\"name\": \"an extension\"}"),
        ("manifest.json", "{\"files\": [], \"program\": \"another\"}"),
        ("export.json", "{\"program\": \"chatmillstone\"}"),
        ("export.json", ""),
        ("_SUCCESS", ""),
        ("_SUCCESS", "done\n"),
    ] {
        fs::write(place.path().join(name), text).unwrap();
        claim(&place.path().join("out")).unwrap();
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(0o000)).unwrap();
        claim(&place.path().join("out")).unwrap();
        fs::remove_file(place.path().join(name)).unwrap();
        fs::create_dir(place.path().join(name)).unwrap();
        claim(&place.path().join("out")).unwrap();
        fs::remove_dir(place.path().join(name)).unwrap();
        symlink("/dev/zero", place.path().join(name)).unwrap();
        claim(&place.path().join("out")).unwrap();
        fs::remove_file(place.path().join(name)).unwrap();
    }
}

#[test]
fn a_folder_that_comes_into_a_dataset_during_the_work_gets_nothing() {
    let place = place_with_each();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("moving")).unwrap();
    let sealed = seal(work(&at("moving/out"), "plan-a"), "plan-a", 1);
    let export = Folder::create(&at("moving/ex")).unwrap();
    let mut report = create_report(&at("moving/report.json"), &[]).unwrap();
    report.write_all(b"{}").unwrap();
    fs::rename(at("moving"), at("out/moving")).unwrap();
    for refused in [sealed.publish().map(drop), export.publish(), report.finish()] {
        let error = refused.unwrap_err();
        assert!(matches!(error, DatasetError::WrongPath { .. }), "{error}");
    }
    drop(report);
    assert_eq!(
        names(&at("out/moving")),
        [".out.staging"],
        "finished work is kept"
    );
}
