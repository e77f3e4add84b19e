//! The first rows of a table with columns that are guessed: of a CSV file, or of records that are rows.

use chatmill_intake::json::{self, Kind, Value};
use chatmill_intake::{Framing, Head};

/// The columns and the first rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSample {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The cells of each row; `None` if the row has no value for the column.
    pub rows: Vec<Vec<Option<SampleCell>>>,
}

/// A cell of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleCell {
    /// A text, a number or a boolean.
    Text(String),
    /// A list or an object, as JSON.
    Json(String),
}

impl TableSample {
    /// The sample of a CSV file or of JSON rows.
    pub fn of(head: &Head) -> Option<Self> {
        if matches!(head.framing, Framing::Lines | Framing::Array) {
            return Self::of_records(head);
        }
        let (columns, rows) = head.csv()?;
        let cells =
            |row: Vec<Option<String>>| row.into_iter().map(|cell| cell.map(SampleCell::Text)).collect();
        Some(Self {
            columns,
            rows: rows.into_iter().map(cells).collect(),
        })
    }

    fn of_records(head: &Head) -> Option<Self> {
        let mut sample = Self {
            columns: Vec::new(),
            rows: Vec::new(),
        };
        for record in head.records() {
            let document = json::scan(record, u32::MAX).ok()?;
            let root = document.root();
            if root.kind() != Kind::Object {
                return None;
            }
            let mut row: Vec<Option<SampleCell>> = vec![None; sample.columns.len()];
            for (key, value) in root.fields() {
                let known = sample.columns.iter().position(|name| *name == *key);
                let cell = SampleCell::of(value);
                if let Some(place) = known.and_then(|at| row.get_mut(at)) {
                    *place = cell;
                } else {
                    sample.columns.push(key.into_owned());
                    row.push(cell);
                }
            }
            sample.rows.push(row);
        }
        (!sample.rows.is_empty()).then_some(sample)
    }
}

impl SampleCell {
    fn of(value: Value<'_>) -> Option<Self> {
        match value.kind() {
            Kind::Null => None,
            Kind::String => value.string().map(|text| Self::Text(text.into_owned())),
            Kind::Array | Kind::Object => Some(Self::Json(value.raw().to_owned())),
            Kind::Bool(_) | Kind::Number => Some(Self::Text(value.raw().to_owned())),
        }
    }
}
