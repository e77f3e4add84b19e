//! What is said about an encoding.

/// What `chatmill encodings` says about an encoding.
#[derive(Clone, Copy, Debug)]
pub struct EncodingAbout<'e> {
    /// One line: the vendor and the models that use it.
    pub title: &'e str,
    /// Families of models that read it.
    pub models: &'e str,
    /// Ordinary tokens; special ones are never counted.
    pub vocabulary: u32,
    /// Where vocabulary and pattern come from.
    pub source: &'e str,
    /// How texts are counted.
    pub counting: Counting,
}

/// How texts are counted in an encoding; the tokens are the same, the price is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// What is said again is counted once: texts may be cut at places that the pattern's family has.
    Once,
    /// Every text is counted from its beginning to its end.
    Whole,
}

impl Counting {
    /// In a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "repeated text once",
            Self::Whole => "every text whole",
        }
    }
}
