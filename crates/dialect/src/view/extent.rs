//! How much of a conversation a rendering shows, and where it begins.

/// How much of a conversation a rendering shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    #[default]
    Whole,
    /// A range of it.
    Window,
    /// One message, with what it quotes.
    SingleTurn,
}

impl Coverage {
    /// Returns the word in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Window => "window",
            Self::SingleTurn => "single-turn",
        }
    }
}

/// The part of a conversation that a rendering shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Whether it is the whole conversation, a window or a message.
    pub(crate) coverage: Coverage,
    /// The position where it begins, without system text before it.
    pub(crate) first: u32,
}
