//! The type of a diagnostic code: a stable name, a severity and a page that explains it.

use strum::{EnumString, IntoStaticStr, VariantNames};

/// The severity of a finding.
///
/// An `Error` is data that the format's own consumer would refuse, or a loss of data; a `Warning` is
/// suspicious or repaired; a `Note` is worth knowing.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "lowercase")]
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
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The sections of a code's page, in Markdown without their headings.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The problem that the code reports.
    pub what: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// The smallest input that raises it.
    pub example: &'static str,
    /// The action that chatmill takes.
    pub does: &'static str,
    /// The remedy at the source.
    pub fix: &'static str,
}

/// A diagnostic code: two letters, three digits, and a kebab name that describes the finding.
#[derive(Debug)]
pub struct Code {
    /// The letters and digits, for example `IN001`.
    pub code: &'static str,
    /// The kebab name, for example `invalid-json`.
    pub name: &'static str,
    /// The severity of findings with this code, unless they belong to one of its cases.
    pub severity: Severity,
    /// The severity and its exceptions: `error; warning where nothing is lost by it`.
    severities: &'static str,
    /// The code of which this is a case; `None` for the code itself.
    of: Option<&'static Code>,
    /// The sections of the page.
    pub page: Page,
    /// The whole page, as `chatmill explain` prints it.
    pub text: &'static str,
}

impl Code {
    /// The code that a page of `docs/rules` describes. A page with a missing heading, or with headings in another order, does not compile.
    pub(crate) const fn of_page(text: &'static str) -> Self {
        let (_, rest) = cut(text, "# ");
        let (code, rest) = cut(rest, " ");
        let (name, rest) = cut(rest, "\n\nSeverity: ");
        let (severities, rest) = cut(rest, "\n\n## What it finds\n\n");
        let (what, rest) = cut(rest, "\n\n## Why it matters\n\n");
        let (why, rest) = cut(rest, "\n\n## Smallest example\n\n");
        let (example, rest) = cut(rest, "\n\n## What chatmill does\n\n");
        let (does, rest) = cut(rest, "\n\n## How to fix it at the source\n\n");
        let (fix, rest) = cut(rest, "\n\n## How to switch it off\n\n");
        let (_, rest) = cut(rest, "\n");
        assert!(
            rest.is_empty(),
            "a page ends with one paragraph on how to switch it off"
        );
        let page = Page {
            what,
            why,
            example,
            does,
            fix,
        };
        Self {
            code,
            name,
            severity: severity(severities),
            severities,
            of: None,
            page,
            text,
        }
    }

    /// A case of the code, given by words of its page such as `warning where the bodies differ`, with the severity of the case. A case that
    /// the page does not contain does not compile.
    pub(crate) const fn in_case(&'static self, case: &str) -> Self {
        let _ = cut(cut(self.severities, "; ").1, case);
        Self {
            severity: severity(case),
            of: Some(self),
            ..*self
        }
    }

    /// The code itself, if this is one of its cases.
    pub(crate) fn itself(&'static self) -> &'static Self {
        self.of.unwrap_or(self)
    }

    /// Whether a finding with this code may have a severity: one of those on its page, or an error, since it may have cost a record.
    pub fn may_be(&self, severity: Severity) -> bool {
        let mut named = self.severities.split("; ");
        severity == Severity::Error || named.any(|one| one.starts_with(severity.as_str()))
    }

    /// Whether a word names this code: its letters and digits in any case, the beginning of these, or its name.
    pub(crate) fn answers_to(&self, word: &str) -> bool {
        let start = self.code.get(..word.len()).filter(|start| !start.is_empty());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word)) || self.name == word
    }
}

/// The severity at the beginning of a line of severities, or of a case in it.
const fn severity(line: &str) -> Severity {
    match line.as_bytes() {
        [b'n', ..] => Severity::Note,
        [b'w', ..] => Severity::Warning,
        _ => Severity::Error,
    }
}

/// The text before and after the first occurrence of a mark, which is ASCII; a text without the mark does not compile.
const fn cut(text: &'static str, mark: &str) -> (&'static str, &'static str) {
    let mut at = 0;
    while !starts_with(text.as_bytes().split_at(at).1, mark.as_bytes()) {
        assert!(
            at < text.len(),
            "a page lacks a heading or a case, or its headings are in another order"
        );
        at += 1;
    }
    let (before, rest) = text.split_at(at);
    (before, rest.split_at(mark.len()).1)
}

const fn starts_with(mut text: &[u8], mut mark: &[u8]) -> bool {
    while let [wanted, marks @ ..] = mark {
        match text {
            [byte, bytes @ ..] if *byte == *wanted => (text, mark) = (bytes, marks),
            _ => return false,
        }
    }
    true
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
    use crate::codes;

    #[test]
    fn a_page_has_all_sections_of_its_code() {
        let text = "# XX001 too-blue\n\nSeverity: note; warning where it is red\n\n\
             ## What it finds\n\nW.\n\n\
             ## Why it matters\n\nY.\n\n\
             ## Smallest example\n\n```text\nE\n```\n\n\
             ## What chatmill does\n\nD.\n\n\
             ## How to fix it at the source\n\nF.\n\n\
             ## How to switch it off\n\nO.\n";
        let code = Code::of_page(text);
        assert_eq!(
            (code.code, code.name, code.severity),
            ("XX001", "too-blue", Severity::Note)
        );
        let page = &code.page;
        let sections = [page.what, page.why, page.example, page.does, page.fix];
        assert_eq!(sections, ["W.", "Y.", "```text\nE\n```", "D.", "F."]);
        assert_eq!(code.text, text);
    }

    #[test]
    fn a_code_has_its_severity_its_exceptions_and_the_error_of_a_reject() {
        let allowed = |code: &Code| {
            [Severity::Note, Severity::Warning, Severity::Error].map(|severity| code.may_be(severity))
        };
        assert_eq!(allowed(&codes::TIMESTAMP_NAIVE), [true, true, true]);
        assert_eq!(allowed(&codes::WRONG_TYPE), [false, true, true]);
        assert_eq!(allowed(&codes::UNANSWERED_CALL), [true, true, true]);
        assert_eq!(allowed(&codes::INVALID_JSON), [false, false, true]);
    }

    #[test]
    fn severities_of_a_page_are_words_without_repeats() {
        let words = [Severity::Note, Severity::Warning, Severity::Error].map(Severity::as_str);
        for code in codes::CODES {
            let mut seen = Vec::new();
            for (place, one) in code.severities.split("; ").enumerate() {
                let (word, when) = one.split_once(' ').unwrap_or((one, ""));
                assert!(
                    words.contains(&word) && !seen.contains(&word),
                    "{}: {one}",
                    code.code
                );
                assert_eq!(when.starts_with("where "), place > 0, "{}: {one}", code.code);
                seen.push(word);
            }
        }
    }

    #[test]
    fn every_severity_of_a_page_but_the_first_has_a_case() {
        for code in codes::CODES {
            let cases = codes::CASES.iter().filter(|case| case.itself() == *code);
            let found: Vec<Severity> = cases.map(|case| case.severity).collect();
            let named = code.severities.split("; ").skip(1).map(severity);
            assert_eq!(found, named.collect::<Vec<_>>(), "{}", code.code);
        }
    }

    #[test]
    fn severities_are_ordered_from_note_to_error() {
        assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
    }
}
