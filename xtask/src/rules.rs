//! `cargo xtask rules`: the index of the pages of diagnostic codes, their lines in `docs/SUMMARY.md`, and the last section of each
//! page. Everything else in a page is written by hand.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use chatmill_diag::Code;
use chatmill_diag::codes::{CODES, FAMILIES};

use crate::generated::{Generated, Mode};
use crate::sources::read;
use crate::tables::{replaced, table};

const FOLDER: &str = "docs/rules";

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    let mut wanted = vec!["README.md".to_owned()];
    for code in CODES {
        let path = format!("{FOLDER}/{}", file_name(code));
        generated.file(root, &path, &with_switch(code))?;
        wanted.push(file_name(code));
    }
    let summary = "docs/SUMMARY.md";
    let text = replaced(&read(root, summary)?, "rules", &lines(CODES))?;
    generated.file(root, summary, &text)?;
    generated.file(root, &format!("{FOLDER}/README.md"), &index(CODES))?;
    generated.nothing_else_in(root, FOLDER, &wanted)?;
    generated.finish("rules")
}

fn file_name(code: &Code) -> String {
    format!("{}-{}.md", code.code, code.name)
}

/// Returns the page of a code with the section on switching it off, which is generated.
fn with_switch(code: &Code) -> String {
    const HEADING: &str = "## How to switch it off\n\n";
    let page = code.text.split_once(HEADING).map_or(code.text, |(page, _)| page);
    let code = code.code;
    format!(
        "{page}{HEADING}In a check: `--ignore {code}`, or `{code} = \"off\"` under `[check.severity]` of `chatmill.toml`. \
         A run records the finding all the same.\n"
    )
}

/// Returns the lines of the pages in the book's table of contents.
fn lines(codes: &[&Code]) -> String {
    let line = |code: &&Code| format!("  - [{} {}](rules/{})\n", code.code, code.name, file_name(code));
    let lines: Vec<String> = codes.iter().map(line).collect();
    format!("- [Diagnostic codes](rules/README.md)\n{}", lines.concat())
}

fn index(codes: &[&Code]) -> String {
    let mut page = String::from(
        "# Diagnostic codes\n\n\
         Every finding carries one of these codes; `chatmill explain CODE` prints the same page. \
         An error is what the format's own consumer would refuse, or what loses data; a warning is suspicious or repaired; \
         a note is worth knowing. Whatever costs a record or a message is an error, whatever its code; other exceptions stand \
         on the page of their code.\n\n\
         A check reports what its [settings](../check.md#settings-of-a-project) select: `--ignore` and `[check.severity]` switch a code off. \
         A file of which nothing could be read stays `unreadable`, whatever is switched off.\n",
    );
    for family in FAMILIES {
        let members: Vec<_> = codes.iter().filter(|code| family.holds(code)).collect();
        if members.is_empty() {
            continue;
        }
        let rows = members.into_iter().map(|code| {
            let link = format!("[{}]({})", code.code, file_name(code));
            [link, code.name.to_owned(), code.severity.as_str().to_owned()]
        });
        let codes = table("| Code | Name | Severity |", rows);
        let _ = write!(page, "\n## {}\n\n{codes}", family.about);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_names_every_code() {
        let page = index(CODES);
        for code in CODES {
            assert!(
                page.contains(&format!("({})", file_name(code))),
                "{} has no family",
                code.code
            );
        }
    }
}
