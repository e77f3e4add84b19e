//! Columns of several leaves: a number per encoding, ranges, and lists of structures.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};

use super::kind::{ColumnKind, Number, signed};
use super::{Column, ColumnError, EachLeaf, Leaves, Missing, One, RecordColumns};
use crate::parquet::chunk::{Context, Fixed, Leaf, Nesting};
use crate::parquet::key::Keys;

/// The encoding that a column of token counts is for. `sent_tokens_…`, the tokens of all requests, does not match: it
/// begins differently.
pub(crate) fn encoding_of(name: &str) -> Option<&str> {
    name.strip_prefix("tokens_")
}

/// The field inside a list, with the name that the Parquet format requires.
pub(crate) fn element(kind: DataType) -> Field {
    Field::new("element", kind, false)
}

/// One number per encoding, each in a separate column with the name of the encoding at its end.
pub struct PerEncoding(Vec<One<Number>>);

impl Column for PerEncoding {
    type Value<'v> = &'v [u64];

    fn fields(name: &str, encodings: &[String]) -> Vec<Field> {
        let names = encodings.iter().map(|encoding| format!("{name}_{encoding}"));
        names.map(|name| Number::field(&name, false)).collect()
    }

    fn open(leaves: &mut Leaves<'_>, encodings: &[String]) -> Result<Self, ColumnError> {
        let columns = encodings.iter().map(|_| One::open(leaves, encodings));
        columns.collect::<Result<_, _>>().map(Self)
    }

    fn push(&mut self, value: &[u64], at: Nesting, context: &Context) -> Result<(), ColumnError> {
        let encodings = self.0.len();
        if value.len() != encodings {
            return Err(ColumnError::Value(format!(
                "a row does not hold {encodings} token counts, one per encoding"
            )));
        }
        for (column, number) in self.0.iter_mut().zip(value) {
            column.push(*number, at, context)?;
        }
        Ok(())
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        self.0.iter_mut().try_for_each(|column| column.leaves(visit))
    }
}

/// A list of ranges, each with its `start` and its `end`. Their numbers rarely repeat.
pub struct Spans {
    start: Leaf<Fixed>,
    end: Leaf<Fixed>,
}

const SPAN: [(&str, &str); 2] = [("start", "its first byte"), ("end", "one past its last byte")];

impl Column for Spans {
    type Value<'v> = &'v [Range<u64>];

    fn fields(name: &str, _encodings: &[String]) -> Vec<Field> {
        vec![Field::new(name, list_of(fields_of(Self::inner())), false)]
    }

    fn inner() -> Vec<(Field, &'static str)> {
        SPAN.map(|(name, meaning)| (Number::field(name, false), meaning))
            .to_vec()
    }

    fn open(leaves: &mut Leaves<'_>, _encodings: &[String]) -> Result<Self, ColumnError> {
        Ok(Self {
            start: leaves.next(Fixed::default())?,
            end: leaves.next(Fixed::default())?,
        })
    }

    fn push(&mut self, spans: &[Range<u64>], at: Nesting, _context: &Context) -> Result<(), ColumnError> {
        if spans.is_empty() {
            self.leaves(&mut Missing(at))?;
        }
        for (index, span) in spans.iter().enumerate() {
            let at = at.element(index);
            self.start.value(at).number(signed(span.start));
            self.end.value(at).number(signed(span.end));
        }
        Ok(())
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        visit.leaf(&mut self.start)?;
        visit.leaf(&mut self.end)
    }
}

/// An optional list of ranges.
pub(crate) struct MaybeSpans(Spans);

impl Column for MaybeSpans {
    type Value<'v> = Option<&'v [Range<u64>]>;

    fn fields(name: &str, encodings: &[String]) -> Vec<Field> {
        let fields = Spans::fields(name, encodings).into_iter();
        fields.map(|field| field.with_nullable(true)).collect()
    }

    fn open(leaves: &mut Leaves<'_>, encodings: &[String]) -> Result<Self, ColumnError> {
        Spans::open(leaves, encodings).map(Self)
    }

    fn push(&mut self, spans: Self::Value<'_>, at: Nesting, context: &Context) -> Result<(), ColumnError> {
        match spans {
            Some(spans) => self.0.push(spans, at.deeper(), context),
            None => self.leaves(&mut Missing(at)),
        }
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        self.0.leaves(visit)
    }
}

/// A list of structures.
pub struct Structs<R: RecordColumns>(R);

impl<R: RecordColumns> Column for Structs<R> {
    type Value<'v> = &'v [R::Row<'v>];

    fn fields(name: &str, _encodings: &[String]) -> Vec<Field> {
        vec![Field::new(name, list_of(fields_of(R::fields(&[]))), false)]
    }

    fn inner() -> Vec<(Field, &'static str)> {
        R::fields(&[])
    }

    fn open(leaves: &mut Leaves<'_>, encodings: &[String]) -> Result<Self, ColumnError> {
        R::open(leaves, encodings).map(Self)
    }

    fn text_bytes(rows: &Self::Value<'_>, keys: &Keys) -> usize {
        rows.iter().map(|row| R::text_bytes(row, keys)).sum()
    }

    fn push(&mut self, rows: Self::Value<'_>, at: Nesting, context: &Context) -> Result<(), ColumnError> {
        if rows.is_empty() {
            self.leaves(&mut Missing(at))?;
        }
        for (index, row) in rows.iter().enumerate() {
            self.0.push(row.clone(), at.element(index), context)?;
        }
        Ok(())
    }

    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        self.0.leaves(visit)
    }
}

fn fields_of(described: Vec<(Field, &'static str)>) -> Fields {
    described.into_iter().map(|(field, _)| field).collect()
}

fn list_of(fields: Fields) -> DataType {
    DataType::List(Arc::new(element(DataType::Struct(fields))))
}
