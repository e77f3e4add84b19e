//! `cargo xtask rules`: the index of the pages of diagnostic codes.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use chatmill_diag::Code;
use chatmill_diag::codes::{CODES, FAMILIES};

use crate::generated::{Generated, Mode};

const FOLDER: &str = "docs/rules";

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    let mut wanted = vec!["README.md".to_owned()];
    for code in CODES {
        wanted.push(file_name(code));
    }
    generated.file(root, &format!("{FOLDER}/README.md"), &index(CODES)?)?;
    generated.nothing_else_in(root, FOLDER, &wanted)?;
    generated.finish("rules")
}

fn file_name(code: &Code) -> String {
    format!("{}-{}.md", code.code, code.name)
}

fn index(codes: &[&Code]) -> Result<String> {
    let mut page = String::from(
        "# Diagnostic codes\n\n\
         Every finding carries one of these codes; `chatmill explain CODE` prints the same page. \
         An error is what the format's own consumer would refuse, or what loses data; a warning is suspicious or repaired; \
         a note is worth knowing. Whatever costs a record or a message is an error, whatever its code; other exceptions stand \
         on the page of their code.\n",
    );
    for family in FAMILIES {
        let members: Vec<_> = codes.iter().filter(|code| family.holds(code)).collect();
        if members.is_empty() {
            continue;
        }
        write!(
            page,
            "\n## {}\n\n| Code | Name | Severity |\n|---|---|---|\n",
            family.about
        )?;
        for code in members {
            let (id, name, severity) = (code.code, code.name, code.severity.as_str());
            writeln!(page, "| [{id}]({}) | {name} | {severity} |", file_name(code))?;
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_names_every_code() {
        let page = index(CODES).unwrap();
        for code in CODES {
            assert!(
                page.contains(&format!("({})", file_name(code))),
                "{} has no family",
                code.code
            );
        }
    }
}
