//! Kinds of values: the type of each in the schema, and how it is stored.
//!
//! Values that repeat have a dictionary and statistics; text that hardly repeats or is long has neither. Numbers have one type
//! in all tables, so that differences of counts never wrap in a reader's hands.

use std::sync::Arc;

use arrow_schema::extension::Json as JsonType;
use arrow_schema::{DataType, Field, TimeUnit};

use super::ColumnFault;
use crate::parquet::chunk::{Bits, Bytes as ByteValues, Coded, CodedKind, Encoder};
use crate::parquet::key::{self, Keys};

/// The time zone of every timestamp.
const UTC: &str = "UTC";

/// A kind of values.
pub trait ColumnKind {
    /// What writes them.
    type Encoder: Encoder;
    /// A value.
    type Value<'v>;

    /// Their Arrow type.
    fn kind() -> DataType;

    /// A column of them.
    fn field(name: &str, is_nullable: bool) -> Field {
        Field::new(name, Self::kind(), is_nullable)
    }

    /// What writes a column of them.
    fn encoder() -> Self::Encoder;

    /// Bytes of text and of binary in a value.
    fn text_bytes(_value: &Self::Value<'_>, _keys: &Keys) -> usize {
        0
    }

    /// Writes a value.
    fn push(encoder: &mut Self::Encoder, value: Self::Value<'_>, keys: &Keys) -> Result<(), ColumnFault>;
}

/// A kind of values of which a row may hold a list.
pub trait ListKind: ColumnKind {
    /// What the list consists of.
    type Item: 'static;

    /// The value of an item.
    fn value(item: &Self::Item) -> Self::Value<'_>;
}

/// Text that many rows hold, by its [`Key`](crate::Key).
pub struct KeyText;
/// Text that repeats.
pub struct Word;
/// Text that hardly repeats or is long.
pub struct Text;
/// JSON text, marked with the Arrow JSON extension type.
pub struct Json;
/// A number.
pub struct Number;
/// A position: a number of 31 bits.
pub struct Position;
/// A yes or no.
pub struct Flag;
/// Microseconds since 1970 in UTC.
pub struct Time;
/// Bytes that need not be text.
pub struct Bytes;
/// A number with a fraction.
pub struct Real;

impl ColumnKind for KeyText {
    type Encoder = Coded;
    type Value<'v> = key::Key;

    fn kind() -> DataType {
        DataType::Utf8
    }

    fn encoder() -> Coded {
        Coded::new(CodedKind::Text)
    }

    fn text_bytes(value: &key::Key, keys: &Keys) -> usize {
        keys.text(*value).len()
    }

    fn push(encoder: &mut Coded, value: key::Key, keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push_key(value, keys)?)
    }
}

impl ListKind for KeyText {
    type Item = key::Key;

    fn value(item: &key::Key) -> key::Key {
        *item
    }
}

impl ColumnKind for Word {
    type Encoder = Coded;
    type Value<'v> = &'v str;

    fn kind() -> DataType {
        DataType::Utf8
    }

    fn encoder() -> Coded {
        Coded::new(CodedKind::Text)
    }

    fn text_bytes(value: &&str, _keys: &Keys) -> usize {
        value.len()
    }

    fn push(encoder: &mut Coded, value: &str, _keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push(value.as_bytes())?)
    }
}

impl ListKind for Word {
    type Item = String;

    fn value(item: &String) -> &str {
        item
    }
}

impl ColumnKind for Text {
    type Encoder = ByteValues;
    type Value<'v> = &'v str;

    fn kind() -> DataType {
        DataType::Utf8
    }

    fn encoder() -> ByteValues {
        ByteValues::default()
    }

    fn text_bytes(value: &&str, _keys: &Keys) -> usize {
        value.len()
    }

    fn push(encoder: &mut ByteValues, value: &str, _keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push(value.as_bytes())?)
    }
}

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
        ByteValues::default()
    }

    fn text_bytes(value: &&str, _keys: &Keys) -> usize {
        value.len()
    }

    fn push(encoder: &mut ByteValues, value: &str, keys: &Keys) -> Result<(), ColumnFault> {
        Text::push(encoder, value, keys)
    }
}

/// A number as the file holds it: what is more than that, as a sum of what somebody wrote can be, is the largest that it holds.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl ColumnKind for Number {
    type Encoder = Coded;
    type Value<'v> = u64;

    fn kind() -> DataType {
        DataType::Int64
    }

    fn encoder() -> Coded {
        Coded::new(CodedKind::Long)
    }

    fn push(encoder: &mut Coded, value: u64, _keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push(&signed(value).to_le_bytes())?)
    }
}

impl ColumnKind for Position {
    type Encoder = Coded;
    type Value<'v> = u32;

    fn kind() -> DataType {
        DataType::Int32
    }

    fn encoder() -> Coded {
        Coded::new(CodedKind::Int)
    }

    fn push(encoder: &mut Coded, value: u32, _keys: &Keys) -> Result<(), ColumnFault> {
        let position = i32::try_from(value)
            .map_err(|_| ColumnFault::Value("a position does not fit into 31 bits".to_owned()))?;
        Ok(encoder.push(&position.to_le_bytes())?)
    }
}

impl ListKind for Position {
    type Item = u32;

    fn value(item: &u32) -> u32 {
        *item
    }
}

impl ColumnKind for Flag {
    type Encoder = Bits;
    type Value<'v> = bool;

    fn kind() -> DataType {
        DataType::Boolean
    }

    fn encoder() -> Bits {
        Bits::default()
    }

    fn push(encoder: &mut Bits, value: bool, _keys: &Keys) -> Result<(), ColumnFault> {
        encoder.push(value);
        Ok(())
    }
}

impl ColumnKind for Time {
    type Encoder = Coded;
    type Value<'v> = i64;

    fn kind() -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from(UTC)))
    }

    fn encoder() -> Coded {
        Coded::new(CodedKind::Long)
    }

    fn push(encoder: &mut Coded, value: i64, _keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push(&value.to_le_bytes())?)
    }
}

impl ColumnKind for Bytes {
    type Encoder = ByteValues;
    type Value<'v> = &'v [u8];

    fn kind() -> DataType {
        DataType::Binary
    }

    fn encoder() -> ByteValues {
        ByteValues::default()
    }

    fn text_bytes(value: &&[u8], _keys: &Keys) -> usize {
        value.len()
    }

    fn push(encoder: &mut ByteValues, value: &[u8], _keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push(value)?)
    }
}

impl ColumnKind for Real {
    type Encoder = Coded;
    type Value<'v> = f64;

    fn kind() -> DataType {
        DataType::Float64
    }

    fn encoder() -> Coded {
        Coded::new(CodedKind::Real)
    }

    fn push(encoder: &mut Coded, value: f64, _keys: &Keys) -> Result<(), ColumnFault> {
        Ok(encoder.push(&value.to_le_bytes())?)
    }
}
