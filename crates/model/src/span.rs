//! What the bytes of a rendering are: whose they are, what they are booked under, and how they were written.

/// How a text is written into a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// As it is.
    Raw,
    /// As the inside of a JSON string.
    JsonString,
    /// As the inside of a JSON string inside a JSON string.
    JsonInJsonString,
}

/// What the tokens of a text are booked under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// What people and models said.
    Content,
    /// Who said it.
    Names,
    /// The dialect's own glue: brackets, keys, role words.
    Framing,
    /// Tool definitions, calls and results.
    Tools,
    /// Quotes, arrows and other signs of a reply.
    Replies,
    /// Ids, times and other metadata.
    Meta,
}

/// Whose turn a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Speaker {
    /// Anybody else's, or nobody's.
    #[default]
    Other,
    /// The perspective's own: what a trainer learns from.
    Perspective,
    /// The perspective's own, too, but context: a trainer masks it.
    Recalled,
    /// Definitions of tools: part of every request wherever they stand, and attributed to no speaker.
    Preamble,
}

impl Speaker {
    /// Whether it is the perspective, be its words learned or context.
    pub const fn is_own(self) -> bool {
        matches!(self, Self::Perspective | Self::Recalled)
    }
}

/// Where a component ends in the written bytes; spans are adjacent and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentSpan {
    /// One past the last byte.
    pub end: usize,
    /// What it is booked under.
    pub component: Component,
    /// Whose turn it belongs to.
    pub voice: Speaker,
    /// Whether it is one control token of a template: counted as one, and no token reaches over its ends.
    pub control: bool,
    /// How many requests carry it, where somebody has said so.
    pub requests: u32,
    /// Whether a request that is billed here paid for writing it, where somebody has said so.
    pub written: bool,
    /// Position of the message that the perspective's turn begins with, where the dialect says so.
    pub answer: Option<u32>,
}
