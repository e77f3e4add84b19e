//! Dumps of `pg_dump` in all formats: samples that PostgreSQL wrote, and folders, packed and hostile dumps made from them.

mod folders;
mod hostile;
mod packed;
mod samples;

use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;

use super::contents::Contents;
use crate::reader::testing::{Entry, map, read_tables};
use crate::stream::Buffered;

/// The path of a dump in the repository.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../data-samples/dumps")
        .join(name)
}

/// The bytes of a dump in the repository.
fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Reads a dump with a map for `public.messages`.
fn read(bytes: &[u8]) -> Vec<Entry> {
    read_tables(bytes, &Limits::default(), map("public.messages"))
}

/// The rows of all entries.
fn rows(entries: &[Entry]) -> Vec<&str> {
    entries.iter().flat_map(Entry::rows).collect()
}

/// The codes of all entries.
fn codes(entries: &[Entry]) -> Vec<String> {
    entries.iter().flat_map(Entry::codes).collect()
}

/// The names of the entries.
fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

/// Splits a dump after its table of contents.
fn split(dump: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = Buffered::new(Box::new(Cursor::new(dump.to_vec())));
    Contents::read(&mut bytes, &Limits::default()).unwrap();
    let mut blocks = Vec::new();
    bytes.read_to_end(&mut blocks).unwrap();
    (dump[..dump.len() - blocks.len()].to_vec(), blocks)
}

/// Replaces the only occurrence of `from` by `to`.
fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let places: Vec<usize> = (0..=bytes.len() - from.len())
        .filter(|at| bytes[*at..].starts_with(from))
        .collect();
    assert_eq!(places.len(), 1, "{}", String::from_utf8_lossy(from));
    [&bytes[..places[0]], to, &bytes[places[0] + from.len()..]].concat()
}
