//! Every table is written and read back.

use std::fs::File;
use std::path::Path;

use crate::parquet::column::kind::signed;
use crate::rows::{MessageRow, RenderingRow};
use crate::tests::support::{number, options, push_full, push_sparse, work};
use crate::{Compression, DatasetError, PartFile, Partition, TABLES, TableOptions};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::extension::Json;
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::LogicalType;
use parquet::file::metadata::page_index::RowGroupPageIndex;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use tempfile::TempDir;

fn reader(path: &Path) -> ParquetRecordBatchReaderBuilder<File> {
    ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap()
}

fn read(path: &Path) -> RecordBatch {
    let mut batches: Vec<RecordBatch> = reader(path).build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1, "{}", path.display());
    batches.remove(0)
}

/// The footer with the page index.
fn footer(path: &Path) -> ParquetMetaData {
    ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .parse_and_finish(&File::open(path).unwrap())
        .unwrap()
}

/// Writes slice 0 into a new folder and returns the folder and the files.
fn written(fill: impl FnOnce(&mut crate::PartSet), options: &TableOptions) -> (TempDir, Vec<PartFile>) {
    let folder = TempDir::new().unwrap();
    let staging = work(&folder.path().join("out"), "f");
    let mut parts = staging.parts(0, options).unwrap();
    fill(&mut parts);
    let files = parts.close().unwrap();
    (folder, files)
}

fn path_of(folder: &TempDir, file: &PartFile) -> std::path::PathBuf {
    folder.path().join(".out.staging/f/data").join(&file.path)
}

#[test]
fn every_column_of_every_table_holds_its_own_field() {
    let (folder, files) = written(
        |parts| {
            push_full(parts);
            push_sparse(parts);
        },
        &options(),
    );
    let tables: Vec<&str> = files.iter().map(|file| file.table.as_str()).collect();
    assert_eq!(tables, TABLES);
    for file in &files {
        assert_eq!(file.rows, 2);
        let batch = read(&path_of(&folder, file));
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            expect_own_name(field, column, 0);
            expect_nothing(field, column, 1);
        }
    }
}

fn expect_own_name(field: &Field, column: &ArrayRef, row: usize) {
    let name = field.name().as_str();
    assert!(column.is_valid(row), "{name}");
    match field.data_type() {
        DataType::Utf8 => assert_eq!(column.as_string::<i32>().value(row), name),
        DataType::Int64 => {
            assert_eq!(
                column.as_primitive::<Int64Type>().value(row),
                i64::from(number(name)),
                "{name}"
            );
        }
        DataType::Float64 => {
            let value = column.as_primitive::<Float64Type>().value(row);
            assert_eq!(value.to_bits(), f64::from(number(name)).to_bits(), "{name}");
        }
        DataType::Boolean => assert!(column.as_boolean().value(row), "{name}"),
        DataType::Binary => assert_eq!(column.as_binary::<i32>().value(row), name.as_bytes()),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
            assert_eq!(&**zone, "UTC");
            let value = column.as_primitive::<TimestampMicrosecondType>().value(row);
            assert_eq!(value, i64::from(number(name)), "{name}");
        }
        DataType::List(element) if *element.data_type() == DataType::Utf8 => {
            let list = column.as_list::<i32>().value(row);
            let texts: Vec<&str> = list.as_string::<i32>().iter().flatten().collect();
            assert_eq!(texts, [name.to_owned(), format!("{name} again")]);
        }
        DataType::List(element) if *element.data_type() == DataType::Int32 => {
            let list = column.as_list::<i32>().value(row);
            let positions: Vec<u32> = list
                .as_primitive::<Int32Type>()
                .values()
                .iter()
                .map(|position| u32::try_from(*position).unwrap())
                .collect();
            assert_eq!(positions, [number(name), 0]);
        }
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            let cells = list.as_struct();
            assert_eq!(cells.len(), 2, "{name}");
            for (field, column) in cells.fields().iter().zip(cells.columns()) {
                expect_own_name(field, column, 0);
                expect_nothing(field, column, 1);
            }
        }
        other => panic!("{name} has the type {other}"),
    }
}

fn expect_nothing(field: &Field, column: &ArrayRef, row: usize) {
    let name = field.name().as_str();
    assert_eq!(column.is_null(row), field.is_nullable(), "{name}");
    if field.is_nullable() {
        return;
    }
    match field.data_type() {
        DataType::Utf8 => assert_eq!(column.as_string::<i32>().value(row), "", "{name}"),
        DataType::Int64 => assert_eq!(column.as_primitive::<Int64Type>().value(row), 0, "{name}"),
        DataType::Boolean => assert!(!column.as_boolean().value(row), "{name}"),
        DataType::Binary => assert!(column.as_binary::<i32>().value(row).is_empty(), "{name}"),
        DataType::List(_) => assert!(column.as_list::<i32>().value(row).is_empty(), "{name}"),
        other => panic!("{name} has the type {other}"),
    }
}

#[test]
fn free_form_columns_are_marked_as_json_for_arrow_and_for_parquet() {
    let (folder, files) = written(push_full, &options());
    let mut marked = Vec::new();
    for file in &files {
        let path = path_of(&folder, file);
        let schema: SchemaRef = reader(&path).schema().clone();
        let mut names: Vec<String> = Vec::new();
        for field in schema.fields() {
            if let DataType::List(element) = field.data_type()
                && let DataType::Struct(cells) = element.data_type()
            {
                let inner = cells
                    .iter()
                    .filter(|cell| cell.has_valid_extension_type::<Json>());
                names.extend(inner.map(|cell| format!("{}.{}", field.name(), cell.name())));
            }
            if field.has_valid_extension_type::<Json>() {
                names.push(field.name().clone());
            }
        }
        let leaves = footer(&path).file_metadata().schema_descr_ptr();
        let of_parquet = leaves
            .columns()
            .iter()
            .filter(|leaf| leaf.logical_type_ref() == Some(&LogicalType::Json));
        assert_eq!(of_parquet.count(), names.len(), "{}", file.table);
        marked.extend(names.into_iter().map(|name| format!("{}.{name}", file.table)));
    }
    assert_eq!(
        marked,
        [
            "conversations.participants.extra",
            "conversations.tools",
            "conversations.extra",
            "messages.parts",
            "messages.extra",
            "alternatives.parts",
            "alternatives.extra",
            "message_references.preview",
            "message_references.quoted",
        ]
    );
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let write = || {
        let (_folder, files) = written(
            |parts| {
                for _ in 0..1500 {
                    push_full(parts);
                    push_sparse(parts);
                }
            },
            &options(),
        );
        files
    };
    let first = write();
    assert_eq!(first.len(), TABLES.len());
    for _ in 0..3 {
        assert_eq!(write(), first);
    }
}

#[test]
fn no_time_and_no_path_is_in_a_file() {
    let (folder, files) = written(push_full, &options());
    for file in &files {
        let path = path_of(&folder, file);
        let footer = footer(&path);
        let metadata = footer.file_metadata();
        let keys: Vec<&str> = metadata
            .key_value_metadata()
            .unwrap()
            .iter()
            .map(|pair| pair.key.as_str())
            .collect();
        assert_eq!(keys, ["ARROW:schema"]);
        assert_eq!(
            metadata.created_by(),
            Some(concat!("chatmill version ", env!("CARGO_PKG_VERSION")))
        );
        let bytes = std::fs::read(&path).unwrap();
        let place = folder.path().to_string_lossy().into_owned();
        assert!(
            !bytes
                .windows(place.len())
                .any(|window| window == place.as_bytes())
        );
    }
}

#[test]
fn row_groups_end_at_sixty_four_mebibytes_of_text() {
    let (folder, files) = written(
        |parts| {
            for _ in 0..70 {
                parts
                    .push_rendering(RenderingRow {
                        content: "x".repeat(1 << 20).as_str().into(),
                        tokens: &[1, 1],
                        sent_tokens: &[0, 0],
                        ..Default::default()
                    })
                    .unwrap();
            }
        },
        &options(),
    );
    let footer = footer(&path_of(&folder, &files[0]));
    let rows: Vec<i64> = footer
        .row_groups()
        .iter()
        .map(parquet::file::metadata::RowGroupMetaData::num_rows)
        .collect();
    assert_eq!(rows, [64, 6]);
}

#[test]
fn pages_stay_small_when_texts_are_large() {
    const TEXT: usize = 5 << 20;
    let (folder, files) = written(
        |parts| {
            for row in 0..16_u8 {
                let text = char::from(b'a' + row).to_string().repeat(TEXT);
                parts
                    .push_message(MessageRow {
                        text: &text,
                        tokens: &[1, 1],
                        ..Default::default()
                    })
                    .unwrap();
            }
        },
        &TableOptions {
            compression: Compression::None,
            ..options()
        },
    );
    let footer = footer(&path_of(&folder, &files[0]));
    let leaves = footer.file_metadata().schema_descr_ptr();
    let column = leaves
        .columns()
        .iter()
        .position(|leaf| leaf.name() == "text")
        .unwrap();
    let mut pages = 0;
    for group in 0..footer.num_row_groups() {
        let index = RowGroupPageIndex::new(group, footer.page_index().cloned());
        for page in index.page_locations(column).unwrap() {
            let size = usize::try_from(page.compressed_page_size).unwrap();
            assert!(size < TEXT + (1 << 20) + 1024, "a page of {size} bytes");
            pages += 1;
        }
    }
    assert_eq!(pages, 16);
}

#[test]
fn long_text_has_no_dictionary_and_no_statistics_and_ids_have_both() {
    let (folder, files) = written(push_full, &options());
    let rendering = files.iter().find(|file| file.table == "renderings").unwrap();
    let footer = footer(&path_of(&folder, rendering));
    let column = |name: &str| {
        footer
            .row_group(0)
            .columns()
            .iter()
            .find(|chunk| chunk.column_path().string() == name)
            .unwrap()
    };
    assert!(column("content").dictionary_page_offset().is_none());
    assert!(column("content").statistics().is_none());
    for name in [
        "conversation_id",
        "dialect",
        "tokens_o200k_base",
        "loss_codes.list.element",
    ] {
        assert!(column(name).dictionary_page_offset().is_some(), "{name}");
        assert!(column(name).statistics().is_some(), "{name}");
    }
}

#[test]
fn a_hundred_thousand_rows_of_nulls_keep_the_schema() {
    let (folder, files) = written(
        |parts| {
            for position in 0..100_000 {
                let row = MessageRow {
                    position,
                    tokens: &[0, 0],
                    ..Default::default()
                };
                parts.push_message(row).unwrap();
            }
        },
        &options(),
    );
    let (other, full) = written(push_full, &options());
    let messages = full.iter().find(|file| file.table == "messages").unwrap();
    assert_eq!(
        reader(&path_of(&folder, &files[0])).schema().fields(),
        reader(&path_of(&other, messages)).schema().fields()
    );
}

#[test]
fn rows_come_back_in_their_order_across_batches() {
    let (folder, files) = written(
        |parts| {
            for position in 0..5000 {
                let text = format!("text {position}");
                let row = MessageRow {
                    position,
                    text: &text,
                    tokens: &[0, 0],
                    ..Default::default()
                };
                parts.push_message(row).unwrap();
            }
        },
        &options(),
    );
    let mut expected = 0;
    for batch in reader(&path_of(&folder, &files[0])).build().unwrap() {
        let batch = batch.unwrap();
        let texts = batch.column_by_name("text").unwrap().as_string::<i32>().clone();
        for text in texts.iter().flatten() {
            assert_eq!(text, format!("text {expected}"));
            expected += 1;
        }
    }
    assert_eq!(expected, 5000);
}

#[test]
fn without_encodings_there_are_no_token_columns() {
    let options = TableOptions {
        encodings: Vec::new(),
        compression: Compression::None,
        partition: Partition::None,
        absent: Vec::new(),
    };
    let (folder, files) = written(
        |parts| parts.push_rendering(RenderingRow::default()).unwrap(),
        &options,
    );
    let schema = reader(&path_of(&folder, &files[0])).schema().clone();
    assert!(
        schema
            .fields()
            .iter()
            .all(|field| !field.name().starts_with("tokens_"))
    );
}

#[test]
fn a_row_with_too_few_token_counts_is_refused() {
    let folder = TempDir::new().unwrap();
    let staging = work(&folder.path().join("out"), "f");
    let mut parts = staging.parts(0, &options()).unwrap();
    let refused = parts.push_message(MessageRow {
        tokens: &[1],
        ..Default::default()
    });
    assert!(matches!(
        refused,
        Err(DatasetError::Row {
            table: "messages",
            ..
        })
    ));
}

#[test]
fn a_number_beyond_sixty_three_bits_ends_no_run() {
    let folder = TempDir::new().unwrap();
    let staging = work(&folder.path().join("out"), "f");
    let mut parts = staging.parts(0, &options()).unwrap();
    for number in [i64::MAX.unsigned_abs(), 1 << 63, u64::MAX] {
        let row = MessageRow {
            usage_input: Some(number),
            byte_end: number,
            tokens: &[0, number],
            ..Default::default()
        };
        parts.push_message(row).unwrap();
        assert_eq!(signed(number), i64::MAX);
    }
    assert_eq!(signed(i64::MAX.unsigned_abs() - 1), i64::MAX - 1);
}

#[test]
fn a_slice_has_files_only_for_tables_with_rows() {
    let (folder, files) = written(
        |parts| {
            let row = crate::tests::support::loss(parts);
            parts.push_loss(row).unwrap();
        },
        &options(),
    );
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].path, "losses/part-00000-00000.parquet");
    assert!(path_of(&folder, &files[0]).is_file());
    assert_eq!(
        crate::tests::support::names(&folder.path().join(".out.staging/f/temp")),
        Vec::<String>::new()
    );
}
