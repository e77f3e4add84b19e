//! One column of a table: its name, its meaning, how it is stored and where a row holds its value.
//!
//! A table is a list of these; schema, arrays, row sizes, storage settings and documentation all follow from the
//! list. Nothing is inferred from values.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, ListArray, PrimitiveArray, StringArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::extension::Json;
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};

/// The prefix of the columns that hold one count per encoding.
const TOKENS_PREFIX: &str = "tokens_";
/// The prefix of the columns that hold the tokens of all requests per encoding. It does not begin as the other one does,
/// so that whoever looks for `tokens_` finds counts only.
const SENT_PREFIX: &str = "sent_tokens_";

/// The encoding whose tokens a column of this name holds.
pub(crate) fn encoding_of(name: &str) -> Option<&str> {
    name.strip_prefix(TOKENS_PREFIX)
}

/// What an element of [`Cell::Spans`] consists of.
pub(crate) const SPAN: &[Column<Range<u64>>] = &[
    Column::number("start", "its first byte", |span| span.start),
    Column::number("end", "one past its last byte", |span| span.end),
];

/// The time zone of every timestamp.
const UTC: &str = "UTC";

/// How a column's values lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Values that repeat: dictionary and statistics.
    Repeating,
    /// Text that hardly repeats or is long: neither.
    Plain,
    /// JSON text: neither, and marked with the Arrow JSON extension type.
    Json,
}

/// Where a row holds a value, and of which type it is. Numbers have one type in all tables, so that differences of
/// counts never wrap in a reader's hands.
#[derive(Clone, Copy)]
pub(crate) enum Cell<R: 'static> {
    /// Text that is always there.
    Text(Storage, fn(&R) -> &str),
    /// Text that may be missing.
    OptionalText(Storage, fn(&R) -> Option<&str>),
    /// A number that is always there.
    Number(fn(&R) -> u64),
    /// A number that may be missing.
    OptionalNumber(fn(&R) -> Option<u64>),
    /// One number per encoding, each in a column of its own that is named with this prefix.
    PerEncoding(&'static str, fn(&R) -> &[u64]),
    /// A yes or no that is always there.
    Flag(fn(&R) -> bool),
    /// A yes or no that may be missing.
    OptionalFlag(fn(&R) -> Option<bool>),
    /// Microseconds since 1970 in UTC.
    Time(fn(&R) -> Option<i64>),
    /// Bytes that need not be text.
    Bytes(fn(&R) -> &[u8]),
    /// A number with a fraction that may be missing.
    OptionalReal(fn(&R) -> Option<f64>),
    /// Texts.
    TextList(fn(&R) -> &[String]),
    /// Positions: numbers of 31 bits.
    Positions(fn(&R) -> &[u32]),
    /// Structures.
    Structs(&'static dyn StructList<R>),
}

impl<R> Cell<R> {
    /// Whether the values repeat, so that a dictionary and statistics are worth their bytes.
    pub(crate) fn repeats(&self) -> bool {
        match self {
            Self::Text(storage, _) | Self::OptionalText(storage, _) => *storage == Storage::Repeating,
            Self::Bytes(_) | Self::Structs(_) => false,
            _ => true,
        }
    }
}

/// A column of a table whose rows are `R`.
pub(crate) struct Column<R: 'static> {
    /// Its name in the file; for [`Cell::PerEncoding`] the names are made from the encodings.
    pub(crate) name: &'static str,
    /// What it holds, one clause.
    pub(crate) meaning: &'static str,
    /// Its type and where the value is.
    pub(crate) cell: Cell<R>,
}

impl<R: 'static> Column<R> {
    const fn new(name: &'static str, meaning: &'static str, cell: Cell<R>) -> Self {
        Self { name, meaning, cell }
    }

    pub(crate) const fn key(name: &'static str, meaning: &'static str, cell: fn(&R) -> &str) -> Self {
        Self::new(name, meaning, Cell::Text(Storage::Repeating, cell))
    }

    pub(crate) const fn optional_key(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> Option<&str>,
    ) -> Self {
        Self::new(name, meaning, Cell::OptionalText(Storage::Repeating, cell))
    }

    pub(crate) const fn text(name: &'static str, meaning: &'static str, cell: fn(&R) -> &str) -> Self {
        Self::new(name, meaning, Cell::Text(Storage::Plain, cell))
    }

    pub(crate) const fn optional_text(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> Option<&str>,
    ) -> Self {
        Self::new(name, meaning, Cell::OptionalText(Storage::Plain, cell))
    }

    pub(crate) const fn optional_json(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> Option<&str>,
    ) -> Self {
        Self::new(name, meaning, Cell::OptionalText(Storage::Json, cell))
    }

    pub(crate) const fn number(name: &'static str, meaning: &'static str, cell: fn(&R) -> u64) -> Self {
        Self::new(name, meaning, Cell::Number(cell))
    }

    pub(crate) const fn optional_number(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> Option<u64>,
    ) -> Self {
        Self::new(name, meaning, Cell::OptionalNumber(cell))
    }

    pub(crate) const fn per_encoding(meaning: &'static str, cell: fn(&R) -> &[u64]) -> Self {
        Self::new(
            "tokens_⟨encoding⟩",
            meaning,
            Cell::PerEncoding(TOKENS_PREFIX, cell),
        )
    }

    pub(crate) const fn sent_per_encoding(meaning: &'static str, cell: fn(&R) -> &[u64]) -> Self {
        Self::new(
            "sent_tokens_⟨encoding⟩",
            meaning,
            Cell::PerEncoding(SENT_PREFIX, cell),
        )
    }

    pub(crate) const fn flag(name: &'static str, meaning: &'static str, cell: fn(&R) -> bool) -> Self {
        Self::new(name, meaning, Cell::Flag(cell))
    }

    pub(crate) const fn optional_flag(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> Option<bool>,
    ) -> Self {
        Self::new(name, meaning, Cell::OptionalFlag(cell))
    }

    pub(crate) const fn time(name: &'static str, meaning: &'static str, cell: fn(&R) -> Option<i64>) -> Self {
        Self::new(name, meaning, Cell::Time(cell))
    }

    pub(crate) const fn bytes(name: &'static str, meaning: &'static str, cell: fn(&R) -> &[u8]) -> Self {
        Self::new(name, meaning, Cell::Bytes(cell))
    }

    pub(crate) const fn text_list(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> &[String],
    ) -> Self {
        Self::new(name, meaning, Cell::TextList(cell))
    }

    pub(crate) const fn optional_real(
        name: &'static str,
        meaning: &'static str,
        cell: fn(&R) -> Option<f64>,
    ) -> Self {
        Self::new(name, meaning, Cell::OptionalReal(cell))
    }

    pub(crate) const fn positions(name: &'static str, meaning: &'static str, cell: fn(&R) -> &[u32]) -> Self {
        Self::new(name, meaning, Cell::Positions(cell))
    }

    pub(crate) const fn structs(
        name: &'static str,
        meaning: &'static str,
        list: &'static dyn StructList<R>,
    ) -> Self {
        Self::new(name, meaning, Cell::Structs(list))
    }

    /// The Arrow fields of this column: one, or one per encoding.
    fn fields(&self, encodings: &[String]) -> Vec<Field> {
        let field = |kind, nullable| vec![Field::new(self.name, kind, nullable)];
        match self.cell {
            Cell::Text(storage, _) => vec![text_field(self.name, storage, false)],
            Cell::OptionalText(storage, _) => vec![text_field(self.name, storage, true)],
            Cell::Number(_) => field(DataType::Int64, false),
            Cell::OptionalNumber(_) => field(DataType::Int64, true),
            Cell::PerEncoding(prefix, _) => encodings
                .iter()
                .map(|encoding| Field::new(format!("{prefix}{encoding}"), DataType::Int64, false))
                .collect(),
            Cell::Flag(_) => field(DataType::Boolean, false),
            Cell::OptionalFlag(_) => field(DataType::Boolean, true),
            Cell::Time(_) => field(DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())), true),
            Cell::Bytes(_) => field(DataType::Binary, false),
            Cell::OptionalReal(_) => field(DataType::Float64, true),
            Cell::TextList(_) => field(DataType::List(Arc::new(element(DataType::Utf8))), false),
            Cell::Positions(_) => field(DataType::List(Arc::new(element(DataType::Int32))), false),
            Cell::Structs(list) => field(list.kind(), false),
        }
    }

    /// The arrays of this column, in the order of its fields.
    fn arrays(&self, encodings: &[String], rows: &[&R]) -> Result<Vec<ArrayRef>, ArrowError> {
        let array: ArrayRef = match self.cell {
            Cell::Text(_, cell) => {
                let bytes = rows.iter().map(|row| cell(row).len()).sum();
                let mut builder = StringBuilder::with_capacity(rows.len(), bytes);
                for row in rows {
                    builder.append_value(cell(row));
                }
                Arc::new(builder.finish())
            }
            Cell::OptionalText(_, cell) => {
                let bytes = rows.iter().filter_map(|row| cell(row)).map(str::len).sum();
                let mut builder = StringBuilder::with_capacity(rows.len(), bytes);
                for row in rows {
                    builder.append_option(cell(row));
                }
                Arc::new(builder.finish())
            }
            Cell::Number(cell) => numbers(rows.iter().map(|row| Some(cell(row))))?,
            Cell::OptionalNumber(cell) => numbers(rows.iter().map(|row| cell(row)))?,
            Cell::PerEncoding(_, cell) => {
                if rows.iter().any(|row| cell(row).len() != encodings.len()) {
                    return Err(ArrowError::InvalidArgumentError(format!(
                        "a row does not hold {} token counts, one per encoding",
                        encodings.len()
                    )));
                }
                return (0..encodings.len())
                    .map(|index| numbers(rows.iter().map(|row| cell(row).get(index).copied())))
                    .collect();
            }
            Cell::Flag(cell) => Arc::new(rows.iter().map(|row| Some(cell(row))).collect::<BooleanArray>()),
            Cell::OptionalFlag(cell) => Arc::new(rows.iter().map(|row| cell(row)).collect::<BooleanArray>()),
            Cell::Time(cell) => Arc::new(
                rows.iter()
                    .map(|row| cell(row))
                    .collect::<PrimitiveArray<TimestampMicrosecondType>>()
                    .with_timezone(UTC),
            ),
            Cell::Bytes(cell) => {
                let bytes = rows.iter().map(|row| cell(row).len()).sum();
                let mut builder = BinaryBuilder::with_capacity(rows.len(), bytes);
                for row in rows {
                    builder.append_value(cell(row));
                }
                Arc::new(builder.finish())
            }
            Cell::TextList(cell) => {
                let texts = rows.iter().flat_map(|row| cell(row));
                Arc::new(ListArray::try_new(
                    Arc::new(element(DataType::Utf8)),
                    OffsetBuffer::from_lengths(rows.iter().map(|row| cell(row).len())),
                    Arc::new(StringArray::from_iter_values(texts)),
                    None,
                )?)
            }
            Cell::OptionalReal(cell) => Arc::new(
                rows.iter()
                    .map(|row| cell(row))
                    .collect::<PrimitiveArray<Float64Type>>(),
            ),
            Cell::Positions(cell) => {
                let positions = rows.iter().flat_map(|row| cell(row)).copied();
                let positions: Result<Vec<i32>, _> = positions.map(i32::try_from).collect();
                let positions = positions.map_err(|_| {
                    ArrowError::InvalidArgumentError("a position does not fit into 31 bits".to_owned())
                })?;
                Arc::new(ListArray::try_new(
                    Arc::new(element(DataType::Int32)),
                    OffsetBuffer::from_lengths(rows.iter().map(|row| cell(row).len())),
                    Arc::new(Int32Array::from(positions)),
                    None,
                )?)
            }
            Cell::Structs(list) => list.array(rows)?,
        };
        Ok(vec![array])
    }

    /// Bytes of text and of binary that this column holds in a row.
    fn text_bytes(&self, row: &R) -> usize {
        match self.cell {
            Cell::Text(_, cell) => cell(row).len(),
            Cell::OptionalText(_, cell) => cell(row).map_or(0, str::len),
            Cell::Bytes(cell) => cell(row).len(),
            Cell::TextList(cell) => cell(row).iter().map(String::len).sum(),
            Cell::Structs(list) => list.text_bytes(row),
            Cell::Number(_)
            | Cell::OptionalNumber(_)
            | Cell::PerEncoding(..)
            | Cell::Positions(_)
            | Cell::OptionalReal(_)
            | Cell::Flag(_)
            | Cell::OptionalFlag(_)
            | Cell::Time(_) => 0,
        }
    }
}

/// The Arrow fields of a list of columns, each with what it holds.
pub(crate) fn described<R>(columns: &[Column<R>], encodings: &[String]) -> Vec<(Field, &'static str)> {
    let fields = |column: &Column<R>| {
        let meaning = column.meaning;
        column
            .fields(encodings)
            .into_iter()
            .map(move |field| (field, meaning))
    };
    columns.iter().flat_map(fields).collect()
}

/// The Arrow fields of a list of columns.
pub(crate) fn fields<R>(columns: &[Column<R>], encodings: &[String]) -> Fields {
    columns
        .iter()
        .flat_map(|column| column.fields(encodings))
        .collect()
}

/// The arrays of a list of columns, in the order of their fields.
pub(crate) fn arrays<R>(
    columns: &[Column<R>],
    encodings: &[String],
    rows: &[&R],
) -> Result<Vec<ArrayRef>, ArrowError> {
    let mut arrays = Vec::with_capacity(columns.len() + encodings.len());
    for column in columns {
        arrays.extend(column.arrays(encodings, rows)?);
    }
    Ok(arrays)
}

/// Bytes of text and of binary in a row; batches and row groups are cut by them.
pub(crate) fn text_bytes<R>(columns: &[Column<R>], row: &R) -> usize {
    columns.iter().map(|column| column.text_bytes(row)).sum()
}

fn text_field(name: &str, storage: Storage, nullable: bool) -> Field {
    let field = Field::new(name, DataType::Utf8, nullable);
    match storage {
        Storage::Json => field.with_extension_type(Json::default()),
        Storage::Repeating | Storage::Plain => field,
    }
}

/// The field inside a list, named as the Parquet format asks.
fn element(kind: DataType) -> Field {
    Field::new("element", kind, false)
}

/// A list of structures in each row.
pub(crate) trait StructList<R>: Sync {
    /// The type of the column.
    fn kind(&self) -> DataType;
    /// The array of the column.
    fn array(&self, rows: &[&R]) -> Result<ArrayRef, ArrowError>;
    /// Bytes of text and of binary in a row.
    fn text_bytes(&self, row: &R) -> usize;
    /// The fields of a structure, each with what it holds.
    fn described(&self) -> Vec<(Field, &'static str)>;
    /// The names of the fields whose values repeat.
    fn repeating(&self) -> Vec<&'static str>;
}

/// Where a row holds a list, and what its elements consist of.
pub(crate) struct Structs<R: 'static, T: 'static> {
    pub(crate) columns: &'static [Column<T>],
    /// Whether the values of its fields repeat.
    pub(crate) repeats: bool,
    pub(crate) cell: fn(&R) -> &[T],
}

impl<R, T> StructList<R> for Structs<R, T> {
    fn kind(&self) -> DataType {
        struct_list(self.columns)
    }

    fn array(&self, rows: &[&R]) -> Result<ArrayRef, ArrowError> {
        let lists: Vec<Option<&[T]>> = rows.iter().map(|row| Some((self.cell)(row))).collect();
        struct_lists(self.columns, &lists)
    }

    fn text_bytes(&self, row: &R) -> usize {
        let elements = (self.cell)(row).iter();
        elements.map(|element| text_bytes(self.columns, element)).sum()
    }

    fn described(&self) -> Vec<(Field, &'static str)> {
        described(self.columns, &[])
    }

    fn repeating(&self) -> Vec<&'static str> {
        let columns = self.columns.iter();
        let repeating = columns.filter(|column| self.repeats && column.cell.repeats());
        repeating.map(|column| column.name).collect()
    }
}

fn struct_list<T>(columns: &[Column<T>]) -> DataType {
    DataType::List(Arc::new(element(DataType::Struct(fields(columns, &[])))))
}

/// A column of lists, which may be missing in a row.
fn struct_lists<T, S: AsRef<[T]>>(columns: &[Column<T>], rows: &[Option<S>]) -> Result<ArrayRef, ArrowError> {
    let lists = || rows.iter().map(|row| row.as_ref().map_or(&[][..], AsRef::as_ref));
    let elements: Vec<&T> = lists().flatten().collect();
    let values = StructArray::try_new(fields(columns, &[]), arrays(columns, &[], &elements)?, None)?;
    let missing = rows.iter().any(Option::is_none);
    Ok(Arc::new(ListArray::try_new(
        Arc::new(element(DataType::Struct(fields(columns, &[])))),
        OffsetBuffer::from_lengths(lists().map(<[_]>::len)),
        Arc::new(values),
        missing.then(|| rows.iter().map(Option::is_some).collect()),
    )?))
}

/// The type of a column of ranges.
pub(crate) fn spans_type() -> DataType {
    struct_list(SPAN)
}

/// A column of ranges, which may be missing in a row.
pub(crate) fn span_lists<S: AsRef<[Range<u64>]>>(rows: &[Option<S>]) -> Result<ArrayRef, ArrowError> {
    struct_lists(SPAN, rows)
}

fn numbers(values: impl Iterator<Item = Option<u64>>) -> Result<ArrayRef, ArrowError> {
    let array = values
        .map(|value| {
            value.map(i64::try_from).transpose().map_err(|_| {
                ArrowError::InvalidArgumentError("a number does not fit into 63 bits".to_owned())
            })
        })
        .collect::<Result<PrimitiveArray<Int64Type>, ArrowError>>()?;
    Ok(Arc::new(array))
}
