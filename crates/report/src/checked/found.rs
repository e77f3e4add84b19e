//! The findings of each file, as pages show them. Every finding has an anchor.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::checked::{CheckedFile, ShownFinding};
use crate::templates::command::show_command;
use crate::templates::{Fragment, TemplateError, fill};

/// The number of files that are unfolded when the page is opened, and the number of findings that they may have together.
const OPEN: usize = 20;
const OPEN_FINDINGS: usize = 60;
/// The number of findings that are rendered at a time, since there may be very many.
const AT_A_TIME: usize = 500;

#[derive(Serialize)]
struct FoundFile<'f> {
    path: &'f str,
    number: u64,
    is_open: bool,
    sums: SeveritySums,
    /// Codes with the number of occurrences that are not shown.
    left_out: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct SeveritySums {
    errors: u64,
    warnings: u64,
    notes: u64,
}

#[derive(Serialize)]
struct FoundSome<'f> {
    findings: Vec<FoundOne<'f>>,
}

#[derive(Serialize)]
struct FoundOne<'f> {
    id: String,
    code: &'static str,
    severity: &'static str,
    message: &'f str,
    count: u64,
    place: String,
    /// The source line, and carets under the place in it.
    excerpt: Option<&'f str>,
    /// The command that shows the conversation.
    command: Option<String>,
}

/// The findings of files. The number of a file is its position among all files.
pub(crate) fn found(files: &[CheckedFile]) -> Result<Fragment, TemplateError> {
    let with_findings = files.iter().zip(1..).filter(|(file, _)| !file.codes.is_empty());
    let mut keys = BTreeMap::new();
    let mut text = Fragment::default();
    let mut opened = 0;
    for (place, (file, number)) in with_findings.enumerate() {
        opened += file.findings.len();
        let mut findings = Fragment::default();
        for some in file.findings.chunks(AT_A_TIME) {
            let some = FoundSome {
                findings: some.iter().map(|finding| one(file, finding, &mut keys)).collect(),
            };
            findings.push(&fill("found/findings.html", &some, [])?);
        }
        let file = FoundFile {
            path: &file.path,
            number,
            is_open: place < OPEN && opened <= OPEN_FINDINGS,
            sums: SeveritySums {
                errors: file.errors,
                warnings: file.warnings,
                notes: file.notes,
            },
            left_out: left_out(file),
        };
        text.push(&fill("found/file.html", &file, [("findings", findings)])?);
    }
    Ok(text)
}

fn left_out(file: &CheckedFile) -> Vec<(&'static str, u64)> {
    let left_out = file
        .codes
        .iter()
        .map(|(code, _)| (code.code, file.left_out(code)));
    left_out.filter(|(_, left)| *left > 0).collect()
}

/// A finding; `keys` counts the findings with each key.
fn one<'f>(file: &CheckedFile, finding: &'f ShownFinding, keys: &mut BTreeMap<&'f str, u64>) -> FoundOne<'f> {
    let number = keys.entry(&finding.key).or_default();
    *number += 1;
    let path = finding.json_path.as_deref().filter(|path| *path != "$");
    let within = finding.conversation.as_ref().map(|id| format!("in {id}"));
    let pieces = [Some(finding.place.as_str()), path, within.as_deref()];
    let pieces = pieces.into_iter().flatten().filter(|piece| !piece.is_empty());
    FoundOne {
        id: match *number {
            1 => format!("at-{}", finding.key),
            number => format!("at-{}-{number}", finding.key),
        },
        code: finding.code.code,
        severity: finding.severity.as_str(),
        message: &finding.message,
        count: finding.count,
        place: pieces.collect::<Vec<_>>().join("  "),
        excerpt: finding.excerpt.as_deref(),
        command: file
            .shown_by
            .as_deref()
            .zip(finding.conversation.as_deref())
            .and_then(|(input, id)| show_command(input, id)),
    }
}
