//! The kinds of values: the type of each in the schema, and how it is stored.
//!
//! Values that repeat have a dictionary and statistics; text that rarely repeats or is long has neither. Numbers are
//! signed 64-bit integers in all tables, so that the difference of two counts never wraps in a reader's arithmetic.

use std::sync::Arc;

use arrow_schema::extension::Json as JsonType;
use arrow_schema::{DataType, Field, TimeUnit};

use super::ColumnError;
use crate::parquet::chunk::{Bits, Bytes as ByteValues, Coded, CodedKind, Encoder};
use crate::parquet::key::{self, Keys};

/// The time zone of every timestamp.
const UTC: &str = "UTC";

/// A kind of values.
pub trait ColumnKind {
    /// The encoder that writes these values.
    type Encoder: Encoder;
    /// A value.
    type Value<'v>;

    /// The Arrow type of these values.
    fn kind() -> DataType;

    /// The field of a column with these values.
    fn field(name: &str, is_nullable: bool) -> Field {
        Field::new(name, Self::kind(), is_nullable)
    }

    /// A new encoder for a column of these values.
    fn encoder() -> Self::Encoder;

    /// The number of bytes of text and binary data in a value.
    fn text_bytes(_value: &Self::Value<'_>, _keys: &Keys) -> usize {
        0
    }

    /// Writes a value.
    fn push(encoder: &mut Self::Encoder, value: Self::Value<'_>, keys: &Keys) -> Result<(), ColumnError>;
}

/// A kind of values that can be elements of a list.
pub trait ListKind: ColumnKind {
    /// The type of the list's elements.
    type Item: 'static;

    /// The value of an item.
    fn value(item: &Self::Item) -> Self::Value<'_>;
}

/// Declares kinds: the type of a value, its type in the schema, its encoder, and the bytes of text that count where
/// values rarely repeat.
macro_rules! kinds {
    ($(
        $(#[$about:meta])*
        $kind:ident {
            value: $value:ty,
            arrow: $arrow:expr,
            encoder: $encoder:ty = $new:expr,
            push: |$to:ident, $pushed:ident| $push:expr,
            $(text_bytes: |$measured:ident| $bytes:expr,)?
        }
    )+) => {$(
        $(#[$about])*
        pub struct $kind;

        impl ColumnKind for $kind {
            type Encoder = $encoder;
            type Value<'v> = $value;

            fn kind() -> DataType {
                $arrow
            }

            fn encoder() -> $encoder {
                $new
            }

            $(fn text_bytes($measured: &Self::Value<'_>, _keys: &Keys) -> usize {
                $bytes
            })?

            fn push($to: &mut $encoder, $pushed: Self::Value<'_>, _keys: &Keys) -> Result<(), ColumnError> {
                Ok($push?)
            }
        }
    )+};
}

kinds! {
    /// Text that repeats.
    Word {
        value: &'v str,
        arrow: DataType::Utf8,
        encoder: Coded = Coded::new(CodedKind::Text),
        push: |encoder, value| encoder.push(value.as_bytes()),
        text_bytes: |value| value.len(),
    }

    /// Text that rarely repeats or is long.
    Text {
        value: &'v str,
        arrow: DataType::Utf8,
        encoder: ByteValues = ByteValues::default(),
        push: |encoder, value| encoder.push(value.as_bytes()),
        text_bytes: |value| value.len(),
    }

    /// A number.
    Number {
        value: u64,
        arrow: DataType::Int64,
        encoder: Coded = Coded::new(CodedKind::Long),
        push: |encoder, value| encoder.push_number(value, signed(value).to_le_bytes()),
    }

    /// A position: a number of 31 bits.
    Position {
        value: u32,
        arrow: DataType::Int32,
        encoder: Coded = Coded::new(CodedKind::Int),
        push: |encoder, value| encoder.push_number(value.into(), of_31_bits(value)?.to_le_bytes()),
    }

    /// A Boolean.
    Flag {
        value: bool,
        arrow: DataType::Boolean,
        encoder: Bits = Bits::default(),
        push: |encoder, value| {
            encoder.push(value);
            Ok::<(), ColumnError>(())
        },
    }

    /// Microseconds since 1970 in UTC.
    Time {
        value: i64,
        arrow: DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from(UTC))),
        encoder: Coded = Coded::new(CodedKind::Long),
        push: |encoder, value| encoder.push(&value.to_le_bytes()),
    }

    /// Bytes that need not be text.
    Bytes {
        value: &'v [u8],
        arrow: DataType::Binary,
        encoder: ByteValues = ByteValues::default(),
        push: |encoder, value| encoder.push(value),
        text_bytes: |value| value.len(),
    }

    /// A floating-point number.
    Real {
        value: f64,
        arrow: DataType::Float64,
        encoder: Coded = Coded::new(CodedKind::Real),
        push: |encoder, value| encoder.push(&value.to_le_bytes()),
    }
}

/// A number as the file stores it. A larger one, such as a sum of numbers from the input, is capped at the largest that
/// the file can store.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn of_31_bits(position: u32) -> Result<i32, ColumnError> {
    i32::try_from(position).map_err(|_| ColumnError::Value("a position does not fit into 31 bits".to_owned()))
}

/// Text that many rows contain, given by its [`Key`](crate::Key).
pub struct KeyText;

impl ColumnKind for KeyText {
    type Encoder = Coded;
    type Value<'v> = key::Key;

    fn kind() -> DataType {
        DataType::Utf8
    }

    fn encoder() -> Coded {
        Word::encoder()
    }

    fn text_bytes(value: &key::Key, keys: &Keys) -> usize {
        keys.text(*value).len()
    }

    fn push(encoder: &mut Coded, value: key::Key, keys: &Keys) -> Result<(), ColumnError> {
        Ok(encoder.push_key(value, keys)?)
    }
}

/// JSON text, marked with the Arrow JSON extension type.
pub struct Json;

impl ColumnKind for Json {
    type Encoder = ByteValues;
    type Value<'v> = &'v str;

    fn kind() -> DataType {
        DataType::Utf8
    }

    fn field(name: &str, is_nullable: bool) -> Field {
        Text::field(name, is_nullable).with_extension_type(JsonType::default())
    }

    fn encoder() -> ByteValues {
        Text::encoder()
    }

    fn text_bytes(value: &&str, keys: &Keys) -> usize {
        Text::text_bytes(value, keys)
    }

    fn push(encoder: &mut ByteValues, value: &str, keys: &Keys) -> Result<(), ColumnError> {
        Text::push(encoder, value, keys)
    }
}

impl ListKind for KeyText {
    type Item = key::Key;

    fn value(item: &key::Key) -> key::Key {
        *item
    }
}

impl ListKind for Word {
    type Item = String;

    fn value(item: &String) -> &str {
        item
    }
}

impl ListKind for Position {
    type Item = u32;

    fn value(item: &u32) -> u32 {
        *item
    }
}
