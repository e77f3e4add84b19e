//! The classes of errors: what whoever asked can do about one, whatever its type is.

/// What kind of thing stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// What was asked for is wrong; repeating it cannot help.
    Request,
    /// The system, or what lies on a disk; repeating it may help.
    System,
    /// A fault of chatmill.
    Bug,
    /// Somebody stopped the work.
    Stopped,
}
