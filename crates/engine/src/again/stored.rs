//! How tables are read row by row, and the JSON in their columns.

use chatmill_dataset::{Batch, Batches, Dataset, DatasetError};
use chatmill_model::{Extra, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The rows of a table, one after the other.
pub(super) struct Rows<'d, C> {
    batches: Batches<'d>,
    cells: fn(Batch) -> Result<C, DatasetError>,
    open: Option<C>,
    row: usize,
    /// How many the batch at hand has.
    length: usize,
}

impl<'d, C> Rows<'d, C> {
    pub(super) fn of(
        dataset: &'d Dataset,
        table: &str,
        columns: &'d [&'d str],
        cells: fn(Batch) -> Result<C, DatasetError>,
    ) -> Result<Self, DatasetError> {
        let mut rows = Self {
            batches: dataset.batches(table, columns),
            cells,
            open: None,
            row: 0,
            length: 0,
        };
        rows.fill()?;
        Ok(rows)
    }

    pub(super) fn current(&self) -> Option<(&C, usize)> {
        self.open.as_ref().map(|cells| (cells, self.row))
    }

    pub(super) fn advance(&mut self) -> Result<(), DatasetError> {
        self.row += 1;
        self.fill()
    }

    fn fill(&mut self) -> Result<(), DatasetError> {
        while self.row >= self.length {
            let Some(batch) = self.batches.next().transpose()? else {
                self.open = None;
                return Ok(());
            };
            (self.row, self.length) = (0, batch.rows());
            self.open = Some((self.cells)(batch)?);
        }
        Ok(())
    }
}

pub(super) fn raw(value: &RawValue) -> RawJson {
    RawJson(value.get().to_owned())
}

/// The members of an object in their order.
pub(super) fn fields(json: Option<&str>, batch: &Batch) -> Result<Extra, DatasetError> {
    let Some(json) = json else {
        return Ok(Extra::default());
    };
    let Members(members) = parsed(json, batch)?;
    Ok(Extra(members))
}

struct Members(Vec<(String, RawJson)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, raw(value)));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

pub(super) fn parsed<'j, T: Deserialize<'j>>(json: &'j str, batch: &Batch) -> Result<T, DatasetError> {
    serde_json::from_str(json)
        .map_err(|error| batch.fault(format!("its JSON is not what a run writes: {error}")))
}
