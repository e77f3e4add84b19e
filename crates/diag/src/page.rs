//! Pages of codes and families as Markdown: what `chatmill explain` prints, and `docs/rules` holds.

use std::fmt::Write as _;

use crate::code::{Code, Page};
use crate::codes::{CODES, Family};
use crate::severities::exceptions;

/// The page of a code.
pub fn code(code: &Code) -> String {
    let Page {
        what,
        why,
        example,
        does,
        fix,
    } = &code.page;
    format!(
        "# {letters} {name}\n\nSeverity: {severity}\n\n\
         ## What it finds\n\n{what}\n\n\
         ## Why it matters\n\n{why}\n\n\
         ## Smallest example\n\n{example}\n\n\
         ## What chatmill does\n\n{does}\n\n\
         ## How to fix it at the source\n\n{fix}\n",
        letters = code.code,
        name = code.name,
        severity = severity(code),
    )
}

/// The severity of a code, with its exceptions: `error; warning where nothing is lost by it`.
pub fn severity(code: &Code) -> String {
    let mut text = code.severity.as_str().to_owned();
    for exception in exceptions(code) {
        text.push_str("; ");
        text.push_str(exception.severity.as_str());
        text.push(' ');
        text.push_str(exception.when);
    }
    text
}

/// The page of a family: what it is about, and its codes.
pub fn family(family: &Family) -> String {
    let mut text = format!(
        "# {} {}\n\n| Code | Name | Severity | Finds |\n|---|---|---|---|\n",
        family.letters, family.about
    );
    for code in CODES.iter().filter(|code| family.holds(code)) {
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            code.code,
            code.name,
            code.severity.as_str(),
            code.page.what.replace('|', "\\|")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Severity;
    use crate::codes::{self, FAMILIES};

    #[test]
    fn a_page_is_markdown_with_five_sections() {
        let blue = Code {
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
            code(&blue),
            "# XX001 too-blue\n\nSeverity: note\n\n\
             ## What it finds\n\nW.\n\n\
             ## Why it matters\n\nY.\n\n\
             ## Smallest example\n\n```text\nE\n```\n\n\
             ## What chatmill does\n\nD.\n\n\
             ## How to fix it at the source\n\nF.\n"
        );
    }

    #[test]
    fn a_page_says_which_severities_there_are() {
        assert_eq!(
            severity(&codes::WRONG_TYPE),
            "error; warning where nothing of the message is lost by it"
        );
    }

    #[test]
    fn a_family_lists_its_codes_and_no_other() {
        let tools = FAMILIES.iter().find(|family| family.letters == "TL").unwrap();
        let page = family(tools);
        assert!(page.starts_with("# TL Tools\n"), "{page}");
        assert!(page.contains("| TL002 | unanswered-call | warning | A tool call that no result answers. |"));
        let rows = page.lines().filter(|line| line.starts_with("| TL")).count();
        let members = CODES.iter().filter(|code| code.code.starts_with("TL")).count();
        assert_eq!(rows, members);
        assert!(!page.contains("| IN"), "{page}");
    }
}
