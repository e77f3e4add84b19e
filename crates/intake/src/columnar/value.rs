//! Values of columns as JSON. Nulls, and values that JSON cannot represent, are left out of objects and are null in lists. Text of the
//! Arrow JSON type, or Parquet's, is the value that it spells, at any depth of lists and structs.

use std::fmt::Write as _;

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

/// A row being written. A few bytes of a column may stand for billions of equal values, so writing stops
/// beyond the limits.
pub(super) struct Row {
    /// The bytes written so far.
    pub bytes: Vec<u8>,
    /// Values in it: itself, elements of lists, and fields that are not null.
    pub values: u64,
    /// Bytes and values beyond which nothing more is written.
    most: (u64, u64),
}

impl Row {
    /// An empty writer, which stops beyond this number of bytes and values.
    pub(super) fn within(bytes: u64, values: u64) -> Self {
        Self {
            bytes: Vec::new(),
            values: 0,
            most: (bytes, values),
        }
    }

    /// Writes a row as an object.
    pub(super) fn write(&mut self, batch: &RecordBatch, row: usize) {
        self.values += 1;
        object(cells(batch.schema_ref().fields(), batch.columns(), row), self);
    }

    /// Whether the row exceeds the limits, and is incomplete.
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
}

/// The cells of a row, one for each column.
fn cells<'a>(fields: &'a Fields, columns: &'a [ArrayRef], row: usize) -> impl Iterator<Item = Cell<'a>> {
    fields.iter().zip(columns).map(move |(field, array)| Cell {
        field,
        name: field.name(),
        array,
        row,
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

/// Writes a value; false, and nothing is written, where there is none.
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
        DataType::Binary => bytes(array.as_binary::<i32>().value(row), out),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row), out),
        DataType::BinaryView => bytes(array.as_binary_view().value(row), out),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row), out),
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
        _ => false,
    }
}

fn text(text: &str, out: &mut Row) -> bool {
    out.bytes.extend_from_slice(text.as_bytes());
    true
}

/// Text: the JSON that it spells where its type says so. JSON that would not stand on one line, as a row does, stays text.
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
        // Nobody reads a row that is beyond.
        out.bytes.extend_from_slice(text.as_bytes());
    } else {
        push_string(text, &mut out.bytes);
    }
    true
}

fn fraction(number: f64, out: &mut Row) -> bool {
    number.is_finite() && text(&number.to_string(), out)
}

/// Bytes: as text where they are one, else in base64.
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

/// A map: an object where its keys are text, else a list of pairs.
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
        }),
        out,
    );
    true
}

fn dictionary(field: &Field, array: &dyn Array, row: usize, out: &mut Row) -> bool {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return false;
    };
    let keys = dictionary.keys();
    let key = downcast_integer_array!(keys => usize::try_from(i128::from(keys.value(row))).ok(), _ => None);
    key.is_some_and(|key| value(field, dictionary.values().as_ref(), key, out))
}

/// A point in time as ISO 8601; with `Z` where the column says that it is one, and not a clock's reading.
fn time(units: i64, second: i64, is_instant: bool) -> String {
    let (seconds, rest) = (units.div_euclid(second), units.rem_euclid(second));
    let (days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute) = (clock / 3_600, clock / 60 % 60);
    let mut out = format!("{}T{hour:02}:{minute:02}:{:02}", date(days), clock % 60);
    if rest > 0 {
        let digits = second.ilog10() as usize;
        // Writing to a string cannot fail.
        let _ = write!(out, ".{rest:0digits$}");
    }
    if is_instant {
        out.push('Z');
    }
    out
}

/// A day, counted from 1970, in the calendar.
fn date(days: i64) -> String {
    // Years that begin in March: the day that is added every four years is the last of one.
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
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
        row.write(&RecordBatch::try_from_iter(columns).unwrap(), 0);
        assert_eq!(
            String::from_utf8(row.bytes).unwrap(),
            r#"{"list":[{"a": 1},"{",null],"words":["{\"a\": 1}","{",null],"map":{"x":{"a": 1},"y":"{"},"struct":{"p":[2]}}"#
        );
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
