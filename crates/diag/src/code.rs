//! What a diagnostic code is: a stable name, a severity and the page that explains it.

/// How bad a finding is.
///
/// An `Error` is what the format's own consumer would refuse, or what loses data; a `Warning` is suspicious or
/// repaired; a `Note` is worth knowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Suspicious, or repaired.
    Warning,
    /// Refused by the format's own consumer, or lost.
    Error,
}

impl Severity {
    /// The word that tables and reports use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The explanation of a code, in Markdown without a heading.
#[derive(Debug)]
pub struct Page {
    /// What it finds.
    pub what: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// The smallest input that raises it.
    pub example: &'static str,
    /// What chatmill does about it.
    pub does: &'static str,
    /// How to mend it at the source.
    pub fix: &'static str,
}

/// A diagnostic code: two letters, three digits, and a kebab name that describes the finding.
#[derive(Debug)]
pub struct Code {
    /// Letters and digits, for example `IN001`.
    pub code: &'static str,
    /// Kebab name, for example `invalid-json`.
    pub name: &'static str,
    /// The severity that findings of this code have unless they say otherwise.
    pub severity: Severity,
    /// The page that `chatmill explain` shows.
    pub page: Page,
}

impl Code {
    /// Whether a word names this code: by its letters and digits in any case, the beginning of these, or its name.
    pub fn answers_to(&self, word: &str) -> bool {
        let start = self.code.get(..word.len()).filter(|start| !start.is_empty());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word)) || self.name == word
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Code {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_ordered_from_note_to_error() {
        assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
    }
}
