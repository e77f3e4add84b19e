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
}

impl Usage {
    /// Whether nothing was logged.
    pub const fn is_empty(self) -> bool {
        self.input.is_none() && self.cached_input.is_none() && self.output.is_none()
    }
}
