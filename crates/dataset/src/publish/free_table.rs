//! A Parquet file of a [`Folder`](crate::Folder) with columns that are known only at run time.
//!
//! Columns are encoded, and row groups cut, as in the tables of a dataset.

use std::ops::Range;

use arrow_schema::extension::Json as JsonType;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::disk::FileMeasure;
use crate::error::DatasetError;
use crate::parquet::chunk::{Context, Nesting};
use crate::parquet::column::kind::{self, Json, Number, Text};
use crate::parquet::column::{
    Column, ColumnError, EachLeaf, EndGroup, EndRow, Leaves, Maybe, MaybeSpans, Nested, NestedValue, Shape,
};
use crate::parquet::compression::Compression;
use crate::parquet::row_group::{RowGroupFile, check_row};
use crate::publish::folder::FolderFile;

/// The name of the table in errors.
const TABLE: &str = "export";

/// The type of a column. Every column is nullable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeKind {
    /// Text with values that repeat.
    Word,
    /// Text.
    Text,
    /// JSON text, marked with the Arrow JSON extension type.
    Json,
    /// A number.
    Number,
    /// A floating-point number.
    Real,
    /// A Boolean.
    Flag,
    /// A point in time.
    Time,
    /// Byte ranges, each with its `start` and its `end`.
    Spans,
    /// Lists and structures.
    Nested(Shape),
}

impl FreeKind {
    /// The kind for a column of the dataset's tables; structures and lists of them become JSON.
    pub fn of(field: &Field) -> Self {
        match field.data_type() {
            DataType::Utf8 if field.has_valid_extension_type::<JsonType>() => Self::Json,
            DataType::Utf8 => Self::Word,
            DataType::Int64 | DataType::Int32 => Self::Number,
            DataType::Float64 => Self::Real,
            DataType::Boolean => Self::Flag,
            DataType::Timestamp(..) => Self::Time,
            DataType::List(element) if *element.data_type() == DataType::Utf8 => {
                Self::Nested(Shape::List(&Shape::Word))
            }
            _ => Self::Json,
        }
    }
}

/// The value of one column in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FreeCell<'a> {
    /// Text, for a column of text or JSON.
    Text(&'a str),
    /// A number, for a column of numbers.
    Number(u64),
    /// A floating-point number, for a column of such numbers.
    Real(f64),
    /// A Boolean.
    Flag(bool),
    /// Microseconds since 1970 in UTC.
    Time(i64),
    /// Byte ranges, for a column of spans.
    Spans(&'a [Range<u64>]),
    /// A nested value, for a column of lists and structures.
    Nested(&'a NestedValue<'a>),
    /// No value.
    Missing,
}

/// A Parquet file to which rows are added.
pub struct FreeTable {
    file: RowGroupFile<FolderFile>,
    columns: Vec<FreeColumn>,
    context: Context,
}

macro_rules! kinds {
    ($($kind:ident: $column:ty, $cell:ident;)+) => {
        enum FreeColumn {
            $($kind($column),)+
            Nested(Nested),
        }

        impl FreeColumn {
            fn fields(name: &str, kind: FreeKind) -> Vec<arrow_schema::Field> {
                match kind {
                    $(FreeKind::$kind => <$column>::fields(name, &[]),)+
                    FreeKind::Nested(shape) => vec![Nested::field(name, shape)],
                }
            }

            fn open(kind: FreeKind, leaves: &mut Leaves<'_>) -> Result<Self, ColumnError> {
                Ok(match kind {
                    $(FreeKind::$kind => Self::$kind(<$column>::open(leaves, &[])?),)+
                    FreeKind::Nested(shape) => Self::Nested(Nested::open(shape, true, leaves)?),
                })
            }

            fn push(&mut self, cell: FreeCell<'_>, context: &Context) -> Result<(), ColumnError> {
                let at = Nesting::default();
                match (self, cell) {
                    $(
                        (Self::$kind(column), FreeCell::$cell(value)) => column.push(Some(value), at, context),
                        (Self::$kind(column), FreeCell::Missing) => column.push(None, at, context),
                    )+
                    (Self::Nested(column), FreeCell::Nested(value)) => column.push(value, at, 0, context),
                    (Self::Nested(column), FreeCell::Missing) => {
                        column.push(&NestedValue::Missing, at, 0, context)
                    }
                    (_, cell) => Err(ColumnError::Value(format!("{cell:?} is of another kind than its column"))),
                }
            }

            fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
                match self {
                    $(Self::$kind(column) => column.leaves(visit),)+
                    Self::Nested(column) => column.leaves(visit),
                }
            }
        }
    };
}

kinds! {
    Word: Maybe<kind::Word>, Text;
    Text: Maybe<Text>, Text;
    Json: Maybe<Json>, Text;
    Number: Maybe<Number>, Number;
    Real: Maybe<kind::Real>, Real;
    Flag: Maybe<kind::Flag>, Flag;
    Time: Maybe<kind::Time>, Time;
    Spans: MaybeSpans, Spans;
}

impl FreeTable {
    /// Begins a table with these columns.
    pub fn create(
        file: FolderFile,
        columns: &[(String, FreeKind)],
        compression: Compression,
    ) -> Result<Self, DatasetError> {
        let path = file.path().to_owned();
        let fields = columns
            .iter()
            .flat_map(|(name, kind)| FreeColumn::fields(name, *kind));
        let schema = SchemaRef::new(Schema::new(fields.collect::<Vec<_>>()));
        let file = RowGroupFile::create(file, schema, compression)
            .map_err(|error| DatasetError::parquet("write", &path, error))?;
        let mut leaves = file.leaves();
        let columns = columns
            .iter()
            .map(|(_, kind)| FreeColumn::open(*kind, &mut leaves));
        let columns = columns.collect::<Result<_, _>>();
        Ok(Self {
            columns: columns.map_err(|error| error.of(TABLE, &path))?,
            file,
            context: Context::new(compression),
        })
    }

    /// Appends a row with one value per column, in the order of the columns.
    pub fn push(&mut self, row: &[FreeCell<'_>]) -> Result<(), DatasetError> {
        let text: usize = row.iter().map(FreeCell::text_bytes).sum();
        let pushed = check_row(text).and_then(|()| self.fill(row));
        self.checked(pushed)?;
        if self.file.is_full_with(text) {
            self.end_group()?;
        }
        Ok(())
    }

    fn fill(&mut self, row: &[FreeCell<'_>]) -> Result<(), ColumnError> {
        let (values, columns) = (row.len(), self.columns.len());
        if values != columns {
            return Err(ColumnError::Value(format!(
                "it has {values} values for {columns} columns"
            )));
        }
        let mut cells = self.columns.iter_mut().zip(row);
        cells.try_for_each(|(column, cell)| {
            column.push(*cell, &self.context)?;
            column.leaves(&mut EndRow(&mut self.context))
        })
    }

    fn end_group(&mut self) -> Result<(), DatasetError> {
        let Self {
            file,
            columns,
            context,
        } = self;
        let ended = file.end_group(|group| {
            let mut columns = columns.iter_mut();
            columns.try_for_each(|column| column.leaves(&mut EndGroup { group, context }))
        });
        self.checked(ended)
    }

    fn checked(&self, result: Result<(), ColumnError>) -> Result<(), DatasetError> {
        result.map_err(|error| error.of(TABLE, self.file.inner().path()))
    }

    /// The length that the file would have with this row as the last one, in bytes; text that is not yet compressed
    /// counts in full.
    pub fn bytes_with(&self, row: &[FreeCell<'_>]) -> u64 {
        let text: usize = row.iter().map(FreeCell::text_bytes).sum();
        self.file.inner().bytes() + (self.file.pending_text() + text) as u64
    }

    /// Closes the file and returns its length and its hash.
    pub fn finish(mut self) -> Result<FileMeasure, DatasetError> {
        self.end_group()?;
        let path = self.file.inner().path().to_owned();
        let file = self.file.into_inner();
        file.map_err(|error| DatasetError::parquet("write", &path, error))?
            .finish()
    }
}

impl FreeCell<'_> {
    fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Nested(value) => value.text_bytes(),
            Self::Number(_)
            | Self::Real(_)
            | Self::Flag(_)
            | Self::Time(_)
            | Self::Spans(_)
            | Self::Missing => 0,
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_schema::extension::{ExtensionType, Json};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::reader::SerializedFileReader;

    use super::{FreeCell, FreeKind, FreeTable};
    use crate::parquet::chunk::PAGE_ROWS;
    use crate::parquet::column::{Member, NestedValue, Shape};
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
    fn rows_are_read_back_with_null_for_missing_values() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let folder = Folder::create(&out).unwrap();
        let file = folder.file("train.parquet").unwrap();
        let mut table = FreeTable::create(file, &columns(), Compression::None).unwrap();
        let rows = PAGE_ROWS as usize + 3;
        for number in 0..rows {
            let json = if number % 2 == 0 {
                FreeCell::Text("[{\"a\":1}]")
            } else {
                FreeCell::Missing
            };
            let spans = [2..number as u64 + 2, 7..9];
            let content = if number % 3 == 0 {
                FreeCell::Missing
            } else {
                FreeCell::Spans(&spans[..number % 3])
            };
            table
                .push(&[
                    FreeCell::Text("x"),
                    json,
                    FreeCell::Number(number as u64),
                    content,
                ])
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
                let content = lists.value(row);
                let ends = content.as_struct().column(1).as_primitive::<Int64Type>();
                let wanted = &[seen + 2, 9][..usize::try_from(seen % 3).unwrap()];
                assert_eq!(ends.values(), wanted);
                seen += 1;
            }
        }
        assert_eq!(usize::try_from(seen).unwrap(), rows);
    }

    /// Lists in lists, some empty and some missing.
    #[test]
    fn nested_values_come_back_as_they_went_in() {
        static CALLS: Shape = Shape::Struct(&[
            Member::always("name", Shape::Word),
            Member::maybe("arguments", Shape::Json),
        ]);
        static TURN: Shape = Shape::Struct(&[
            Member::always("role", Shape::Word),
            Member::maybe("said", Shape::Text),
            Member::maybe("calls", Shape::List(&CALLS)),
            Member::maybe("train", Shape::Flag),
            Member::maybe("weight", Shape::Number),
        ]);
        let text = |text: &'static str| NestedValue::Text(text.into());
        let call = |name, arguments| NestedValue::Struct(vec![text(name), arguments]);
        let turn = |role, content, calls| {
            NestedValue::Struct(vec![
                text(role),
                content,
                calls,
                NestedValue::Flag(false),
                NestedValue::Number(3),
            ])
        };
        let (none, list) = (NestedValue::Missing, NestedValue::List);
        let rows = [
            list(vec![
                turn("user", text("hi"), none.clone()),
                turn(
                    "assistant",
                    none.clone(),
                    list(vec![call("f", text("{}")), call("g", none.clone())]),
                ),
                turn("assistant", text(""), list(Vec::new())),
            ]),
            list(Vec::new()),
            none.clone(),
            list(vec![turn(
                "assistant",
                none.clone(),
                list(vec![call("h", text("1"))]),
            )]),
        ];
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let folder = Folder::create(&out).unwrap();
        let columns = [("turns".to_owned(), FreeKind::Nested(Shape::List(&TURN)))];
        let file = folder.file("train.parquet").unwrap();
        let mut table = FreeTable::create(file, &columns, Compression::None).unwrap();
        for row in &rows {
            table.push(&[FreeCell::Nested(row)]).unwrap();
        }
        let misfit = list(vec![NestedValue::Flag(true)]);
        assert!(table.push(&[FreeCell::Nested(&misfit)]).is_err());
        drop(table);
        let file = folder.file("test.parquet").unwrap();
        let mut table = FreeTable::create(file, &columns, Compression::None).unwrap();
        for row in &rows {
            table.push(&[FreeCell::Nested(row)]).unwrap();
        }
        table.finish().unwrap();
        folder.publish().unwrap();
        let file = std::fs::File::open(out.join("test.parquet")).unwrap();
        let read: Vec<String> = SerializedFileReader::new(file)
            .unwrap()
            .into_iter()
            .map(|row| row.unwrap().to_string())
            .collect();
        assert_eq!(
            read,
            [
                concat!(
                    r#"{turns: [{role: "user", said: "hi", calls: null, train: false, weight: 3}, "#,
                    r#"{role: "assistant", said: null, calls: [{name: "f", arguments: "{}"}, {name: "g", arguments: null}], train: false, weight: 3}, "#,
                    r#"{role: "assistant", said: "", calls: [], train: false, weight: 3}]}"#
                ),
                "{turns: []}",
                "{turns: null}",
                r#"{turns: [{role: "assistant", said: null, calls: [{name: "h", arguments: "1"}], train: false, weight: 3}]}"#,
            ]
        );
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
