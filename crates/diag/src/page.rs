//! The pages of families of codes as Markdown, for `chatmill explain`; the pages of codes are files in `docs/rules`.

use std::fmt::Write as _;

use crate::codes::{CODES, Family};

/// The page of a family: its subject and its codes.
pub fn family(family: &Family) -> String {
    let mut text = format!(
        "# {} {}\n\n| Code | Name | Severity | Finds |\n|---|---|---|---|\n",
        family.prefix, family.about
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
    use crate::codes::FAMILIES;

    #[test]
    fn a_family_lists_its_codes_and_no_other() {
        let tools = FAMILIES.iter().find(|family| family.prefix == "TL").unwrap();
        let page = family(tools);
        assert!(page.starts_with("# TL Tools\n"), "{page}");
        assert!(page.contains("| TL002 | unanswered-call | warning | A tool call that no result answers. |"));
        let rows = page.lines().filter(|line| line.starts_with("| TL")).count();
        let members = CODES.iter().filter(|code| code.code.starts_with("TL")).count();
        assert_eq!(rows, members);
        assert!(!page.contains("| IN"), "{page}");
    }
}
