//! Limits on unpacking an input: compressions, archives, databases.

use std::io::{Cursor, Write as _};

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use chatmill_workshop::rows;
use parquet::arrow::ArrowWriter;

use super::{lines, mill, plain};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Runs a gzip of 40 records at and beyond a limit; the records before the end must remain.
fn decompression(at: &str, beyond: &str, unpacked: &[u8], packed: &[u8]) {
    let files: [(&str, &[u8]); 2] = [("x.jsonl.gz", packed), ("z.json", &plain("z").into_bytes())];
    let allowed = mill(&files, at);
    assert_eq!(
        (allowed.found("decompression-limit"), allowed.rejected()),
        (0, 0),
        "{at}"
    );
    assert_eq!(allowed.ids().len(), 41);
    let cut = mill(&files, beyond);
    assert_eq!(
        (cut.found("decompression-limit"), cut.rejected()),
        (1, 1),
        "{beyond}"
    );
    let ids = cut.ids();
    assert!(
        ids.len() > 1 && ids.len() < 41 && ids.contains(&"z".to_owned()),
        "{ids:?}"
    );
    let end = rows::numbers(&cut.shop.path("out"), "rejects", "byte_end")[0].unwrap() as usize;
    assert!(end < unpacked.len(), "{end} of {}", unpacked.len());
}

#[test]
fn three_limits_bound_the_unpacked_size_of_an_input() {
    let unpacked = lines(
        &(0..40)
            .map(|number| plain(&format!("c{number}")))
            .collect::<Vec<_>>(),
    );
    let packed = gzip(&unpacked);
    let (long, short) = (unpacked.len(), packed.len());
    assert!(long > 4 * short, "the sample must be worth packing");
    // The floor decides as long as the ratio allows less.
    let floor = |bytes| format!("decompressed_floor = {bytes}\ndecompressed_ratio = 1");
    decompression(&floor(long), &floor(long - 1), &unpacked, &packed);
    // The ratio decides above the floor.
    let ratio = |times| format!("decompressed_floor = 1\ndecompressed_ratio = {times}");
    decompression(
        &ratio(long.div_ceil(short)),
        &ratio((long - 1) / short),
        &unpacked,
        &packed,
    );
    // The ceiling overrides both.
    let ceiling = |bytes| format!("decompressed_ceiling = {bytes}");
    decompression(&ceiling(long), &ceiling(long - 1), &unpacked, &packed);
}

/// A columnar file with `rows` equal rows of a question and an answer.
fn columns(rows: usize) -> Vec<u8> {
    let column = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text; rows])) };
    let columns = [("prompt", column("Open?")), ("completion", column("Until noon."))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn unfolded_floor_and_unfolded_ratio_bound_the_values_of_columns() {
    let packed = columns(40);
    let files: [(&str, &[u8]); 2] = [("x.parquet", &packed), ("z.json", &plain("z").into_bytes())];
    // Each row and its two columns count.
    let values = 120;
    assert!(packed.len() > values);
    let limits = |floor, ratio| format!("unfolded_floor = {floor}\nunfolded_ratio = {ratio}");
    for (at, beyond) in [
        (limits(values, 0), limits(values - 1, 0)),
        (limits(60, 1), limits(60, 0)),
    ] {
        let at = mill(&files, &at);
        assert_eq!((at.found("decompression-limit"), at.rejected()), (0, 0));
        assert_eq!(at.ids().len(), 41);
        let beyond = mill(&files, &beyond);
        assert_eq!((beyond.found("decompression-limit"), beyond.rejected()), (1, 1));
        let ids = beyond.ids().len();
        assert!((20..41).contains(&ids), "rows before the limit stay: {ids}");
    }
}

#[test]
fn zstd_window_log_bounds_the_window_of_a_stream() {
    let text = lines(
        // White space makes the text longer than the window without adding to any count.
        &(0..300)
            .map(|number| plain(&format!("c{number}")) + &" ".repeat(4_000))
            .collect::<Vec<_>>(),
    );
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(20).unwrap();
    encoder.write_all(&text).unwrap();
    let packed = encoder.finish().unwrap();
    let files: [(&str, &[u8]); 2] = [("x.jsonl.zst", &packed), ("z.json", &plain("z").into_bytes())];
    let at = mill(&files, "zstd_window_log = 20");
    assert_eq!((at.found("decompression-limit"), at.rejected()), (0, 0));
    assert!(text.len() > 1 << 20);
    assert_eq!(at.ids().len(), 301);
    let beyond = mill(&files, "zstd_window_log = 19");
    assert_eq!((beyond.found("decompression-limit"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["z"]);
}

#[test]
fn archive_entries_bounds_the_entries_of_zip_and_tar() {
    let names = ["a.json", "b.json", "c.json"];
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut tar = tar::Builder::new(Vec::new());
    for name in names {
        let text = plain(name);
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    let zip = zip.finish().unwrap().into_inner();
    let tar = tar.into_inner().unwrap();
    for (archive, bytes) in [("x.zip", zip), ("x.tar", tar)] {
        let files: [(&str, &[u8]); 2] = [(archive, &bytes), ("z.json", &plain("z").into_bytes())];
        let at = mill(&files, "archive_entries = 3");
        assert_eq!((at.found("entry-limit"), at.rejected()), (0, 0), "{archive}");
        let beyond = mill(&files, "archive_entries = 2");
        assert_eq!(
            (beyond.found("entry-limit"), beyond.rejected()),
            (1, 1),
            "{archive}"
        );
        assert_eq!(beyond.ids(), ["a.json", "b.json", "z"], "{archive}");
    }
}

#[test]
fn members_bounds_the_streams_of_a_bzip2_file() {
    // A stream without content, like that of `bzip2 -c /dev/null`.
    let empty = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
    let neighbour = plain("z").into_bytes();
    let found = |streams: usize, members: usize| {
        let files: [(&str, &[u8]); 2] = [("x.bz2", &empty.repeat(streams)), ("z.json", &neighbour)];
        let milled = mill(&files, &format!("members = {members}"));
        assert_eq!(milled.ids(), ["z"]);
        (milled.found("decompression-limit"), milled.rejected())
    };
    assert_eq!(found(40, 40), (0, 0));
    assert_eq!(found(41, 40), (1, 1));
    assert_eq!(found(1, 0), (0, 0));
    assert_eq!(found(2, 0), (1, 1), "28 bytes do not pay for another one");
}

#[test]
fn spool_bounds_the_copy_of_a_database() {
    let database = std::fs::read(chatmill_testkit::samples::samples().join("dumps/chat.db")).unwrap();
    let files: [(&str, &[u8]); 2] = [
        ("x.db.gz", &gzip(&database)),
        ("z.json", &plain("z").into_bytes()),
    ];
    let at = mill(&files, &format!("spool = {}", database.len()));
    assert_eq!(at.found("decompression-limit"), 0);
    let beyond = mill(&files, &format!("spool = {}", database.len() - 1));
    assert_eq!((beyond.found("decompression-limit"), beyond.rejected()), (1, 1));
    assert_eq!(beyond.ids(), ["z"]);
}
