//! A column of lists and structures with a shape that is known when the file is begun: each part that holds a value is a leaf.
//!
//! The columns of the dataset's tables are declared as types instead; this one is for files with a schema that is known
//! only at run time.

use std::borrow::Cow;

use arrow_schema::{DataType, Field};

use super::kind::{ColumnKind, Flag, Number, Text, Word};
use super::{ColumnError, EachLeaf, Leaves, Missing, element};
use crate::parquet::chunk::{Bits, Bytes, Coded, Context, Leaf, Nesting};

/// The type of a value in a nested column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text that repeats.
    Word,
    /// Text.
    Text,
    /// JSON text of any shape. Unlike a column of JSON it is plain text for every reader.
    Json,
    /// A Boolean.
    Flag,
    /// A number.
    Number,
    /// A list without missing elements.
    List(&'static Shape),
    /// A structure with these members.
    Struct(&'static [Member]),
}

/// A member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the field.
    pub name: &'static str,
    /// The type of the field.
    pub shape: Shape,
    /// Whether the field is nullable.
    pub may_be_missing: bool,
}

impl Member {
    /// A required member.
    pub const fn always(name: &'static str, shape: Shape) -> Self {
        Self {
            name,
            shape,
            may_be_missing: false,
        }
    }

    /// An optional member.
    pub const fn maybe(name: &'static str, shape: Shape) -> Self {
        Self {
            name,
            shape,
            may_be_missing: true,
        }
    }
}

/// A value of a nested column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NestedValue<'v> {
    /// No value.
    Missing,
    /// Text, or JSON text.
    Text(Cow<'v, str>),
    /// A Boolean.
    Flag(bool),
    /// A number.
    Number(u64),
    /// The elements of a list.
    List(Vec<NestedValue<'v>>),
    /// A value for each member of a structure, in their order.
    Struct(Vec<NestedValue<'v>>),
}

impl NestedValue<'_> {
    /// The number of bytes of text in it.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Missing | Self::Flag(_) | Self::Number(_) => 0,
            Self::List(values) | Self::Struct(values) => values.iter().map(Self::text_bytes).sum(),
        }
    }
}

/// A column with a nested shape.
pub(crate) struct Nested {
    may_be_missing: bool,
    column: Inner,
}

enum Inner {
    Word(Leaf<Coded>),
    Text(Leaf<Bytes>),
    Flag(Leaf<Bits>),
    Number(Leaf<Coded>),
    List(Box<Nested>),
    Struct(Vec<Nested>),
}

fn kind(shape: Shape) -> DataType {
    match shape {
        Shape::Word => Word::kind(),
        Shape::Text | Shape::Json => Text::kind(),
        Shape::Flag => Flag::kind(),
        Shape::Number => Number::kind(),
        Shape::List(inner) => DataType::List(element(kind(*inner)).into()),
        Shape::Struct(members) => {
            let fields = members.iter();
            let fields =
                fields.map(|member| Field::new(member.name, kind(member.shape), member.may_be_missing));
            DataType::Struct(fields.collect())
        }
    }
}

impl Nested {
    pub(crate) fn field(name: &str, shape: Shape) -> Field {
        Field::new(name, kind(shape), true)
    }

    /// Creates the column of a shape from the next leaves of a file.
    pub(crate) fn open(
        shape: Shape,
        may_be_missing: bool,
        leaves: &mut Leaves<'_>,
    ) -> Result<Self, ColumnError> {
        let column = match shape {
            Shape::Word => Inner::Word(leaves.next(Word::encoder())?),
            Shape::Text | Shape::Json => Inner::Text(leaves.next(Text::encoder())?),
            Shape::Flag => Inner::Flag(leaves.next(Flag::encoder())?),
            Shape::Number => Inner::Number(leaves.next(Number::encoder())?),
            Shape::List(inner) => Inner::List(Box::new(Self::open(*inner, false, leaves)?)),
            Shape::Struct(members) => {
                let members = members.iter();
                let members = members.map(|member| Self::open(member.shape, member.may_be_missing, leaves));
                Inner::Struct(members.collect::<Result<_, _>>()?)
            }
        };
        Ok(Self {
            may_be_missing,
            column,
        })
    }

    /// Writes a value at this position, which is inside `lists` lists.
    pub(crate) fn push(
        &mut self,
        value: &NestedValue<'_>,
        at: Nesting,
        lists: u8,
        context: &Context,
    ) -> Result<(), ColumnError> {
        if self.may_be_missing && *value == NestedValue::Missing {
            return self.leaves(&mut Missing(at));
        }
        let at = if self.may_be_missing { at.deeper() } else { at };
        match (&mut self.column, value) {
            (Inner::Word(leaf), NestedValue::Text(text)) => Word::push(leaf.value(at), text, &context.keys),
            (Inner::Text(leaf), NestedValue::Text(text)) => Text::push(leaf.value(at), text, &context.keys),
            (Inner::Flag(leaf), NestedValue::Flag(flag)) => Flag::push(leaf.value(at), *flag, &context.keys),
            (Inner::Number(leaf), NestedValue::Number(number)) => {
                Number::push(leaf.value(at), *number, &context.keys)
            }
            (Inner::List(inner), NestedValue::List(values)) => {
                if values.is_empty() {
                    inner.leaves(&mut Missing(at))?;
                }
                for (index, value) in values.iter().enumerate() {
                    inner.push(value, at.element_in(lists, index), lists + 1, context)?;
                }
                Ok(())
            }
            (Inner::Struct(members), NestedValue::Struct(values)) if members.len() == values.len() => {
                let mut members = members.iter_mut().zip(values);
                members.try_for_each(|(member, value)| member.push(value, at, lists, context))
            }
            _ => Err(ColumnError::Value(
                "a nested value is of another shape than its column".to_owned(),
            )),
        }
    }

    /// Visits the leaves of the column, in the order of the schema.
    pub(crate) fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError> {
        match &mut self.column {
            Inner::Word(leaf) | Inner::Number(leaf) => visit.leaf(leaf),
            Inner::Text(leaf) => visit.leaf(leaf),
            Inner::Flag(leaf) => visit.leaf(leaf),
            Inner::List(inner) => inner.leaves(visit),
            Inner::Struct(members) => members.iter_mut().try_for_each(|member| member.leaves(visit)),
        }
    }
}
