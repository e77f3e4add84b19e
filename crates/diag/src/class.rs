//! The classes of errors, by what the user can do about them, independent of their type.

use std::error::Error;
use std::io;

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The request is wrong; repeating it cannot help.
    Request,
    /// The system, or what lies on a disk; repeating it may help.
    System,
    /// A bug of chatmill.
    Bug,
    /// Somebody stopped the work.
    Stopped,
}

/// An error that says its class, so that nobody has to know its type.
pub trait Classed: Error {
    /// The class, which decides the exit code.
    fn class(&self) -> Class;

    /// What to say besides the message.
    fn advice(&self) -> Advice {
        Advice::default()
    }
}

/// What an error says besides its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The next step, where the message does not name it.
    pub next_step: Option<String>,
    /// A word for the kind of error, for programs.
    pub code: Option<&'static str>,
    /// The key, the file or the pattern that is wrong, where there is one.
    pub place: Option<String>,
}

impl Advice {
    /// A next step, and nothing else.
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

/// A value of ours that cannot be written, or a file of ours that cannot be read.
impl Classed for serde_json::Error {
    fn class(&self) -> Class {
        Class::System
    }
}
