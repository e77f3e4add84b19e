//! From an empty place to a published dataset, with everything that may lie in the way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]
#![allow(clippy::disallowed_methods, reason = "tests look at the files")]

mod support;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use chatmill_dataset::{DatasetError, Opening, Staging, certify, open, read_manifest};
use support::{grind, names, options, publish, receipts, replacing_work, seal, snapshot, work};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    (folder, out)
}

fn staged(folder: &TempDir, path: &str) -> PathBuf {
    folder.path().join(".out.staging/plan-a").join(path)
}

fn done(staging: &Staging) -> Vec<u32> {
    receipts(staging).iter().map(|receipt| receipt.slice).collect()
}

/// Three finished slices whose run ended before it could seal.
fn interrupted(out: &Path) {
    let staging = work(out, "plan-a");
    for slice in 0..3 {
        grind(&staging, slice);
    }
}

/// What an undisturbed run of three slices publishes.
fn undisturbed() -> Vec<(String, Vec<u8>)> {
    let (_folder, out) = place();
    publish(&out, "plan-a", 3);
    snapshot(&out)
}

fn refusal(out: &Path, replace: bool) -> DatasetError {
    match open(out, "plan-a", replace) {
        Ok(_) => panic!("{} was opened", out.display()),
        Err(error) => error,
    }
}

#[test]
fn a_dataset_appears_whole_and_leaves_only_its_lock() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    grind(&staging, 0);
    assert!(!out.exists());
    let sealed = seal(staging, "plan-a", 2);
    sealed.write_derived("run.json", b"{}\n").unwrap();
    assert!(!out.exists(), "nothing may be seen before the rename");
    assert!(sealed.folder().join("_SUCCESS").is_file());
    assert_eq!(sealed.publish().unwrap(), Vec::<String>::new());
    assert_eq!(names(folder.path()), [".out.lock", "out"]);
    assert_eq!(
        names(&out),
        [
            "_SUCCESS",
            "conversations",
            "findings",
            "losses",
            "manifest.json",
            "message_references",
            "messages",
            "rejects",
            "renderings",
            "run.json",
            "token_counts",
            "tool_calls",
            "totals",
        ]
    );
    assert_eq!(
        names(&out.join("messages")),
        ["part-00000.parquet", "part-00001.parquet"]
    );
    let certificate = certify(&out).unwrap();
    assert_eq!(certificate.faults, Vec::<String>::new());
    assert_eq!((certificate.files, certificate.rows), (13, 6));
}

#[test]
fn an_empty_table_is_a_file_without_row_groups() {
    let (_folder, out) = place();
    publish(&out, "plan-a", 1);
    let manifest = read_manifest(&out).unwrap();
    let losses = manifest
        .tables
        .iter()
        .find(|table| table.name == "losses")
        .unwrap();
    assert_eq!(losses.files.len(), 1);
    assert_eq!(
        (losses.files[0].path.as_str(), losses.files[0].rows),
        ("losses/part-00000.parquet", 0)
    );
    let footer = parquet::file::metadata::ParquetMetaDataReader::new()
        .parse_and_finish(&fs::File::open(out.join(&losses.files[0].path)).unwrap())
        .unwrap();
    assert_eq!(footer.num_row_groups(), 0);
    assert_eq!(footer.file_metadata().schema_descr().num_columns(), 10);
}

#[test]
fn a_run_without_any_row_is_a_valid_dataset() {
    let (_folder, out) = place();
    publish(&out, "plan-a", 0);
    let certificate = certify(&out).unwrap();
    assert_eq!(certificate.faults, Vec::<String>::new());
    assert_eq!((certificate.files, certificate.rows), (10, 0));
}

#[test]
fn parent_folders_are_made() {
    let (folder, _) = place();
    let out = folder.path().join("a/b/out");
    publish(&out, "plan-a", 1);
    assert!(certify(&out).unwrap().holds());
}

#[test]
fn receipts_come_back_in_order_with_their_bodies() {
    let (_folder, out) = place();
    let staging = work(&out, "plan-a");
    let mut files = Vec::new();
    for slice in [2, 0, 1] {
        files.push(grind(&staging, slice));
    }
    let receipts = receipts(&staging);
    assert_eq!(receipts.len(), 3);
    for (slice, receipt) in (0..).zip(&receipts) {
        assert_eq!(receipt.slice, slice);
        assert_eq!(receipt.body, format!("body of slice {slice}"));
    }
    assert_eq!(receipts[2].files, files[0]);
}

#[test]
fn a_second_run_goes_on_where_the_first_stopped() {
    let (_folder, out) = place();
    interrupted(&out);
    let staging = work(&out, "plan-a");
    assert_eq!(staging.notices(), Vec::<String>::new());
    assert_eq!(done(&staging), [0, 1, 2]);
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

/// Damages one file of interrupted work; the slice must be redone and nothing may show of it.
fn is_redone_after(damage: impl Fn(&TempDir), slice: u32) {
    let (folder, out) = place();
    interrupted(&out);
    damage(&folder);
    let staging = work(&out, "plan-a");
    let expected: Vec<u32> = (0..3).filter(|&other| other != slice).collect();
    assert_eq!(done(&staging), expected);
    assert!(!staged(&folder, &format!("data/messages/part-{slice:05}.parquet")).exists());
    assert!(!staged(&folder, &format!("receipts/{slice:05}.json")).exists());
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn a_truncated_part_is_redone() {
    is_redone_after(
        |folder| {
            let path = staged(folder, "data/messages/part-00001.parquet");
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        },
        1,
    );
}

#[test]
fn a_part_with_one_flipped_byte_is_redone() {
    is_redone_after(
        |folder| {
            let path = staged(folder, "data/rejects/part-00002.parquet");
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&path, &bytes).unwrap();
        },
        2,
    );
}

#[test]
fn an_emptied_part_is_redone() {
    is_redone_after(
        |folder| fs::write(staged(folder, "data/conversations/part-00000.parquet"), "").unwrap(),
        0,
    );
}

#[test]
fn a_missing_part_is_redone() {
    is_redone_after(
        |folder| fs::remove_file(staged(folder, "data/messages/part-00001.parquet")).unwrap(),
        1,
    );
}

#[test]
fn a_slice_without_receipt_is_redone() {
    is_redone_after(
        |folder| fs::remove_file(staged(folder, "receipts/00001.json")).unwrap(),
        1,
    );
}

#[test]
fn a_receipt_is_redone_whichever_byte_is_flipped() {
    let (folder, out) = place();
    interrupted(&out);
    let path = staged(&folder, "receipts/00000.json");
    let parts: Vec<_> = ["conversations", "messages", "rejects"]
        .map(|table| staged(&folder, &format!("data/{table}/part-00000.parquet")))
        .into_iter()
        .map(|path| (fs::read(&path).unwrap(), path))
        .collect();
    let receipt = fs::read(&path).unwrap();
    for place in 0..receipt.len() {
        let mut damaged = receipt.clone();
        damaged[place] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let staging = work(&out, "plan-a");
        assert_eq!(done(&staging), [1, 2], "byte {place}");
        assert_eq!(staging.notices().len(), 1);
        for (bytes, path) in &parts {
            assert!(!path.exists());
            fs::write(path, bytes).unwrap();
        }
    }
    fs::write(&path, &receipt).unwrap();
    assert_eq!(
        done(&work(&out, "plan-a")),
        [0, 1, 2],
        "the restored slice is whole"
    );
}

#[test]
fn truncated_and_empty_receipts_are_redone() {
    for length in [0, 1, 64, 65, 100] {
        is_redone_after(
            |folder| {
                let path = staged(folder, "receipts/00002.json");
                let bytes = fs::read(&path).unwrap();
                fs::write(&path, &bytes[..length]).unwrap();
            },
            2,
        );
    }
}

#[test]
fn a_receipt_under_another_slices_name_counts_for_neither() {
    let (folder, out) = place();
    interrupted(&out);
    fs::rename(
        staged(&folder, "receipts/00001.json"),
        staged(&folder, "receipts/00007.json"),
    )
    .unwrap();
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0, 2]);
    assert!(!staged(&folder, "data/messages/part-00001.parquet").exists());
}

#[test]
fn a_slice_that_is_damaged_while_the_run_works_stops_it_and_is_redone_by_the_next() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    grind(&staging, 0);
    grind(&staging, 1);
    fs::write(staged(&folder, "data/messages/part-00001.parquet"), "short").unwrap();
    let found: Vec<_> = staging.receipts::<String>().unwrap().collect();
    assert!(matches!(found[..], [Ok(_), Err(DatasetError::Corrupt { .. })]));
    drop(staging);
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0]);
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn a_receipt_with_a_body_of_another_kind_counts_as_not_done() {
    let (folder, out) = place();
    interrupted(&out);
    let staging = work(&out, "plan-a");
    assert_eq!(staging.receipts::<u32>().unwrap().count(), 0);
    assert_eq!(names(&staged(&folder, "data/messages")), Vec::<String>::new());
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn what_no_receipt_names_is_removed_from_staging() {
    let (folder, out) = place();
    interrupted(&out);
    for stray in [
        "data/messages/part-00009.parquet",
        "data/manifest.json",
        "data/_SUCCESS",
        "data/report.html",
        "temp/messages.00004.parquet",
        "receipts/notes.txt",
    ] {
        fs::write(staged(&folder, stray), "stray").unwrap();
    }
    fs::create_dir_all(staged(&folder, "data/unknown/deep")).unwrap();
    fs::write(staged(&folder, "data/unknown/deep/file"), "stray").unwrap();
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0, 1, 2]);
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn a_set_that_was_dropped_leaves_nothing_in_the_dataset() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let mut parts = staging.parts(0, &options()).unwrap();
    parts.push_message(support::message()).unwrap();
    drop(parts);
    assert_eq!(names(&staged(&folder, "temp")), ["messages.00000.parquet"]);
    let mut parts = staging.parts(0, &options()).unwrap();
    assert_eq!(
        names(&staged(&folder, "temp")),
        Vec::<String>::new(),
        "a new attempt removes the old one"
    );
    parts.push_loss(support::loss()).unwrap();
    let files = parts.close().unwrap();
    assert_eq!(files.len(), 1);
    staging.commit(0, &files, &"body").unwrap();
    assert_eq!(names(&staged(&folder, "data/messages")), Vec::<String>::new());
}

#[test]
fn a_discarded_slice_is_gone() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    grind(&staging, 0);
    grind(&staging, 1);
    staging.discard(0).unwrap();
    assert_eq!(done(&staging), [1]);
    assert_eq!(names(&staged(&folder, "data/messages")), ["part-00001.parquet"]);
    staging.discard(0).unwrap();
}

#[test]
fn a_seal_refuses_a_folder_that_is_not_the_manifests() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let files = grind(&staging, 0);
    fs::write(staged(&folder, "data/messages/part-00005.parquet"), "stray").unwrap();
    let manifest = support::manifest("plan-a", 1, files);
    let error = staging.seal(&manifest, &options()).unwrap_err();
    assert!(matches!(error, DatasetError::Corrupt { .. }));
    assert!(
        error.to_string().contains("messages/part-00005.parquet"),
        "{error}"
    );
    assert!(!out.exists());
}

#[test]
fn a_seal_refuses_a_part_that_changed_after_its_receipt() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let files = grind(&staging, 0);
    let path = staged(&folder, "data/messages/part-00000.parquet");
    let mut bytes = fs::read(&path).unwrap();
    bytes[10] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = staging
        .seal(&support::manifest("plan-a", 1, files), &options())
        .unwrap_err();
    assert!(error.to_string().contains("another hash"), "{error}");
    assert_eq!(
        done(&work(&out, "plan-a")),
        Vec::<u32>::new(),
        "the next run does the slice again"
    );
}

#[test]
fn a_seal_that_was_interrupted_is_done_again() {
    let (_folder, out) = place();
    drop(seal(work(&out, "plan-a"), "plan-a", 3));
    assert!(!out.exists());
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0, 1, 2]);
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn only_derived_files_can_be_added_to_a_sealed_dataset() {
    let (_folder, out) = place();
    let sealed = seal(work(&out, "plan-a"), "plan-a", 1);
    for name in [
        "manifest.json",
        "notes.txt",
        "../run.json",
        "messages/part-00000.parquet",
    ] {
        sealed.write_derived(name, b"x").unwrap_err();
    }
    for name in chatmill_dataset::DERIVED {
        sealed.write_derived(name, name.as_bytes()).unwrap();
    }
    sealed.publish().unwrap();
    assert_eq!(fs::read(out.join("report.html")).unwrap(), b"report.html");
    assert!(certify(&out).unwrap().holds());
}

#[test]
fn a_second_run_on_a_destination_is_locked_out_until_the_first_ends() {
    let (_folder, out) = place();
    let first = work(&out, "plan-a");
    for fingerprint in ["plan-a", "plan-b"] {
        assert!(matches!(
            open(&out, fingerprint, true),
            Err(DatasetError::Locked { .. })
        ));
    }
    let sealed = seal(first, "plan-a", 1);
    assert!(matches!(
        open(&out, "plan-a", false),
        Err(DatasetError::Locked { .. })
    ));
    sealed.publish().unwrap();
    assert!(matches!(open(&out, "plan-a", false), Ok(Opening::Finished(_))));
}

#[cfg(unix)]
#[test]
fn the_lock_is_one_for_all_spellings_of_a_destination() {
    let (folder, _) = place();
    fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
    let _first = work(&folder.path().join("real/out"), "plan-a");
    for spelling in ["link/out", "real/./out", "real/../link/out", "real/out/"] {
        let result = open(&folder.path().join(spelling), "plan-a", false);
        assert!(matches!(result, Err(DatasetError::Locked { .. })), "{spelling}");
    }
}

#[test]
fn a_finished_dataset_is_left_as_it_is() {
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
    assert_eq!(names(folder.path()), [".out.lock", "out"]);
}

#[test]
fn a_dataset_of_another_plan_is_kept_without_replace() {
    let (folder, out) = place();
    publish(&out, "plan-b", 2);
    let before = snapshot(&out);
    let error = refusal(&out, false);
    assert!(matches!(error, DatasetError::Occupied { .. }));
    assert!(error.to_string().contains("--replace"), "{error}");
    assert_eq!(snapshot(&out), before);
    assert_eq!(names(folder.path()), [".out.lock", "out"]);
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
    assert_eq!(names(folder.path()), [".out.lock", "out"]);
}

#[test]
fn replacing_goes_on_after_an_interruption() {
    let (_folder, out) = place();
    publish(&out, "plan-b", 2);
    let old = snapshot(&out);
    grind(&replacing_work(&out, "plan-a"), 1);
    assert_eq!(snapshot(&out), old);
    assert!(matches!(refusal(&out, false), DatasetError::Occupied { .. }));
    let staging = replacing_work(&out, "plan-a");
    assert_eq!(done(&staging), [1]);
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn replacing_where_nothing_lies_is_publishing() {
    let (_folder, out) = place();
    seal(replacing_work(&out, "plan-a"), "plan-a", 3)
        .publish()
        .unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn replacing_spares_files_that_somebody_put_into_a_dataset() {
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
        grind(&staging, slice);
    }
    let receipts = folder.path().join("receipts");
    copy(&staged(&folder, "receipts"), &receipts);
    seal(staging, "plan-a", 3).publish().unwrap();
    // What the kill would have left: the old dataset in the place of the new one, beside the receipts.
    fs::create_dir_all(staged(&folder, "temp")).unwrap();
    fs::rename(&old, staged(&folder, "data")).unwrap();
    fs::rename(&receipts, staged(&folder, "receipts")).unwrap();
    assert!(matches!(open(&out, "plan-a", true), Ok(Opening::Finished(_))));
    assert_eq!(names(folder.path()), [".out.lock", "out"]);
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn an_exchanged_old_dataset_never_passes_for_new_work() {
    let (folder, out) = place();
    publish(&out, "plan-b", 2);
    let old = folder.path().join("old");
    copy(&out, &old);
    interrupted_replacing(&out);
    fs::remove_dir_all(staged(&folder, "data")).unwrap();
    fs::rename(&old, staged(&folder, "data")).unwrap();
    fs::remove_dir_all(&out).unwrap();
    // Two of three slices have the same rows in both plans, so their receipts hold; what else lies there must go.
    let staging = work(&out, "plan-a");
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}

fn interrupted_replacing(out: &Path) {
    let staging = replacing_work(out, "plan-a");
    for slice in 0..3 {
        grind(&staging, slice);
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
    fs::write(staged(&folder, "receipts/00000.json"), "left").unwrap();
    assert!(matches!(open(&out, "plan-a", false), Ok(Opening::Finished(_))));
    assert_eq!(names(folder.path()), [".out.lock", "out"]);
}

#[test]
fn unfinished_work_of_another_plan_is_reported_and_removed() {
    let (folder, out) = place();
    grind(&work(&out, "plan-b"), 0);
    let staging = work(&out, "plan-a");
    assert_eq!(staging.notices().len(), 1);
    assert!(staging.notices()[0].contains("another plan"));
    assert!(staging.notices()[0].contains("plan-b"));
    assert_eq!(names(&folder.path().join(".out.staging")), ["plan-a"]);
    assert_eq!(done(&staging), Vec::<u32>::new());
}

#[test]
fn a_finished_dataset_does_not_cost_another_plan_its_unfinished_work() {
    let (folder, out) = place();
    publish(&out, "plan-a", 1);
    match open(&out, "plan-b", true).unwrap() {
        Opening::Work(staging) => grind(&staging, 0),
        Opening::Finished(_) => panic!("plan-b is not finished"),
    };
    assert!(matches!(open(&out, "plan-a", false), Ok(Opening::Finished(_))));
    assert_eq!(
        names(&folder.path().join(".out.staging/plan-b/receipts")),
        ["00000.json"]
    );
}

#[test]
fn a_damaged_dataset_is_not_taken_for_finished() {
    for damage in ["messages/part-00000.parquet", "_SUCCESS"] {
        let (_folder, out) = place();
        publish(&out, "plan-a", 3);
        fs::remove_file(out.join(damage)).unwrap();
        let error = refusal(&out, false);
        assert!(matches!(error, DatasetError::Occupied { .. }));
        assert!(error.to_string().contains("damaged"), "{error}");
        assert!(error.to_string().contains(damage), "{error}");
        seal(replacing_work(&out, "plan-a"), "plan-a", 3)
            .publish()
            .unwrap();
        assert_eq!(snapshot(&out), undisturbed());
    }
}

#[test]
fn a_strangers_folder_is_refused_and_listed() {
    let (folder, out) = place();
    for stranger in [
        "thesis.txt",
        ".hidden",
        "manifest.json",
        "manifest.json/file",
        "sub/file",
    ] {
        let path = out.join(stranger);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let before = snapshot(&out);
        for replace in [false, true] {
            let error = refusal(&out, replace);
            assert!(matches!(error, DatasetError::WrongPath { .. }));
            assert!(
                error.to_string().contains(stranger.split('/').next().unwrap()),
                "{error}"
            );
        }
        assert_eq!(snapshot(&out), before);
        fs::remove_dir_all(&out).unwrap();
    }
    assert_eq!(names(folder.path()), [".out.lock"]);
}

#[test]
fn a_long_list_of_strangers_is_cut() {
    let (_folder, out) = place();
    fs::create_dir(&out).unwrap();
    for number in 0..20 {
        fs::write(out.join(format!("file-{number:02}")), "mine").unwrap();
    }
    let message = refusal(&out, false).to_string();
    assert!(message.contains("file-07 and 12 more"), "{message}");
    assert!(!message.contains("file-08"), "{message}");
}

#[test]
fn an_empty_folder_may_be_the_destination() {
    let (_folder, out) = place();
    fs::create_dir(&out).unwrap();
    publish(&out, "plan-a", 3);
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn a_folder_that_fills_while_the_run_works_is_not_overwritten() {
    let (_folder, out) = place();
    let sealed = seal(work(&out, "plan-a"), "plan-a", 1);
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.txt"), "mine").unwrap();
    assert!(matches!(sealed.publish(), Err(DatasetError::WrongPath { .. })));
    assert_eq!(fs::read(out.join("thesis.txt")).unwrap(), b"mine");
}

#[test]
fn a_file_a_dangling_link_and_a_path_below_a_file_are_wrong_paths() {
    let (folder, out) = place();
    fs::write(&out, "mine").unwrap();
    assert!(matches!(refusal(&out, true), DatasetError::WrongPath { .. }));
    assert!(matches!(
        refusal(&out.join("below"), true),
        DatasetError::WrongPath { .. }
    ));
    assert!(matches!(
        refusal(&out.join("far/below"), true),
        DatasetError::WrongPath { .. }
    ));
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(matches!(refusal(&link, true), DatasetError::WrongPath { .. }));
        std::os::unix::fs::symlink(&out, folder.path().join("to-file")).unwrap();
        assert!(matches!(
            refusal(&folder.path().join("to-file"), true),
            DatasetError::WrongPath { .. }
        ));
    }
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    for hopeless in ["/", "/.."] {
        assert!(
            matches!(refusal(Path::new(hopeless), true), DatasetError::WrongPath { .. }),
            "{hopeless}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_allows_no_folder_and_a_mount_point_are_wrong_paths() {
    assert!(matches!(
        refusal(Path::new("/proc/out"), false),
        DatasetError::WrongPath { .. }
    ));
    assert!(matches!(
        refusal(Path::new("/proc"), false),
        DatasetError::WrongPath { .. }
    ));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_dataset_is_followed_and_kept() {
    let (folder, out) = place();
    publish(&folder.path().join("real"), "plan-b", 1);
    std::os::unix::fs::symlink(folder.path().join("real"), &out).unwrap();
    seal(replacing_work(&out, "plan-a"), "plan-a", 3)
        .publish()
        .unwrap();
    assert!(out.is_symlink());
    assert_eq!(snapshot(&folder.path().join("real")), undisturbed());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_part() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let mut parts = staging.parts(0, &options()).unwrap();
    let temp = staged(&folder, "temp/messages.00000.parquet");
    std::os::unix::fs::symlink("/dev/full", &temp).unwrap();
    parts.push_message(support::message()).unwrap();
    let error = parts.close().unwrap_err();
    assert!(matches!(error, DatasetError::NoSpace { .. }), "{error:?}");
    assert!(error.to_string().contains("messages.00000.parquet"), "{error}");
    assert!(error.source().is_some());
    assert_eq!(names(&staged(&folder, "data/messages")), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_at_the_receipt_leaves_the_slice_undone() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    std::os::unix::fs::symlink("/dev/full", staged(&folder, "temp/00000.json")).unwrap();
    let mut parts = staging.parts(0, &options()).unwrap();
    parts.push_message(support::message()).unwrap();
    let files = parts.close().unwrap();
    assert!(matches!(
        staging.commit(0, &files, &"body"),
        Err(DatasetError::NoSpace { .. })
    ));
    assert_eq!(done(&staging), Vec::<u32>::new());
}

#[test]
fn a_fingerprint_that_cannot_name_a_folder_is_refused() {
    let (folder, out) = place();
    for fingerprint in ["", "..", "a/b", "a b", &"x".repeat(129)] {
        assert!(open(&out, fingerprint, false).is_err(), "{fingerprint}");
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_folder_without_manifest_is_no_dataset() {
    let (folder, out) = place();
    assert!(matches!(read_manifest(&out), Err(DatasetError::WrongPath { .. })));
    publish(&out, "plan-a", 1);
    fs::write(out.join("_SUCCESS"), "another hash\n").unwrap();
    assert!(matches!(read_manifest(&out), Err(DatasetError::Corrupt { .. })));
    drop(folder);
}

#[test]
fn slices_are_written_by_many_threads_at_once() {
    let (_folder, out) = place();
    let staging = work(&out, "plan-a");
    std::thread::scope(|scope| {
        for slice in 0..3 {
            let staging = &staging;
            scope.spawn(move || grind(staging, slice));
        }
    });
    seal(staging, "plan-a", 3).publish().unwrap();
    assert_eq!(snapshot(&out), undisturbed());
}
