//! Reads a pipeline: TOML and overrides, with messages that suggest the nearest key.

use std::collections::BTreeMap;
use std::path::Path;

use chatmill_diag::suggest::nearest;
use chatmill_diag::{has_settings, settings_error};

use super::{Pipeline, TableMapSection};
use crate::error::PlanError;

/// The depth of a key in an assignment. No key of a pipeline file is
/// deeper, and nested tables are walked, written and dropped recursively.
const MAX_STEPS: usize = 8;
/// Characters of an assignment that an error repeats.
const SHOWN: usize = 120;

/// Reads a pipeline from TOML text, with `section.key=value` overrides (TOML values; bare words are strings).
pub fn parse(text: &str, overrides: &[String], shown: &Path) -> Result<Pipeline, PlanError> {
    let mut table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| unreadable(shown, text, &error))?;
    for assignment in overrides {
        assign(&mut table, assignment)?;
    }
    if table.contains_key("lots") && table.contains_key("shards") {
        let message = "it is the older spelling of [shards], which is also set; remove it";
        return Err(PlanError::value("lots", message));
    }
    let rendered = toml::to_string(&table).map_err(|error| PlanError::Pipeline {
        path: shown.to_path_buf(),
        message: error.to_string(),
    })?;
    // The text as written gives better places than the table, unless an override changed it.
    let source = if overrides.is_empty() { text } else { &rendered };
    let mut pipeline = read(source).map_err(|error| match wrong_override(text, overrides) {
        Some(wrong) => wrong,
        None => unreadable(shown, source, &error),
    })?;
    if let Some(shards) = pipeline.lots {
        pipeline.shards = shards;
    }
    if pipeline.name.is_empty() {
        let stem = shown.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        pipeline.name = stem.unwrap_or_default();
    }
    Ok(pipeline)
}

/// Reads the sections of a pipeline. Every form in which a pipeline is kept is written as TOML first, because the compiler makes the readers of
/// all sections anew for each form.
fn read(text: &str) -> Result<Pipeline, toml::de::Error> {
    toml::from_str(text)
}

/// Reads a pipeline from the JSON of a manifest, where `null` is a setting that is not there.
pub(crate) fn of_json(mut plan: serde_json::Value) -> Result<Pipeline, String> {
    drop_nulls(&mut plan);
    let text = toml::to_string(&plan).map_err(|error| error.to_string())?;
    read(&text).map_err(|error| error.message().to_owned())
}

fn drop_nulls(value: &mut serde_json::Value) {
    if let serde_json::Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(drop_nulls);
    } else if let serde_json::Value::Array(items) = value {
        items.iter_mut().for_each(drop_nulls);
    }
}

/// Returns the error of the override that made a pipeline unreadable; `None` if the file itself is wrong.
fn wrong_override(text: &str, overrides: &[String]) -> Option<PlanError> {
    let mut table: toml::Table = text.parse().ok()?;
    let error_of = |table: &toml::Table| {
        let text = toml::to_string(table).ok()?;
        read(&text).err().map(|error| error.message().to_owned())
    };
    let own = error_of(&table);
    overrides.iter().find_map(|assignment| {
        assign(&mut table, assignment).ok()?;
        let message = error_of(&table).filter(|message| Some(message) != own.as_ref())?;
        let shown: String = assignment.chars().take(SHOWN).collect();
        Some(PlanError::Pipeline {
            path: format!("--set {shown}").into(),
            message: with_suggestion(&message),
        })
    })
}

/// Returns the table maps of a file, if it has any: a file with only maps, or any pipeline.
pub(crate) fn table_maps(
    text: &str,
    shown: &Path,
) -> Result<Option<BTreeMap<String, TableMapSection>>, PlanError> {
    #[derive(serde::Deserialize)]
    struct Maps {
        table_map: Option<BTreeMap<String, TableMapSection>>,
    }

    let read: Result<Maps, _> = toml::from_str(text);
    let maps = read.map_err(|error| unreadable(shown, text, &error))?;
    Ok(maps.table_map)
}

fn assign(table: &mut toml::Table, assignment: &str) -> Result<(), PlanError> {
    let wrong = || PlanError::Override {
        text: assignment.chars().take(SHOWN).collect(),
    };
    let (path, value) = assignment.split_once('=').ok_or_else(wrong)?;
    if path.split('.').count() > MAX_STEPS {
        return Err(wrong());
    }
    let value = format!("v = {value}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|parsed| parsed.get("v").cloned())
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let last = keys.pop().filter(|key| !key.is_empty()).ok_or_else(wrong)?;
    let mut place = table;
    for key in keys {
        place = place
            .entry(key)
            .or_insert_with(|| toml::Value::Table(toml::Table::new()))
            .as_table_mut()
            .ok_or_else(wrong)?;
    }
    place.insert(last.to_owned(), value);
    Ok(())
}

/// Returns the error of a TOML reader about a settings file, or about another file that was given as one.
pub(super) fn unreadable(path: &Path, text: &str, error: &toml::de::Error) -> PlanError {
    let (path, message) = (path.to_path_buf(), settings_error(text, &error.to_string()));
    if has_settings(text) {
        let message = with_suggestion(&message);
        PlanError::Pipeline { path, message }
    } else {
        PlanError::Foreign { path, message }
    }
}

/// Adds the nearest known key or word to serde's message about an unknown one.
fn with_suggestion(message: &str) -> String {
    let unknown = ["unknown field `", "unknown variant `"];
    let Some((_, rest)) = unknown.iter().find_map(|what| message.split_once(what)) else {
        return message.to_owned();
    };
    let Some((unknown, rest)) = rest.split_once('`') else {
        return message.to_owned();
    };
    let known = rest.split('`').skip(1).step_by(2);
    match nearest(unknown, known) {
        Some(key) => format!("{}\ndid you mean `{key}`?", message.trim_end()),
        None => message.to_owned(),
    }
}
