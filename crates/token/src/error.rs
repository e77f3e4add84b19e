//! Errors of encodings that users define.

use thiserror::Error;

use crate::split::patterns::PatternError;

/// The error of an encoding that a pipeline defines; the caller adds the path of its file.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum EncodingError {
    /// A name that is not a valid column name.
    #[error("`{0}` cannot name an encoding; use small letters, digits and `_`, and not `sent_` in front")]
    Name(String),
    /// A name that the registry already contains.
    #[error("`{0}` is an encoding of the registry; choose another name")]
    Taken(String),
    /// A line of the file, counted from 1, and what should be there.
    #[error("line {0}: {1}")]
    Line(usize, String),
    /// A file with well-formed lines or fields that is not a vocabulary.
    #[error("{0}")]
    Vocabulary(String),
    /// A pattern that cannot be computed, or that leaves some text out.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}
