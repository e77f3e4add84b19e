//! A report for a supplier: the delivered files with their outcomes, the places of errors, and remedies.
//!
//! The reader does not know chatmill, so the report describes an error before it names the code, and the remedy before it lists places. It
//! has no date, so the same files give the same report.

use std::collections::BTreeMap;

use chatmill_diag::Severity;
use serde::Serialize;

use super::{CheckedFile, CodeCounts, ShownFinding, counts_by_code};
use crate::templates::{TemplateError, fill};

/// The number of places of an error that a report lists; the rest is counted.
const PLACES: usize = 25;

/// The greatest length of the name of a report, in characters without the extension.
const NAME: usize = 60;

/// A report for a supplier, as Markdown and HTML.
#[derive(Clone, Debug)]
pub struct SupplierReport {
    /// A name for its files, without extension, which is unique within a check.
    pub name: String,
    /// The text as Markdown.
    pub markdown: String,
    /// The text as an HTML page that loads nothing.
    pub html: String,
}

/// The reports for all suppliers, in the order of their names.
pub fn supplier_reports(files: &[CheckedFile]) -> Result<Vec<SupplierReport>, TemplateError> {
    let mut suppliers: BTreeMap<&str, Vec<&CheckedFile>> = BTreeMap::new();
    for file in files {
        suppliers.entry(&file.supplier).or_default().push(file);
    }
    let mut names = BTreeMap::new();
    let written = suppliers.into_iter().map(|(supplier, files)| {
        let mut draft = Draft::new(supplier, &files);
        let markdown = fill("supplier_report.md", &draft, [])?.into_string();
        // No text in the report can contain its own hash.
        draft.nonce = Some(blake3::hash(markdown.as_bytes()).to_hex().to_string());
        Ok(SupplierReport {
            name: unique(file_name(supplier), &mut names),
            html: fill("supplier_report.html", &draft, [])?.into_string(),
            markdown,
        })
    });
    written.collect()
}

/// The name of a supplier as a file name that is valid in every file system.
fn file_name(supplier: &str) -> String {
    let characters = supplier.chars().map(|character| {
        let stays = character.is_alphanumeric() || matches!(character, '-' | '_');
        if stays { character } else { '-' }
    });
    let name: String = characters.take(NAME).collect();
    // A character has up to four bytes, and a file name up to 255.
    let name = name.trim_matches('-');
    if name.is_empty() {
        "supplier".to_owned()
    } else {
        name.to_owned()
    }
}

fn unique(name: String, names: &mut BTreeMap<String, u64>) -> String {
    // Some file systems ignore case.
    let count = names.entry(name.to_lowercase()).or_default();
    *count += 1;
    let number = *count;
    if number == 1 {
        return name;
    }
    unique(format!("{name}-{number}"), names)
}

/// The fields of the template.
#[derive(Serialize)]
struct Draft<'f> {
    supplier: &'f str,
    nonce: Option<String>,
    /// The number of bytes of all files together.
    size: u64,
    /// The numbers of files that are accepted, that need corrections, and that are unusable.
    outcomes: Vec<(usize, &'static str)>,
    /// The sections with errors and warnings: title, introduction, and tasks.
    sections: Vec<(&'static str, &'static str, Vec<Task<'f>>)>,
    files: Vec<FileLine<'f>>,
}

#[derive(Serialize)]
struct FileLine<'f> {
    path: &'f str,
    bytes: Option<u64>,
    hash: Option<&'f str>,
    outcome: &'static str,
}

/// A code that needs corrections, with its places.
#[derive(Serialize)]
struct Task<'f> {
    #[serde(flatten)]
    code_counts: CodeCounts,
    /// The name of the code as words.
    title: String,
    /// The places, each with its message.
    places: Vec<(String, &'f str)>,
    /// Number of occurrences that are not listed.
    left: u64,
}

impl<'f> Draft<'f> {
    fn new(supplier: &'f str, files: &[&'f CheckedFile]) -> Self {
        let number = |verdicts: &[&str]| {
            let files = files.iter();
            files.filter(|file| verdicts.contains(&file.verdict)).count()
        };
        let outcomes = [
            (number(&["valid", "warnings", "known"]), "accepted"),
            (number(&["errors", "unreadable"]), "to be corrected"),
            (number(&["empty"]), "empty, to be sent again"),
            (number(&["skipped"]), "skipped, because it holds no chat"),
        ];
        let counts_by_code = counts_by_code(files.iter().copied());
        let parts = [
            (
                "What must be corrected",
                "Files with these errors are not accepted. The most frequent error comes first.",
                Severity::Error,
            ),
            (
                "What should be looked at",
                "These files are accepted, but may not be read as intended.",
                Severity::Warning,
            ),
        ];
        let parts = parts.map(|(title, lead, severity)| {
            let tasks = counts_by_code
                .iter()
                .filter(|code_counts| code_counts.severity == severity);
            (
                title,
                lead,
                tasks
                    .map(|code_counts| Task::new(*code_counts, files))
                    .collect::<Vec<_>>(),
            )
        });
        let lines = files.iter().map(|file| FileLine {
            path: &file.path,
            bytes: file.bytes,
            hash: file.hash.as_deref(),
            outcome: outcome_of(file.verdict),
        });
        Self {
            supplier,
            nonce: None,
            size: files.iter().filter_map(|file| file.bytes).sum(),
            outcomes: outcomes.into_iter().filter(|(number, _)| *number > 0).collect(),
            sections: parts
                .into_iter()
                .filter(|(.., tasks)| !tasks.is_empty())
                .collect(),
            files: lines.collect(),
        }
    }
}

/// The outcome of a file, from its verdict.
fn outcome_of(verdict: &str) -> &'static str {
    match verdict {
        "valid" | "known" => "accepted",
        "warnings" => "accepted, with remarks",
        "errors" => "please correct it",
        "empty" => "empty: please send it again",
        "skipped" => "skipped: not a chat",
        _ => "could not be read: please correct it",
    }
}

/// A place in a file.
fn at(path: &str, finding: &ShownFinding) -> String {
    match finding.place.chars().next() {
        None => path.to_owned(),
        Some('0'..='9') => format!("{path}:{}", finding.place),
        Some('!') => format!("{path}{}", finding.place),
        Some(_) => format!("{path} {}", finding.place),
    }
}

impl<'f> Task<'f> {
    fn new(code_counts: CodeCounts, files: &[&'f CheckedFile]) -> Self {
        let findings = files
            .iter()
            .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)));
        let of_code = findings.filter(|(_, finding)| finding.code.code == code_counts.code);
        let listed: Vec<_> = of_code.take(PLACES).collect();
        let occurrences: u64 = listed.iter().map(|(_, finding)| finding.count).sum();
        let places = listed
            .iter()
            .map(|(file, finding)| (at(&file.path, finding), finding.message.as_str()));
        Self {
            title: titled(code_counts.name),
            places: places.collect(),
            left: code_counts.count.saturating_sub(occurrences),
            code_counts,
        }
    }
}

/// The name of a code as the beginning of a sentence.
fn titled(name: &str) -> String {
    /// Words that are written in capitals.
    const CAPITALS: [&str; 4] = ["json", "utf8", "url", "id"];
    let words = name.split('-').enumerate().map(|(place, word)| {
        let mut characters = word.chars();
        match characters.next() {
            _ if CAPITALS.contains(&word) => word.to_uppercase(),
            Some(first) if place == 0 => first.to_uppercase().chain(characters).collect(),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::samples::files;
    use super::*;

    #[test]
    fn a_report_lists_the_delivered_files_and_the_errors_to_correct() {
        let reports = supplier_reports(&files()).unwrap();
        let names: Vec<&str> = reports.iter().map(|report| report.name.as_str()).collect();
        assert_eq!(names, ["acme", "bird"]);
        let text = &reports[0].markdown;
        for expected in [
            "# Your delivery: acme\n",
            "You sent 2 files of 2.5 kB in total",
            "Result: 1 accepted; 1 to be corrected.",
            "## What must be corrected",
            "### 1. Invalid JSON: 4 places in 1 file (IN001)",
            "- `in/acme/<b>|a.json:7:1`: expected a value\n- and 3 places more",
            "## What should be looked at",
            "| in/acme/&lt;b&gt;\\|a.json | 1234 | 0f0f",
            "| please correct it |",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
        let page = &reports[0].html;
        assert!(page.contains("in/acme/&lt;b&gt;|a.json:7:1"), "{page}");
        assert!(
            !page.contains("<b>|a.json") && !page.contains("<script"),
            "{page}"
        );
        let thanks = &reports[1];
        assert!(
            thanks.markdown.contains("Nothing has to be corrected")
                && thanks.html.contains("Nothing has to be corrected")
        );
        assert!(
            !thanks.markdown.contains("IN016"),
            "notes ask nothing of a supplier"
        );
    }

    #[test]
    fn places_are_listed_up_to_a_limit() {
        for (number, left) in [(PLACES, 0), (PLACES + 1, 1)] {
            let mut file = files().remove(0);
            let one = file.findings.remove(1);
            file.findings = vec![one; number];
            file.codes = vec![(file.findings[0].code, number as u64)];
            let files = [&file];
            let task = Task::new(counts_by_code(files.iter().copied()).remove(0), &files);
            assert_eq!((task.places.len(), task.left), (PLACES, left));
        }
    }

    #[test]
    fn every_supplier_has_a_file_of_its_own() {
        let mut names = BTreeMap::new();
        let mut name = |supplier: &str| unique(file_name(supplier), &mut names);
        assert_eq!(name("a/b"), "a-b");
        assert_eq!(name("A b"), "A-b-2");
        assert_eq!(name("a-b-2"), "a-b-2-2");
        assert_eq!(name("../.."), "supplier");
        assert_eq!(name(&"é".repeat(NAME)), "é".repeat(NAME));
        assert_eq!(name(&"x".repeat(NAME + 1)), "x".repeat(NAME));
    }
}
