//! Reports on a finished dataset: `report.json`, `report.html` and the dataset card `README.md`; also bills, conditions, and the pages of
//! checks and nights.
//!
//! `build` reads a dataset into a [`Report`], `page` writes its page and card, `bill` sums costs, `figures` and `condition` compare runs,
//! and all text goes through `templates`. A dataset is read from its manifest and tables, never from a run in memory, so that a report can
//! be written again at any time, with the same content. A report is derived: no certificate covers it. `cli` calls `write`, or
//! [`build_report`] and [`save`], when a dataset is complete.

pub mod bill;
mod build;
mod cells;
pub mod check;
mod checked;
mod condition;
mod figures;
pub mod night;
pub mod numbers;
mod page;
pub mod report;
mod templates;

use std::error::Error;
use std::io;
use std::path::Path;

use chatmill_dataset::{Dataset, DatasetError, write_derived};

use page::{card, page};

pub use build::build_report;
pub use build::compare::compare;
pub use build::stand_ins::numbered;
pub use build::statistics::statistics;
pub use cells::{GroupKey, token_table};
pub use condition::{Condition, ConditionError, ConditionFailure, ConditionOutcome};
pub use figures::{Case, Earlier, MissingInputs, RunFigures, TokenFigure};
pub use night::trend;
pub use page::conversation;
pub use report::Report;
pub use templates::TemplateError;

/// The name of the report for programs.
pub const JSON: &str = "report.json";
/// The name of the report for readers.
pub const HTML: &str = "report.html";
/// The name of the dataset card.
pub const CARD: &str = "README.md";

/// Writes the three reports of a finished dataset into its folder, in place of older ones, and returns the report.
///
/// The dataset is either published, or sealed and about to be published. With `against`, the reports also contain the changes since that
/// earlier dataset.
pub fn write(folder: &Path, against: Option<&Path>) -> Result<Report, DatasetError> {
    let report = build_report(folder, against)?;
    save(folder, &report)?;
    Ok(report)
}

/// Writes a report into the folder of its dataset. Nothing is written if a report in the folder was edited by hand.
pub fn save(folder: &Path, report: &Report) -> Result<(), DatasetError> {
    let unwritten = |name: &str, error: Box<dyn Error + Send + Sync>| DatasetError::Io {
        action: "write",
        path: folder.join(name),
        source: io::Error::other(error),
    };
    let json = json(report).map_err(|error| unwritten(JSON, error.into()))?;
    // A hash of the figures is the same for the same dataset, and no text in the page can contain it.
    let nonce = blake3::hash(json.as_bytes()).to_hex();
    let page = page(report, &nonce).map_err(|error| unwritten(HTML, error.into()))?;
    let card = card::card(&Dataset::open(folder)?, report).map_err(|error| unwritten(CARD, error.into()))?;
    let files = [(JSON, json), (HTML, page), (CARD, card)];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    write_derived(folder, &files)
}

/// The text of `report.json`.
pub fn json(report: &Report) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|json| json + "\n")
}

/// The JSON Schema of `report.json`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
