//! The request for an export, and the dialect of the dataset that it selects.

pub(crate) mod added_columns;

use std::path::PathBuf;

use chatmill_dataset::{Dataset, Texts};

use crate::candidate::RenderedAs;
use crate::envelope::Envelope;
use crate::error::ExportError;
use crate::filter::Filters;
use crate::format::Format;
use crate::split::Split;
use crate::writer::nested::NestedAs;

/// The renderings to export, and the format.
pub struct ExportRequest {
    /// `ID` or `ID@PROFILE` of the dialect.
    pub dialect: String,
    /// Form of the files.
    pub format: Format,
    /// Form of lists and objects in a table.
    pub nested: NestedAs,
    /// The envelope around each rendering; `None` writes the rendering unchanged.
    pub envelope: Option<&'static Envelope>,
    /// Filters for renderings.
    pub filters: Filters,
    /// A chat template that has to accept each rendering: a Jinja file or a `tokenizer_config.json`.
    pub valid_for: Option<PathBuf>,
    /// The division of the renderings into files; `None` gives one file.
    pub split: Option<Split>,
    /// Columns of `conversations` and `renderings`, and fields of the record (`extra.KEY`), that are added to each record.
    pub columns: Vec<String>,
    /// The most bytes of a file; `None` for the default. A larger part becomes several files.
    pub shard_bytes: Option<u64>,
    /// Whether the summary lists the rows that are left out.
    pub lists_left_out: bool,
    /// Whether errors may quote the content of records; never for a dataset with a plan that forbids it.
    pub quotes: bool,
    /// The seed of a random order of rows; `None` keeps the order of the dataset.
    pub shuffle: Option<u64>,
    /// The folder that is prepended to relative paths of media.
    pub media_root: Option<String>,
    /// Whether an earlier export at the destination may be replaced.
    pub replace: bool,
    /// Options of the command that reads inputs and exports them in one step, without paths, for the card; `None` for a dataset.
    pub convert: Option<Vec<(&'static str, String)>>,
}

impl ExportRequest {
    /// A request for every rendering in a dialect (`ID` or `ID@PROFILE`), unchanged, in one file of this format.
    pub fn new(dialect: &str, format: Format) -> Self {
        Self {
            dialect: dialect.to_owned(),
            format,
            nested: NestedAs::Json,
            envelope: None,
            filters: Filters::default(),
            valid_for: None,
            split: None,
            columns: Vec::new(),
            shard_bytes: None,
            lists_left_out: false,
            quotes: true,
            shuffle: None,
            media_root: None,
            replace: false,
            convert: None,
        }
    }
}

/// Whether a dataset has renderings in a dialect (`ID` or `ID@PROFILE`), in one or several profiles.
pub fn holds(dataset: &Dataset, spec: &str) -> Result<bool, ExportError> {
    let (id, profile) = match spec.split_once('@') {
        Some((id, profile)) => (id, Some(profile)),
        None => (spec, None),
    };
    let is_it = |rendered: &RenderedAs| {
        rendered.dialect == id && profile.is_none_or(|profile| rendered.profile == profile)
    };
    Ok(dataset.has("renderings") && stored(dataset)?.iter().any(is_it))
}

/// The dialects and profiles of a dataset.
fn stored(dataset: &Dataset) -> Result<Vec<RenderedAs>, ExportError> {
    let mut stored: Vec<RenderedAs> = Vec::new();
    for batch in dataset.batches("renderings", &["dialect", "profile"]) {
        let batch = batch?;
        let (dialects, profiles): (Texts, Texts) = (batch.column("dialect")?, batch.column("profile")?);
        for row in 0..batch.rows() {
            let (dialect, profile) = (dialects.at(row), profiles.at(row));
            if !stored
                .iter()
                .any(|rendered| rendered.dialect == dialect && rendered.profile == profile)
            {
                stored.push(RenderedAs {
                    dialect: dialect.to_owned(),
                    profile: profile.to_owned(),
                });
            }
        }
    }
    Ok(stored)
}

/// Finds the requested dialect in the dataset.
pub(crate) fn resolve(dataset: &Dataset, spec: &str) -> Result<RenderedAs, ExportError> {
    let stored = stored(dataset)?;
    let (id, profile) = match spec.split_once('@') {
        Some((id, profile)) => (id, Some(profile)),
        None => (spec, None),
    };
    let known = chatmill_dialect::find(spec).map(chatmill_dialect::Dialect::profile);
    let mut fitting: Vec<&RenderedAs> = stored.iter().filter(|rendered| rendered.dialect == id).collect();
    if let Some(wanted) = profile.or(known.filter(|_| fitting.len() > 1)) {
        fitting.retain(|rendered| rendered.profile == wanted);
    }
    match fitting.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(ExportError::request(
            format!("the dataset holds no rendering in the dialect `{spec}`"),
            other_step(&stored, known.is_some()),
        )),
        several => {
            let names: Vec<String> = several.iter().map(|rendered| rendered.spec()).collect();
            Err(ExportError::request(
                format!("the dataset holds `{spec}` in several profiles"),
                format!("choose one of {}", names.join(", ")),
            ))
        }
    }
}

/// The remedy if a dataset does not have a dialect; a pipeline cannot render an unknown dialect either.
fn other_step(stored: &[RenderedAs], is_known: bool) -> String {
    let mut names: Vec<String> = stored.iter().map(RenderedAs::spec).collect();
    names.sort();
    let again = "add the dialect to `render.dialects` and run the pipeline again";
    match (names.as_slice(), is_known) {
        ([], _) => "it holds none; name dialects in `render.dialects` and run the pipeline again".to_owned(),
        (names, true) => format!("it holds {}; {again}", names.join(", ")),
        (names, false) => format!("take one that it holds: {}", names.join(", ")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A request for JSON lines of a dialect, without anything else.
    pub(crate) fn request(dialect: &str) -> ExportRequest {
        ExportRequest::new(dialect, Format::Jsonl)
    }
}
