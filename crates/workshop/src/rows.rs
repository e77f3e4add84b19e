//! Columns of a dataset's tables, read back from Parquet.

use std::ops::Range;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The texts of a column, in the order of the rows.
pub fn texts(root: &Path, table: &str, column: &str) -> Vec<Option<String>> {
    let read = |array: &ArrayRef, row| array.as_string::<i32>().value(row).to_owned();
    cells(root, table, column, read)
}

/// The numbers of a column, in the order of the rows.
pub fn numbers(root: &Path, table: &str, column: &str) -> Vec<Option<i64>> {
    cells(root, table, column, |array, row| {
        array.as_primitive::<Int64Type>().value(row)
    })
}

/// The floating-point numbers of a column, in the order of the rows.
pub fn reals(root: &Path, table: &str, column: &str) -> Vec<Option<f64>> {
    cells(root, table, column, |array, row| {
        array.as_primitive::<Float64Type>().value(row)
    })
}

/// The bytes of a column, in the order of the rows.
pub fn bytes(root: &Path, table: &str, column: &str) -> Vec<Option<Vec<u8>>> {
    cells(root, table, column, |array, row| {
        array.as_binary::<i32>().value(row).to_vec()
    })
}

/// The truth values of a column, in the order of the rows.
pub fn flags(root: &Path, table: &str, column: &str) -> Vec<Option<bool>> {
    cells(root, table, column, |array, row| array.as_boolean().value(row))
}

/// The lists of texts of a column, in the order of the rows.
pub fn lists(root: &Path, table: &str, column: &str) -> Vec<Vec<String>> {
    let read = |array: &ArrayRef, row: usize| {
        let texts = array.as_list::<i32>().value(row);
        let texts = texts.as_string::<i32>().iter();
        texts.map(|text| text.unwrap_or_default().to_owned()).collect()
    };
    let cells = cells(root, table, column, read);
    cells.into_iter().map(Option::unwrap_or_default).collect()
}

/// The lists of positions of a column, in the order of the rows.
pub fn positions(root: &Path, table: &str, column: &str) -> Vec<Vec<u32>> {
    let read = |array: &ArrayRef, row: usize| {
        let positions = array.as_list::<i32>().value(row);
        let positions = positions.as_primitive::<Int32Type>().values().iter();
        positions
            .map(|position| u32::try_from(*position).expect("a position"))
            .collect()
    };
    let cells = cells(root, table, column, read);
    cells.into_iter().map(Option::unwrap_or_default).collect()
}

/// The byte ranges of a column, in the order of the rows.
pub fn spans(root: &Path, table: &str, column: &str) -> Vec<Vec<Range<usize>>> {
    let read = |array: &ArrayRef, row: usize| {
        let spans = array.as_list::<i32>().value(row);
        let ends = spans.as_struct().columns().iter().map(|ends| {
            let ends = ends.as_primitive::<Int64Type>().values();
            ends.iter()
                .map(|end| usize::try_from(*end).expect("a place"))
                .collect::<Vec<_>>()
        });
        let ends: Vec<_> = ends.collect();
        let [starts, ends] = ends.as_slice() else {
            panic!("a span has a start and an end");
        };
        starts.iter().zip(ends).map(|(start, end)| *start..*end).collect()
    };
    let cells = cells(root, table, column, read);
    cells.into_iter().map(Option::unwrap_or_default).collect()
}

fn cells<T>(root: &Path, table: &str, column: &str, read: impl Fn(&ArrayRef, usize) -> T) -> Vec<Option<T>> {
    let manifest = chatmill_dataset::read_manifest(root).expect("a manifest");
    let table = manifest
        .tables
        .iter()
        .find(|entry| entry.name == table)
        .expect("the table");
    let mut cells = Vec::new();
    for part in &table.files {
        let file = std::fs::File::open(root.join(&part.path)).expect("a part");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .expect("Parquet")
            .build()
            .expect("a reader");
        for batch in reader {
            let batch = batch.expect("a batch");
            let array = batch.column_by_name(column).expect("the column");
            cells.extend((0..array.len()).map(|row| (!array.is_null(row)).then(|| read(array, row))));
        }
    }
    cells
}
