//! Dumps by PostgreSQL, compared with the rows that PostgreSQL itself reports.

use std::collections::BTreeMap;

use chatmill_diag::Limits;
use serde_json::value::RawValue;
use zip::CompressionMethod;

use super::{codes, folder, names, read, rows, sample};
use crate::discover::discover;
use crate::event::Event;
use crate::reader::Reader;
use crate::reader::testing::{Entry, gzip, map, open, read_all, table_reader, tar, zip, zstd};

/// A row with all values as texts, because `COPY` writes numbers and booleans as text and `INSERT` statements do not.
fn as_texts(row: &str) -> BTreeMap<String, Option<String>> {
    let row: BTreeMap<String, Box<RawValue>> = serde_json::from_str(row).unwrap();
    let text = |value: Box<RawValue>| match value.get() {
        "null" => None,
        "true" => Some("t".to_owned()),
        "false" => Some("f".to_owned()),
        string if string.starts_with('"') => Some(serde_json::from_str(string).unwrap()),
        number => Some(number.to_owned()),
    };
    row.into_iter()
        .map(|(column, value)| (column, text(value)))
        .collect()
}

fn assert_rows_of_psql(entries: &[Entry], name: &str) {
    let expected = String::from_utf8(sample("awkward-rows/messages.jsonl")).unwrap();
    let expected: Vec<_> = expected.lines().map(as_texts).collect();
    assert_eq!(expected.len(), 5);
    let found: Vec<_> = rows(entries).into_iter().map(as_texts).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn every_format_gives_the_rows_that_psql_gives() {
    for name in [
        "custom.dump",
        "custom-piped.dump",
        "custom-stored-piped.dump",
        "custom-inserts.dump",
        "custom-column-inserts.dump",
        "dump.tar",
    ] {
        let entries = read(&sample(&format!("awkward-rows/{name}")));
        assert_rows_of_psql(&entries, name);
        assert_eq!(
            codes(&entries),
            [""; 0],
            "{name} {:?}",
            entries.last().unwrap().messages()
        );
    }
}

/// Reads the input at a path.
fn read_path(name: &str) -> (Reader, Vec<Entry>) {
    let inputs = discover(&folder(name).to_string_lossy(), std::path::Path::new("/")).unwrap();
    assert_eq!(inputs.len(), 1, "{inputs:?}");
    let mut reader =
        Reader::open(&inputs[0], &Limits::default()).with_tables(vec![map("public.messages")].into());
    let entries = read_all(&mut reader);
    (reader, entries)
}

#[test]
fn a_folder_is_one_input_with_the_same_rows() {
    let (reader, entries) = read_path("awkward-rows/folder");
    assert_rows_of_psql(&entries, "folder");
    assert_eq!(codes(&entries), [""; 0]);
    let (length, hash) = crate::content_hash(&folder("awkward-rows/folder"), &mut |_| true)
        .unwrap()
        .unwrap();
    assert_eq!(reader.raw_hash(&mut |_| true).unwrap(), Some(hash));
    assert!(reader.raw_bytes_read() < length, "large objects are not read");
}

#[test]
fn each_table_is_an_entry_and_only_wanted_ones_are_read() {
    let (_, of_folder) = read_path("awkward-rows/folder");
    let archives = ["custom.dump", "custom-piped.dump", "dump.tar"]
        .map(|name| read(&sample(&format!("awkward-rows/{name}"))));
    for entries in [&archives[..], &[of_folder]].concat() {
        assert_eq!(names(&entries).len(), 5);
        let script = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap().script();
        assert!(script("public.messages").contains("T public.messages test-source"));
        for (name, rows) in [("auth.messages", 1), ("public.nothing", 1), ("public.threads", 1)] {
            let script = script(name);
            assert!(
                script.contains(&format!("K{rows} {name} ")) && !script.contains('F'),
                "{script}"
            );
        }
        assert!(!script("public.empty").contains(['K', 'F', 'D', 'N']));
    }
}

#[test]
fn dumps_of_two_versions_written_in_three_ways_are_alike() {
    let (_, plain) = read_path("five-rows/pg15-copy.sql");
    let expected = rows(&plain);
    assert_eq!(expected.len(), 5);
    for name in [
        "pg15-file",
        "pg15-piped",
        "pg18-file",
        "pg18-piped",
        "pg18-redirected",
    ] {
        let entries = read(&sample(&format!("five-rows/{name}.dump")));
        assert_eq!(rows(&entries), expected, "{name}");
        assert_eq!(codes(&entries), [""; 0], "{name}");
        assert_eq!(names(&entries), ["public.messages", "public.threads"], "{name}");
    }
}

#[test]
fn a_map_of_a_table_reads_its_partitions_and_its_children_in_every_form() {
    for (table, whole, texts) in [
        ("posts", "public.posts", ["last year", "this year"]),
        ("notes", "public.notes", ["typed", "spoken"]),
    ] {
        for name in ["plain.sql", "inserts.sql", "custom.dump", "custom-inserts.dump"] {
            let mut reader = table_reader(&sample(&format!("tables/{name}")), &Limits::default(), map(table));
            let (mut buffer, mut wholes) = (Vec::new(), Vec::new());
            while let Some(event) = reader.next(&mut buffer) {
                if let Event::Table { whole, .. } = event {
                    wholes.push(whole.unwrap().full());
                }
            }
            assert_eq!(wholes, [whole; 2], "{name}");
            let found = String::from_utf8(buffer).unwrap();
            assert!(texts.iter().all(|text| found.contains(text)), "{name}: {found}");
        }
    }
}

#[test]
fn tables_of_two_schemas_and_of_two_databases_have_names_of_their_own() {
    for (name, names) in [
        ("plain.sql", ["acme.messages", "globex.messages"]),
        ("custom.dump", ["acme.messages", "globex.messages"]),
        ("maria-two.sql", ["acme.messages", "globex.messages"]),
    ] {
        let mut reader = table_reader(
            &sample(&format!("tables/{name}")),
            &Limits::default(),
            map("messages"),
        );
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        while let Some(event) = reader.next(&mut buffer) {
            if let Event::Table { whole, .. } = event {
                found.push(whole.unwrap().full());
            }
        }
        assert_eq!(found, names, "{name}");
    }
}

#[test]
fn a_dump_in_a_container_gives_the_same_rows() {
    let dump = sample("five-rows/pg18-piped.dump");
    let own = read(&dump);
    let check = |entries: &[Entry], label: &str| {
        assert_eq!(rows(entries), rows(&own), "{label}");
        let expected: Vec<String> = names(&own).iter().map(|name| format!("{label}{name}")).collect();
        assert_eq!(names(entries), expected);
    };
    check(&read(&gzip(&dump)), "");
    check(&read(&zstd(&dump)), "");
    check(&read(&tar(&[("a.dump", &dump)])), "a.dump/");
    check(&read(&tar(&[("a.dump.gz", &gzip(&dump))])), "a.dump.gz/");
    let folder = tempfile::tempdir().unwrap();
    let zip = zip(CompressionMethod::DEFLATE, &[("../b/a.dump", &dump)]);
    let mut reader = open(folder.path(), &zip, &Limits::default()).with_tables(vec![map("messages")].into());
    let entries = read_all(&mut reader);
    check(&entries, "../b/a.dump/");
    assert_eq!(codes(&entries), ["(unsafe-entry-name)"]);
    let packed = sample("awkward-rows/dump.tar");
    assert_eq!(rows(&read(&gzip(&packed))), rows(&read(&packed)));
    assert_eq!(codes(&read(&tar(&[("inner.tar", &packed)]))), ["nested-archive"]);
}

#[test]
fn a_dump_without_rows_is_noted() {
    // Without its two entries of data, the dump is what `--schema-only` writes.
    let entries = read(&tar(&[("empty.dump", &super::hostile::header(16, 0, 0))]));
    assert_eq!(names(&entries), ["empty.dump"]);
    assert_eq!(codes(&entries), ["(empty-input)"]);
    let entries = read(&super::hostile::header(16, 0, 0));
    assert_eq!(
        (names(&entries), codes(&entries)),
        (vec![""], vec!["(empty-input)".to_owned()])
    );
}
