//! Writes the values of columns as JSON. Nulls, and values that JSON cannot represent, are omitted from objects and are
//! null in lists. Text of the JSON type of Arrow or Parquet becomes the value that it contains, at any depth of lists
//! and structs.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, downcast_integer_array};
use arrow_schema::extension::{ExtensionType as _, Json};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json;
use crate::table::row::push_string;
use crate::table::times::{date, time};

/// A row that is being written. A few bytes of a column may represent billions of equal values, so writing stops once a
/// limit is exceeded.
pub(super) struct Row {
    /// The bytes written so far.
    pub bytes: Vec<u8>,
    /// The number of its values: the row itself, elements of lists, and fields that are not null.
    pub values: u64,
    /// The maximum numbers of bytes and values.
    most: (u64, u64),
    /// Whether a column of text holds bytes that are not UTF-8.
    pub is_garbled: bool,
}

/// The fields that make an object a turn, and the fields of its text.
const SPEAKERS: [&str; 4] = ["role", "from", "sender", "author"];
const WORDS: [&str; 3] = ["content", "text", "value"];

/// Columns of text in rows without turns.
const COLUMNS_OF_WORDS: [&str; 4] = ["prompt", "completion", "instruction", "response"];

impl Row {
    /// An empty row, for which writing stops beyond this number of bytes and values.
    pub(super) fn within(bytes: u64, values: u64) -> Self {
        Self {
            bytes: Vec::new(),
            values: 0,
            most: (bytes, values),
            is_garbled: false,
        }
    }

    /// Writes a row as an object; `mapped` are the columns of text that maps name.
    pub(super) fn write(&mut self, batch: &RecordBatch, row: usize, mapped: &[String]) {
        self.values += 1;
        let cells = cells(batch.schema_ref().fields(), batch.columns(), row).map(|mut cell| {
            cell.is_words |=
                COLUMNS_OF_WORDS.contains(&cell.name) || mapped.iter().any(|name| name == cell.name);
            cell
        });
        object(cells, self);
    }

    /// Whether the row exceeds the limits and is incomplete.
    fn is_beyond(&self) -> bool {
        self.bytes.len() as u64 > self.most.0 || self.values > self.most.1
    }
}

/// A field of an object.
struct Cell<'a> {
    /// The type of the value.
    field: &'a Field,
    name: &'a str,
    array: &'a dyn Array,
    row: usize,
    /// Whether the field holds text.
    is_words: bool,
}

/// The cells of a row, one per column.
fn cells<'a>(fields: &'a Fields, columns: &'a [ArrayRef], row: usize) -> impl Iterator<Item = Cell<'a>> {
    let is_turn = fields
        .iter()
        .any(|field| SPEAKERS.contains(&field.name().as_str()));
    fields.iter().zip(columns).map(move |(field, array)| Cell {
        field,
        name: field.name(),
        array,
        row,
        is_words: is_turn && WORDS.contains(&field.name().as_str()),
    })
}

/// Writes the fields that are not null.
fn object<'a>(fields: impl Iterator<Item = Cell<'a>>, out: &mut Row) {
    out.bytes.push(b'{');
    let mut is_first = true;
    for cell in fields {
        let before = out.bytes.len();
        if !is_first {
            out.bytes.push(b',');
        }
        push_string(cell.name, &mut out.bytes);
        out.bytes.push(b':');
        if value(cell.field, cell.array, cell.row, out) {
            let words = cell.is_words.then(|| binary(cell.array, cell.row)).flatten();
            out.is_garbled |= words.is_some_and(|words| str::from_utf8(words).is_err());
            is_first = false;
            out.values += 1;
        } else {
            out.bytes.truncate(before);
        }
        if out.is_beyond() {
            break;
        }
    }
    out.bytes.push(b'}');
}

/// Writes a value; false if there is none, in which case nothing is written.
fn value(field: &Field, array: &dyn Array, row: usize, out: &mut Row) -> bool {
    if row >= array.len() || array.is_null(row) {
        return false;
    }
    match array.data_type() {
        DataType::Boolean => {
            let is = array.as_boolean().value(row);
            text(if is { "true" } else { "false" }, out)
        }
        kind if kind.is_integer() => {
            downcast_integer_array!(array => text(&array.value(row).to_string(), out), _ => false)
        }
        DataType::Float16 => fraction(f64::from(array.as_primitive::<Float16Type>().value(row)), out),
        DataType::Float32 => {
            let number = array.as_primitive::<Float32Type>().value(row);
            number.is_finite() && text(&number.to_string(), out)
        }
        DataType::Float64 => fraction(array.as_primitive::<Float64Type>().value(row), out),
        DataType::Utf8 => words(field, array.as_string::<i32>().value(row), out),
        DataType::LargeUtf8 => words(field, array.as_string::<i64>().value(row), out),
        DataType::Utf8View => words(field, array.as_string_view().value(row), out),
        DataType::List(item) => list(item, array.as_list::<i32>().value(row).as_ref(), out),
        DataType::LargeList(item) => list(item, array.as_list::<i64>().value(row).as_ref(), out),
        DataType::FixedSizeList(item, _) => list(item, array.as_fixed_size_list().value(row).as_ref(), out),
        DataType::Struct(fields) => {
            object(cells(fields, array.as_struct().columns(), row), out);
            true
        }
        DataType::Map(entry, _) => map(entry, array, row, out),
        DataType::Dictionary(_, _) => dictionary(field, array, row, out),
        DataType::Timestamp(unit, zone) => {
            let (units, second) = match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1),
                TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1_000),
                TimeUnit::Microsecond => (
                    array.as_primitive::<TimestampMicrosecondType>().value(row),
                    1_000_000,
                ),
                TimeUnit::Nanosecond => (
                    array.as_primitive::<TimestampNanosecondType>().value(row),
                    1_000_000_000,
                ),
            };
            string(&time(units, second, zone.is_some()), out)
        }
        DataType::Date32 => {
            let days = i64::from(array.as_primitive::<Date32Type>().value(row));
            string(&date(days), out)
        }
        DataType::Date64 => {
            let millis = array.as_primitive::<Date64Type>().value(row);
            string(&date(millis.div_euclid(86_400_000)), out)
        }
        DataType::Decimal128(_, _) => {
            let number = array.as_primitive::<arrow_array::types::Decimal128Type>();
            text(&number.value_as_string(row), out)
        }
        _ => binary(array, row).is_some_and(|found| bytes(found, out)),
    }
}

/// The bytes in a column of binary values, which may be a dictionary.
fn binary(array: &dyn Array, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Dictionary(_, _) => {
            let (values, row) = entry_of(array, row)?;
            binary(values, row)?
        }
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(row),
        _ => return None,
    })
}

fn text(text: &str, out: &mut Row) -> bool {
    out.bytes.extend_from_slice(text.as_bytes());
    true
}

/// Writes a text, or the JSON value in it if its type is JSON. JSON that is not on a single line, as a row must be, remains text.
fn words(field: &Field, words: &str, out: &mut Row) -> bool {
    let may_be_json = field.extension_type_name() == Some(Json::NAME)
        && words.len() as u64 <= out.most.0
        && !words.contains('\n');
    if may_be_json && json::scan(words.as_bytes(), u32::MAX).is_ok() {
        return text(words, out);
    }
    string(words, out)
}

fn string(text: &str, out: &mut Row) -> bool {
    if text.len() as u64 > out.most.0 {
        // A row that exceeds the limits is never read.
        out.bytes.extend_from_slice(text.as_bytes());
    } else {
        push_string(text, &mut out.bytes);
    }
    true
}

fn fraction(number: f64, out: &mut Row) -> bool {
    number.is_finite() && text(&number.to_string(), out)
}

/// Writes bytes: as text if they are UTF-8, otherwise in base64.
fn bytes(bytes: &[u8], out: &mut Row) -> bool {
    if let Ok(text) = str::from_utf8(bytes) {
        return string(text, out);
    }
    string(&STANDARD.encode(bytes), out)
}

fn list(item: &Field, array: &dyn Array, out: &mut Row) -> bool {
    out.bytes.push(b'[');
    for row in 0..array.len() {
        if row > 0 {
            out.bytes.push(b',');
        }
        if !value(item, array, row, out) {
            out.bytes.extend_from_slice(b"null");
        }
        out.values += 1;
        if out.is_beyond() {
            break;
        }
    }
    out.bytes.push(b']');
    true
}

/// Writes a map: an object if its keys are text, otherwise a list of pairs.
fn map(entry: &Field, array: &dyn Array, row: usize, out: &mut Row) -> bool {
    let entries = array.as_map().value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    let names: Vec<&str> = match keys.data_type() {
        DataType::Utf8 => keys.as_string::<i32>().iter().flatten().collect(),
        DataType::Utf8View => keys.as_string_view().iter().flatten().collect(),
        _ => Vec::new(),
    };
    let DataType::Struct(fields) = entry.data_type() else {
        return false;
    };
    let Some(field) = fields.get(1).filter(|_| names.len() == keys.len()) else {
        return list(entry, &entries, out);
    };
    let places = names.into_iter().enumerate();
    object(
        places.map(|(row, name)| Cell {
            field,
            name,
            array: values.as_ref(),
            row,
            is_words: false,
        }),
        out,
    );
    true
}

fn dictionary(field: &Field, array: &dyn Array, row: usize, out: &mut Row) -> bool {
    entry_of(array, row).is_some_and(|(values, row)| value(field, values, row, out))
}

/// The values of a dictionary, and the index of the one in a row.
fn entry_of(array: &dyn Array, row: usize) -> Option<(&dyn Array, usize)> {
    let dictionary = array.as_any_dictionary_opt()?;
    let keys = dictionary.keys();
    let key = downcast_integer_array!(keys => usize::try_from(i128::from(keys.value(row))).ok(), _ => None);
    Some((dictionary.values().as_ref(), key?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ListArray, MapArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;

    use super::*;

    #[test]
    fn times_are_written_as_people_write_them() {
        assert_eq!(time(1_709_164_800, 1, true), "2024-02-29T00:00:00Z");
        assert_eq!(time(-1, 1_000, false), "1969-12-31T23:59:59.999");
        assert_eq!(
            time(1_682_902_860_000_000, 1_000_000, true),
            "2023-05-01T01:01:00Z"
        );
        assert_eq!(date(-719_468), "0000-03-01");
        assert_eq!(date(11_016), "2000-02-29");
    }

    #[test]
    fn json_in_lists_structs_and_maps_is_the_value_that_it_spells() {
        let json = |name: &str| {
            Arc::new(Field::new(name, DataType::Utf8, true).with_extension_type(Json::default()))
        };
        let texts = || -> ArrayRef { Arc::new(StringArray::from(vec![Some("{\"a\": 1}"), Some("{"), None])) };
        let offsets = || OffsetBuffer::from_lengths([3]);
        let list = ListArray::new(json("item"), offsets(), texts(), None);
        let plain = Arc::new(Field::new("item", DataType::Utf8, true));
        let words = ListArray::new(plain, offsets(), texts(), None);
        let names: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "z"]));
        let name = Arc::new(Field::new("key", DataType::Utf8, false));
        let entries = StructArray::new(vec![name, json("value")].into(), vec![names, texts()], None);
        let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let map = MapArray::new(entry, offsets(), entries, None, false);
        let first: ArrayRef = Arc::new(StringArray::from(vec!["[2]"]));
        let inner = StructArray::new(vec![json("p")].into(), vec![first], None);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("list", Arc::new(list)),
            ("words", Arc::new(words)),
            ("map", Arc::new(map)),
            ("struct", Arc::new(inner)),
        ];
        let mut row = Row::within(999, 99);
        row.write(&RecordBatch::try_from_iter(columns).unwrap(), 0, &[]);
        assert_eq!(
            String::from_utf8(row.bytes).unwrap(),
            r#"{"list":[{"a": 1},"{",null],"words":["{\"a\": 1}","{",null],"map":{"x":{"a": 1},"y":"{"},"struct":{"p":[2]}}"#
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_no_words_of_a_turn_or_a_mapped_column() {
        let plain = || Arc::new(arrow_array::BinaryArray::from_vec(vec![b"\xFF\xFE\x80"])) as ArrayRef;
        let coded = || {
            let keys = arrow_array::Int32Array::from(vec![0]);
            Arc::new(arrow_array::DictionaryArray::new(keys, plain())) as ArrayRef
        };
        let of = |bytes: &dyn Fn() -> ArrayRef, columns: [&str; 2], mapped: &[String]| {
            let role = Arc::new(StringArray::from(vec!["user"])) as ArrayRef;
            let columns = columns.map(|name| (name, if name == "role" { role.clone() } else { bytes() }));
            let mut row = Row::within(999, 99);
            row.write(&RecordBatch::try_from_iter(columns).unwrap(), 0, mapped);
            row.is_garbled
        };
        let garbled = |columns: [&str; 2], mapped: &[String]| {
            let found = of(&plain, columns, mapped);
            assert_eq!(found, of(&coded, columns, mapped));
            found
        };
        assert!(garbled(["role", "content"], &[]));
        assert!(!garbled(["role", "picture"], &[]));
        assert!(!garbled(["id", "content"], &[]));
        assert!(garbled(["id", "body"], &["body".to_owned()]));
        assert!(garbled(["prompt", "id"], &[]));
    }

    #[test]
    fn bytes_that_are_no_text_are_in_base64() {
        for (given, expected) in [
            (&b"\xff"[..], "\"/w==\""),
            (b"\xff\xfe", "\"//4=\""),
            (b"\xff\xfe\xfd", "\"//79\""),
            (b"ab", "\"ab\""),
        ] {
            let mut out = Row::within(99, 99);
            assert!(bytes(given, &mut out));
            assert_eq!(String::from_utf8(out.bytes).unwrap(), expected);
        }
    }
}
