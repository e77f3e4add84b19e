//! Errors of exports.

use std::path::Path;

use chatmill_dataset::DatasetError;
use chatmill_diag::{Advice, Class, Classed};
use chatmill_intake::discover::read_small;
use chatmill_intake::{Failure, is_of_the_system};
use thiserror::Error;

/// An error that ends an export.
#[derive(Debug, Error)]
pub enum ExportError {
    /// This dataset, or any dataset, cannot meet the request.
    #[error("{message}")]
    ExportRequest {
        /// The error in the request.
        message: String,
        /// The remedy.
        step: String,
    },
    /// The export was stopped; nothing was written.
    #[error("stopped; nothing was written")]
    Stopped,
    /// The system could not read a file that the request names.
    #[error(transparent)]
    Input(#[from] Failure),
    /// A template of the card does not fit its data: a bug.
    #[error("the template {name} does not fit its data")]
    Card {
        /// The template.
        name: &'static str,
        /// The cause.
        source: minijinja::Error,
    },
    /// The dataset could not be read, or the folder could not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl Classed for ExportError {
    fn class(&self) -> Class {
        match self {
            Self::ExportRequest { .. } => Class::Request,
            Self::Stopped => Class::Stopped,
            Self::Card { .. } => Class::Bug,
            Self::Input(_) => Class::System,
            Self::Dataset(error) => error.class(),
        }
    }

    fn advice(&self) -> Advice {
        match self {
            Self::ExportRequest { step, .. } => Advice::next(step),
            _ => Advice::default(),
        }
    }
}

impl ExportError {
    /// Reads a file that the request names. `step` is the remedy if the file is not of the expected kind.
    pub(crate) fn reading(path: &Path, limit: u64, step: &str) -> Result<String, Self> {
        read_small(path, limit).map_err(|error| {
            if is_of_the_system(&error) {
                return Failure::new("read", path, &error).into();
            }
            Self::request(format!("cannot read {}: {error}", path.display()), step)
        })
    }

    /// The refusal of a column with a name that is taken.
    pub(crate) fn taken(name: &str, what: &str) -> Self {
        Self::request(
            format!("the column `{name}` has the name of {what}"),
            "leave it out of `--columns`",
        )
    }

    pub(crate) fn request(message: impl Into<String>, step: impl Into<String>) -> Self {
        Self::ExportRequest {
            message: message.into(),
            step: step.into(),
        }
    }
}
