//! Why there is no export.

use std::path::Path;

use chatmill_dataset::DatasetError;
use chatmill_diag::Class;
use chatmill_intake::discover::read_small;
use chatmill_intake::{Failure, is_of_the_system};
use thiserror::Error;

/// What went wrong with an export.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The request cannot be met by this dataset, or by any.
    #[error("{message}")]
    ExportRequest {
        /// What is wrong with it.
        message: String,
        /// What to do instead.
        step: String,
    },
    /// It was told to stop; nothing was written.
    #[error("stopped; nothing was written")]
    Stopped,
    /// A file that the request names could not be read, through no fault of its own.
    #[error(transparent)]
    Input(#[from] Failure),
    /// The dataset could not be read, or the folder could not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl ExportError {
    /// What kind of error it is.
    pub const fn class(&self) -> Class {
        match self {
            Self::ExportRequest { .. } => Class::Request,
            Self::Stopped => Class::Stopped,
            Self::Input(_) => Class::System,
            Self::Dataset(error) => error.class(),
        }
    }

    /// Reads a file that the request names. `step` says what to name where that is no such file.
    pub(crate) fn reading(path: &Path, limit: u64, step: &str) -> Result<String, Self> {
        read_small(path, limit).map_err(|error| {
            if is_of_the_system(&error) {
                return Failure::new("read", path, &error).into();
            }
            Self::request(format!("cannot read {}: {error}", path.display()), step)
        })
    }

    pub(crate) fn request(message: impl Into<String>, step: impl Into<String>) -> Self {
        Self::ExportRequest {
            message: message.into(),
            step: step.into(),
        }
    }
}
