//! The description of an encoding.

/// The description of an encoding that `chatmill encodings` prints.
#[derive(Clone, Copy, Debug)]
pub struct EncodingAbout<'e> {
    /// A title in one line: the vendor and the size.
    pub title: &'e str,
    /// The families of models that use it, separated by commas.
    pub models: &'e str,
    /// The number of ordinary tokens; special ones are never counted.
    pub vocabulary: u32,
    /// The origin of vocabulary and pattern.
    pub source: &'e str,
    /// The way in which texts are counted.
    pub counting: Counting,
}

/// The way in which texts are counted in an encoding: it changes the cost and never the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Repeated text is counted once: texts may be cut at places that the pattern's family provides.
    Once,
    /// Every text is counted from its beginning to its end.
    Whole,
}

impl Counting {
    /// The way in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "repeated text once",
            Self::Whole => "every text whole",
        }
    }
}
