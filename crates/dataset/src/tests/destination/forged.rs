//! Datasets that were forged to lead readers elsewhere, to keep them waiting or to fill their memory.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tests::support::open;
use crate::{Dataset, DatasetError, MANIFEST, Manifest, Opening, PartFile, certify, read_manifest};
use tempfile::TempDir;

use crate::manifest::SUCCESS;
use crate::tests::support::{forge_manifest, place, publish, relist, snapshot};

const PART: &str = "messages/part-00000-00000.parquet";
const SHARD_MANIFEST: &str = "lots/00000.jsonl";

/// A dataset that will be forged, and next to it one with the private chats of another person.
fn two() -> (TempDir, PathBuf) {
    let (folder, out) = place();
    publish(&out, "plan-a", 1);
    publish(&folder.path().join("private"), "plan-a", 1);
    (folder, out)
}

fn forge(out: &Path, change: impl FnOnce(&mut Manifest)) {
    let mut manifest = read_manifest(out).unwrap();
    change(&mut manifest);
    crate::tests::support::forge(out, manifest);
}

/// Changes the list of the first shard, but not what the manifest states about its tables.
fn forge_shard(out: &Path, change: impl FnOnce(&mut Vec<PartFile>)) {
    let mut manifest = read_manifest(out).unwrap();
    let lines = fs::read_to_string(out.join(SHARD_MANIFEST)).unwrap();
    let mut files = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    change(&mut files);
    relist(out, &mut manifest.shards[0], &files);
    forge_manifest(out, &manifest);
}

fn messages(manifest: &mut Manifest) -> &mut Vec<crate::PartEntry> {
    let table = manifest.tables.iter_mut().find(|table| table.name == "messages");
    &mut table.unwrap().files
}

/// Checks that no reader returns rows of the messages, that nothing is written, and that the folder does not count as a
/// finished dataset.
fn reads_nothing(out: &Path, what: &str) {
    let certificate = certify(out);
    assert!(
        !certificate.is_ok_and(|found| found.holds()),
        "{what} was certified"
    );
    let read = Dataset::open(out).and_then(|dataset| {
        let mut rows = 0;
        dataset.scan("messages", &["text"], &mut |batch| {
            rows += batch.rows();
            Ok(())
        })?;
        Ok(rows)
    });
    assert!(read.is_err(), "{what} was read: {read:?}");
    for replace in [false, true] {
        match open(out, "plan-a", replace) {
            Ok(Opening::Finished(_)) => panic!("{what} passes for finished"),
            Ok(Opening::Work(_)) => assert!(replace, "{what} is overwritten"),
            Err(error) => assert!(
                matches!(
                    error,
                    DatasetError::WrongPath { .. } | DatasetError::Occupied { .. }
                ),
                "{what}: {error}"
            ),
        }
    }
}

#[test]
fn a_path_that_leads_out_of_the_dataset_is_not_read() {
    for path in [
        "../private/messages/part-00000-00000.parquet",
        "messages/../../private/messages/part-00000-00000.parquet",
        "/etc/passwd",
        "messages//part-00000-00000.parquet",
        "./messages/part-00000-00000.parquet",
        "messages/thesis.txt",
        "renderings/part-00000-00000.parquet",
        "messages/part-00000.parquet",
        "messages/part-00001-00000.parquet",
        "messages/part-00000-00001.parquet",
    ] {
        let (_folder, out) = two();
        forge(&out, |manifest| path.clone_into(&mut messages(manifest)[0].path));
        reads_nothing(&out, path);
        let (_folder, out) = two();
        forge_shard(&out, |files| {
            let file = files.iter_mut().find(|file| file.table == "messages");
            path.clone_into(&mut file.unwrap().path);
        });
        reads_nothing(&out, path);
    }
    let (folder, out) = two();
    let absolute = folder.path().join("private").join(PART);
    forge(&out, |manifest| {
        messages(manifest)[0].path = absolute.to_str().unwrap().to_owned();
    });
    reads_nothing(&out, "an absolute path");
}

#[test]
fn a_link_in_the_place_of_a_part_or_of_a_tables_folder_is_not_followed() {
    for target in ["../../private/messages/part-00000-00000.parquet", "/etc/passwd"] {
        let (_folder, out) = two();
        fs::remove_file(out.join(PART)).unwrap();
        symlink(target, out.join(PART)).unwrap();
        reads_nothing(&out, target);
    }
    let (_folder, out) = two();
    fs::remove_dir_all(out.join("messages")).unwrap();
    symlink("../private/messages", out.join("messages")).unwrap();
    reads_nothing(&out, "a folder");
}

#[test]
fn a_pipe_or_a_folder_does_not_block() {
    for name in [SUCCESS, MANIFEST, SHARD_MANIFEST, PART] {
        let (_folder, out) = two();
        fs::remove_file(out.join(name)).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(out.join(name))
                .status()
                .unwrap()
                .success()
        );
        reads_nothing(&out, name);
        fs::remove_file(out.join(name)).unwrap();
        fs::create_dir(out.join(name)).unwrap();
        reads_nothing(&out, name);
        fs::remove_dir(out.join(name)).unwrap();
        symlink("/dev/zero", out.join(name)).unwrap();
        reads_nothing(&out, name);
    }
}

#[test]
fn a_file_of_many_gigabytes_is_not_read_into_memory() {
    for name in [SUCCESS, MANIFEST, SHARD_MANIFEST, PART] {
        let (_folder, out) = two();
        let file = File::options().write(true).open(out.join(name)).unwrap();
        file.set_len(20 << 30).unwrap();
        reads_nothing(&out, name);
    }
}

#[test]
fn a_marker_one_byte_too_long_or_too_short_is_none() {
    let (_folder, out) = two();
    let marker = fs::read(out.join(SUCCESS)).unwrap();
    assert_eq!(marker.len(), 65);
    fs::write(out.join(SUCCESS), &marker[..64]).unwrap();
    reads_nothing(&out, "64 bytes");
    fs::write(out.join(SUCCESS), [&marker[..], b"\n"].concat()).unwrap();
    reads_nothing(&out, "66 bytes");
    fs::write(out.join(SUCCESS), &marker).unwrap();
    assert!(certify(&out).unwrap().holds());
}

#[test]
fn a_file_or_table_that_is_listed_again_and_an_unknown_table_are_refused() {
    let (_folder, out) = two();
    forge(&out, |manifest| {
        let files = messages(manifest);
        let again = vec![files[0].clone(); 20_000];
        files.extend(again);
    });
    reads_nothing(&out, "one file many times");
    for again in [0, 1] {
        let (_folder, out) = two();
        forge_shard(&out, |files| files.insert(again, files[0].clone()));
        reads_nothing(&out, "one file twice in a lot");
    }
    let (_folder, out) = two();
    forge_shard(&out, |files| files.reverse());
    reads_nothing(&out, "the files of a lot backwards");
    let (_folder, out) = two();
    forge(&out, |manifest| {
        let again = manifest.tables[1].clone();
        manifest.tables.push(again);
    });
    reads_nothing(&out, "one table twice");
    let (_folder, out) = two();
    forge(&out, |manifest| "thesis".clone_into(&mut manifest.tables[1].name));
    reads_nothing(&out, "an unknown table");
}

#[test]
fn a_part_of_another_length_is_not_read() {
    let (_folder, out) = two();
    let mut bytes = fs::read(out.join(PART)).unwrap();
    bytes.push(0);
    fs::write(out.join(PART), bytes).unwrap();
    reads_nothing(&out, "a longer part");
}

#[test]
fn files_of_a_forged_manifest_are_not_replaced() {
    let (_folder, out) = two();
    fs::write(out.join("messages/thesis.txt"), "mine").unwrap();
    forge(&out, |manifest| {
        let mut file = messages(manifest)[0].clone();
        "messages/thesis.txt".clone_into(&mut file.path);
        messages(manifest).push(file);
    });
    let before = snapshot(&out);
    assert!(matches!(
        open(&out, "plan-b", true),
        Err(DatasetError::WrongPath { .. })
    ));
    assert_eq!(snapshot(&out), before);
}

#[test]
fn a_line_without_an_end_is_not_read_into_memory() {
    let (_folder, out) = two();
    let mut manifest = read_manifest(&out).unwrap();
    let line = " ".repeat(70_000);
    manifest.shards[0].bytes = line.len() as u64;
    manifest.shards[0].hash = blake3::hash(line.as_bytes()).to_hex().to_string();
    fs::write(out.join(SHARD_MANIFEST), line).unwrap();
    forge_manifest(&out, &manifest);
    reads_nothing(&out, "a long line");
    let error = certify(&out).unwrap().problems.join("; ");
    assert!(error.contains("a line does not describe a file"), "{error}");
}

#[test]
fn the_manifest_of_a_shard_has_a_fixed_path() {
    for path in [
        "../private/lots/00000.jsonl",
        "lots/00001.jsonl",
        "lots/0.jsonl",
        "",
    ] {
        let (_folder, out) = two();
        let mut manifest = read_manifest(&out).unwrap();
        path.clone_into(&mut manifest.shards[0].path);
        forge_manifest(&out, &manifest);
        reads_nothing(&out, path);
    }
}
