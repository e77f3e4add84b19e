//! The classes of errors, by what the user can do about them, independent of their type.

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
