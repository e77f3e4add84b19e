//! Codes that are no findings: the reasons why a row is not in an export. Each is a constant in the module that uses it.

use std::fmt;

/// The reason why something is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The code, for example `SFT-02` or `no-label`.
    pub code: &'static str,
    /// The code and its message, for example `SFT-02: the last turn is not the assistant's`.
    pub words: &'static str,
    /// The remedy, in Markdown.
    pub advice: &'static str,
}

impl Reason {
    /// The code with the detail of one row.
    pub fn because(&self, detail: impl fmt::Display) -> String {
        format!("{}: {detail}", self.code)
    }

    /// The message, without the code.
    pub fn message(&self) -> &'static str {
        self.words
            .split_once(": ")
            .map_or(self.words, |(_, message)| message)
    }
}

/// Declares a constant for each reason (code, message, advice), and `REASONS`, the list of them.
#[macro_export]
macro_rules! reasons {
    ($($name:ident = $code:literal, $message:literal, $advice:literal;)+) => {
        $(
            #[doc = concat!("`", $code, "`")]
            pub(crate) const $name: $crate::Reason = $crate::Reason {
                code: $code,
                words: concat!($code, ": ", $message),
                advice: $advice,
            };
        )+

        /// The reasons of this file.
        pub(crate) const REASONS: &[$crate::Reason] = &[$($name),+];
    };
}
