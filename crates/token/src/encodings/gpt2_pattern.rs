//! How the GPT-2 family cuts text: words, numbers and runs of signs, each with the one space before it.

/// Without the white-space alternatives, which the splitter knows.
pub(super) const PATTERN: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+";
