use std::sync::Arc;

use arrow_array::builder::{
    Int64Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder, StructBuilder,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray, Float64Array, Int64Array,
    NullArray, RecordBatch, StringArray, TimestampMicrosecondArray, types::Int32Type,
};
use arrow_schema::extension::Json;
use arrow_schema::{DataType, Field, Fields, Schema};
use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::event::{Event, Framing};
use crate::reader::testing::{Entry, gzip, open, read_file, read_one, zip};

/// Conversations as data set hubs have them: a list of structs, with nulls in columns and in fields.
fn conversations(ids: &[i64]) -> RecordBatch {
    let fields = Fields::from(vec![
        Field::new("role", DataType::Utf8, true),
        Field::new("content", DataType::Utf8, true),
        Field::new("state", DataType::Utf8, true),
    ]);
    let mut lists = ListBuilder::new(StructBuilder::from_fields(fields, 4));
    for id in ids {
        for (role, content) in [
            ("user", format!("Say {id}.")),
            ("assistant", format!("{id} \"é\"\n")),
        ] {
            let turn = lists.values();
            turn.field_builder::<StringBuilder>(0).unwrap().append_value(role);
            turn.field_builder::<StringBuilder>(1)
                .unwrap()
                .append_value(content);
            turn.field_builder::<StringBuilder>(2).unwrap().append_null();
            turn.append(true);
        }
        lists.append(true);
    }
    let titles = ids.iter().map(|id| (id % 2 == 0).then_some("even"));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(ids.to_vec()))),
        ("title", Arc::new(titles.collect::<StringArray>())),
        ("conversation", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// A Parquet file with one row group per batch.
fn parquet(batches: &[RecordBatch], codec: Compression) -> Vec<u8> {
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Entry {
    let mut entries = read_file(bytes, &Limits::default());
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

const FIRST: &str = r#"{"id":1,"conversation":[{"role":"user","content":"Say 1."},{"role":"assistant","content":"1 \"é\"\n"}]}"#;
const SECOND: &str = r#"{"id":2,"title":"even","conversation":[{"role":"user","content":"Say 2."},{"role":"assistant","content":"2 \"é\"\n"}]}"#;

#[test]
fn rows_are_objects_without_the_nulls_of_columns_in_every_form() {
    let batches = [conversations(&[1]), conversations(&[2])];
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::try_new(3).unwrap()),
        Compression::GZIP(GzipLevel::try_new(6).unwrap()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let files = codecs.map(|codec| parquet(&batches, codec));
    for bytes in files.into_iter().chain([stream(&batches), file(&batches)]) {
        for entry in [
            read(&bytes),
            read_one(&bytes, &Limits::default()),
            read(&gzip(&bytes)),
        ] {
            assert_eq!(entry.messages(), [""; 0]);
            assert_eq!(entry.rows(), [FIRST, SECOND]);
            assert_eq!(entry.script(), "F0-0@1:1, F0-0@1:1");
            assert_eq!((entry.head.framing, entry.head.complete), (Framing::Lines, true));
            assert_eq!(entry.head.bytes, format!("{FIRST}\n{SECOND}\n").into_bytes());
        }
        let packed = zip(::zip::CompressionMethod::Deflated, &[("a.bin", &bytes)]);
        assert_eq!(read(&packed).rows(), [FIRST, SECOND]);
    }
}

#[test]
fn every_type_of_column_becomes_its_kind_of_value() {
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    words.append_value("a");
    words.append_null();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("yes", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("big", Arc::new(Int64Array::from(vec![9_007_199_254_740_993, -1]))),
        ("part", Arc::new(Float64Array::from(vec![0.1, f64::NAN]))),
        ("bytes", Arc::new(BinaryArray::from(vec![&b"text"[..], b"\xff"]))),
        (
            "when",
            Arc::new(TimestampMicrosecondArray::from(vec![0, 1_500_000]).with_timezone("UTC")),
        ),
        ("word", Arc::new(words.finish())),
    ];
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let expected = [
        r#"{"yes":true,"big":9007199254740993,"part":0.1,"bytes":"text","when":"1970-01-01T00:00:00Z","word":"a"}"#,
        r#"{"big":-1,"bytes":"/w==","when":"1970-01-01T00:00:01.500000Z"}"#,
    ];
    let batches = [batch];
    for bytes in [
        parquet(&batches, Compression::SNAPPY),
        stream(&batches),
        file(&batches),
    ] {
        assert_eq!(read(&bytes).rows(), expected);
    }
}

#[test]
fn text_of_a_json_column_is_the_value_that_it_spells() {
    let texts = ["[{\"role\":\"user\"}]", "{\"a\": 1} x", "\"a\"", "[\n1]"];
    let column = |name: &str, is_json: bool| {
        let field = Field::new(name, DataType::Utf8, true);
        if is_json {
            field.with_extension_type(Json::default())
        } else {
            field
        }
    };
    let schema = Schema::new(vec![column("json", true), column("text", false)]);
    let array: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let batches = [RecordBatch::try_new(Arc::new(schema), vec![Arc::clone(&array), array]).unwrap()];
    let quoted = texts.map(|text| serde_json::to_string(text).unwrap());
    // Text that is not JSON remains text, and so does JSON that is not on a single line.
    let values = [texts[0], &quoted[1], texts[2], &quoted[3]];
    let expected: Vec<String> = values
        .iter()
        .zip(&quoted)
        .map(|(json, text)| format!("{{\"json\":{json},\"text\":{text}}}"))
        .collect();
    for bytes in [
        parquet(&batches, Compression::UNCOMPRESSED),
        stream(&batches),
        file(&batches),
    ] {
        let entry = read(&bytes);
        assert_eq!(entry.messages(), [""; 0]);
        assert_eq!(entry.rows(), expected);
    }
}

#[test]
fn a_corrupt_row_group_loses_only_itself() {
    let batches = [conversations(&[1]), conversations(&[2]), conversations(&[3])];
    let bytes = parquet(&batches, Compression::UNCOMPRESSED);
    let content = b"Say 2.";
    let at = bytes
        .windows(content.len())
        .position(|found| found == content)
        .unwrap();
    let mut broken = bytes.clone();
    // The length in front of the text.
    broken[at - 4..at].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    let entry = read(&broken);
    assert_eq!(entry.rows().len(), 2);
    assert_eq!(entry.messages(), ["row group 2: its rows cannot be decoded"]);
}

#[test]
fn a_cut_file_is_one_framing_error_or_loses_its_end() {
    let batches = [conversations(&[1]), conversations(&[2])];
    let bytes = parquet(&batches, Compression::SNAPPY);
    for cut in [12, 100, bytes.len() / 2, bytes.len() - 1] {
        let entry = read(&bytes[..cut]);
        assert_eq!(entry.rows(), [""; 0], "{cut}");
        assert_eq!(
            entry.messages(),
            ["the Parquet file has no footer: it was cut off"]
        );
    }
    let bytes = stream(&batches);
    let entry = read(&bytes[..bytes.len() - 100]);
    assert_eq!(entry.rows(), [FIRST]);
    assert_eq!(
        entry.messages(),
        ["record batch 1: a message reaches beyond the end of the file"]
    );
}

#[test]
fn sizes_that_cannot_be_are_not_believed() {
    let mut bytes = parquet(&[conversations(&[1])], Compression::SNAPPY);
    let at = bytes.len() - 8;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(&bytes).messages(), ["the footer is longer than it can be"]);
    let mut bytes = stream(&[conversations(&[1])]);
    bytes[4..8].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    assert_eq!(
        read(&bytes).messages(),
        ["the file ends before the data that it lists"]
    );
}

#[test]
fn rows_beyond_the_compression_limit_end_the_file() {
    let word = "x".repeat(64 * 1024);
    let column: ArrayRef = Arc::new(StringArray::from(vec![word.as_str(); 4096]));
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    let bytes = parquet(&[batch], Compression::SNAPPY);
    assert!((bytes.len() as u64) < MIB);
    let limits = Limits {
        decompressed_floor: 16 * MIB,
        ..Limits::default()
    };
    let mut entries = read_file(&bytes, &limits);
    let entry = entries.remove(0);
    assert!(entry.rows().len() < 4096);
    let expected = "the rows are longer than the limits for compressed data allow";
    assert_eq!(entry.messages(), [expected]);
}

const UNFOLDED: &str =
    "the columns unfold to more values than limits.unfolded_floor and limits.unfolded_ratio allow";

/// Limits that allow this many values, whatever the length of the file.
fn values(unfolded_floor: u64) -> Limits {
    Limits {
        unfolded_floor,
        unfolded_ratio: 0,
        ..Limits::default()
    }
}

#[test]
fn columns_unfold_to_as_many_values_as_the_limit_allows() {
    let batches = [conversations(&[1]), conversations(&[2])];
    // The row, its fields, two messages, two fields of each, and a title in the second row.
    let (first, both) = (9, 19);
    for bytes in [
        parquet(&batches, Compression::SNAPPY),
        stream(&batches),
        file(&batches),
    ] {
        let read = |floor| read_file(&bytes, &values(floor)).remove(0);
        assert_eq!((read(both).rows().len(), read(both).messages().len()), (2, 0));
        for floor in [first, both - 1] {
            let entry = read(floor);
            assert_eq!(
                (entry.rows(), entry.codes()),
                (vec![FIRST], vec!["decompression-limit".to_owned()])
            );
            assert!(entry.messages()[0].ends_with(UNFOLDED));
        }
        assert_eq!(read(first - 1).rows(), [""; 0]);
        let by_ratio = Limits {
            unfolded_ratio: 1,
            ..values(0)
        };
        assert_eq!(read_file(&bytes, &by_ratio)[0].rows().len(), 2);
    }
    // The limit applies to the input, whatever the number of its files.
    let bytes = stream(&[conversations(&[1])]);
    let packed = zip(
        ::zip::CompressionMethod::Deflated,
        &[("a", &bytes), ("b", &bytes)],
    );
    let rows = |floor| -> Vec<usize> {
        let entries = read_file(&packed, &values(floor));
        entries.iter().map(|entry| entry.rows().len()).collect()
    };
    assert_eq!((rows(2 * first), rows(2 * first - 1)), (vec![1, 1], vec![1, 0]));
}

/// Without the limit, each row was gigabytes before its length was checked.
#[test]
fn a_row_that_repeats_a_few_bytes_ends_at_the_limit() {
    let nothing = NullArray::new(1 << 30);
    let field = Arc::new(Field::new_list_field(DataType::Null, true));
    let list = FixedSizeListArray::new(field, 1 << 30, Arc::new(nothing), None);
    let nulls = RecordBatch::try_from_iter([("messages", Arc::new(list) as ArrayRef)]).unwrap();
    let bytes = stream(&[nulls]);
    assert!(bytes.len() < 1_000);
    assert_eq!(read(&bytes).messages(), [UNFOLDED]);

    let (text, times) = ("x".repeat(1 << 14), 1_024);
    let mut shared = ListBuilder::new(StringDictionaryBuilder::<Int32Type>::new());
    let mut alike = ListBuilder::new(StringBuilder::new());
    for _ in 0..times {
        shared.values().append_value(&text);
        alike.values().append_value(&text);
    }
    shared.append(true);
    alike.append(true);
    let batch = |list: ArrayRef| [RecordBatch::try_from_iter([("texts", list)]).unwrap()];
    for bytes in [
        stream(&batch(Arc::new(shared.finish()))),
        parquet(&batch(Arc::new(alike.finish())), Compression::SNAPPY),
    ] {
        assert!(bytes.len() < 200_000);
        let limits = Limits {
            record: MIB,
            ..Limits::default()
        };
        let entry = read_file(&bytes, &limits).remove(0);
        assert_eq!(entry.codes(), ["record-too-long"]);
        assert_eq!(
            entry.messages(),
            ["the row has more bytes than the limit, 1048576"]
        );
    }
}

#[test]
fn a_page_of_too_many_repeats_is_not_decoded() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7; 1_000]));
    let rows = parquet(
        &[RecordBatch::try_from_iter([("a", numbers)]).unwrap()],
        Compression::SNAPPY,
    );
    let refused = format!("row group 1: {UNFOLDED}");
    assert_eq!(read_file(&rows, &values(999))[0].messages(), [refused.as_str()]);
    assert_eq!(read_file(&rows, &values(2_000))[0].rows().len(), 1_000);

    let ids = FixedSizeBinaryArray::try_from_iter(vec![[b'x'; 100]; 1_000].into_iter()).unwrap();
    let ids = parquet(
        &[RecordBatch::try_from_iter([("id", Arc::new(ids) as ArrayRef)]).unwrap()],
        Compression::SNAPPY,
    );
    let limits = Limits {
        decompressed_floor: 99_999,
        decompressed_ratio: 0,
        ..Limits::default()
    };
    let entry = read_file(&ids, &limits).remove(0);
    assert_eq!(
        entry.messages(),
        ["row group 1: the rows are longer than the limits for compressed data allow"]
    );
}

#[test]
fn maps_with_names_are_objects() {
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    map.keys().append_value("one");
    map.values().append_value(1);
    map.keys().append_value("none");
    map.values().append_null();
    map.append(true).unwrap();
    let batch = RecordBatch::try_from_iter([("map", Arc::new(map.finish()) as ArrayRef)]).unwrap();
    let batches = [batch];
    for bytes in [parquet(&batches, Compression::SNAPPY), stream(&batches)] {
        assert_eq!(read(&bytes).rows(), [r#"{"map":{"one":1}}"#]);
    }
}

#[test]
fn reading_ends_with_any_corrupt_byte() {
    // A panic of a decoder is caught; printing it would take longer than everything else.
    std::panic::set_hook(Box::new(|_| {}));
    let batches = [conversations(&[1]), conversations(&[2])];
    let files = [
        parquet(&batches, Compression::SNAPPY),
        parquet(&batches, Compression::ZSTD(ZstdLevel::default())),
        stream(&batches),
        file(&batches),
    ];
    for bytes in files {
        for at in chatmill_drawn::some_of(8..bytes.len(), 60) {
            for wrong in [0xff, 0x7f, 0x80] {
                let mut broken = bytes.clone();
                broken[at] ^= wrong;
                // Either a row is read or there is an error; both are fine, and neither is a panic.
                let entries = read_file(&broken, &Limits::default());
                assert_eq!(entries.len(), 1, "{at}");
            }
        }
    }
}

/// Without the check, the decoder was called again and again, and returned errors until memory was exhausted.
#[test]
fn a_row_group_whose_decoder_panics_is_not_read_again() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut broken = parquet(&[conversations(&[1]), conversations(&[2])], Compression::SNAPPY);
    // The length of the levels of the first page.
    broken[51] ^= 0xff;
    let entries = read_file(&broken, &Limits::default());
    assert_eq!(entries[0].codes(), ["corrupt-stream"]);
    assert_eq!(entries[0].frames.len(), 1, "the other row group is read");
}

/// The number of bytes that were counted as read after each frame, and the length of the file.
fn counted(bytes: &[u8]) -> (Vec<u64>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = open(folder.path(), bytes, &Limits::default());
    let mut counted = Vec::new();
    let mut buffer = Vec::new();
    while let Some(event) = reader.next(&mut buffer) {
        if matches!(event, Event::Frame(_)) {
            counted.push(reader.raw_bytes_read());
        }
    }
    (counted, bytes.len() as u64)
}

#[test]
fn reading_a_file_reports_progress() {
    let ids: Vec<i64> = (0..2_000).collect();
    let batches = [conversations(&ids), conversations(&ids)];
    let stored = gzip(&parquet(&batches, Compression::UNCOMPRESSED));
    for bytes in [
        parquet(&batches, Compression::SNAPPY),
        stream(&batches),
        file(&batches),
        stored,
    ] {
        let (counted, length) = counted(&bytes);
        assert_eq!(counted.len(), 4_000);
        assert!(counted.is_sorted());
        let (middle, last) = (counted[2_500], counted[3_999]);
        assert!(middle > length / 3, "{middle} of {length}");
        assert!((length * 9 / 10..=length).contains(&last), "{last} of {length}");
    }
}
