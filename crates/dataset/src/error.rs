//! The errors of writing and reading a dataset.

use std::io;
use std::path::{Path, PathBuf};

use chatmill_diag::{Class, Classed};
use parquet::errors::ParquetError;
use thiserror::Error;

/// An error of writing or reading a dataset.
///
/// With [`WrongPath`](Self::WrongPath), [`Occupied`](Self::Occupied), [`NoExchange`](Self::NoExchange),
/// [`Format`](Self::Format) and [`AbsentTable`](Self::AbsentTable) the request is wrong and repeating it cannot help;
/// after the other errors it may.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The given path cannot be used: no dataset can be written there, or none can be read from it.
    #[error("{} cannot be used: {reason}", path.display())]
    WrongPath {
        /// The path, or a folder above it.
        path: PathBuf,
        /// A clause with the reason and what to do.
        reason: String,
    },
    /// The destination holds a dataset, which the request does not allow to replace.
    #[error("{} already holds a dataset: {reason}", path.display())]
    Occupied {
        /// The destination.
        path: PathBuf,
        /// A clause that names the occupant and what to do.
        reason: String,
    },
    /// The old and the new dataset cannot be exchanged in one step on this file system.
    #[error(
        "the file system of {} cannot exchange two folders in one step; delete the old dataset first or choose another \
         destination",
        path.display()
    )]
    NoExchange {
        /// The destination.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another run works on this destination.
    #[error("another run uses {}; wait until it ends or choose another destination", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The disk, a quota or a file size limit is exhausted.
    #[error("no space left for {}; free some space and run again", path.display())]
    NoSpace {
        /// The file that could not be written.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system refused a call.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation that failed, as a verb: `write`, `sync`, `rename`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The dataset has another format version than the one that this program reads.
    #[error(
        "{} is a dataset of format {format}, written by chatmill {version}, and this program reads format {read}; run its \
         pipeline again with --replace",
        path.display()
    )]
    Format {
        /// The dataset's folder.
        path: PathBuf,
        /// The format version of the dataset.
        format: u32,
        /// The format that this program reads.
        read: u32,
        /// The version of the program that wrote it.
        version: String,
    },
    /// The dataset was written without a table that is needed.
    #[error(
        "{} has no table {table}, which its pipeline file leaves out; add it to `tables` in [output] and run the pipeline \
         again with --replace",
        path.display()
    )]
    AbsentTable {
        /// The dataset's folder.
        path: PathBuf,
        /// The table.
        table: String,
    },
    /// A file of the dataset is corrupt.
    #[error("{} is damaged: {reason}", path.display())]
    Corrupt {
        /// The file or folder.
        path: PathBuf,
        /// A clause that describes the corruption.
        reason: String,
    },
    /// A row does not fit its table: an error in the program.
    #[error("a row of {table} cannot be written: {reason}")]
    Row {
        /// The table.
        table: &'static str,
        /// A clause that gives the reason.
        reason: String,
    },
}

impl Classed for DatasetError {
    fn class(&self) -> Class {
        match self {
            Self::WrongPath { .. }
            | Self::Occupied { .. }
            | Self::NoExchange { .. }
            | Self::Format { .. }
            | Self::AbsentTable { .. } => Class::Request,
            Self::Locked { .. } | Self::NoSpace { .. } | Self::Io { .. } | Self::Corrupt { .. } => {
                Class::System
            }
            Self::Row { .. } => Class::Bug,
        }
    }
}

impl DatasetError {
    /// Wraps an error of the operating system; a full disk, a quota or a file size limit becomes [`NoSpace`](Self::NoSpace).
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path, source }
            }
            _ => Self::Io { action, path, source },
        }
    }

    /// Wraps an error of the Parquet library from writing or reading `path`; an I/O error inside it is reported as such.
    pub(crate) fn parquet(action: &'static str, path: &Path, error: ParquetError) -> Self {
        let error = match error {
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(source) => return Self::io(action, path, *source),
                Err(source) => ParquetError::External(source),
            },
            other => other,
        };
        Self::corrupt(path, error.to_string())
    }

    pub(crate) fn corrupt(path: &Path, reason: impl Into<String>) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    pub(crate) fn wrong_path(path: &Path, reason: impl Into<String>) -> Self {
        Self::WrongPath {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

/// Separates corruption from all other errors: the inner result is the value or the corruption, the outer error is of
/// another kind.
pub(crate) fn or_corruption<T>(
    read: Result<T, DatasetError>,
) -> Result<Result<T, DatasetError>, DatasetError> {
    match read {
        Err(error) if !matches!(error, DatasetError::Corrupt { .. }) => Err(error),
        read => Ok(read),
    }
}

/// The elements of an opened sequence; where opening failed, that error is the only element.
pub(crate) fn each_or_error<T, E, I>(opened: Result<I, E>) -> impl Iterator<Item = Result<T, E>>
where
    I: IntoIterator<Item = Result<T, E>>,
{
    let (sequence, error) = match opened {
        Ok(sequence) => (Some(sequence), None),
        Err(error) => (None, Some(Err(error))),
    };
    sequence.into_iter().flatten().chain(error)
}
