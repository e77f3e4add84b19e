use std::path::Path;

use chatmill_diag::Limits;
use chatmill_diag::limits::{KIB, MIB};
use proptest::prelude::*;
use rusqlite::Connection;
use zip::CompressionMethod;

use crate::discover::{Input, InputKind, content_hash, discover};
use crate::event::{Event, Framing};
use crate::reader::Reader;
use crate::reader::testing::{Entry, cases, gzip, map, open, read_all, read_tables, tar, zip};
use crate::table::{TableFilter, TableMap};

/// The file of a database that SQL statements create.
fn database(sql: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
    std::fs::read(path).unwrap()
}

fn read_with(bytes: &[u8], limits: &Limits, maps: Vec<TableMap>) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    read_all(&mut open(folder.path(), bytes, limits).with_tables(maps.into()))
}

/// The only entry of a database with a map for `chat`.
fn read_chat(bytes: &[u8], limits: &Limits) -> Entry {
    let mut entries = read_with(bytes, limits, vec![map("chat")]);
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

const CHAT: &str = "CREATE TABLE chat (id INTEGER PRIMARY KEY, body);
    INSERT INTO chat VALUES (1, 'one'), (2, 'two');
    CREATE TABLE others (x); INSERT INTO others VALUES (1), (2), (3);";

#[test]
fn databases_give_the_rows_of_their_cases() {
    cases("databases", |words, sql| {
        let mut words = words.split(' ');
        let mut wanted = map(words.next().unwrap());
        for word in words {
            let (column, value) = word.split_once('=').unwrap();
            match column {
                "requires" => wanted.requires.push(value.to_owned()),
                _ => wanted.filters.push(TableFilter {
                    column: column.to_owned(),
                    one_of: vec![Some(value.to_owned())],
                }),
            }
        }
        let maps = if wanted.table == "-" {
            Vec::new()
        } else {
            vec![wanted]
        };
        let entry = read_with(&database(sql), &Limits::default(), maps).remove(0);
        assert_eq!((entry.head.framing, entry.decoded), (Framing::Tables, 0));
        entry.outcome()
    });
}

/// Checks that the entry has these numbers, each once and in order.
fn assert_numbers(entry: &Entry, numbers: impl Iterator<Item = i64>) {
    let expected: Vec<String> = numbers.map(|number| format!(r#"{{"n":{number}}}"#)).collect();
    assert_eq!(entry.rows(), expected);
    assert_eq!(entry.codes(), [""; 0]);
}

const SERIES: &str =
    "WITH RECURSIVE series (n) AS (SELECT -700 UNION ALL SELECT n + 1 FROM series WHERE n < 900)";

#[test]
fn tables_of_many_batches_come_in_the_order_of_their_row_numbers() {
    let bytes = database(&format!(
        "CREATE TABLE chat (n); {SERIES} INSERT INTO chat (rowid, n) SELECT n * 1000, n FROM series ORDER BY n DESC;"
    ));
    assert_numbers(&read_chat(&bytes, &Limits::default()), -700..=900);
}

#[test]
fn tables_without_row_numbers_come_in_the_order_of_their_keys() {
    let bytes = database(&format!(
        "CREATE TABLE chat (n INTEGER, room TEXT, PRIMARY KEY (room COLLATE NOCASE, n)) WITHOUT ROWID;
         {SERIES} INSERT INTO chat SELECT n, iif(n < 0, 'a', 'B') FROM series ORDER BY abs(n);"
    ));
    let numbers = |entry: &Entry| -> Vec<i64> {
        let number = |row: &&str| row.split([':', ',']).nth(1).unwrap().parse().unwrap();
        entry.rows().iter().map(number).collect()
    };
    let entry = read_chat(&bytes, &Limits::default());
    assert_eq!(numbers(&entry), (-700..=900).collect::<Vec<_>>());
    let descending = database(&format!(
        "CREATE TABLE chat (n INTEGER PRIMARY KEY DESC, room) WITHOUT ROWID; {SERIES} INSERT INTO chat SELECT n, 1 FROM series;"
    ));
    assert_eq!(
        numbers(&read_chat(&descending, &Limits::default())),
        (-700..=900).collect::<Vec<_>>()
    );
}

#[test]
fn the_limit_of_a_row_holds_on_both_sides() {
    let limits = Limits {
        record: 40,
        ..Limits::default()
    };
    // `{"id":1,"body":"…"}` has 18 bytes around the text.
    let bytes = |length: u64| {
        database(&format!(
            "CREATE TABLE chat (id INTEGER PRIMARY KEY, body);
             INSERT INTO chat VALUES (1, printf('%.*c', {length}, 'x')), (2, 'after');"
        ))
    };
    assert_eq!(read_chat(&bytes(22), &limits).codes(), [""; 0]);
    for too_long in [23, MIB + 1, 3 * MIB] {
        let entry = read_chat(&bytes(too_long), &limits);
        assert_eq!(entry.codes(), ["record-too-long"], "{too_long}");
        assert_eq!(entry.rows(), [r#"{"id":2,"body":"after"}"#]);
        assert!(entry.messages()[0].starts_with("table chat: row 1: "));
    }
}

#[test]
fn the_rows_of_a_database_are_bounded_together() {
    let bytes = database(&format!(
        "CREATE TABLE chat (id INTEGER PRIMARY KEY, body); {SERIES} INSERT INTO chat SELECT n, 'some text' FROM series;"
    ));
    let entry = read_chat(&bytes, &Limits::default());
    let length: u64 = entry.frames.iter().map(|row| row.len() as u64).sum();
    let limits = |decompressed_floor| Limits {
        decompressed_floor,
        decompressed_ratio: 0,
        ..Limits::default()
    };
    assert_eq!(read_chat(&bytes, &limits(length)).codes(), [""; 0]);
    let less = read_chat(&bytes, &limits(length - 1));
    assert_eq!(less.codes(), ["decompression-limit"]);
    assert_eq!(less.frames.len() + 1, entry.frames.len());
}

fn input(path: &Path) -> Input {
    Input::named(path, "chat.db", "chat.db", InputKind::File, 0)
}

#[test]
fn a_journal_beside_the_database_is_noted_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat ?#%.db");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute_batch(CHAT).unwrap();
    writer.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    let read = || {
        let mut reader =
            Reader::open(&input(&path), &Limits::default()).with_tables(vec![map("chat")].into());
        let entry = read_all(&mut reader).remove(0);
        assert_eq!(
            reader.raw_hash(&mut |_| true).unwrap(),
            content_hash(&path, &mut |_| true).unwrap().map(|(_, hash)| hash)
        );
        entry
    };
    let before = read();
    assert_eq!(before.codes(), [""; 0]);
    writer
        .execute("INSERT INTO chat VALUES (3, 'three')", [])
        .unwrap();
    let names = || -> Vec<_> {
        let mut files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| {
                (
                    file.as_ref().unwrap().file_name(),
                    file.unwrap().metadata().unwrap().len(),
                )
            })
            .collect();
        files.sort();
        files
    };
    let files = names();
    let after = read();
    assert_eq!(after.codes(), ["(unread-journal)"]);
    assert_eq!(after.frames, before.frames);
    assert_eq!(names(), files, "nothing is written beside a database");
}

#[test]
fn journals_of_a_database_are_no_inputs() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "chat.db",
        "chat.db-wal",
        "chat.db-shm",
        "chat.db-journal",
        "other-wal",
        "text",
        "text-wal",
    ] {
        let bytes = if name == "chat.db" {
            database(CHAT)
        } else {
            b"{}".to_vec()
        };
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let names = |pattern: &str| -> Vec<String> {
        let inputs = discover(pattern, folder.path()).unwrap();
        inputs.iter().map(|input| input.name().into_owned()).collect()
    };
    let own = ["chat.db", "other-wal", "text", "text-wal"];
    assert_eq!(names("."), own);
    assert_eq!(names("*"), own);
    assert_eq!(
        names("chat.db-*"),
        ["chat.db-journal", "chat.db-shm", "chat.db-wal"],
        "they were named"
    );
}

#[test]
fn a_database_that_is_locked_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.db");
    std::fs::write(&path, database(CHAT)).unwrap();
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut reader = Reader::open(&input(&path), &Limits::default()).with_tables(vec![map("chat")].into());
    assert_eq!(read_all(&mut reader)[0].frames.len(), 2);
    writer.execute_batch("ROLLBACK").unwrap();
}

/// Reads a database as a stream.
fn read_stream(bytes: &[u8], limits: &Limits) -> Vec<Entry> {
    read_tables(bytes, limits, map("chat"))
}

#[test]
fn a_database_in_a_container_is_the_same_database() {
    let bytes = database(CHAT);
    let own = read_chat(&bytes, &Limits::default());
    let limits = Limits::default();
    for (entries, name) in [
        (read_stream(&bytes, &limits), ""),
        (read_stream(&gzip(&bytes), &limits), ""),
        (read_stream(&tar(&[("a.db", &bytes)]), &limits), "a.db"),
        (
            read_with(
                &zip(CompressionMethod::DEFLATE, &[("a.db", &bytes)]),
                &limits,
                vec![map("chat")],
            ),
            "a.db",
        ),
        (
            read_with(
                &zip(CompressionMethod::STORE, &[("a.db.gz", &gzip(&bytes))]),
                &limits,
                vec![map("chat")],
            ),
            "a.db.gz",
        ),
    ] {
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].name, name);
        assert_eq!(
            (&entries[0].events, &entries[0].frames),
            (&own.events, &own.frames),
            "{name}"
        );
    }
}

#[test]
fn the_copy_of_a_database_is_bounded() {
    let bytes = database(CHAT);
    let limits = |spool| Limits {
        spool,
        ..Limits::default()
    };
    let length = bytes.len() as u64;
    assert_eq!(read_stream(&gzip(&bytes), &limits(length))[0].frames.len(), 2);
    let entries = read_stream(&gzip(&bytes), &limits(length - 1));
    assert_eq!(entries[0].codes(), ["decompression-limit"]);
    assert_eq!(
        read_chat(&bytes, &limits(0)).frames.len(),
        2,
        "a file is not copied"
    );
}

#[test]
fn a_cut_compressed_database_is_a_framing_error() {
    let packed = gzip(&database(CHAT));
    let entries = read_stream(&packed[..packed.len() / 2], &Limits::default());
    assert_eq!(entries[0].codes(), ["truncated-stream"]);
}

/// A database of several pages.
fn large() -> Vec<u8> {
    database(&format!(
        "CREATE TABLE chat (id INTEGER PRIMARY KEY, body); {SERIES}
         INSERT INTO chat SELECT n, printf('message number %d %.*c', n, 50, 'x') FROM series;
         CREATE TABLE others (x); INSERT INTO others SELECT body FROM chat;"
    ))
}

#[test]
fn a_cut_database_gives_the_rows_before_the_cut_and_a_framing_error() {
    let bytes = large();
    let whole = read_chat(&bytes, &Limits::default());
    assert_eq!((whole.frames.len(), whole.codes()), (1601, Vec::new()));
    let cut = read_chat(&bytes[..bytes.len() / 4], &Limits::default());
    assert!((100..1601).contains(&cut.frames.len()), "{:?}", cut.messages());
    assert!(
        cut.codes().contains(&"corrupt-stream".to_owned()),
        "{:?}",
        cut.codes()
    );
    assert!(
        cut.frames == whole.frames[..cut.frames.len()],
        "{:?}",
        cut.rows().last()
    );
    for length in [16, 99, 100, 512, 4095] {
        let codes = read_chat(&bytes[..length], &Limits::default()).codes();
        assert!(
            codes
                .iter()
                .any(|code| ["corrupt-stream", "truncated-stream"].contains(&code.as_str())),
            "{length}: {codes:?}"
        );
    }
}

#[test]
fn a_refused_database_is_one_framing_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = open(folder.path(), &database(CHAT), &Limits::default());
    let mut buffer = Vec::new();
    assert!(matches!(reader.next(&mut buffer), Some(Event::EntryStart { .. })));
    reader.refuse_entry(
        &chatmill_diag::codes::UNKNOWN_FORMAT,
        "nobody reads it".to_owned(),
        None,
    );
    assert!(
        matches!(reader.next(&mut buffer), Some(Event::FramingError(error)) if error.code.name == "unknown-format")
    );
    assert!(matches!(
        reader.next(&mut buffer),
        Some(Event::EntryEnd { decoded_bytes: 0 })
    ));
    assert_eq!(reader.next(&mut buffer), None);
}

proptest! {
    #![proptest_config(chatmill_drawn::law(6))]

    /// Whatever the bytes of a database are, reading ends, and two readings end in the same way.
    #[test]
    fn a_corrupt_database_is_read_to_an_end(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        near_start in any::<bool>(),
        without_numbers in any::<bool>(),
    ) {
        let mut bytes = if without_numbers {
            database(&format!(
                "PRAGMA page_size = 512; CREATE TABLE chat (n, body, PRIMARY KEY (n, body)) WITHOUT ROWID;
                 {SERIES} INSERT INTO chat SELECT n % 5, n || 'text' FROM series;"
            ))
        } else {
            large()
        };
        let range = if near_start { 8192 } else { bytes.len() };
        for (at, byte) in flips {
            // The magic bytes are not changed, because the file would not be a database without them.
            let at = 16 + at.index(range - 16);
            bytes[at] ^= byte;
        }
        let limits = Limits { decompressed_floor: 512 * KIB, decompressed_ratio: 2, ..Limits::default() };
        let first = read_chat(&bytes, &limits);
        prop_assert_eq!(&first, &read_chat(&bytes, &limits));
    }
}

#[test]
fn reading_a_database_reports_progress() {
    let bytes = database(
        "CREATE TABLE chat (id INTEGER PRIMARY KEY, body);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO chat SELECT i, 'what was said, ' || i FROM n;",
    );
    let folder = tempfile::tempdir().unwrap();
    let mut reader = open(folder.path(), &bytes, &Limits::default()).with_tables(vec![map("chat")].into());
    let (mut buffer, mut counted) = (Vec::new(), Vec::new());
    while reader.next(&mut buffer).is_some() {
        counted.push(reader.raw_bytes_read());
    }
    let length = bytes.len() as u64;
    assert!(counted.is_sorted());
    assert!(counted[counted.len() / 2] > length / 3);
    assert!(counted.last().is_some_and(|last| *last <= length));
}
