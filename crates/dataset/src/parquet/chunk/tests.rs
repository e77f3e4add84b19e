//! A column that is written and then read back with the reader of the `parquet` crate.

use std::sync::Arc;

use ::bytes::Bytes;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Encoding, ZstdLevel};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;

use super::*;
use crate::parquet::column::kind::{ColumnKind, Json, Number, Real, Text, Word};
use crate::parquet::column::{Column, EndGroup, EndRow, Many, Maybe, One};
use crate::parquet::row_group::RowGroupFile;

/// The result of writing a column: its batches, and the number of pages in each row group.
struct Written {
    batches: Vec<RecordBatch>,
    chunks: Vec<ColumnChunkMetaData>,
    /// The number of pages in each row group.
    pages: Vec<usize>,
}

/// Writes a single column; the row group ends where `push` returns false.
fn written<C: Column>(rows: usize, mut push: impl FnMut(&mut C, usize, &mut Context) -> bool) -> Written {
    let schema = Arc::new(Schema::new(C::fields("c", &[])));
    let compression = Compression::Zstd(ZstdLevel::try_new(1).unwrap());
    let mut file = RowGroupFile::create(Vec::new(), schema, compression).unwrap();
    let mut column = C::open(&mut file.leaves(), &[]).unwrap();
    let mut context = Context::new(compression);
    for row in 0..rows {
        let goes_on = push(&mut column, row, &mut context);
        column.leaves(&mut EndRow(&mut context)).unwrap();
        file.is_full_with(0);
        if !goes_on || row + 1 == rows {
            file.end_group(|group| {
                column.leaves(&mut EndGroup {
                    group,
                    context: &mut context,
                })
            })
            .unwrap();
        }
    }
    let bytes = Bytes::from(file.into_inner().unwrap());
    let options = parquet::arrow::arrow_reader::ArrowReaderOptions::new()
        .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Optional);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options).unwrap();
    let metadata = Arc::clone(reader.metadata());
    let groups = metadata.row_groups().iter();
    let chunks: Vec<_> = groups.map(|group| group.column(0).clone()).collect();
    let pages = (0..chunks.len()).map(|group| {
        let index = parquet::file::metadata::page_index::RowGroupPageIndex::new(
            group,
            metadata.page_index().cloned(),
        );
        index.page_locations(0).unwrap().len()
    });
    Written {
        pages: pages.collect(),
        batches: reader.build().unwrap().map(Result::unwrap).collect(),
        chunks,
    }
}

fn texts(written: &Written) -> Vec<Option<String>> {
    let columns = written
        .batches
        .iter()
        .map(|batch| batch.column(0).as_string::<i32>().clone());
    columns
        .flat_map(|column| {
            column
                .iter()
                .map(|text| text.map(str::to_owned))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn uses(chunk: &ColumnChunkMetaData, encoding: Encoding) -> bool {
    chunk.encodings().any(|known| known == encoding)
}

#[test]
fn texts_come_back_with_those_that_are_missing_over_pages_and_row_groups() {
    let text = |row: usize| (row % 5 != 1).then(|| format!("текст {row} {}", "x".repeat(row % 700)));
    let rows = 2 * PAGE_ROWS as usize + 11;
    let written = written::<Maybe<Text>>(rows, |column, row, context| {
        column
            .push(text(row).as_deref(), Nesting::default(), context)
            .unwrap();
        row != 123
    });
    assert_eq!(texts(&written), (0..rows).map(text).collect::<Vec<_>>());
    assert_eq!(written.chunks.len(), 2);
    assert!(written.pages[1] >= 3);
    assert!(written.chunks[0].statistics().is_none());
    assert!(written.chunks[0].dictionary_page_offset().is_none());
}

#[test]
fn a_page_ends_with_the_row_that_fills_it_and_not_before() {
    for (bytes, pages) in [(PAGE_BYTES - 4 - 1 - 4, 1), (PAGE_BYTES - 4 - 4, 2)] {
        // A text that fills the page up to the limit, an empty one, and one more row; each text has a length prefix.
        let sizes = [bytes, 0, 0];
        let written = written::<One<Json>>(sizes.len(), |column, row, context| {
            column
                .push(&"x".repeat(sizes[row]), Nesting::default(), context)
                .unwrap();
            true
        });
        assert_eq!(written.pages, [pages], "{bytes}");
        assert_eq!(texts(&written).len(), 3);
    }
}

#[test]
fn a_page_ends_with_its_last_row() {
    for (rows, pages) in [(PAGE_ROWS, 1), (PAGE_ROWS + 1, 2)] {
        let written = written::<One<Word>>(rows as usize, |column, _, context| {
            column.push("", Nesting::default(), context).unwrap();
            true
        });
        assert_eq!(written.pages, [pages], "{rows}");
    }
}

#[test]
fn words_and_keys_share_a_dictionary_that_begins_anew_with_each_row_group() {
    let word = |row: usize| ["a", "ї", "", "a longer word"][row % 4];
    let written = written::<One<crate::parquet::column::kind::KeyText>>(1000, |column, row, context| {
        let key = context.keys.key(word(row / 300));
        column.push(key, Nesting::default(), context).unwrap();
        row != 599
    });
    let expected: Vec<_> = (0..1000).map(|row| Some(word(row / 300).to_owned())).collect();
    assert_eq!(texts(&written), expected);
    let [first, second] = &written.chunks[..] else {
        panic!("{}", written.chunks.len())
    };
    for chunk in [first, second] {
        assert!(uses(chunk, Encoding::RLE_DICTIONARY));
        assert!(chunk.dictionary_page_offset().is_some());
    }
    assert_eq!(first.statistics().unwrap().min_bytes_opt(), Some("a".as_bytes()));
    assert_eq!(first.statistics().unwrap().max_bytes_opt(), Some("ї".as_bytes()));
    assert_eq!(second.statistics().unwrap().min_bytes_opt(), Some("".as_bytes()));
}

#[test]
fn a_full_dictionary_ends_and_the_values_after_it_stand_for_themselves() {
    let rows = PAGE_BYTES / 8 + 2 * PAGE_ROWS as usize;
    let written = written::<Maybe<Number>>(rows, |column, row, context| {
        let number = (row % 7 != 0).then_some(row as u64 * 3);
        column.push(number, Nesting::default(), context).unwrap();
        true
    });
    let chunk = &written.chunks[0];
    assert!(uses(chunk, Encoding::RLE_DICTIONARY) && uses(chunk, Encoding::PLAIN));
    let Some(Statistics::Int64(statistics)) = chunk.statistics() else {
        panic!("{:?}", chunk.statistics())
    };
    let largest = (0..rows).rev().find(|row| row % 7 != 0).unwrap() * 3;
    assert_eq!(
        (statistics.min_opt(), statistics.max_opt()),
        (Some(&3), Some(&i64::try_from(largest).unwrap()))
    );
    assert_eq!(statistics.null_count_opt(), Some(rows.div_ceil(7) as u64));
    let mut row = 0;
    for batch in &written.batches {
        for number in batch.column(0).as_primitive::<Int64Type>() {
            assert_eq!(number, (row % 7 != 0).then_some(row * 3), "{row}");
            row += 1;
        }
    }
}

#[test]
fn small_numbers_are_found_beside_large_ones_in_each_row_group_and_when_the_dictionary_is_full() {
    // Every other number is small: within the list, at its bound or beyond it.
    let number = |row: usize| match row % 8 {
        0 => 5,
        2 => (1 << 14) - 1,
        4 => 1 << 14,
        6 => 0,
        _ => row as u64 * 3,
    };
    let full = PAGE_BYTES / 4 + 2 * PAGE_ROWS as usize;
    let written = written::<One<Number>>(full + 100, |column, row, context| {
        column.push(number(row), Nesting::default(), context).unwrap();
        row + 1 != full
    });
    assert_eq!(written.chunks.len(), 2);
    let batches = written.batches.iter();
    let read = batches.flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec());
    assert!(read.eq((0..full + 100).map(|row| number(row).cast_signed())));
}

#[test]
fn a_word_that_is_too_long_for_the_dictionary_is_written_whole() {
    let long = "x".repeat(PAGE_BYTES);
    let words = ["a", &long, "a", "b"];
    let written = written::<One<Word>>(words.len(), |column, row, context| {
        column.push(words[row], Nesting::default(), context).unwrap();
        true
    });
    let expected: Vec<_> = words.iter().map(|word| Some((*word).to_owned())).collect();
    assert_eq!(texts(&written), expected);
    let statistics = written.chunks[0].statistics().unwrap();
    assert_eq!(statistics.min_bytes_opt(), Some("a".as_bytes()));
    // The upper bound of a long text exceeds every text with the same beginning.
    let most = format!("{}y", "x".repeat(63));
    assert_eq!(statistics.max_bytes_opt(), Some(most.as_bytes()));
    assert!(!statistics.max_is_exact());
}

#[test]
fn lists_come_back_with_those_that_are_empty_and_a_row_stays_on_one_page() {
    let list = |row: usize| -> Vec<String> { (0..row % 4).map(|item| format!("{row} {item}")).collect() };
    let rows = PAGE_ROWS as usize + 50;
    let written = written::<Many<Word>>(rows, |column, row, context| {
        column.push(&list(row), Nesting::default(), context).unwrap();
        true
    });
    assert_eq!(written.pages, [2]);
    let mut row = 0;
    for batch in &written.batches {
        for found in batch.column(0).as_list::<i32>() {
            let found = found.unwrap();
            let found: Vec<String> = found
                .as_string::<i32>()
                .iter()
                .map(|text| text.unwrap().to_owned())
                .collect();
            assert_eq!(found, list(row), "{row}");
            row += 1;
        }
    }
    assert_eq!(row, rows);
}

#[test]
fn a_column_without_a_value_has_no_dictionary_and_comes_back_empty() {
    let written = written::<Maybe<Real>>(3, |column, _, context| {
        column.push(None, Nesting::default(), context).unwrap();
        true
    });
    assert!(written.chunks[0].dictionary_page_offset().is_none());
    assert_eq!(written.batches[0].column(0).null_count(), 3);
}

#[test]
fn levels_longer_than_the_reserved_space_still_come_first() {
    let mut column = Text::encoder();
    column.push(b"x").unwrap();
    let levels = vec![7; 10_000];
    let mut found = Vec::new();
    column
        .end_page(&levels, &mut Vec::new(), &mut |page, _| {
            found = page.to_vec();
            Ok(())
        })
        .unwrap();
    assert_eq!(found, [&levels[..], b"\x01\0\0\0x"].concat());
}
