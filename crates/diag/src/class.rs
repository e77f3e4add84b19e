//! The classes of errors, by what the user can do about them.

use std::error::Error;
use std::io;

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The request is wrong; repeating it cannot help.
    Request,
    /// The system, or the content of a disk; repeating the request may help.
    System,
    /// A bug of chatmill.
    Bug,
    /// The work was stopped on request.
    Stopped,
}

/// An error that knows its class, so that callers need not know its type.
pub trait Classed: Error {
    /// The class, which decides the exit code.
    fn class(&self) -> Class;

    /// The advice that is printed after the message.
    fn advice(&self) -> Advice {
        Advice::default()
    }
}

/// The advice of an error, in addition to its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The next step, if the message does not name it.
    pub next_step: Option<String>,
    /// A word for the kind of error, for programs.
    pub code: Option<&'static str>,
    /// The key, the file or the pattern that is wrong, if there is one.
    pub place: Option<String>,
}

impl Advice {
    /// Advice that consists of a next step only.
    pub fn next(step: &str) -> Self {
        Self {
            next_step: Some(step.to_owned()),
            ..Self::default()
        }
    }
}

impl Classed for io::Error {
    fn class(&self) -> Class {
        Class::System
    }
}

/// A value that chatmill cannot write, or a file of chatmill that it cannot read.
impl Classed for serde_json::Error {
    fn class(&self) -> Class {
        Class::System
    }
}
