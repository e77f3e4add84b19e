//! What a provider logged of a request: tokens as it counted and billed them, which is nobody's count but its own.

/// Tokens of one request, as the provider logged them.
///
/// Invariant for sources: `cached_input` is a part of `input`, also where a provider counts the two separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Tokens that were sent, those from a cache included.
    pub input: Option<u64>,
    /// The share of them that was read from a cache.
    pub cached_input: Option<u64>,
    /// Tokens that the model wrote, thoughts included.
    pub output: Option<u64>,
    /// What makes the counts doubtful.
    pub mismatch: Option<UsageMismatch>,
}

/// What makes a logged usage doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsageMismatch {
    /// Input and output do not add up to this total, which was logged as well.
    Total(u64),
    /// So many tokens of a cache were logged, more than the input that contains them at this vendor: they were added to it.
    Cache(u64),
}

impl Usage {
    /// Whether both sides of the request were logged: half of it is no cost.
    pub const fn is_whole(self) -> bool {
        self.input.is_some() && self.output.is_some()
    }

    /// Whether nothing was logged.
    pub const fn is_empty(self) -> bool {
        self.input.is_none() && self.cached_input.is_none() && self.output.is_none()
    }
}
