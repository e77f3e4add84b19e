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

    /// Renders the page as Markdown, for `chatmill explain` and for `docs/rules`.
    pub fn page_markdown(&self) -> String {
        let Page {
            what,
            why,
            example,
            does,
            fix,
        } = &self.page;
        format!(
            "# {code} {name}\n\nSeverity: {severity}\n\n\
             ## What it finds\n\n{what}\n\n\
             ## Why it matters\n\n{why}\n\n\
             ## Smallest example\n\n{example}\n\n\
             ## What chatmill does\n\n{does}\n\n\
             ## How to fix it at the source\n\n{fix}\n",
            code = self.code,
            name = self.name,
            severity = self.severity.as_str(),
        )
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
    fn a_page_is_markdown_with_five_sections() {
        let code = Code {
            code: "XX001",
            name: "too-blue",
            severity: Severity::Note,
            page: Page {
                what: "W.",
                why: "Y.",
                example: "```text\nE\n```",
                does: "D.",
                fix: "F.",
            },
        };
        assert_eq!(
            code.page_markdown(),
            "# XX001 too-blue\n\nSeverity: note\n\n\
             ## What it finds\n\nW.\n\n\
             ## Why it matters\n\nY.\n\n\
             ## Smallest example\n\n```text\nE\n```\n\n\
             ## What chatmill does\n\nD.\n\n\
             ## How to fix it at the source\n\nF.\n"
        );
    }

    #[test]
    fn severities_are_ordered_from_note_to_error() {
        assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
    }
}
