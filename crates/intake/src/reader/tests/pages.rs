//! The header of a database is compared with the length of its file: a wrong page size must always be reported.

use std::path::Path;

use chatmill_diag::Limits;
use rusqlite::Connection;

use crate::event::Event;
use crate::reader::testing::{Entry, map, open, read_all};

/// A small database with pages of `size` bytes.
fn database(size: u32) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = {size}; CREATE TABLE chat (id INTEGER PRIMARY KEY, body);
             INSERT INTO chat VALUES (1, 'one'), (2, 'two');
             CREATE TABLE others (x); INSERT INTO others VALUES (1), (2), (3);"
        ))
        .unwrap();
    connection.close().unwrap();
    std::fs::read(path).unwrap()
}

fn read(bytes: &[u8]) -> Entry {
    read_in(tempfile::tempdir().unwrap().path(), bytes)
}

fn read_in(folder: &Path, bytes: &[u8]) -> Entry {
    let maps = vec![map("chat")];
    let mut reader = open(folder, bytes, &Limits::default()).with_tables(maps.into());
    let mut entries = read_all(&mut reader);
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

/// Whether an entry has an error.
fn objects(entry: &Entry) -> bool {
    entry.events.iter().any(|event| match event {
        Event::FramingError(_) => true,
        Event::Note(note) => note.severity == chatmill_diag::Severity::Error,
        _ => false,
    })
}

#[test]
fn every_wrong_page_size_is_an_error() {
    let mut bytes = database(512);
    let folder = tempfile::tempdir().unwrap();
    let right = read(&bytes);
    assert_eq!((right.frames.len(), right.codes()), (2, Vec::new()));
    // The lengths around every power of two, and some in between.
    let powers = (0..=16).flat_map(|power| (1_usize << power) - 1..=(1 << power) + 1);
    let some = chatmill_drawn::some_of(0..1 << 16, 300);
    for size in powers.chain(some).filter_map(|size| u16::try_from(size).ok()) {
        bytes[16..18].copy_from_slice(&size.to_be_bytes());
        let entry = read_in(folder.path(), &bytes);
        assert!(objects(&entry) != (size == 512), "{size}: {:?}", entry.messages());
    }
}

#[test]
fn sizes_at_both_ends_are_read() {
    for size in [512, 65_536] {
        let bytes = database(size);
        let entry = read(&bytes);
        assert_eq!((entry.frames.len(), entry.codes()), (2, Vec::new()), "{size}");
    }
}

#[test]
fn without_a_page_count_in_the_header_the_length_decides() {
    let mut bytes = database(1024);
    // As in files of programs before SQLite 3.7: the number belongs to an older change.
    bytes[92..96].copy_from_slice(&[0, 0, 0, 99]);
    assert_eq!(read(&bytes).codes(), [""; 0]);
    bytes.extend([7; 100]);
    assert_eq!(read(&bytes).codes(), ["(truncated-stream)"]);
}

#[test]
fn a_file_longer_or_shorter_than_its_pages_is_corrupt_unless_zeros_follow() {
    let bytes = database(1024);
    let longer = |byte: u8| read(&[bytes.clone(), vec![byte; 1024]].concat());
    assert_eq!(longer(0).codes(), [""; 0]);
    assert_eq!(longer(7).codes(), ["(corrupt-stream)"]);
    assert_eq!(longer(7).frames.len(), 2);
    let shorter = read(&bytes[..bytes.len() - 1024]);
    assert!(
        shorter.codes().contains(&"(truncated-stream)".to_owned()),
        "{:?}",
        shorter.codes()
    );
    let cut = read(&bytes[..bytes.len() - 1]);
    assert!(
        cut.codes().contains(&"(truncated-stream)".to_owned()),
        "{:?}",
        cut.codes()
    );
}
