//! A finished dataset that is read back column by column.

use std::fs;
use std::path::PathBuf;

use crate::rows::LossRow;
use crate::tests::support::{
    forge_manifest, manifest, number, options, publish, push_full, push_sparse, seal_files, work,
};
use crate::{Dataset, DatasetError, Flags, Numbers, Texts, Times, certify, write_derived};
use tempfile::TempDir;

/// A published dataset of two slices with these numbers of losses; each loss has a different amount.
fn published(folder: &TempDir, losses: [u64; 2]) -> PathBuf {
    let out = folder.path().join("out");
    let staging = work(&out, "one");
    let mut files = Vec::new();
    for (slice, losses) in (0..).zip(losses) {
        let mut parts = staging.parts(slice, &options()).unwrap();
        if slice == 0 {
            push_full(&mut parts);
            push_sparse(&mut parts);
        }
        for amount in 0..losses {
            let row = LossRow {
                amount,
                ..LossRow::default()
            };
            parts.push_loss(row).unwrap();
        }
        let closed = parts.close().unwrap();
        staging.commit(slice, &closed, &()).unwrap();
        files.extend(closed);
    }
    let sealed = seal_files(staging, manifest("one", 1), &files, &options()).unwrap();
    sealed.publish().unwrap();
    out
}

#[test]
fn values_come_back_as_they_were_written_and_missing_ones_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(&published(&folder, [0, 0])).unwrap();
    assert_eq!(dataset.encodings(), ["o200k_base", "cl100k_base"]);
    let mut rows = 0;
    let columns = ["title", "record", "started_at"];
    dataset
        .scan("conversations", &columns, &mut |batch| {
            let (titles, records) = (
                batch.column::<Texts>("title")?,
                batch.column::<Numbers>("record")?,
            );
            let started = batch.column::<Times>("started_at")?;
            assert_eq!(titles.get(0), Some("title"));
            assert_eq!(records.at(0), u64::from(number("record")));
            assert_eq!(started.get(0), Some(i64::from(number("started_at"))));
            assert_eq!((titles.get(1), started.get(1)), (None, None));
            assert_eq!(titles.at(1), "");
            // There is no value after the last row.
            assert_eq!((titles.get(2), records.get(2)), (None, None));
            rows += batch.rows();
            Ok(())
        })
        .unwrap();
    assert_eq!(rows as u64, dataset.rows("conversations"));
}

#[test]
fn a_table_is_read_through_all_its_files_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(&published(&folder, [3000, 5])).unwrap();
    let mut amounts = Vec::new();
    let mut batches = 0;
    for batch in dataset.batches("losses", &["amount"]) {
        let batch = batch.unwrap();
        let column = batch.column::<Numbers>("amount").unwrap();
        amounts.extend((0..batch.rows()).map(|row| column.at(row)));
        batches += 1;
    }
    assert!(batches > 3);
    assert_eq!(amounts.len() as u64, dataset.rows("losses"));
    // The first two rows are those of the full and of the sparse row.
    let expected: Vec<u64> = (0..3000).chain(0..5).collect();
    assert_eq!(amounts[2..], expected);
}

#[test]
fn a_column_that_is_not_there_or_holds_something_else_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(&published(&folder, [0, 0])).unwrap();
    let problem = |visit: &mut dyn FnMut(&crate::Batch) -> Result<(), DatasetError>| {
        let columns = ["title", "record"];
        dataset
            .scan("conversations", &columns, visit)
            .unwrap_err()
            .to_string()
    };
    let missing = problem(&mut |batch| batch.column::<Texts>("source").map(drop));
    assert!(missing.contains("no column source"), "{missing}");
    let other = problem(&mut |batch| batch.column::<Numbers>("title").map(drop));
    assert!(other.contains("column title does not hold numbers"), "{other}");
    assert!(problem(&mut |batch| batch.column::<Flags>("record").map(drop)).contains("record"));
}

#[test]
fn rows_are_read_by_the_shard_manifests_with_or_without_files_in_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let out = published(&folder, [3000, 5]);
    let amounts = || {
        let dataset = Dataset::open(&out).unwrap();
        let mut amounts = Vec::new();
        for batch in dataset.batches("losses", &["amount"]) {
            let batch = batch.unwrap();
            let column = batch.column::<Numbers>("amount").unwrap();
            amounts.extend((0..batch.rows()).map(|row| column.at(row)));
        }
        assert_eq!(amounts.len() as u64, dataset.rows("losses"));
        let columns = dataset.columns("losses").unwrap();
        (amounts, columns, dataset.is_parted("losses"))
    };
    let listed = amounts();
    let mut manifest = crate::read_manifest(&out).unwrap();
    for table in &mut manifest.tables {
        assert!(!table.files.is_empty());
        table.files.clear();
    }
    forge_manifest(&out, &manifest);
    assert_eq!(amounts(), listed);
}

#[test]
fn rows_of_one_conversation_are_those_of_a_whole_reading() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let staging = work(&out, "one");
    let mut files = Vec::new();
    for slice in 0..2 {
        let mut parts = staging.parts(slice, &options()).unwrap();
        let keys: Vec<_> = (0..7).map(|number| parts.key(&format!("c{number}"))).collect();
        for amount in 0..3000 {
            let row = LossRow {
                conversation_id: keys[amount as usize * 7 / 3000 % (6 + slice as usize)],
                amount,
                ..LossRow::default()
            };
            parts.push_loss(row).unwrap();
        }
        let closed = parts.close().unwrap();
        staging.commit(slice, &closed, &()).unwrap();
        files.extend(closed);
    }
    seal_files(staging, manifest("one", 1), &files, &options())
        .unwrap()
        .publish()
        .unwrap();
    let dataset = Dataset::open(&out).unwrap();
    let amounts = |batches: crate::Batches<'_>, wanted: &str| {
        let mut amounts = Vec::new();
        for batch in batches {
            let batch = batch.unwrap();
            let ids: Texts = batch.column("conversation_id").unwrap();
            let column: Numbers = batch.column("amount").unwrap();
            let rows = (0..batch.rows()).filter(|row| ids.at(*row) == wanted);
            amounts.extend(rows.map(|row| (batch.rows(), column.at(row))));
        }
        amounts
    };
    let columns = ["conversation_id", "amount"];
    for id in ["c0", "c3", "c6", "c9", ""] {
        let all = amounts(dataset.batches("losses", &columns), id);
        let own = amounts(dataset.batches_of("losses", &columns, id), id);
        let values = |found: &[(usize, u64)]| found.iter().map(|(_, amount)| *amount).collect::<Vec<_>>();
        assert_eq!(values(&own), values(&all), "{id}");
        let read: usize = dataset
            .batches_of("losses", &columns, id)
            .map(|batch| batch.unwrap().rows())
            .sum();
        assert_eq!(read, own.len(), "{id}: no other row is decoded");
    }
}

#[test]
fn a_corrupt_part_is_an_error_and_not_the_end_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let out = published(&folder, [3000, 5]);
    let dataset = Dataset::open(&out).unwrap();
    let file = out.join(
        &dataset
            .manifest()
            .tables
            .iter()
            .find(|table| table.name == "losses")
            .unwrap()
            .files[1]
            .path,
    );
    fs::write(&file, b"PAR1 no more").unwrap();
    let error = dataset.scan("losses", &["amount"], &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("losses"), "{error}");
    fs::remove_file(&file).unwrap();
    assert!(dataset.scan("losses", &["amount"], &mut |_| Ok(())).is_err());
}

#[test]
fn a_derived_file_is_replaced_as_a_whole_and_nothing_else_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    publish(&out, "one", 2);
    for text in ["first", "second, longer", "3"] {
        write_derived(&out, &[("report.json", text.as_bytes())]).unwrap();
        assert_eq!(fs::read_to_string(out.join("report.json")).unwrap(), text);
    }
    assert!(certify(&out).unwrap().holds());
    let strangers: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().ends_with(".new"))
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    assert!(write_derived(&out, &[("manifest.json", b"{}")]).is_err());
    assert!(write_derived(&out, &[("../report.json", b"{}")]).is_err());
    assert!(write_derived(&out.join("nowhere"), &[("report.json", b"{}")]).is_err());
    assert!(certify(&out).unwrap().holds());
}

#[test]
fn a_folder_without_a_dataset_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Dataset::open(folder.path()).is_err());
    let out = published(&folder, [0, 0]);
    fs::write(out.join("_SUCCESS"), "something else").unwrap();
    assert!(Dataset::open(&out).is_err());
}
