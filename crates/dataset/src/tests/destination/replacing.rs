//! Replacing a dataset that exists at the destination.

use std::fs;
use std::path::Path;

use crate::tests::support::open;
use crate::{DatasetError, Manifest, Opening, read_manifest};

use crate::tests::support::{
    done, forge, is_finished, is_replaced, mark, names, place, publish, refusal, replacing_work, seal,
    snapshot, staged, undisturbed, work, write_slice,
};

#[test]
fn a_finished_dataset_is_not_changed() {
    let (folder, out) = place();
    publish(&out, "plan-a", 2);
    let before = snapshot(&out);
    for replace in [false, true] {
        match open(&out, "plan-a", replace).unwrap() {
            Opening::Finished(manifest) => assert_eq!(manifest, read_manifest(&out).unwrap()),
            Opening::Work(_) => panic!("it was not recognised"),
        }
    }
    assert_eq!(snapshot(&out), before);
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn a_dataset_whose_manifest_is_not_certified_is_not_finished() {
    type Change = fn(&mut Manifest);
    let changes: [Change; 4] = [
        |manifest| manifest.inputs.change(0, |input| input.entries = 0),
        |manifest| manifest.inputs.change(0, |input| input.plain = true),
        |manifest| manifest.inputs.change(0, |input| input.accepted += 1),
        |manifest| manifest.ledger_balanced = false,
    ];
    for change in changes {
        let (_folder, out) = place();
        publish(&out, "plan-a", 2);
        let mut manifest = read_manifest(&out).unwrap();
        change(&mut manifest);
        forge(&out, manifest);
        let error = refusal(&out, false).to_string();
        assert!(error.contains("it is damaged"), "{error}");
        is_replaced(&out);
    }
}

#[test]
fn a_dataset_with_a_corrupt_part_is_unfinished_and_one_with_a_foreign_file_is_finished() {
    let (_folder, out) = place();
    publish(&out, "plan-a", 3);
    fs::write(out.join("mine.txt"), "mine").unwrap();
    assert!(matches!(
        open(&out, "plan-a", false).unwrap(),
        Opening::Finished(_)
    ));
    fs::remove_file(out.join("mine.txt")).unwrap();
    let part = out.join("messages/part-00000-00001.parquet");
    let mut bytes = fs::read(&part).unwrap();
    bytes[9] ^= 1;
    fs::write(&part, bytes).unwrap();
    let error = refusal(&out, false).to_string();
    assert!(error.contains("it is damaged"), "{error}");
    is_replaced(&out);
}

#[test]
fn a_dataset_of_another_plan_stays_without_replace() {
    let (folder, out) = place();
    publish(&out, "plan-b", 2);
    let before = snapshot(&out);
    let error = refusal(&out, false);
    assert!(matches!(error, DatasetError::Occupied { .. }));
    assert!(error.to_string().contains("--replace"), "{error}");
    assert_eq!(snapshot(&out), before);
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn replacing_keeps_the_old_dataset_until_the_new_one_is_whole() {
    let (folder, out) = place();
    publish(&out, "plan-b", 2);
    let old = snapshot(&out);
    let sealed = seal(replacing_work(&out, "plan-a"), "plan-a", 3);
    assert_eq!(snapshot(&out), old);
    assert_eq!(sealed.publish().unwrap(), Vec::<String>::new());
    assert_eq!(snapshot(&out), undisturbed());
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn replacing_goes_on_after_an_interruption() {
    let (_folder, out) = place();
    publish(&out, "plan-b", 2);
    let old = snapshot(&out);
    write_slice(&replacing_work(&out, "plan-a"), 1);
    assert_eq!(snapshot(&out), old);
    assert!(matches!(refusal(&out, false), DatasetError::Occupied { .. }));
    let staging = replacing_work(&out, "plan-a");
    assert_eq!(done(&staging), [1]);
    is_finished(staging, &out);
}

#[test]
fn replacing_an_absent_dataset_publishes() {
    let (_folder, out) = place();
    is_replaced(&out);
}

#[test]
fn replacing_keeps_foreign_files_in_a_dataset() {
    let (_folder, out) = place();
    publish(&out, "plan-b", 1);
    for stranger in ["notes.txt", "messages/mine.parquet", "my-folder/file"] {
        let path = out.join(stranger);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let error = refusal(&out, true);
        assert!(matches!(error, DatasetError::WrongPath { .. }));
        assert!(
            error
                .to_string()
                .contains(stranger.split('/').next_back().unwrap()),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn replacing_spares_files_that_appear_while_the_run_works() {
    let (_folder, out) = place();
    publish(&out, "plan-b", 1);
    let sealed = seal(replacing_work(&out, "plan-a"), "plan-a", 3);
    fs::write(out.join("notes.txt"), "mine").unwrap();
    assert!(matches!(sealed.publish(), Err(DatasetError::WrongPath { .. })));
    assert_eq!(fs::read(out.join("notes.txt")).unwrap(), b"mine");
    fs::remove_file(out.join("notes.txt")).unwrap();
    let staging = replacing_work(&out, "plan-a");
    assert_eq!(done(&staging), [0, 1, 2], "the work is not lost");
}

#[test]
fn a_kill_between_exchange_and_tidying_is_cleared_by_the_next_run() {
    let (folder, out) = place();
    publish(&out, "plan-b", 2);
    let old = folder.path().join("old");
    copy(&out, &old);
    let staging = replacing_work(&out, "plan-a");
    for slice in 0..3 {
        write_slice(&staging, slice);
    }
    let receipts = folder.path().join("receipts");
    copy(&staged(&folder, "receipts"), &receipts);
    seal(staging, "plan-a", 3).publish().unwrap();
    // The state after the kill: the old dataset in the place of the new one, next to the receipts.
    fs::create_dir_all(staged(&folder, "temp")).unwrap();
    mark(&folder);
    fs::rename(&old, staged(&folder, "data")).unwrap();
    fs::rename(&receipts, staged(&folder, "receipts")).unwrap();
    assert!(matches!(open(&out, "plan-a", true), Ok(Opening::Finished(_))));
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn an_exchanged_old_dataset_is_never_taken_for_new_work() {
    let (folder, out) = place();
    publish(&out, "plan-b", 2);
    let old = folder.path().join("old");
    copy(&out, &old);
    interrupted_replacing(&out);
    fs::remove_dir_all(staged(&folder, "data")).unwrap();
    fs::rename(&old, staged(&folder, "data")).unwrap();
    fs::remove_dir_all(&out).unwrap();
    // Two of three slices have the same rows in both plans, so their receipts are valid; everything else there must be removed.
    let staging = work(&out, "plan-a");
    is_finished(staging, &out);
}

fn interrupted_replacing(out: &Path) {
    let staging = replacing_work(out, "plan-a");
    for slice in 0..3 {
        write_slice(&staging, slice);
    }
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in snapshot(from) {
        let target = to.join(name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
}

#[test]
fn a_kill_between_publishing_and_tidying_is_cleared_by_the_next_run() {
    let (folder, out) = place();
    publish(&out, "plan-a", 3);
    fs::create_dir_all(staged(&folder, "receipts")).unwrap();
    mark(&folder);
    fs::write(staged(&folder, "receipts/00000-00000.json"), "left").unwrap();
    assert!(matches!(open(&out, "plan-a", false), Ok(Opening::Finished(_))));
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn unfinished_work_of_another_plan_is_reported_and_removed() {
    let (folder, out) = place();
    write_slice(&work(&out, "plan-b"), 0);
    let staging = work(&out, "plan-a");
    assert_eq!(staging.notices().len(), 1);
    assert!(staging.notices()[0].contains("another plan"));
    assert!(staging.notices()[0].contains("plan-b"));
    assert_eq!(
        names(&folder.path().join(".out.staging")),
        [".chatmill-staging", "plan-a"]
    );
    assert_eq!(done(&staging), Vec::<u32>::new());
}

#[test]
fn a_finished_dataset_does_not_cost_another_plan_its_unfinished_work() {
    let (folder, out) = place();
    publish(&out, "plan-a", 1);
    match open(&out, "plan-b", true).unwrap() {
        Opening::Work(staging) => write_slice(&staging, 0),
        Opening::Finished(_) => panic!("plan-b is not finished"),
    };
    assert!(matches!(open(&out, "plan-a", false), Ok(Opening::Finished(_))));
    assert_eq!(
        names(&folder.path().join(".out.staging/plan-b/receipts")),
        ["00000-00000.json"]
    );
}

#[test]
fn a_corrupt_dataset_is_unfinished() {
    for corruption in ["messages/part-00000-00000.parquet", "_SUCCESS"] {
        let (_folder, out) = place();
        publish(&out, "plan-a", 3);
        fs::remove_file(out.join(corruption)).unwrap();
        let error = refusal(&out, false);
        assert!(matches!(error, DatasetError::Occupied { .. }));
        assert!(error.to_string().contains("damaged"), "{error}");
        assert!(error.to_string().contains(corruption), "{error}");
        is_replaced(&out);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_dataset_is_followed_and_stays() {
    let (folder, out) = place();
    publish(&folder.path().join("real"), "plan-b", 1);
    std::os::unix::fs::symlink(folder.path().join("real"), &out).unwrap();
    seal(replacing_work(&out, "plan-a"), "plan-a", 3)
        .publish()
        .unwrap();
    assert!(out.is_symlink());
    assert_eq!(snapshot(&folder.path().join("real")), undisturbed());
}
