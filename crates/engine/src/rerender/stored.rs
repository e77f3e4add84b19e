//! Reads the JSON and the words in columns of stored tables.

use std::str::FromStr;

use chatmill_dataset::{Batch, DatasetError};
use chatmill_intake::json::{self, Kind};
use chatmill_model::{Extra, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) fn raw(value: &RawValue) -> RawJson {
    RawJson(value.get().to_owned())
}

/// Reads the members of an object in their order.
pub(super) fn fields(json: Option<&str>, batch: &Batch) -> Result<Extra, DatasetError> {
    let Some(json) = json else {
        return Ok(Extra::default());
    };
    let document = json::scan(json.as_bytes(), u32::MAX).map_err(|error| not_ours(batch, &error.message))?;
    if document.root().kind() != Kind::Object {
        return Err(not_ours(batch, "it is no object"));
    }
    let members = document.root().fields();
    let members = members.map(|(name, value)| (name.into_owned(), RawJson(value.raw().to_owned())));
    Ok(Extra(members.collect()))
}

/// Parses a word of a column into its type.
pub(super) fn word<T: FromStr>(word: &str, batch: &Batch) -> Result<T, DatasetError> {
    let unknown = |_| batch.corrupt(format!("it has the unknown word `{word}`"));
    word.parse().map_err(unknown)
}

fn not_ours(batch: &Batch, reason: &str) -> DatasetError {
    batch.corrupt(format!("its JSON is not what a run writes: {reason}"))
}

pub(super) fn parsed<'j, T: Deserialize<'j>>(json: &'j str, batch: &Batch) -> Result<T, DatasetError> {
    serde_json::from_str(json).map_err(|error| not_ours(batch, &error.to_string()))
}
