//! Why a vocabulary of one's own cannot be counted with.

use thiserror::Error;

use crate::split::patterns::PatternError;

/// What is wrong with an encoding that a pipeline brings along; who asked for it knows the file.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum EncodingError {
    /// A name that no column can have.
    #[error("`{0}` cannot name an encoding; use small letters, digits and `_`, and not `sent_` in front")]
    Name(String),
    /// A name that the registry has.
    #[error("`{0}` is an encoding of the registry; choose another name")]
    Taken(String),
    /// A line, counted from 1, of a file in which another should stand there.
    #[error("line {0}: {1}")]
    Line(usize, String),
    /// A file whose lines or fields are well-formed, but no vocabulary.
    #[error("{0}")]
    Vocabulary(String),
    /// A pattern that cannot be computed, or does not cut every text.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}
