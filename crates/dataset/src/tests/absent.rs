//! Datasets without some of the tables, because the request leaves them out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tables::ALWAYS_WRITTEN;
use crate::tests::support::{forge, manifest, only, options, push_full, seal_files, work};
use crate::{Dataset, DatasetError, MANIFEST, Manifest, TABLES, absent_tables, certify, read_manifest};
use tempfile::TempDir;

/// A published dataset of one slice, into which a row of every table is pushed but only these tables are written.
fn published(folder: &TempDir, tables: &[&str]) -> PathBuf {
    let out = folder.path().join("out");
    let staging = work(&out, "plan-a");
    let options = only(tables);
    let mut parts = staging.parts(0, &options).unwrap();
    push_full(&mut parts);
    let files = parts.close().unwrap();
    staging.commit(0, &files, &()).unwrap();
    let whole = Manifest {
        plan: serde_json::json!({"count": {"encodings": ["o200k_base", {"name": "own", "hash": "…"}]}}),
        ..manifest("plan-a", 1)
    };
    let sealed = seal_files(staging, honest(whole), &files, &options).unwrap();
    sealed.publish().unwrap();
    out
}

/// The manifest with the correct accounts of the rows: one conversation, and one rejected record that is no frame.
fn honest(manifest: Manifest) -> Manifest {
    let inputs = manifest.inputs.iter().map(|mut input| {
        input.framed = 1;
        input.accepted = 1;
        input.rejected = 0;
        input.accepted_bytes += input.rejected_bytes;
        input.rejected_bytes = 0;
        input
    });
    Manifest {
        inputs: inputs.collect(),
        ..manifest
    }
}

fn problems(out: &Path) -> Vec<String> {
    certify(out).unwrap().problems
}

#[test]
fn a_table_that_is_left_out_has_no_folder_and_no_entry_and_is_named() {
    let folder = TempDir::new().unwrap();
    let out = published(&folder, &["renderings", "token_counts"]);
    let manifest = read_manifest(&out).unwrap();
    let listed: Vec<&str> = manifest.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(
        listed,
        ["renderings", "token_counts", "totals", "findings", "rejects"]
    );
    let left_out = [
        "conversations",
        "messages",
        "alternatives",
        "message_references",
        "tool_calls",
        "losses",
    ];
    assert_eq!(manifest.absent_tables, left_out);
    for table in TABLES {
        assert_eq!(out.join(table).exists(), listed.contains(table), "{table}");
    }
    assert_eq!(problems(&out), Vec::<String>::new());
}

#[test]
fn a_dataset_with_all_tables_names_none_as_left_out() {
    let folder = TempDir::new().unwrap();
    let out = published(&folder, TABLES);
    let text = fs::read_to_string(out.join(MANIFEST)).unwrap();
    assert!(!text.contains("absent_tables"), "{text}");
    assert_eq!(problems(&out), Vec::<String>::new());
}

#[test]
fn findings_rejects_and_totals_are_always_written() {
    for wanted in [&[][..], &["findings".to_owned()]] {
        let absent = absent_tables(wanted);
        assert_eq!(absent.len() + ALWAYS_WRITTEN.len(), TABLES.len());
        assert!(ALWAYS_WRITTEN.iter().all(|table| !absent.contains(table)));
    }
}

#[test]
fn reading_an_absent_table_is_an_error_and_an_empty_one_is_not() {
    let folder = TempDir::new().unwrap();
    let dataset = Dataset::open(&published(&folder, &["renderings"])).unwrap();
    assert!(dataset.has("renderings") && !dataset.has("messages"));
    assert_eq!(dataset.rows("messages"), 0);
    let error = dataset.scan("messages", &["text"], &mut |_| Ok(())).unwrap_err();
    let is_it = matches!(&error, DatasetError::AbsentTable { table, .. } if table == "messages");
    assert!(is_it, "{error:?}");
    let message = error.to_string();
    for part in ["no table messages", "`tables` in [output]", "--replace"] {
        assert!(message.contains(part), "{message}");
    }
    let mut batches = dataset.batches("losses", &["code"]);
    assert!(batches.next().unwrap().is_err());
    assert!(batches.next().is_none());
    dataset.scan("renderings", &["dialect"], &mut |_| Ok(())).unwrap();
}

#[test]
fn encodings_are_those_of_the_plan_with_any_tables() {
    for tables in [&["renderings", "messages"][..], &["messages"], &["token_counts"]] {
        let folder = TempDir::new().unwrap();
        let dataset = Dataset::open(&published(&folder, tables)).unwrap();
        assert_eq!(dataset.encodings(), ["o200k_base", "own"], "{tables:?}");
    }
}

#[test]
fn files_of_a_table_that_is_left_out_are_no_dataset() {
    let folder = TempDir::new().unwrap();
    let staging = work(&folder.path().join("out"), "plan-a");
    let mut parts = staging.parts(0, &options()).unwrap();
    push_full(&mut parts);
    let files = parts.close().unwrap();
    let error = seal_files(staging, manifest("plan-a", 1), &files, &only(&["messages"]));
    let message = error.unwrap_err().to_string();
    assert!(
        message.contains("belongs to a table that is left out"),
        "{message}"
    );
}

#[test]
fn a_table_neither_listed_nor_absent_is_a_problem() {
    let folder = TempDir::new().unwrap();
    let out = published(&folder, &["renderings"]);
    let honest = read_manifest(&out).unwrap();
    let own = &honest.absent_tables;
    let with = |place, name: &str| {
        let mut more = own.clone();
        more.insert(place, name.to_owned());
        more
    };
    let mut swapped = own.clone();
    swapped.swap(0, 1);
    for (absent, expected) in [
        (Vec::new(), "lists the tables"),
        (swapped, "names the absent tables"),
        (with(own.len(), "invoices"), "unknown table invoices"),
        (with(5, "renderings"), "lists the table renderings twice"),
    ] {
        let mut forged = honest.clone();
        forged.absent_tables = absent;
        forge(&out, forged.clone());
        let found = problems(&out);
        assert!(
            found.iter().any(|problem| problem.contains(expected)),
            "{expected}: {found:?}"
        );
    }
    let mut forged = honest;
    forged.tables.retain(|table| table.name != "findings");
    forged.absent_tables.push("findings".to_owned());
    fs::remove_dir_all(out.join("findings")).unwrap();
    forge(&out, forged.clone());
    let found = problems(&out);
    assert!(
        found
            .iter()
            .any(|problem| problem.contains("names the absent tables")),
        "{found:?}"
    );
}
