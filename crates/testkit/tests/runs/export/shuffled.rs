//! A drawn order of rows: other rows are first, the rows are the same, and nothing else changes.

use std::collections::BTreeSet;
use std::fs;

use chatmill_export::{ExportRequest, Format, Split, SplitBy, export};
use chatmill_workshop::TestDir;

use super::{batches, enveloped, lines, milled, plain};

#[test]
fn the_same_rows_come_in_an_order_that_follows_from_the_seed() {
    let (test_dir, dataset) = milled();
    let requests = ["openai-chat", "gryag-compact", "gemini-contents", "suna-llm"].map(plain);
    for (number, request) in requests.into_iter().chain([enveloped("openai-sft")]).enumerate() {
        let drawn = |shuffle: Option<u64>, name: &str| {
            let request = ExportRequest {
                shuffle,
                dialect: request.dialect.clone(),
                envelope: request.envelope,
                ..plain("")
            };
            let folder = test_dir.path(&format!("{number}-{name}"));
            export(&dataset, &request, &folder).unwrap();
            let summary = fs::read_to_string(folder.join("export.json")).unwrap();
            let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
            assert_eq!(
                summary.get("shuffle_seed").and_then(serde_json::Value::as_u64),
                shuffle
            );
            lines(&folder, "data.jsonl")
        };
        let as_it_is = drawn(None, "as-it-is");
        assert!(as_it_is.len() > 3, "{}", as_it_is.len());
        let seventh = drawn(Some(7), "seventh");
        assert_ne!(seventh, as_it_is);
        assert_eq!(drawn(Some(7), "again"), seventh, "the same seed, the same order");
        assert_ne!(drawn(Some(8), "eighth"), seventh);
        let sorted = |mut rows: Vec<String>| {
            rows.sort();
            rows
        };
        assert_eq!(sorted(seventh), sorted(as_it_is));
    }
}

#[test]
fn tables_are_drawn_alike_and_every_part_keeps_its_rows() {
    let (test_dir, dataset) = milled();
    let split = Some(Split::parse("train=60,test=40", SplitBy::Hash).unwrap());
    let mut parts = Vec::new();
    for (folder, shuffle) in [("as-it-is", None), ("drawn", Some(1))] {
        let request = ExportRequest {
            format: Format::Parquet,
            split: split.clone(),
            shuffle,
            ..plain("hf-messages")
        };
        let out = test_dir.path(folder);
        let summary = export(&dataset, &request, &out).unwrap();
        for file in summary.files {
            parts.push((
                file.part,
                file.rows,
                file.conversations,
                rows(&test_dir, folder, &file.name),
            ));
        }
    }
    let [train, test, drawn_train, drawn_test] = <[_; 4]>::try_from(parts).unwrap();
    for (one, other) in [(train, drawn_train), (test, drawn_test)] {
        assert_eq!((&one.0, one.1, one.2), (&other.0, other.1, other.2));
        assert_eq!(set(&one.3), set(&other.3));
    }
}

fn set(rows: &[String]) -> BTreeSet<&str> {
    rows.iter().map(String::as_str).collect()
}

/// The rows of a table, each as text.
fn rows(test_dir: &TestDir, folder: &str, name: &str) -> Vec<String> {
    let batches = batches(&test_dir.path(folder).join(name));
    let of_batch = batches
        .iter()
        .flat_map(|batch| (0..batch.num_rows()).map(|row| format!("{:?}", batch.slice(row, 1).columns())));
    of_batch.collect()
}
