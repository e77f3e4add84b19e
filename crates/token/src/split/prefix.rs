//! The sign for a space that some vocabularies put before the first word of a text.

/// The pieces before which the sign for a space is put; in tokenizer files, the scheme of `Metaspace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub(crate) enum Prefix {
    /// No piece.
    #[serde(rename = "never")]
    None,
    /// Every piece.
    #[serde(skip)]
    Always,
    /// Every piece that does not begin with a space.
    #[serde(rename = "always")]
    UnlessBlank,
    /// The piece at the beginning of the rendering, unless it begins with a space.
    #[serde(rename = "first")]
    FirstUnlessBlank,
}

impl Prefix {
    /// Whether the sign is put before a text that begins at the byte `at` of a rendering; `is_blank` if the text begins with a space.
    pub(crate) fn is_put(self, is_blank: bool, at: usize) -> bool {
        match self {
            Self::None => false,
            Self::Always => true,
            Self::UnlessBlank => !is_blank,
            Self::FirstUnlessBlank => !is_blank && at == 0,
        }
    }
}
