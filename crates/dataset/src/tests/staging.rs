//! Slices, their parts and receipts: finished slices, repeated slices, and the conditions of a seal.

use std::fs;

use crate::tests::support::{
    done, interrupted, is_finished, names, options, place, publish, receipts, refusal, seal, seal_files,
    snapshot, staged, work, write_slice,
};
use crate::{DatasetError, certify, read_manifest};
use tempfile::TempDir;

#[test]
fn a_dataset_appears_whole_and_leaves_nothing_else() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    write_slice(&staging, 0);
    assert!(!out.exists());
    let sealed = seal(staging, "plan-a", 2);
    sealed.write_derived("run.json", b"{}\n").unwrap();
    assert!(!out.exists(), "nothing may be seen before the rename");
    assert!(sealed.folder().join("_SUCCESS").is_file());
    assert_eq!(sealed.publish().unwrap(), Vec::<String>::new());
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(
        names(&out),
        [
            ".derived.json",
            "_SUCCESS",
            "alternatives",
            "conversations",
            "findings",
            "losses",
            "lots",
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
        ["part-00000-00000.parquet", "part-00000-00001.parquet"]
    );
    let certificate = certify(&out).unwrap();
    assert_eq!(certificate.problems, Vec::<String>::new());
    assert_eq!((certificate.files, certificate.rows), (14, 6));
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
        ("losses/part-00000-00000.parquet", 0)
    );
    let footer = parquet::file::metadata::ParquetMetaDataReader::new()
        .parse_and_finish(&fs::File::open(out.join(&losses.files[0].path)).unwrap())
        .unwrap();
    assert_eq!(footer.num_row_groups(), 0);
    assert_eq!(footer.file_metadata().schema_descr().num_columns(), 9);
}

#[test]
fn a_run_without_any_row_is_a_valid_dataset() {
    let (_folder, out) = place();
    publish(&out, "plan-a", 0);
    let certificate = certify(&out).unwrap();
    assert_eq!(certificate.problems, Vec::<String>::new());
    assert_eq!((certificate.files, certificate.rows), (11, 0));
}

#[test]
fn receipts_come_back_in_order_with_their_bodies() {
    let (_folder, out) = place();
    let staging = work(&out, "plan-a");
    let mut files = Vec::new();
    for slice in [2, 0, 1] {
        files.push(write_slice(&staging, slice));
    }
    let receipts = receipts(&staging);
    assert_eq!(receipts.len(), 3);
    for (slice, receipt) in (0..).zip(&receipts) {
        assert_eq!(receipt.slice, slice.into());
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
    is_finished(staging, &out);
}

/// Damages one file of interrupted work; the slice must be processed again, with the same result.
fn is_redone_after(corruption: impl Fn(&TempDir), slice: u32) {
    let (folder, out) = place();
    interrupted(&out);
    corruption(&folder);
    let staging = work(&out, "plan-a");
    let expected: Vec<u32> = (0..3).filter(|&other| other != slice).collect();
    assert_eq!(done(&staging), expected);
    assert!(!staged(&folder, &format!("data/messages/part-{slice:05}.parquet")).exists());
    assert!(!staged(&folder, &format!("receipts/{slice:05}.json")).exists());
    is_finished(staging, &out);
}

#[test]
fn a_truncated_part_is_redone() {
    is_redone_after(
        |folder| {
            let path = staged(folder, "data/messages/part-00000-00001.parquet");
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
            let path = staged(folder, "data/rejects/part-00000-00002.parquet");
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
        |folder| fs::write(staged(folder, "data/conversations/part-00000-00000.parquet"), "").unwrap(),
        0,
    );
}

#[test]
fn a_missing_part_is_redone() {
    is_redone_after(
        |folder| fs::remove_file(staged(folder, "data/messages/part-00000-00001.parquet")).unwrap(),
        1,
    );
}

#[test]
fn a_slice_without_receipt_is_redone() {
    is_redone_after(
        |folder| fs::remove_file(staged(folder, "receipts/00000-00001.json")).unwrap(),
        1,
    );
}

#[test]
fn a_receipt_is_redone_whichever_byte_is_flipped() {
    let (folder, out) = place();
    interrupted(&out);
    let path = staged(&folder, "receipts/00000-00000.json");
    let parts: Vec<_> = ["conversations", "messages", "rejects"]
        .map(|table| staged(&folder, &format!("data/{table}/part-00000-00000.parquet")))
        .into_iter()
        .map(|path| (fs::read(&path).unwrap(), path))
        .collect();
    let receipt = fs::read(&path).unwrap();
    for place in 0..receipt.len() {
        let mut corrupted = receipt.clone();
        corrupted[place] ^= 1;
        fs::write(&path, &corrupted).unwrap();
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
                let path = staged(folder, "receipts/00000-00002.json");
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
        staged(&folder, "receipts/00000-00001.json"),
        staged(&folder, "receipts/00000-00007.json"),
    )
    .unwrap();
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0, 2]);
    assert!(!staged(&folder, "data/messages/part-00000-00001.parquet").exists());
}

#[test]
fn a_slice_corrupted_during_the_run_stops_it_and_is_rewritten_by_the_next() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    write_slice(&staging, 0);
    write_slice(&staging, 1);
    fs::write(staged(&folder, "data/messages/part-00000-00001.parquet"), "short").unwrap();
    let found: Vec<_> = staging.receipts::<String>().unwrap().collect();
    assert!(matches!(found[..], [Ok(_), Err(DatasetError::Corrupt { .. })]));
    drop(staging);
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0]);
    is_finished(staging, &out);
}

#[test]
fn a_receipt_with_a_body_of_another_kind_counts_as_not_done() {
    let (folder, out) = place();
    interrupted(&out);
    let staging = work(&out, "plan-a");
    assert_eq!(staging.receipts::<u32>().unwrap().count(), 0);
    assert_eq!(names(&staged(&folder, "data/messages")), Vec::<String>::new());
    is_finished(staging, &out);
}

#[test]
fn a_set_that_was_dropped_leaves_nothing_in_the_dataset() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let mut parts = staging.parts(0, &options()).unwrap();
    let row = crate::tests::support::message(&mut parts);
    parts.push_message(row).unwrap();
    drop(parts);
    assert_eq!(names(&staged(&folder, "temp")), ["messages.00000-00000.parquet"]);
    let mut parts = staging.parts(0, &options()).unwrap();
    assert_eq!(
        names(&staged(&folder, "temp")),
        Vec::<String>::new(),
        "a new attempt removes the old one"
    );
    let row = crate::tests::support::loss(&mut parts);
    parts.push_loss(row).unwrap();
    let files = parts.close().unwrap();
    assert_eq!(files.len(), 1);
    staging.commit(0, &files, &"body").unwrap();
    assert_eq!(names(&staged(&folder, "data")), ["losses"]);
}

#[test]
fn a_discarded_slice_is_gone() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    write_slice(&staging, 0);
    write_slice(&staging, 1);
    staging.discard(0).unwrap();
    assert_eq!(done(&staging), [1]);
    assert_eq!(
        names(&staged(&folder, "data/messages")),
        ["part-00000-00001.parquet"]
    );
    staging.discard(0).unwrap();
}

#[test]
fn a_seal_refuses_a_folder_that_is_not_the_manifests() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let files = write_slice(&staging, 0);
    fs::write(staged(&folder, "data/messages/part-00000-00005.parquet"), "stray").unwrap();
    let manifest = crate::tests::support::manifest("plan-a", 1);
    let error = seal_files(staging, manifest, &files, &options()).unwrap_err();
    assert!(matches!(error, DatasetError::Corrupt { .. }));
    assert!(
        error.to_string().contains("messages/part-00000-00005.parquet"),
        "{error}"
    );
    assert!(!out.exists());
}

#[test]
fn a_seal_refuses_a_part_that_changed_after_its_receipt() {
    let (folder, out) = place();
    let staging = work(&out, "plan-a");
    let files = write_slice(&staging, 0);
    let path = staged(&folder, "data/messages/part-00000-00000.parquet");
    let mut bytes = fs::read(&path).unwrap();
    bytes[10] ^= 1;
    fs::write(&path, bytes).unwrap();
    let manifest = crate::tests::support::manifest("plan-a", 1);
    let error = seal_files(staging, manifest, &files, &options()).unwrap_err();
    assert!(error.to_string().contains("the hash of"), "{error}");
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
    is_finished(staging, &out);
}

#[test]
fn only_derived_files_can_be_added_to_a_sealed_dataset() {
    let (_folder, out) = place();
    let sealed = seal(work(&out, "plan-a"), "plan-a", 1);
    for name in [
        "manifest.json",
        "notes.txt",
        "../run.json",
        "messages/part-00000-00000.parquet",
    ] {
        sealed.write_derived(name, b"x").unwrap_err();
    }
    for name in crate::DERIVED {
        sealed.write_derived(name, name.as_bytes()).unwrap();
    }
    sealed.publish().unwrap();
    assert_eq!(fs::read(out.join("report.html")).unwrap(), b"report.html");
    assert!(certify(&out).unwrap().holds());
}

#[test]
fn slices_are_written_by_many_threads_at_once() {
    let (_folder, out) = place();
    let staging = work(&out, "plan-a");
    std::thread::scope(|scope| {
        for slice in 0..3 {
            let staging = &staging;
            scope.spawn(move || write_slice(staging, slice));
        }
    });
    is_finished(staging, &out);
}

#[test]
fn files_without_a_receipt_are_removed_from_staging() {
    let (folder, out) = place();
    interrupted(&out);
    fs::create_dir_all(staged(&folder, "data/of_old/dialect=chatml")).unwrap();
    for stray in [
        "data/messages/part-00000-00009.parquet",
        "data/of_old/part-00000-00000.parquet",
        "data/of_old/dialect=chatml/part-00000-00000.parquet",
        "data/manifest.json",
        "data/_SUCCESS",
        "data/report.html",
        "data/.derived.json",
        "temp/messages.00000-00004.parquet",
        "temp/.00000-00001.json.0123456789abcdef.new",
        ".data.report.json.0123456789abcdef.new",
    ] {
        fs::write(staged(&folder, stray), "stray").unwrap();
    }
    let staging = work(&out, "plan-a");
    assert_eq!(done(&staging), [0, 1, 2]);
    assert_eq!(names(&staged(&folder, "")), ["data", "receipts", "temp"]);
    assert_eq!(names(&staged(&folder, "temp")), Vec::<String>::new());
    is_finished(staging, &out);
}

#[test]
fn a_foreign_file_stays_and_is_named() {
    let (folder, out) = place();
    interrupted(&out);
    for stranger in [
        "receipts/notes.txt",
        "receipts/0.json",
        "data/thesis.txt",
        "data/messages/thesis.parquet",
        "data/unknown/deep/file",
        "data/Photos/part-00000-00000.parquet",
        "temp/messages.parquet",
        "temp/deep/file",
        "notes.txt",
        "../notes.txt",
        "../my notes/part-00000-00000.parquet",
    ] {
        let path = staged(&folder, stranger);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let before = snapshot(folder.path());
        for replace in [false, true] {
            let error = refusal(&out, replace);
            assert!(
                matches!(error, DatasetError::WrongPath { .. }),
                "{stranger}: {error}"
            );
            assert!(
                error.to_string().contains("was not made by chatmill"),
                "{stranger}: {error}"
            );
        }
        assert!(snapshot(folder.path()) == before, "{stranger}");
        fs::remove_file(&path).unwrap();
        // The folders that were created for the file are removed as well; those of the run are not empty, or are created again.
        for above in path.ancestors().skip(1).take(2) {
            let _ = fs::remove_dir(above);
        }
    }
    assert_eq!(done(&work(&out, "plan-a")), [0, 1, 2]);
}
