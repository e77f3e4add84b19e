//! The sign for a space that some vocabularies have before the first word of a text.

/// Before which pieces a sign is put that stands for a space; in tokenizer files, the scheme of `Metaspace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub(crate) enum Prefix {
    /// Before none.
    #[serde(rename = "never")]
    None,
    /// Before every one.
    #[serde(skip)]
    Always,
    /// Before those that do not begin with one.
    #[serde(rename = "always")]
    UnlessBlank,
    /// The same, at the beginning of all only.
    #[serde(rename = "first")]
    FirstUnlessBlank,
}

impl Prefix {
    /// Whether one is put before a text that begins with a sign or not, and begins at a byte of all.
    pub(crate) fn is_put(self, is_blank: bool, at: usize) -> bool {
        match self {
            Self::None => false,
            Self::Always => true,
            Self::UnlessBlank => !is_blank,
            Self::FirstUnlessBlank => !is_blank && at == 0,
        }
    }
}
