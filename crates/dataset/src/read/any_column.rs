//! Columns with types that a reader learns at run time: any cell as JSON.
//!
//! A text of the Arrow JSON type becomes the JSON that it contains, a time an RFC 3339 text in UTC, a list an array and
//! a structure an object.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::extension::Json;
use arrow_schema::{DataType, FieldRef};
use jiff::Timestamp;
use serde_json::Value;

use crate::error::DatasetError;
use crate::read::{Batch, ColumnKind};

/// A column of any type.
#[derive(Clone, Debug)]
pub struct AnyColumn {
    field: FieldRef,
    array: ArrayRef,
}

impl ColumnKind for AnyColumn {
    fn of(batch: &Batch, name: &str) -> Result<Self, DatasetError> {
        let schema = batch.batch.schema();
        let (place, field) = schema
            .fields()
            .find(name)
            .ok_or_else(|| batch.corrupt(format!("it has no column {name}")))?;
        Ok(Self {
            field: field.clone(),
            array: batch.batch.column(place).clone(),
        })
    }
}

impl AnyColumn {
    /// The value in a row as JSON; `null` where it is missing.
    pub fn json(&self, row: usize) -> String {
        let mut json = String::new();
        write(&self.field, &*self.array, row, &mut json);
        json
    }
}

fn write(field: &FieldRef, array: &dyn Array, row: usize, out: &mut String) {
    if row >= array.len() || array.is_null(row) {
        out.push_str("null");
        return;
    }
    let value = match field.data_type() {
        DataType::Utf8 if field.has_valid_extension_type::<Json>() => {
            out.push_str(array.as_string::<i32>().value(row));
            return;
        }
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Timestamp(..) => {
            let microseconds = array.as_primitive::<TimestampMicrosecondType>().value(row);
            // RFC 3339 cannot write years after 9999.
            let instant = Timestamp::from_microsecond(microseconds);
            instant.map_or(Value::Null, |instant| instant.to_string().into())
        }
        DataType::List(element) => {
            let list = array.as_list::<i32>().value(row);
            out.push('[');
            for place in 0..list.len() {
                out.push_str(if place == 0 { "" } else { "," });
                write(element, &*list, place, out);
            }
            out.push(']');
            return;
        }
        DataType::Struct(members) => {
            out.push('{');
            for (place, (member, column)) in members.iter().zip(array.as_struct().columns()).enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                out.push_str(&Value::from(member.name().as_str()).to_string());
                out.push(':');
                write(member, column, row, out);
            }
            out.push('}');
            return;
        }
        _ => Value::Null,
    };
    out.push_str(&value.to_string());
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use arrow_array::{
        BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
        TimestampMicrosecondArray,
    };
    use arrow_schema::{Field, TimeUnit};

    use super::*;

    #[test]
    fn every_type_of_the_tables_has_its_json_and_null_where_a_value_is_missing() {
        let words = || Arc::new(StringArray::from(vec![Some("a\"b"), None])) as ArrayRef;
        let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let times = TimestampMicrosecondArray::from(vec![Some(1_790_812_800_000_000), None]);
        let lists =
            ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![])]);
        let member = Arc::new(Field::new("name", DataType::Utf8, true));
        let raw = Field::new("raw", DataType::Utf8, true).with_extension_type(Json::default());
        let columns: Vec<(Field, ArrayRef, [&str; 2])> = vec![
            (
                Field::new("word", DataType::Utf8, true),
                words(),
                [r#""a\"b""#, "null"],
            ),
            (
                raw,
                Arc::new(StringArray::from(vec![Some(r#"{"a":1.50}"#), None])),
                [r#"{"a":1.50}"#, "null"],
            ),
            (
                Field::new("number", DataType::Int64, true),
                Arc::new(Int64Array::from(vec![Some(7), None])),
                ["7", "null"],
            ),
            (
                Field::new("real", DataType::Float64, true),
                Arc::new(Float64Array::from(vec![Some(0.5), None])),
                ["0.5", "null"],
            ),
            (
                Field::new("flag", DataType::Boolean, true),
                Arc::new(BooleanArray::from(vec![Some(true), None])),
                ["true", "null"],
            ),
            (
                Field::new("time", time.clone(), true),
                Arc::new(times.with_timezone("UTC")),
                [r#""2026-10-01T00:00:00Z""#, "null"],
            ),
            (
                Field::new("list", lists.data_type().clone(), true),
                Arc::new(lists),
                ["[1,2]", "[]"],
            ),
            (
                Field::new("struct", DataType::Struct(vec![member.clone()].into()), true),
                Arc::new(StructArray::from(vec![(member, words())])),
                [r#"{"name":"a\"b"}"#, r#"{"name":null}"#],
            ),
        ];
        for (field, array, wanted) in columns {
            let schema = Arc::new(arrow_schema::Schema::new(vec![field.clone()]));
            let batch = Batch {
                path: PathBuf::new(),
                batch: RecordBatch::try_new(schema, vec![array]).unwrap(),
            };
            let cells: AnyColumn = batch.column(field.name()).unwrap();
            assert_eq!([0, 1].map(|row| cells.json(row)), wanted, "{field:?}");
        }
    }
}
