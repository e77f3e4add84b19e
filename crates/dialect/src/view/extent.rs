//! How much of a conversation a rendering shows, and where that begins.

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
    /// The word that tables use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Window => "window",
            Self::SingleTurn => "single-turn",
        }
    }
}

/// What a rendering shows of its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// In words.
    pub(crate) coverage: Coverage,
    /// Where it begins, system text before it aside.
    pub(crate) first: u32,
}
