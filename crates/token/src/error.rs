//! Why a vocabulary of one's own cannot be counted with.

use thiserror::Error;

/// What is wrong with an encoding that a pipeline brings along; who asked for it knows the file.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum EncodingError {
    /// A name that no column can have.
    #[error("`{name}` cannot name an encoding; use small letters, digits and `_`, and not `sent_` in front")]
    Name {
        /// The name.
        name: String,
    },
    /// A name that the registry has.
    #[error("`{name}` is an encoding of the registry; choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// A line of a rank file that is none.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what should stand there.
        problem: String,
    },
    /// A file whose lines or fields are well-formed, but no vocabulary.
    #[error("{problem}")]
    Vocabulary {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A pattern that cannot be computed, or does not cut every text.
    #[error("the pattern {problem}")]
    Pattern {
        /// What is wrong, and what to do.
        problem: String,
    },
}

impl EncodingError {
    pub(crate) fn line(line: usize, problem: impl Into<String>) -> Self {
        Self::Line {
            line,
            problem: problem.into(),
        }
    }

    pub(crate) fn vocabulary(problem: impl Into<String>) -> Self {
        Self::Vocabulary {
            problem: problem.into(),
        }
    }

    pub(crate) fn pattern(problem: impl Into<String>) -> Self {
        Self::Pattern {
            problem: problem.into(),
        }
    }
}
