//! The columns of a table. Each knows its type in the schema and takes the values of its rows.
//!
//! A column has a kind of value, such as text or numbers, which is required ([`One`]), optional ([`Maybe`]) or an
//! element of a list ([`Many`]); [`kind`] defines how each kind is stored. Nothing is inferred from values.

pub(crate) mod kind;
mod list;
mod nested;
mod record;

use std::io::Write;
use std::path::Path;
use std::slice;

use arrow_schema::Field;
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use crate::error::DatasetError;
use crate::parquet::chunk::{Context, Encoder, Leaf, Nesting};
use crate::parquet::key::Keys;
use kind::{ColumnKind, ListKind};

pub(crate) use list::{MaybeSpans, PerEncoding, Spans, Structs, element, encoding_of};
pub(crate) use nested::Nested;
pub use nested::{Member, NestedValue, Shape};
pub(crate) use record::RecordColumns;
pub(crate) use record::record;

/// The error when a value cannot be written.
#[derive(Debug)]
pub enum ColumnError {
    /// The value has another kind than the column.
    Value(String),
    /// The page could not be written.
    Page(ParquetError),
}

impl ColumnError {
    /// Adds the table and the path of its file to the error.
    pub(crate) fn of(self, table: &'static str, path: &Path) -> DatasetError {
        match self {
            Self::Value(reason) => DatasetError::Row { table, reason },
            Self::Page(error) => DatasetError::parquet("write", path, error),
        }
    }
}

impl From<ParquetError> for ColumnError {
    fn from(error: ParquetError) -> Self {
        Self::Page(error)
    }
}

/// A visitor of the leaf columns, one after the other.
pub trait EachLeaf {
    /// Visits the next leaf column.
    fn leaf<E: Encoder>(&mut self, leaf: &mut Leaf<E>) -> Result<(), ColumnError>;
}

/// A visitor that writes a missing or empty list at this position.
pub(crate) struct Missing(pub(crate) Nesting);

impl EachLeaf for Missing {
    fn leaf<E: Encoder>(&mut self, leaf: &mut Leaf<E>) -> Result<(), ColumnError> {
        leaf.missing(self.0);
        Ok(())
    }
}

/// A visitor that ends a row.
pub(crate) struct EndRow<'c>(pub(crate) &'c mut Context);

impl EachLeaf for EndRow<'_> {
    fn leaf<E: Encoder>(&mut self, leaf: &mut Leaf<E>) -> Result<(), ColumnError> {
        Ok(leaf.close_row(self.0)?)
    }
}

/// A visitor that ends a row group and appends the columns to it.
pub(crate) struct EndGroup<'g, 'w, W: Write> {
    pub(crate) group: &'g mut SerializedRowGroupWriter<'w, W>,
    pub(crate) context: &'g mut Context,
}

impl<W: Write + Send> EachLeaf for EndGroup<'_, '_, W> {
    fn leaf<E: Encoder>(&mut self, leaf: &mut Leaf<E>) -> Result<(), ColumnError> {
        Ok(leaf.append_to(self.group, self.context)?)
    }
}

/// The leaves in the schema of a file that have no column yet, in order.
pub struct Leaves<'l>(pub(crate) slice::Iter<'l, ColumnDescPtr>);

impl Leaves<'_> {
    pub(crate) fn next<E: Encoder>(&mut self, encoder: E) -> Result<Leaf<E>, ColumnError> {
        let of = self.0.next().cloned();
        of.map(|of| Leaf::new(of, encoder))
            .ok_or_else(|| ColumnError::Value("its schema has too few columns".to_owned()))
    }
}

/// A column of a table, or a field of structures in such a column.
pub trait Column: Sized {
    /// The value of a row in this column.
    type Value<'v>;

    /// The Arrow fields of this column: one, or one per encoding.
    fn fields(name: &str, encodings: &[String]) -> Vec<Field>;

    /// The fields of the structures in this column, with descriptions.
    fn inner() -> Vec<(Field, &'static str)> {
        Vec::new()
    }

    /// Creates the column from the next leaves of a file.
    fn open(leaves: &mut Leaves<'_>, encodings: &[String]) -> Result<Self, ColumnError>;

    /// The number of bytes of text and binary data in a value, which decide where row groups are cut.
    fn text_bytes(_value: &Self::Value<'_>, _keys: &Keys) -> usize {
        0
    }

    /// Writes a value at this position.
    fn push(&mut self, value: Self::Value<'_>, at: Nesting, context: &Context) -> Result<(), ColumnError>;

    /// Visits the leaves of the column, in the order of the schema.
    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError>;
}

/// A required value.
pub struct One<K: ColumnKind>(Leaf<K::Encoder>);

impl<K: ColumnKind> Column for One<K> {
    type Value<'v> = K::Value<'v>;

    fn fields(name: &str, _encodings: &[String]) -> Vec<Field> {
        vec![K::field(name, false)]
    }

    fn open(leaves: &mut Leaves<'_>, _encodings: &[String]) -> Result<Self, ColumnError> {
        leaves.next(K::encoder()).map(Self)
    }

    fn text_bytes(value: &K::Value<'_>, keys: &Keys) -> usize {
        K::text_bytes(value, keys)
    }

    fn push(&mut self, value: K::Value<'_>, at: Nesting, context: &Context) -> Result<(), ColumnError> {
        K::push(self.0.value(at), value, &context.keys)
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        visit.leaf(&mut self.0)
    }
}

/// An optional value.
pub struct Maybe<K: ColumnKind>(Leaf<K::Encoder>);

impl<K: ColumnKind> Column for Maybe<K> {
    type Value<'v> = Option<K::Value<'v>>;

    fn fields(name: &str, _encodings: &[String]) -> Vec<Field> {
        vec![K::field(name, true)]
    }

    fn open(leaves: &mut Leaves<'_>, _encodings: &[String]) -> Result<Self, ColumnError> {
        leaves.next(K::encoder()).map(Self)
    }

    fn text_bytes(value: &Option<K::Value<'_>>, keys: &Keys) -> usize {
        value.as_ref().map_or(0, |value| K::text_bytes(value, keys))
    }

    fn push(
        &mut self,
        value: Option<K::Value<'_>>,
        at: Nesting,
        context: &Context,
    ) -> Result<(), ColumnError> {
        match value {
            Some(value) => K::push(self.0.value(at.deeper()), value, &context.keys)?,
            None => self.0.missing(at),
        }
        Ok(())
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        visit.leaf(&mut self.0)
    }
}

/// A list of values.
pub struct Many<K: ListKind>(Leaf<K::Encoder>);

impl<K: ListKind> Column for Many<K> {
    type Value<'v> = &'v [K::Item];

    fn fields(name: &str, _encodings: &[String]) -> Vec<Field> {
        vec![Field::new_list(name, element(K::kind()), false)]
    }

    fn open(leaves: &mut Leaves<'_>, _encodings: &[String]) -> Result<Self, ColumnError> {
        leaves.next(K::encoder()).map(Self)
    }

    fn text_bytes(values: &&[K::Item], keys: &Keys) -> usize {
        values
            .iter()
            .map(|item| K::text_bytes(&K::value(item), keys))
            .sum()
    }

    fn push(&mut self, values: &[K::Item], at: Nesting, context: &Context) -> Result<(), ColumnError> {
        if values.is_empty() {
            self.0.missing(at);
        }
        for (index, item) in values.iter().enumerate() {
            K::push(self.0.value(at.element(index)), K::value(item), &context.keys)?;
        }
        Ok(())
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        visit.leaf(&mut self.0)
    }
}
