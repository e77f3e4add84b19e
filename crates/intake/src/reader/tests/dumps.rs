//! Text dumps, CSV and lines of COPY: every form of the same table gives the same rows.

use std::io::Cursor;
use std::path::Path;

use chatmill_diag::Limits;
use proptest::prelude::*;

use crate::event::{Event, Form, Framing};
use crate::reader::Reader;
use crate::reader::testing::{Drip, Entry, cases, open, read_all, small};
use crate::table::{TableFilter, TableMap};

/// A map that embeds the JSON in the five rows.
fn messages() -> TableMap {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    TableMap {
        name: "test".to_owned(),
        source: "rows".to_owned(),
        table: "messages".to_owned(),
        requires: owned(&["message_id", "thread_id", "content"]),
        json: owned(&["content", "metadata"]),
        ..TableMap::default()
    }
}

/// A map for the small tables in these tests.
fn notes() -> TableMap {
    TableMap {
        source: "rows".to_owned(),
        table: "notes".to_owned(),
        requires: vec!["id".to_owned(), "text".to_owned()],
        ..TableMap::default()
    }
}

fn reader(bytes: &[u8], limits: &Limits, map: TableMap) -> Reader {
    let length = Some(bytes.len() as u64);
    let reader = Reader::of_stream(Box::new(Cursor::new(bytes.to_vec())), length, limits);
    reader.with_tables(vec![map].into())
}

fn read(bytes: &[u8], map: TableMap) -> Entry {
    let mut entries = read_all(&mut reader(bytes, &Limits::default(), map));
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

fn read_notes(text: &str) -> Entry {
    read(text.as_bytes(), notes())
}

fn sample(name: &str) -> Vec<u8> {
    dumped("five-rows", name)
}

fn dumped(folder: &str, name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../data-samples/dumps")
        .join(folder);
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn columns() -> Vec<String> {
    let header = sample("messages.csv");
    let line = header.split(|byte| *byte == b'\n').next().unwrap();
    line.split(|byte| *byte == b',')
        .map(|name| String::from_utf8(name.to_vec()).unwrap())
        .collect()
}

#[test]
fn every_form_of_a_table_gives_the_same_rows() {
    let expected = read(&sample("pg15-full.sql"), messages());
    assert_eq!(expected.frames.len(), 5);
    for name in [
        "pg15-copy.sql",
        "pg18-copy.sql",
        "pg18-full.sql",
        "pg15-column-inserts.sql",
        "pg18-column-inserts.sql",
        "sqlite.sql",
        "mysql.sql",
        "messages.csv",
    ] {
        let entry = read(&sample(name), messages());
        assert_eq!(entry.head.framing, Framing::Tables, "{name}");
        assert_eq!(entry.codes(), [""; 0], "{name}");
        assert_eq!(entry.rows(), expected.rows(), "{name}");
    }
}

#[test]
fn the_five_rows_equal_those_of_psql() {
    let entry = read(&sample("pg15-full.sql"), messages());
    let psql = sample("psql.jsonl");
    let lines = psql.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut compared = 0;
    for (row, line) in entry.frames.iter().zip(lines) {
        let row: serde_json::Value = serde_json::from_slice(row).unwrap();
        let expected: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!(
            row.as_object().unwrap().keys().collect::<Vec<_>>(),
            expected.as_object().unwrap().keys().collect::<Vec<_>>()
        );
        for (column, value) in expected.as_object().unwrap() {
            let own = &row[column];
            match column.as_str() {
                "is_llm_message" => assert_eq!(own, if value == true { "t" } else { "f" }),
                "tags" if !value.is_null() => assert!(own.as_str().unwrap().starts_with('{')),
                "created_at" | "updated_at" if !value.is_null() => {
                    assert_eq!(
                        own.as_str().unwrap().replace(' ', "T") + ":00",
                        value.as_str().unwrap()
                    );
                }
                _ => assert_eq!(own, value, "{column}"),
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 5 * columns().len());
}

#[test]
fn rows_without_names_of_columns_take_them_from_the_definition() {
    let full = String::from_utf8(sample("pg15-full.sql")).unwrap();
    let start = full.find("CREATE TABLE public.messages").unwrap();
    let (definition, _) = full.split_at(full.find("ALTER TABLE public.messages").unwrap());
    let (_, definition) = definition.split_at(start);
    let expected = read(full.as_bytes(), messages());
    for name in [
        "pg15-inserts.sql",
        "pg18-inserts.sql",
        "pg15-rows-per-insert.sql",
        "pg18-rows-per-insert.sql",
    ] {
        let dump = sample(name);
        let bare = read(&dump, messages());
        assert_eq!(bare.codes(), ["columns-unknown"; 5], "{name}");
        assert!(bare.script().contains("T public.messages rows"), "{name}");
        let entry = read(&[definition.as_bytes(), &dump].concat(), messages());
        assert_eq!(
            (entry.rows(), entry.codes()),
            (expected.rows(), Vec::new()),
            "{name}"
        );
    }
}

#[test]
fn a_database_file_and_its_dump_give_the_same_rows() {
    let dump = read(&dumped("notes", "notes.sql"), notes());
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path(), &dumped("notes", "notes.db"), &Limits::default());
    let entries = read_all(&mut file.with_tables(vec![notes()].into()));
    assert_eq!((dump.frames.len(), dump.codes()), (5, Vec::new()));
    assert_eq!(entries[0].rows(), dump.rows());
}

#[test]
fn rows_of_dumps_match_the_case_file() {
    cases("dumps", |_, text| read_notes(text).outcome());
}

#[test]
fn lines_of_copy_lose_their_escapes() {
    let entry = read(&sample("copy.jsonl"), messages());
    let plain = read(&sample("psql.jsonl"), messages());
    assert_eq!(entry.head.framing, Framing::Lines);
    assert_eq!(entry.codes(), ["(copy-escaped)"]);
    assert_eq!(entry.frames, plain.frames);
    assert_eq!(entry.head.bytes, plain.head.bytes);
    assert_eq!(plain.codes(), [""; 0]);
    let derived = |entry: &Entry| {
        entry
            .events
            .iter()
            .filter(|event| matches!(event, Event::Frame(frame) if frame.form != Form::Original))
            .count()
    };
    assert_eq!((derived(&entry), derived(&plain)), (5, 0));
}

#[test]
fn filtered_rows_are_counted_as_skipped() {
    let map = TableMap {
        filters: vec![TableFilter {
            column: "text".to_owned(),
            one_of: vec![Some("keep".to_owned())],
        }],
        ..notes()
    };
    let entry = read(b"id,text\n1,no\n2,keep\n3,no\n4,no\n5,keep\n6,no\n", map);
    assert_eq!(
        entry.script(),
        "S7, T notes rows, S2, K1 notes 4, F13-19@3:1, S3, K2 notes 8, F30-36@6:1, S2, K1 notes 4"
    );
}

#[test]
fn encodings_are_utf8_or_latin1_or_refused() {
    let dump = |encoding: &str| {
        let mut text =
            format!("SET client_encoding = '{encoding}';\nCOPY notes (id, text) FROM stdin;\n1\tcaf")
                .into_bytes();
        text.extend_from_slice(b"\xE9\n2\tplain\n\\.\n");
        read(&text, notes())
    };
    assert_eq!(
        dump("LATIN1").rows(),
        [r#"{"id":"1","text":"café"}"#, r#"{"id":"2","text":"plain"}"#]
    );
    let utf8 = dump("UTF8");
    assert_eq!(
        (utf8.codes(), utf8.frames.len()),
        (vec!["invalid-utf8".to_owned()], 1)
    );
    let other = dump("EUC_JP");
    assert_eq!(other.codes(), ["invalid-utf8"; 2]);
    assert_eq!(
        other.messages()[1],
        "the dump is encoded in EUC_JP, which is not read"
    );
    let mysql = |set: &str| {
        read_notes(&format!(
            "/*!40101 {set} */;\nINSERT INTO `notes` (`id`,`text`) VALUES (1,'a');\n"
        ))
    };
    assert_eq!(mysql("SET NAMES utf8mb4").codes(), [""; 0]);
    assert_eq!(mysql("SET NAMES latin1").codes(), ["invalid-utf8"]);
}

/// The rows before any cut are those of the whole dump, in order, and every cut is reported.
#[test]
fn every_prefix_of_a_dump_is_read_as_far_as_it_goes() {
    for (name, end) in [
        ("pg15-full.sql", "-- PostgreSQL database dump complete"),
        ("pg18-column-inserts.sql", "-- PostgreSQL database dump complete"),
        ("sqlite.sql", "COMMIT;"),
        ("mysql.sql", "-- Dump completed"),
    ] {
        let dump = sample(name);
        let whole = read(&dump, messages());
        let text = String::from_utf8_lossy(&dump);
        let complete = text.find(end).unwrap() + end.len();
        let opening = if name == "sqlite.sql" {
            "TRANSACTION;"
        } else {
            " dump"
        };
        let (_, after) = text.split_once(opening).unwrap();
        let (_, after) = after.split_once('\n').unwrap();
        let begun = text.len() - after.len();
        for cut in chatmill_drawn::some_of(0..dump.len() + 1, 150) {
            let entry = read(&dump[..cut], messages());
            assert!(whole.frames.starts_with(&entry.frames), "{name} cut at {cut}");
            if cut >= begun {
                let codes = entry.codes();
                let is_told = codes.iter().any(|code| code.contains("dump-incomplete"));
                assert_eq!(is_told, cut < complete, "{name} cut at {cut}: {codes:?}");
            }
        }
    }
}

#[test]
fn rows_are_bounded_and_statements_are_not() {
    let limits = Limits {
        record: 40,
        reject_head: 8,
        ..Limits::default()
    };
    let codes = |text: &str| {
        let mut entries = read_all(&mut reader(text.as_bytes(), &limits, notes()));
        let entry = entries.remove(0);
        (entry.codes(), entry.frames.len())
    };
    for (text, capacity) in [
        (
            "INSERT INTO notes (id,text) VALUES (1,'a'),(2,'…'),(3,'c');\n",
            34,
        ),
        ("COPY notes (id,text) FROM stdin;\n1\ta\n2\t…\n3\tc\n\\.\n", 38),
        ("id,text\n1,a\n2,…\n3,c\n", 38),
    ] {
        let filled = |length| text.replace('…', &"x".repeat(length));
        assert_eq!(codes(&filled(capacity)), (Vec::new(), 3));
        assert_eq!(
            codes(&filled(capacity + 1)),
            (vec!["record-too-long".to_owned()], 2)
        );
    }
    let many = format!(
        "INSERT INTO notes (id,text) VALUES {};\n",
        vec!["(1,'a')"; 50_000].join(",")
    );
    assert_eq!(codes(&many), (Vec::new(), 50_000));
    // The statement before the rows is kept as long as it can matter.
    let long = |length: usize| {
        format!(
            "SET a = 1;\nINSERT INTO notes (id,text{}) VALUES (1,'a');\n",
            " ".repeat(length)
        )
    };
    let capacity = (1 << 20) - "INSERT INTO notes (id,text) VALUES".len();
    assert_eq!(codes(&long(capacity)), (Vec::new(), 1));
    assert_eq!(codes(&long(capacity + 1)), (vec!["malformed-row".to_owned()], 0));
}

#[test]
fn line_ends_of_other_systems_change_nothing() {
    for name in ["pg15-full.sql", "messages.csv"] {
        let text = sample(name);
        let mut converted = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            converted.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            converted.extend_from_slice(b"\r\n");
        }
        let (plain, converted) = (read(&text, messages()), read(&converted, messages()));
        assert_eq!(converted.codes(), [""; 0], "{name}");
        if name == "messages.csv" {
            let plain: Vec<String> = plain
                .rows()
                .iter()
                .map(|row| row.replace("newline\\n", "newline\\r\\n"))
                .collect();
            assert_eq!(converted.rows(), plain);
        } else {
            assert_eq!(converted.rows(), plain.rows());
        }
    }
}

/// Texts that look like dumps, with errors.
fn dump() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        r"INSERT INTO notes (\(id,text\) )?VALUES ?(\([0-9],'[a'\\;(]{0,5}'\)[, ]?){0,3};\n",
        r"COPY (public\.)?(notes|users) \(id, ?text\) FROM stdin;\n([0-9]\t[a\\N\t]{0,4}\n){0,3}(\\\.\n)?",
        r"CREATE TABLE (notes|`notes`) \(id int, text text\);\n",
        r"(--|/\*|\*/|'|\$\$|\$x\$|;|\)|\(|\x22|`|\[|\\connect x|DELIMITER ;;|VALUES|E'\\)[\n ]?",
        r"SET (client_encoding = 'LATIN1'|standard_conforming_strings = off|search_path = a, b);\n",
        r"-- (PostgreSQL database dump( complete)?|MySQL dump 1|Dump completed)\n",
        r"(PRAGMA x;|BEGIN TRANSACTION;|COMMIT;)\n",
    ];
    let csv = r#"(id,text|"text";id)\n([0-9a",;\r\n]{0,40})"#;
    prop_oneof![
        5 => prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat()),
        1 => csv,
    ]
}

proptest! {
    #![proptest_config(chatmill_drawn::law(60))]

    #[test]
    fn the_sizes_of_reads_change_nothing(
        text in dump(),
        sizes in prop::collection::vec(1_usize..20, 1..5),
        cut in any::<prop::sample::Index>(),
        is_small in any::<bool>(),
    ) {
        let mut bytes = text.into_bytes();
        bytes.truncate(cut.index(bytes.len() * 2 + 1).min(bytes.len()));
        let limits = if is_small { small() } else { Limits::default() };
        let whole = read_all(&mut reader(&bytes, &limits, notes()));
        let length = Some(bytes.len() as u64);
        let drip = Drip { bytes: Cursor::new(bytes), sizes, turn: 0 };
        let mut dripping = Reader::of_stream(Box::new(drip), length, &limits).with_tables(vec![notes()].into());
        prop_assert_eq!(read_all(&mut dripping), whole);
    }

    /// The events tile the input wherever it is corrupt; `read_all` checks that.
    #[test]
    fn corrupt_dumps_are_accounted_for(
        name in prop::sample::select(vec!["pg15-full.sql", "pg18-rows-per-insert.sql", "sqlite.sql", "mysql.sql", "messages.csv", "copy.jsonl"]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = sample(name);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(read_all(&mut reader(&bytes, &Limits::default(), messages())).len(), 1);
    }
}
