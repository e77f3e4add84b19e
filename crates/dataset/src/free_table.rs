//! A Parquet file of a [`Folder`](crate::Folder), whose columns are known only when it is begun.
//!
//! Batches and row groups are cut by the row sequence alone, as in the tables of a dataset, so equal rows give equal bytes.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::extension::Json;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::column::{span_lists, spans_type};
use crate::error::DatasetError;
use crate::folder::{FileMeasure, FolderFile};
use crate::options::Compression;
use crate::part::{BATCH_ROWS, BATCH_TEXT_BYTES, GROUP_TEXT_BYTES, PAGE_BYTES, ROW_TEXT_BYTES};

/// The name by which errors call it.
const TABLE: &str = "export";

/// What a column holds. Every column may be missing in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeKind {
    /// Text.
    Text,
    /// JSON text, marked with the Arrow JSON extension type.
    Json,
    /// A number.
    Number,
    /// Ranges of bytes, each with its `start` and its `end`.
    Spans,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeCell<'a> {
    /// Text, of a column of text or of JSON.
    Text(&'a str),
    /// A number, of a column of numbers.
    Number(u64),
    /// Ranges, of a column of spans.
    Spans(&'a [Range<u64>]),
    /// None.
    Missing,
}

/// A Parquet file that rows are added to.
pub struct FreeTable {
    writer: ArrowWriter<FolderFile>,
    schema: SchemaRef,
    columns: Vec<Values>,
    waiting_rows: usize,
    waiting_text: usize,
    group_text: usize,
}

enum Values {
    Text(StringBuilder),
    Number(Int64Builder),
    Spans(Vec<Option<Vec<Range<u64>>>>),
}

impl FreeTable {
    /// Begins a table with these columns.
    pub fn create(
        file: FolderFile,
        columns: &[(String, FreeKind)],
        compression: Compression,
    ) -> Result<Self, DatasetError> {
        let path = file.path().to_owned();
        let fields = columns.iter().map(|(name, kind)| match kind {
            FreeKind::Text => Field::new(name, DataType::Utf8, true),
            FreeKind::Json => Field::new(name, DataType::Utf8, true).with_extension_type(Json::default()),
            FreeKind::Number => Field::new(name, DataType::Int64, true),
            FreeKind::Spans => Field::new(name, spans_type(), true),
        });
        let schema = SchemaRef::new(Schema::new(fields.collect::<Vec<_>>()));
        let properties = WriterProperties::builder()
            .set_created_by(concat!("chatmill version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(compression.of_parquet())
            .set_data_page_size_limit(PAGE_BYTES)
            .set_dictionary_page_size_limit(PAGE_BYTES)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties))
            .map_err(|error| DatasetError::parquet("write", &path, error))?;
        let columns = columns.iter().map(|(_, kind)| match kind {
            FreeKind::Text | FreeKind::Json => Values::Text(StringBuilder::new()),
            FreeKind::Number => Values::Number(Int64Builder::new()),
            FreeKind::Spans => Values::Spans(Vec::new()),
        });
        Ok(Self {
            writer,
            schema,
            columns: columns.collect(),
            waiting_rows: 0,
            waiting_text: 0,
            group_text: 0,
        })
    }

    /// Adds a row with one value for each column, in their order.
    pub fn push(&mut self, row: &[FreeCell<'_>]) -> Result<(), DatasetError> {
        let text: usize = row.iter().map(FreeCell::text_bytes).sum();
        if text > ROW_TEXT_BYTES {
            return Err(fault(format!(
                "it holds {text} bytes of text, more than {ROW_TEXT_BYTES}"
            )));
        }
        if row.len() != self.columns.len() {
            return Err(fault(format!(
                "it has {} values for {} columns",
                row.len(),
                self.columns.len()
            )));
        }
        for (values, cell) in self.columns.iter_mut().zip(row) {
            match (values, cell) {
                (Values::Text(builder), FreeCell::Text(text)) => builder.append_value(text),
                (Values::Text(builder), FreeCell::Missing) => builder.append_null(),
                (Values::Number(builder), FreeCell::Number(number)) => {
                    let number = i64::try_from(*number)
                        .map_err(|_| fault("a number does not fit into 63 bits".to_owned()))?;
                    builder.append_value(number);
                }
                (Values::Number(builder), FreeCell::Missing) => builder.append_null(),
                (Values::Spans(rows), FreeCell::Spans(spans)) => rows.push(Some(spans.to_vec())),
                (Values::Spans(rows), FreeCell::Missing) => rows.push(None),
                (_, cell) => return Err(fault(format!("{cell:?} is of another kind than its column"))),
            }
        }
        self.waiting_rows += 1;
        self.waiting_text += text;
        if self.waiting_rows == BATCH_ROWS || self.waiting_text >= BATCH_TEXT_BYTES {
            self.write_batch()?;
        }
        Ok(())
    }

    fn write_batch(&mut self) -> Result<(), DatasetError> {
        if mem::take(&mut self.waiting_rows) == 0 {
            return Ok(());
        }
        let arrays = self.columns.iter_mut().map(|values| {
            Ok::<ArrayRef, ArrowError>(match values {
                Values::Text(builder) => Arc::new(builder.finish()),
                Values::Number(builder) => Arc::new(builder.finish()),
                Values::Spans(rows) => span_lists(&mem::take(rows))?,
            })
        });
        let batch = arrays
            .collect::<Result<Vec<_>, _>>()
            .and_then(|arrays| RecordBatch::try_new(self.schema.clone(), arrays))
            .map_err(|error| fault(error.to_string()))?;
        let written = self.writer.write(&batch);
        self.checked(written)?;
        self.group_text += mem::take(&mut self.waiting_text);
        if self.group_text >= GROUP_TEXT_BYTES {
            self.group_text = 0;
            let flushed = self.writer.flush();
            self.checked(flushed)?;
        }
        Ok(())
    }

    fn checked<T>(&self, result: parquet::errors::Result<T>) -> Result<T, DatasetError> {
        result.map_err(|error| DatasetError::parquet("write", self.writer.inner().path(), error))
    }

    /// Closes the file and tells its length and its hash.
    pub fn finish(mut self) -> Result<FileMeasure, DatasetError> {
        self.write_batch()?;
        let path = self.writer.inner().path().to_owned();
        let file = self
            .writer
            .into_inner()
            .map_err(|error| DatasetError::parquet("write", &path, error))?;
        file.finish()
    }
}

impl FreeCell<'_> {
    fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Number(_) | Self::Spans(_) | Self::Missing => 0,
        }
    }
}

fn fault(reason: String) -> DatasetError {
    DatasetError::Row { table: TABLE, reason }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_schema::extension::{ExtensionType, Json};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::{BATCH_ROWS, FreeCell, FreeKind, FreeTable};
    use crate::{Compression, Folder};

    fn columns() -> Vec<(String, FreeKind)> {
        vec![
            ("id".to_owned(), FreeKind::Text),
            ("messages".to_owned(), FreeKind::Json),
            ("ordinal".to_owned(), FreeKind::Number),
            ("said".to_owned(), FreeKind::Spans),
        ]
    }

    #[test]
    fn rows_come_back_and_what_is_missing_is_null() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let folder = Folder::create(&out).unwrap();
        let file = folder.file("train.parquet").unwrap();
        let mut table = FreeTable::create(file, &columns(), Compression::None).unwrap();
        let rows = BATCH_ROWS + 3;
        for number in 0..rows {
            let json = if number % 2 == 0 {
                FreeCell::Text("[{\"a\":1}]")
            } else {
                FreeCell::Missing
            };
            let spans = [2..number as u64 + 2, 7..9];
            let said = if number % 3 == 0 {
                FreeCell::Missing
            } else {
                FreeCell::Spans(&spans[..number % 3])
            };
            table
                .push(&[FreeCell::Text("x"), json, FreeCell::Number(number as u64), said])
                .unwrap();
        }
        let measure = table.finish().unwrap();
        folder.publish().unwrap();
        let bytes = std::fs::read(out.join("train.parquet")).unwrap();
        assert_eq!(measure.bytes, bytes.len() as u64);
        assert_eq!(measure.hash, blake3::hash(&bytes).to_hex().to_string());

        let file = std::fs::File::open(out.join("train.parquet")).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let field = builder.schema().field_with_name("messages").unwrap().clone();
        assert_eq!(field.extension_type_name(), Some(Json::NAME));
        let mut seen = 0;
        for batch in builder.build().unwrap() {
            let batch = batch.unwrap();
            let json = batch.column(1).as_string::<i32>();
            let numbers = batch.column(2).as_primitive::<Int64Type>();
            let lists = batch.column(3).as_list::<i32>();
            for row in 0..batch.num_rows() {
                assert_eq!(numbers.value(row), seen);
                assert_eq!(json.is_null(row), seen % 2 == 1);
                assert_eq!(lists.is_null(row), seen % 3 == 0);
                let said = lists.value(row);
                let ends = said.as_struct().column(1).as_primitive::<Int64Type>();
                let wanted = &[seen + 2, 9][..usize::try_from(seen % 3).unwrap()];
                assert_eq!(ends.values(), wanted);
                seen += 1;
            }
        }
        assert_eq!(usize::try_from(seen).unwrap(), rows);
    }

    #[test]
    fn a_row_that_does_not_fit_the_columns_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create(&place.path().join("out")).unwrap();
        let file = folder.file("train.parquet").unwrap();
        let mut table = FreeTable::create(file, &columns(), Compression::None).unwrap();
        assert!(table.push(&[FreeCell::Missing]).is_err());
        assert!(
            table
                .push(&[
                    FreeCell::Number(1),
                    FreeCell::Missing,
                    FreeCell::Missing,
                    FreeCell::Missing
                ])
                .is_err()
        );
    }
}
