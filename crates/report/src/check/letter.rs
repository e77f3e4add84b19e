//! A letter to a supplier: what was delivered, what is accepted, what must be corrected, where and how.
//!
//! It is for somebody who never read a manual of ours: it says what is wrong before it names a code, and how to
//! mend it before it lists places. It has no date, so that the same files give the same letter.

use std::collections::BTreeMap;

use chatmill_diag::Severity;
use serde::Serialize;

use super::{CodeTally, JudgedFile, ShownFinding, tallies};
use crate::templates::{TemplateError, fill};

/// Places of a fault that a letter lists; the rest is counted.
const PLACES: usize = 25;

/// The longest name of a letter, in characters, without its ending.
const NAME: usize = 60;

/// A letter, in both forms.
#[derive(Clone, Debug)]
pub struct Letter {
    /// A name for its files, without ending; no two letters of a check have the same.
    pub name: String,
    /// The text as Markdown.
    pub markdown: String,
    /// The text as a page that loads nothing.
    pub html: String,
}

/// A letter for each supplier, in the order of their names.
pub fn letters(files: &[JudgedFile]) -> Result<Vec<Letter>, TemplateError> {
    let mut suppliers: BTreeMap<&str, Vec<&JudgedFile>> = BTreeMap::new();
    for file in files {
        suppliers.entry(&file.supplier).or_default().push(file);
    }
    let mut names = BTreeMap::new();
    let written = suppliers.into_iter().map(|(supplier, files)| {
        let mut draft = Draft::new(supplier, &files);
        let markdown = fill("letter.md", &draft, [])?.into_string();
        // No text in the letter can hold a hash of it.
        draft.nonce = Some(blake3::hash(markdown.as_bytes()).to_hex().to_string());
        Ok(Letter {
            name: unique(file_name(supplier), &mut names),
            html: fill("letter.html", &draft, [])?.into_string(),
            markdown,
        })
    });
    written.collect()
}

/// A supplier's name as one that every file system takes.
fn file_name(supplier: &str) -> String {
    let letters = supplier.chars().map(|letter| {
        let stays = letter.is_alphanumeric() || matches!(letter, '-' | '_');
        if stays { letter } else { '-' }
    });
    let name: String = letters.take(NAME).collect();
    // The longest character has four bytes, and a name of a file 255.
    let name = name.trim_matches('-');
    if name.is_empty() {
        "supplier".to_owned()
    } else {
        name.to_owned()
    }
}

fn unique(name: String, names: &mut BTreeMap<String, u64>) -> String {
    // Some file systems take capitals and small letters for the same.
    let count = names.entry(name.to_lowercase()).or_default();
    *count += 1;
    let number = *count;
    if number == 1 {
        return name;
    }
    unique(format!("{name}-{number}"), names)
}

/// What a letter says.
#[derive(Serialize)]
struct Draft<'f> {
    supplier: &'f str,
    nonce: Option<String>,
    /// Bytes of all files together.
    size: u64,
    /// How many files are accepted, to be corrected, and of no use.
    outcomes: Vec<(usize, &'static str)>,
    /// The parts that list faults: title, what opens them, and the faults.
    parts_of_faults: Vec<(&'static str, &'static str, Vec<Task<'f>>)>,
    files: Vec<FileLine<'f>>,
}

#[derive(Serialize)]
struct FileLine<'f> {
    path: &'f str,
    bytes: Option<u64>,
    hash: Option<&'f str>,
    outcome: &'static str,
}

/// A fault with its places.
#[derive(Serialize)]
struct Task<'f> {
    #[serde(flatten)]
    tally: CodeTally,
    /// The code's name as words.
    title: String,
    /// Where it is, and what is said there.
    places: Vec<(String, &'f str)>,
    /// Occurrences that are not listed.
    left: u64,
}

impl<'f> Draft<'f> {
    fn new(supplier: &'f str, files: &[&'f JudgedFile]) -> Self {
        let number = |verdicts: &[&str]| {
            let files = files.iter();
            files.filter(|file| verdicts.contains(&file.verdict)).count()
        };
        let outcomes = [
            (number(&["valid", "warnings", "known"]), "accepted"),
            (number(&["errors", "unreadable"]), "to be corrected"),
            (number(&["empty"]), "empty, to be sent again"),
            (number(&["skipped"]), "passed over, because no chat is in it"),
        ];
        let tallies = tallies(files.iter().copied());
        let parts = [
            (
                "What must be corrected",
                "Files with these faults are not accepted. The most frequent fault comes first.",
                Severity::Error,
            ),
            (
                "What should be looked at",
                "These files are accepted, but perhaps not read as they were meant.",
                Severity::Warning,
            ),
        ];
        let parts = parts.map(|(title, lead, severity)| {
            let tasks = tallies.iter().filter(|tally| tally.severity == severity);
            (
                title,
                lead,
                tasks.map(|tally| Task::new(*tally, files)).collect::<Vec<_>>(),
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
            parts_of_faults: parts
                .into_iter()
                .filter(|(.., tasks)| !tasks.is_empty())
                .collect(),
            files: lines.collect(),
        }
    }
}

/// What becomes of a file of a verdict.
fn outcome_of(verdict: &str) -> &'static str {
    match verdict {
        "valid" | "known" => "accepted",
        "warnings" => "accepted, with remarks",
        "errors" => "please correct it",
        "empty" => "nothing is in it: please send it again",
        "skipped" => "passed over: it is no chat",
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
    fn new(tally: CodeTally, files: &[&'f JudgedFile]) -> Self {
        let findings = files
            .iter()
            .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)));
        let of_code = findings.filter(|(_, finding)| finding.code.code == tally.code);
        let listed: Vec<_> = of_code.take(PLACES).collect();
        let occurrences: u64 = listed.iter().map(|(_, finding)| finding.count).sum();
        let places = listed
            .iter()
            .map(|(file, finding)| (at(&file.path, finding), finding.message.as_str()));
        Self {
            title: titled(tally.name),
            places: places.collect(),
            left: tally.count.saturating_sub(occurrences),
            tally,
        }
    }
}

/// A code's name as the beginning of a sentence.
fn titled(name: &str) -> String {
    /// Words that are written in capitals.
    const CAPITALS: [&str; 4] = ["json", "utf8", "url", "id"];
    let words = name.split('-').enumerate().map(|(place, word)| {
        let mut letters = word.chars();
        match letters.next() {
            _ if CAPITALS.contains(&word) => word.to_uppercase(),
            Some(first) if place == 0 => first.to_uppercase().chain(letters).collect(),
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
    fn a_letter_says_what_was_delivered_and_what_must_be_corrected() {
        let letters = letters(&files()).unwrap();
        let names: Vec<&str> = letters.iter().map(|letter| letter.name.as_str()).collect();
        assert_eq!(names, ["acme", "bird"]);
        let text = &letters[0].markdown;
        for said in [
            "# Your delivery: acme\n",
            "You sent 2 files of 2.5 kB altogether",
            "Of these: 1 accepted; 1 to be corrected.",
            "## What must be corrected",
            "### 1. Invalid JSON: 4 places in 1 file (IN001)",
            "- `in/acme/<b>|a.json:7:1`: expected a value\n- and 3 places more",
            "## What should be looked at",
            "| in/acme/&lt;b&gt;\\|a.json | 1234 | 0f0f",
            "| please correct it |",
        ] {
            assert!(text.contains(said), "{said} is not in\n{text}");
        }
        let page = &letters[0].html;
        assert!(page.contains("in/acme/&lt;b&gt;|a.json:7:1"), "{page}");
        assert!(
            !page.contains("<b>|a.json") && !page.contains("<script"),
            "{page}"
        );
        let thanks = &letters[1];
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
            let task = Task::new(tallies(files.iter().copied()).remove(0), &files);
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
