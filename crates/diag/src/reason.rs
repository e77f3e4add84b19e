//! Codes that are no findings: why a row is not in an export. Each is a constant where it is given.

use std::fmt;

/// Why something is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Its code, for example `SFT-02` or `no-label`.
    pub code: &'static str,
    /// The code and what it says, for example `SFT-02: the assistant does not speak last`.
    pub words: &'static str,
    /// What to do about it, in Markdown.
    pub advice: &'static str,
}

impl Reason {
    /// The code with what is to be said of one row.
    pub fn because(&self, said: impl fmt::Display) -> String {
        format!("{}: {said}", self.code)
    }

    /// What it says, without the code.
    pub fn says(&self) -> &'static str {
        self.words.split_once(": ").map_or(self.words, |(_, says)| says)
    }
}

/// Makes a constant of each reason (its code, what it says, what to do about it), and `REASONS`, the list of them.
#[macro_export]
macro_rules! reasons {
    ($($name:ident = $code:literal, $says:literal, $advice:literal;)+) => {
        $(
            #[doc = concat!("`", $code, "`")]
            pub(crate) const $name: $crate::Reason = $crate::Reason {
                code: $code,
                words: concat!($code, ": ", $says),
                advice: $advice,
            };
        )+

        /// The reasons of this file.
        pub(crate) const REASONS: &[$crate::Reason] = &[$($name),+];
    };
}
