//! Reads the small files that settings and options name, such as pipelines, templates, vocabularies and keys.

use std::path::{Path, PathBuf};

use chatmill_intake::{Failure, discover, is_of_the_system};
use serde_json::Value;

use crate::error::PlanError;

/// Reads the text of a file of at most `limit` bytes. `wrong` makes the error if the file or
/// its name is at fault; failures of the system have a separate error.
pub(crate) fn read_text(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(std::io::Error) -> PlanError,
) -> Result<String, PlanError> {
    discover::read_small(path, limit).map_err(|error| refused(path, error, wrong))
}

/// Reads the bytes of such a file.
pub(crate) fn read_bytes(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(std::io::Error) -> PlanError,
) -> Result<Vec<u8>, PlanError> {
    discover::read_small_bytes(path, limit).map_err(|error| refused(path, error, wrong))
}

fn refused(path: &Path, error: std::io::Error, wrong: impl FnOnce(std::io::Error) -> PlanError) -> PlanError {
    if is_of_the_system(&error) {
        Failure::new("read", path, &error).into()
    } else {
        wrong(error)
    }
}

/// Adds the path of each text in the settings, under any key, that names an existing
/// file; paths start at `base`. A report must not overwrite these files.
pub(super) fn add_named(settings: &Value, base: &Path, paths: &mut Vec<PathBuf>) {
    match settings {
        Value::String(word) => {
            let path = base.join(word);
            paths.extend(discover::leads_to_file(&path).then_some(path));
        }
        Value::Array(items) => items.iter().for_each(|item| add_named(item, base, paths)),
        Value::Object(keys) => keys.values().for_each(|value| add_named(value, base, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
