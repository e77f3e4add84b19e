//! The reader: events nest, record numbers increase, and every decoded byte belongs to one frame, separator or damage.

use std::io::Write;
use std::sync::Arc;

use chatmill_diag::Limits;
use chatmill_diag::limits::{KIB, MIB};
use chatmill_intake::discover::{Input, InputKind};
use chatmill_intake::table::TableMap;
use chatmill_intake::{Event, Form, Framing, Reader, json};

/// Limits small enough that a bomb is cheap, and large enough that the corpus is read.
fn limits() -> Limits {
    Limits {
        record: 256 * KIB,
        document: MIB,
        decompressed_floor: MIB,
        decompressed_ratio: 50,
        decompressed_ceiling: 4 * MIB,
        zstd_window_log: 22,
        archive_entries: 64,
        reject_head: 32,
        ..Limits::default()
    }
}

/// Reads bytes twice, with the tables that these maps name.
pub(super) fn check(bytes: &[u8], maps: &Arc<[TableMap]>) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("the bytes can be written");
    let length = bytes.len() as u64;
    let input = Input::named(file.path(), "input", "input", InputKind::File, length);
    // A caller may refuse an entry; the bytes decide which one.
    let refused = bytes.len() % 5;
    let first = read(&input, bytes, refused, maps);
    assert!(
        first == read(&input, bytes, refused, maps),
        "two readings of the same bytes differ"
    );
    if refused < 2 {
        read(&input, bytes, usize::MAX, maps);
    }
}

fn read(input: &Input, bytes: &[u8], refused: usize, maps: &Arc<[TableMap]>) -> Vec<Event> {
    let limits = limits();
    let mut reader = Reader::open(input, &limits).with_tables(Arc::clone(maps));
    let mut is_tables = false;
    let mut events = Vec::new();
    let mut buffer = b"before".to_vec();
    let (mut inside, mut entries, mut at, mut record) = (false, 0, 0, 0);
    while let Some(event) = reader.next(&mut buffer) {
        match &event {
            Event::EntryStart { head, .. } => {
                assert!(!inside, "entries nest");
                assert!(head.bytes.len() as u64 <= MIB);
                let _sketch = head.sketch();
                is_tables = head.framing == Framing::Tables;
                if entries == refused {
                    reader.refuse_entry(
                        &chatmill_diag::codes::UNKNOWN_FORMAT,
                        "nobody reads it".to_owned(),
                        None,
                    );
                }
                entries += 1;
                (inside, at, record) = (true, 0, 0);
            }
            Event::EntryEnd { decoded_bytes } => {
                assert!(inside, "an entry ends twice");
                assert_eq!(*decoded_bytes, at, "the events tile the entry");
                inside = false;
            }
            Event::Separator { bytes } => {
                assert!(inside && *bytes > 0);
                at += bytes;
            }
            Event::Table { .. } => assert!(inside),
            Event::Skipped { bytes, .. } | Event::SkippedEntry { bytes, .. } => {
                assert!(inside);
                at += bytes;
            }
            Event::Frame(frame) => {
                assert!(inside && frame.line > 0 && frame.column > 0);
                let is_original = frame.form == Form::Original;
                assert!(frame.end > frame.start || !is_original);
                assert_eq!((frame.start, frame.record), (at, record), "no gap, no overlap");
                assert_eq!(frame.buffer.end, buffer.len());
                if is_original {
                    assert_eq!(frame.buffer.len() as u64, frame.end - frame.start);
                }
                assert!(frame.end - frame.start <= limits.document);
                if is_tables {
                    let row = json::scan(&buffer[frame.buffer.clone()], u32::MAX).expect("a row is JSON");
                    assert!(frame.form == Form::Row && row.root().kind() == json::Kind::Object);
                }
                (at, record) = (frame.end, record + 1);
            }
            Event::FramingError(framing_error) => {
                assert!(
                    inside && framing_error.end >= framing_error.start && !framing_error.message.is_empty()
                );
                assert_eq!(
                    (framing_error.start, framing_error.record),
                    (at, record),
                    "no gap, no overlap"
                );
                assert!(
                    framing_error.head.len() as u64
                        <= limits.reject_head.min(framing_error.end - framing_error.start)
                );
                assert_eq!(framing_error.hash.len(), 64);
                (at, record) = (framing_error.end, record + 1);
            }
            Event::Note(finding) => assert!(inside && !finding.message.is_empty()),
            Event::Failed(failure) => panic!("{failure}"),
        }
        events.push(event);
    }
    assert!(!inside, "an entry does not end");
    assert!(reader.next(&mut buffer).is_none(), "the end stays the end");
    assert!(entries > 0, "not even an empty entry");
    if let Some(hash) = reader
        .raw_hash(&mut |_| true)
        .expect("the file can be read again")
    {
        assert_eq!(hash, blake3::hash(bytes), "every stored byte was read");
    }
    events
}
