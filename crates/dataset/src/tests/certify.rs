//! Certification must detect every change of a certified file, and every additional or missing file.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::tests::support::{
    forge, forge_manifest, manifest, options, publish, relist, seal_files, snapshot, text, work, write_slice,
    write_slice_with_id,
};
use crate::{
    Certificate, Compression, Dataset, DatasetError, FORMAT, Manifest, Partition, TableOptions, certify,
    read_manifest,
};
use tempfile::TempDir;

fn dataset() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    publish(&out, "plan-a", 1);
    (folder, out)
}

fn problems(out: &Path) -> Vec<String> {
    certify(out).unwrap().problems
}

#[test]
fn a_dataset_is_certified_with_its_sums() {
    let (_folder, out) = dataset();
    let listed = read_manifest(&out).unwrap();
    let bytes = listed.tables.iter().map(|table| table.bytes).sum();
    assert_eq!(
        certify(&out).unwrap(),
        Certificate {
            files: 11,
            rows: 3,
            bytes,
            problems: Vec::new()
        }
    );
}

#[test]
fn a_flipped_byte_is_a_problem() {
    // A prime number, so that the flipped bytes are at all kinds of places in pages, footers and lists.
    assert!(flip_every(499, 0) > 50);
}

#[test]
#[ignore = "some ten thousand certifications: `just every-byte`"]
fn every_byte_that_is_flipped_is_a_problem() {
    // Each thread has a separate dataset, in which it flips its share of the bytes.
    let threads = std::thread::available_parallelism().unwrap().get();
    let flipped: usize = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| scope.spawn(move || flip_every(threads, part)))
            .collect();
        parts.into_iter().map(|part| part.join().unwrap()).sum()
    });
    let (_folder, out) = dataset();
    assert_eq!(
        flipped,
        snapshot(&out).iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    );
}

/// Flips one bit of every `step`-th byte of every file, one at a time, and returns the number of flips.
fn flip_every(step: usize, first: usize) -> usize {
    let (_folder, out) = dataset();
    let files = snapshot(&out);
    assert_eq!(files.len(), 15);
    let mut flipped = 0;
    for (name, bytes) in &files {
        // The byte is written in place: truncating the file first would make the file system flush it every time.
        let mut file = fs::OpenOptions::new().write(true).open(out.join(name)).unwrap();
        let mut put = |place: usize, byte: u8| {
            file.seek(SeekFrom::Start(place as u64)).unwrap();
            file.write_all(&[byte]).unwrap();
        };
        for (place, byte) in bytes.iter().enumerate().skip(first).step_by(step) {
            put(place, byte ^ (1 << (place % 8)));
            let problems = problems(&out);
            let named = if name == "manifest.json" { "_SUCCESS" } else { name };
            assert!(
                problems.iter().any(|problem| problem.contains(named)),
                "byte {place} of {name}: {problems:?}"
            );
            put(place, *byte);
            flipped += 1;
        }
    }
    assert_eq!(problems(&out), Vec::<String>::new());
    flipped
}

#[test]
fn every_missing_file_is_named() {
    let (_folder, out) = dataset();
    for (name, bytes) in snapshot(&out) {
        fs::remove_file(out.join(&name)).unwrap();
        assert!(
            problems(&out)
                .iter()
                .any(|problem| problem.contains(&name) && problem.contains("missing")),
            "{name}"
        );
        fs::write(out.join(&name), bytes).unwrap();
    }
    assert_eq!(problems(&out), Vec::<String>::new());
}

#[test]
fn every_truncated_or_longer_file_is_named() {
    let (_folder, out) = dataset();
    for (name, bytes) in snapshot(&out) {
        let longer = [bytes.as_slice(), b"\n"].concat();
        for corrupted in [&bytes[..bytes.len() - 1], &[], longer.as_slice()] {
            fs::write(out.join(&name), corrupted).unwrap();
            assert_ne!(problems(&out), Vec::<String>::new(), "{name}");
        }
        fs::write(out.join(&name), bytes).unwrap();
    }
}

#[test]
fn every_extra_file_is_named() {
    let (_folder, out) = dataset();
    for extra in [
        "notes.txt",
        ".hidden",
        "messages/part-00000-00001.parquet",
        "run.json.bak",
        "messages/run.json",
    ] {
        fs::write(out.join(extra), "x").unwrap();
        assert_eq!(
            problems(&out),
            [format!("{extra} is not listed in manifest.json")]
        );
        fs::remove_file(out.join(extra)).unwrap();
    }
    fs::create_dir(out.join("folder")).unwrap();
    assert_eq!(problems(&out), ["folder is not listed in manifest.json"]);
}

#[test]
fn derived_files_may_change_and_be_absent() {
    let (_folder, out) = dataset();
    for derived in ["README.md", "report.html", "report.json", "run.json"] {
        fs::write(out.join(derived), "anything").unwrap();
        assert_eq!(problems(&out), Vec::<String>::new());
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_not_a_file_of_the_dataset() {
    let (folder, out) = dataset();
    let part = out.join("messages/part-00000-00000.parquet");
    let elsewhere = folder.path().join("elsewhere.parquet");
    fs::rename(&part, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &part).unwrap();
    assert_eq!(
        problems(&out),
        ["messages/part-00000-00000.parquet is not a regular file"]
    );
}

#[test]
fn a_folder_without_manifest_and_a_missing_folder_are_distinguished() {
    let (folder, out) = dataset();
    fs::remove_file(out.join("manifest.json")).unwrap();
    assert_eq!(problems(&out), ["manifest.json is missing"]);
    let nowhere = certify(&folder.path().join("nowhere")).unwrap_err();
    assert!(matches!(nowhere, DatasetError::WrongPath { .. }));
    assert!(
        nowhere
            .to_string()
            .ends_with("nowhere cannot be used: there is no such folder"),
        "{nowhere}"
    );
}

#[test]
fn a_forged_count_of_rows_is_seen_in_the_footer() {
    let (_folder, out) = dataset();
    let mut manifest = read_manifest(&out).unwrap();
    manifest.tables[1].files[0].rows = 2;
    forge(&out, manifest.clone());
    assert_eq!(
        problems(&out),
        ["messages/part-00000-00000.parquet has 1 rows instead of 2"]
    );
}

#[test]
fn a_dataset_of_another_format_is_refused_with_advice_and_not_corrupt() {
    let (_folder, out) = dataset();
    let mut manifest = read_manifest(&out).unwrap();
    assert_eq!(manifest.format, FORMAT);
    for format in [1, FORMAT + 1] {
        manifest.format = format;
        forge(&out, manifest.clone());
        let expected = format!(
            "{} is a dataset of format {format}, written by chatmill 0.0.0, and this program reads format {FORMAT}; run its \
             pipeline again with --replace",
            out.display()
        );
        assert_eq!(certify(&out).unwrap_err().to_string(), expected);
        assert_eq!(Dataset::open(&out).unwrap_err().to_string(), expected);
        assert_eq!(read_manifest(&out).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_manifest_without_a_number_is_of_the_first_format() {
    let (_folder, out) = dataset();
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
    manifest.as_object_mut().unwrap().remove("format");
    let bytes = manifest.to_string();
    fs::write(out.join("manifest.json"), &bytes).unwrap();
    fs::write(
        out.join("_SUCCESS"),
        format!("{}\n", blake3::hash(bytes.as_bytes()).to_hex()),
    )
    .unwrap();
    assert!(matches!(
        certify(&out),
        Err(DatasetError::Format { format: 1, .. })
    ));
}

#[test]
fn a_forged_path_is_never_followed() {
    let (folder, out) = dataset();
    fs::write(folder.path().join("secret"), "x").unwrap();
    let honest = read_manifest(&out).unwrap();
    for path in [
        "../secret",
        "messages/../../secret",
        "/etc/hostname",
        "messages//part",
        "rejects/part-00000-00000.parquet",
    ] {
        let mut manifest = honest.clone();
        manifest.tables[1].files[0].path = text(path);
        forge(&out, manifest.clone());
        let problems = problems(&out);
        assert!(problems[0].contains("as a file of messages"), "{problems:?}");
    }
}

#[test]
fn a_file_listed_twice_is_a_problem() {
    let (_folder, out) = dataset();
    let mut manifest = read_manifest(&out).unwrap();
    let file = manifest.tables[1].files[0].clone();
    manifest.tables[1].files.push(file);
    forge(&out, manifest.clone());
    let problems = problems(&out);
    assert!(
        problems[0].ends_with("it lists messages/part-00000-00000.parquet twice"),
        "{problems:?}"
    );
}

#[test]
fn files_in_the_manifest_must_equal_those_of_its_shard_manifests() {
    let (_folder, out) = dataset();
    let honest = read_manifest(&out).unwrap();
    let changes: [fn(&mut crate::TableEntry); 6] = [
        |table| table.parts += 1,
        |table| table.rows += 1,
        |table| table.bytes -= 1,
        |table| table.folders.push(text("messages/dialect=a")),
        |table| table.files[0].hash = text("another"),
        |table| table.files.clear(),
    ];
    for change in changes {
        let mut manifest = honest.clone();
        change(&mut manifest.tables[1]);
        forge_manifest(&out, &manifest);
        assert_eq!(
            problems(&out),
            ["manifest.json and the manifests of the shards list different files of messages"]
        );
    }
}

#[test]
fn a_file_that_no_shard_lists_is_a_problem() {
    let (_folder, out) = dataset();
    let mut manifest = read_manifest(&out).unwrap();
    let lines = fs::read_to_string(out.join(&manifest.shards[0].path)).unwrap();
    let files: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    relist(&out, &mut manifest.shards[0], &files[1..]);
    forge_manifest(&out, &manifest);
    let problems = problems(&out);
    let expected = "conversations/part-00000-00000.parquet is not listed in manifest.json";
    assert!(problems.iter().any(|problem| problem == expected), "{problems:?}");
}

#[test]
fn an_unlisted_table_is_a_problem() {
    let (_folder, out) = dataset();
    let mut manifest = read_manifest(&out).unwrap();
    let losses = manifest
        .tables
        .iter()
        .position(|table| table.name == "losses")
        .unwrap();
    manifest.tables.remove(losses);
    fs::remove_dir_all(out.join("losses")).unwrap();
    forge(&out, manifest.clone());
    assert!(problems(&out)[0].contains("lists the tables"));
}

#[test]
fn an_unbalanced_ledger_is_a_problem() {
    let (_folder, out) = dataset();
    let honest = read_manifest(&out).unwrap();
    let forgeries: [fn(&mut Manifest); 4] = [
        |manifest| manifest.inputs.change(0, |input| input.framed += 1),
        |manifest| manifest.inputs.change(0, |input| input.filtered += 1),
        |manifest| manifest.inputs.change(0, |input| input.decoded_bytes += 1),
        |manifest| manifest.inputs.change(0, |input| input.separator_bytes -= 1),
    ];
    for forgery in forgeries {
        let mut manifest = honest.clone();
        forgery(&mut manifest);
        forge(&out, manifest.clone());
        assert_eq!(
            problems(&out),
            [
                "the records of input do not add up: framed is not accepted + rejected + filtered",
                "manifest.json has ledger_balanced = true"
            ]
        );
    }
}

#[test]
fn an_input_neither_read_nor_refused_is_a_problem() {
    type Change = fn(&mut Manifest);
    let cases: [(Change, &str); 7] = [
        (
            |manifest| manifest.inputs.change(0, |input| input.entries = 0),
            "nothing of input was read, and it was not refused",
        ),
        (
            |manifest| {
                manifest.inputs.push(crate::InputEntry {
                    path: text("lost"),
                    bytes: 5,
                    hash: Some(text("hash")),
                    ..crate::InputEntry::default()
                });
            },
            "nothing of lost was read, and it was not refused",
        ),
        (
            |manifest| {
                manifest.inputs.change(0, |input| {
                    (input.plain, input.bytes) = (true, input.decoded_bytes + 1);
                });
            },
            "30 bytes of input were read in 1 entries instead of 31 bytes in one",
        ),
        (
            |manifest| {
                manifest.inputs.change(0, |input| {
                    (input.plain, input.bytes, input.entries) = (true, input.decoded_bytes, 2);
                });
            },
            "30 bytes of input were read in 2 entries instead of 30 bytes in one",
        ),
        (
            |manifest| manifest.inputs.change(0, |input| input.hash = None),
            "input has no hash, but was not refused",
        ),
        (
            |manifest| {
                manifest
                    .inputs
                    .change(0, |input| input.refused = Some(text("IN014")));
            },
            "input was refused (IN014), but records of it were read",
        ),
        (
            |manifest| manifest.shards[0].slices = 0,
            "cannot be a part of conversations in a shard of 0 slices",
        ),
    ];
    let (_folder, out) = dataset();
    let right = read_manifest(&out).unwrap();
    for (change, expected) in cases {
        let mut wrong = right.clone();
        change(&mut wrong);
        forge(&out, wrong);
        let problems = problems(&out);
        assert!(
            problems.iter().any(|problem| problem.contains(expected)),
            "{expected}: {problems:?}"
        );
    }
    forge(&out, right);
    assert_eq!(problems(&out), Vec::<String>::new());
}

#[test]
fn one_conversation_more_or_one_reject_less_is_a_problem() {
    let (_folder, out) = dataset();
    let honest = read_manifest(&out).unwrap();
    let mut manifest = honest.clone();
    manifest.inputs.change(0, |input| input.conversations += 1);
    forge(&out, manifest.clone());
    assert_eq!(problems(&out), ["input has 1 rows in conversations instead of 2"]);
    let mut manifest = honest.clone();
    manifest.inputs.change(0, |input| {
        input.rejected -= 1;
        input.framed -= 1;
        input.separator_bytes += std::mem::take(&mut input.rejected_bytes);
    });
    forge(&out, manifest.clone());
    assert_eq!(problems(&out), ["input has 1 frames in rejects instead of 0"]);
    let mut manifest = honest;
    manifest.inputs = crate::Inputs::default();
    forge(&out, manifest.clone());
    assert_eq!(
        problems(&out),
        [
            "input has 1 rows in conversations instead of 0",
            "input has 1 frames in rejects instead of 0"
        ]
    );
}

#[test]
fn an_id_of_two_conversations_is_a_problem() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let staging = work(&out, "plan-a");
    let mut files = write_slice(&staging, 0);
    files.extend(write_slice_with_id(&staging, 1, "conversation 0"));
    let sealed = seal_files(staging, manifest("plan-a", 2), &files, &options()).unwrap();
    sealed.publish().unwrap();
    assert_eq!(
        problems(&out),
        ["conversations has several rows with the conversation_id conversation 0"]
    );
}

#[test]
fn files_of_different_encodings_are_a_problem() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let staging = work(&out, "plan-a");
    let mut files = write_slice(&staging, 0);
    let other = TableOptions {
        encodings: vec![text("p50k_base")],
        compression: Compression::None,
        partition: Partition::None,
        absent: Vec::new(),
    };
    let mut parts = staging.parts(1, &other).unwrap();
    let row = crate::rows::MessageRow {
        tokens: &[1],
        ..crate::tests::support::message(&mut parts)
    };
    parts.push_message(row).unwrap();
    files.extend(parts.close().unwrap());
    let sealed = seal_files(staging, manifest("plan-a", 1), &files, &options()).unwrap();
    sealed.publish().unwrap();
    assert_eq!(
        problems(&out),
        ["messages/part-00000-00001.parquet has other encodings than the files before it"]
    );
}

#[test]
fn a_file_with_the_schema_of_another_table_is_a_problem() {
    let (_folder, out) = dataset();
    let mut manifest = read_manifest(&out).unwrap();
    let losses = manifest
        .tables
        .iter()
        .position(|table| table.name == "losses")
        .unwrap();
    let findings = manifest
        .tables
        .iter()
        .position(|table| table.name == "findings")
        .unwrap();
    fs::copy(
        out.join("findings/part-00000-00000.parquet"),
        out.join("losses/part-00000-00000.parquet"),
    )
    .unwrap();
    let file = manifest.tables[findings].files[0].clone();
    manifest.tables[losses].files[0].bytes = file.bytes;
    manifest.tables[losses].files[0].hash = file.hash;
    forge(&out, manifest.clone());
    assert_eq!(
        problems(&out),
        ["losses/part-00000-00000.parquet does not have the schema of losses"]
    );
}
