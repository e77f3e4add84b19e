//! Helpers for tests of reading: readers with chunks of any size, archives that are built in memory, and a log that
//! verifies itself.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;

use super::Reader;
use crate::discover::{Input, InputKind};
use crate::event::{Event, Form, Framing, Head};
use crate::table::TableMap;
use crate::table::sql::Dialect;

/// All events of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) head: Head,
    pub(crate) events: Vec<Event>,
    /// The bytes of each frame, in order.
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) decoded: u64,
}

impl Entry {
    /// The codes of framing errors and notes, in order; notes in brackets.
    pub(crate) fn codes(&self) -> Vec<String> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::FramingError(error) => Some(error.code.name.to_owned()),
                Event::Note(note) => Some(format!("({})", note.code.name)),
                _ => None,
            })
            .collect()
    }

    /// The frames as text.
    pub(crate) fn rows(&self) -> Vec<&str> {
        self.frames
            .iter()
            .map(|row| std::str::from_utf8(row).unwrap())
            .collect()
    }

    /// The messages of the framing errors.
    pub(crate) fn messages(&self) -> Vec<&str> {
        let framing_errors = self.events.iter().filter_map(|event| match event {
            Event::FramingError(error) => Some(error.message.as_str()),
            _ => None,
        });
        framing_errors.collect()
    }

    /// The outcome of an entry as the cases have it: the events in short, the rows, and the messages of the framing errors.
    pub(crate) fn outcome(&self) -> String {
        let script = self.script();
        [vec![script.as_str()], self.rows(), self.messages()]
            .concat()
            .join("\n")
    }

    /// The events in short: `F` frame and `D` corruption with their byte range and place, `S` separator, `N` note, `T`
    /// table, `K` skipped rows.
    pub(crate) fn script(&self) -> String {
        let steps: Vec<String> = self
            .events
            .iter()
            .map(|event| match event {
                Event::Separator { bytes } => format!("S{bytes}"),
                Event::Frame(frame) => {
                    format!("F{}-{}@{}:{}", frame.start, frame.end, frame.line, frame.column)
                }
                Event::FramingError(error) => {
                    let (start, end) = (error.start, error.end);
                    format!(
                        "D{start}-{end}@{}:{} {}",
                        error.line, error.column, error.code.name
                    )
                }
                Event::Note(note) => format!("N {}", note.code.name),
                Event::Table { name, source, .. } => format!("T {name} {source}"),
                Event::Skipped {
                    table, rows, bytes, ..
                } => format!("K{rows} {table} {bytes}"),
                Event::SkippedEntry { kind, bytes } => format!("P{bytes} {kind}"),
                other => panic!("{other:?} inside an entry"),
            })
            .collect();
        steps.join(", ")
    }
}

/// Reads to the end and checks the invariants of every input: events nest, record numbers increase by one, and frames,
/// framing errors and separators tile each entry.
pub(crate) fn read_all(reader: &mut Reader) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut inside = false;
    let (mut at, mut record) = (0, 0);
    // Frames are appended after the caller's existing bytes.
    let mut buffer = b"before".to_vec();
    while let Some(event) = reader.next(&mut buffer) {
        match &event {
            Event::EntryStart { entry, head } => {
                assert!(!inside, "entries nest");
                (inside, at, record) = (true, 0, 0);
                entries.push(Entry {
                    name: entry.clone(),
                    head: head.clone(),
                    events: Vec::new(),
                    frames: Vec::new(),
                    decoded: 0,
                });
                continue;
            }
            Event::EntryEnd { decoded_bytes } => {
                assert!(inside, "an entry ends twice");
                assert_eq!(*decoded_bytes, at, "the events tile the entry");
                inside = false;
                entries.last_mut().unwrap().decoded = at;
                continue;
            }
            Event::Failed(failure) => panic!("{failure}"),
            _ => assert!(inside, "{event:?} outside an entry"),
        }
        let entry = entries.last_mut().unwrap();
        match &event {
            Event::Separator { bytes } => {
                assert!(*bytes > 0 && !matches!(entry.events.last(), Some(Event::Separator { .. })));
                at += bytes;
            }
            Event::Frame(frame) => {
                assert_eq!((frame.start, frame.record), (at, record), "no gap, no overlap");
                assert_eq!(frame.buffer.end, buffer.len());
                if frame.form == Form::Original {
                    assert_eq!(frame.buffer.len() as u64, frame.end - frame.start);
                }
                assert!(
                    !frame.buffer.is_empty() && (frame.end > frame.start || frame.form != Form::Original)
                );
                entry.frames.push(buffer[frame.buffer.clone()].to_vec());
                (at, record) = (frame.end, record + 1);
            }
            Event::Skipped { bytes, .. } | Event::SkippedEntry { bytes, .. } => at += bytes,
            Event::FramingError(error) => {
                assert_eq!((error.start, error.record), (at, record), "no gap, no overlap");
                assert!(error.head.len() as u64 <= error.end - error.start && error.hash.len() == 64);
                (at, record) = (error.end, record + 1);
            }
            _ => {}
        }
        entry.events.push(event);
    }
    assert!(!inside, "an entry does not end");
    assert_eq!(reader.next(&mut buffer), None, "the end stays the end");
    entries
}

/// Compares a file of `tests/cases` with the outcomes of its cases. A case has words, and a text that is written as
/// JSON strings, one per line. The first lines of a file explain its words and outcomes.
pub(crate) fn cases(name: &str, comes_of: impl Fn(&str, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/cases");
    let checked = chatmill_golden::check_cases(&folder.join(format!("{name}.txt")), |case| {
        let (words, _) = case.split_once('"').unwrap();
        let pieces = case.strip_prefix(words).unwrap().lines();
        let text: String = pieces
            .map(|piece| serde_json::from_str::<String>(piece).unwrap())
            .collect();
        let outcome = comes_of(words.trim(), &text);
        if outcome.is_empty() {
            "(nothing)".to_owned()
        } else {
            outcome
        }
    });
    checked.unwrap_or_else(|message| panic!("{message}"));
}

/// The dialect of SQL that a case names.
pub(crate) fn dialect(name: &str) -> Dialect {
    let known = [Dialect::PostgreSql, Dialect::MySql, Dialect::Sqlite];
    let named = known.into_iter().find(|dialect| format!("{dialect:?}") == name);
    named.unwrap_or_else(|| panic!("{name}"))
}

/// Limits that are small enough for tests to reach.
pub(crate) fn small() -> Limits {
    Limits {
        record: 64,
        document: 256,
        decompressed_floor: MIB,
        decompressed_ratio: 1,
        reject_head: 16,
        ..Limits::default()
    }
}

/// Reads bytes as if they were a file that is not a zip.
pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Vec<Entry> {
    let length = bytes.len() as u64;
    read_all(&mut Reader::of_stream(
        Box::new(Cursor::new(bytes.to_vec())),
        Some(length),
        limits,
    ))
}

/// The only entry in some bytes.
pub(crate) fn read_one(bytes: &[u8], limits: &Limits) -> Entry {
    let mut entries = read(bytes, limits);
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

/// Writes bytes to a file and opens it.
pub(crate) fn open(folder: &Path, bytes: &[u8], limits: &Limits) -> Reader {
    let path = folder.join("input");
    std::fs::write(&path, bytes).unwrap();
    let length = bytes.len() as u64;
    Reader::open(
        &Input::named(&path, "input", "input", InputKind::File, length),
        limits,
    )
}

/// Reads bytes through a file.
pub(crate) fn read_file(bytes: &[u8], limits: &Limits) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    read_all(&mut open(folder.path(), bytes, limits))
}

/// A map that reads a table with any columns.
pub(crate) fn map(table: &str) -> TableMap {
    TableMap {
        name: "test".to_owned(),
        source: "test-source".to_owned(),
        table: table.to_owned(),
        ..TableMap::default()
    }
}

/// Reads a stream with the tables of one map.
pub(crate) fn read_tables(bytes: &[u8], limits: &Limits, map: TableMap) -> Vec<Entry> {
    read_all(&mut table_reader(bytes, limits, map))
}

/// A reader of a stream with the tables of one map.
pub(crate) fn table_reader(bytes: &[u8], limits: &Limits, map: TableMap) -> Reader {
    let length = Some(bytes.len() as u64);
    let reader = Reader::of_stream(Box::new(Cursor::new(bytes.to_vec())), length, limits);
    reader.with_tables(vec![map].into())
}

/// A reader that returns at most this many bytes at once, in turn.
pub(crate) struct Drip {
    pub(crate) bytes: Cursor<Vec<u8>>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) turn: usize,
}

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(7) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let length = self.sizes[self.turn % self.sizes.len()].min(buffer.len());
        self.bytes.read(&mut buffer[..length])
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn lz4(bytes: &[u8]) -> Vec<u8> {
    let layout = lz4_flex::frame::FrameInfo::new()
        .block_size(lz4_flex::frame::BlockSize::Max64KB)
        .block_checksums(true)
        .content_checksum(true);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(layout, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A tar archive of regular files.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // The name is written raw, so that names that the library would refuse can be tested.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A zip archive of regular files.
pub(crate) fn zip(method: zip::CompressionMethod, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A function that compresses.
type Pack = fn(&[u8]) -> Vec<u8>;

/// Every codec by name.
pub(crate) const CODECS: [(&str, Pack); 5] = [
    ("gzip", gzip),
    ("zstd", zstd),
    ("bzip2", bzip2),
    ("xz", xz),
    ("lz4", lz4),
];

/// The framing of an entry.
pub(crate) fn framing(entry: &Entry) -> Framing {
    entry.head.framing
}
