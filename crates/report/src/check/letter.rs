//! A letter to a supplier: what was delivered, what is accepted, what must be corrected, where and how.
//!
//! It is for somebody who never read a manual of ours: it says what is wrong before it names a code, and how to
//! mend it before it lists places. It has no date, so that the same files give the same letter.

use std::collections::BTreeMap;
use std::fmt::Write;

use chatmill_diag::Severity;

use super::{CodeTally, JudgedFile, ShownFinding, tallies};
use crate::html::document::{Dress, document};
use crate::html::markup::{Html, bytes, count, counted};
use crate::html::table::{numbers, table, words};
use crate::markdown::{code, plain};

/// Places of a fault that a letter lists; the rest is counted.
const PLACES: usize = 25;

/// The longest name of a letter, in characters, without its ending.
const NAME: usize = 60;

/// Whoever reads a letter reads it from above to below: its sentences are not remarks beside figures.
const STYLE: &str = "header p, section > p { color: var(--ink); max-width: 46rem; margin: 0 0 1rem; } \
    h1 { margin-bottom: 1rem; } section { margin-top: 2rem; } .samples li { overflow-wrap: anywhere; }";

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
pub fn letters(files: &[JudgedFile]) -> Vec<Letter> {
    let mut suppliers: BTreeMap<&str, Vec<&JudgedFile>> = BTreeMap::new();
    for file in files {
        suppliers.entry(&file.supplier).or_default().push(file);
    }
    let mut names = BTreeMap::new();
    let written = suppliers.into_iter().map(|(supplier, files)| {
        let draft = Draft::new(supplier, files);
        let markdown = draft.markdown();
        Letter {
            name: unique(file_name(supplier), &mut names),
            html: draft.html(&blake3::hash(markdown.as_bytes()).to_hex()),
            markdown,
        }
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
struct Draft<'f> {
    supplier: &'f str,
    files: Vec<&'f JudgedFile>,
    wrong: Vec<Task<'f>>,
    doubtful: Vec<Task<'f>>,
}

/// A fault with its places.
struct Task<'f> {
    tally: CodeTally,
    places: Vec<(&'f str, &'f ShownFinding)>,
    /// Occurrences that are not listed.
    left: u64,
}

impl<'f> Draft<'f> {
    fn new(supplier: &'f str, files: Vec<&'f JudgedFile>) -> Self {
        let tasks = |severity: Severity| {
            let tallies = tallies(files.iter().copied()).into_iter();
            let of_severity = tallies.filter(|tally| tally.severity == severity);
            of_severity.map(|tally| Task::new(tally, &files)).collect()
        };
        Self {
            wrong: tasks(Severity::Error),
            doubtful: tasks(Severity::Warning),
            supplier,
            files,
        }
    }

    /// How many files are accepted, to be corrected, and of no use.
    fn outcome(&self) -> String {
        let number = |verdicts: &[&str]| {
            let files = self.files.iter();
            files.filter(|file| verdicts.contains(&file.verdict)).count() as u64
        };
        let parts = [
            (number(&["valid", "warnings", "known"]), "accepted"),
            (number(&["errors", "unreadable"]), "to be corrected"),
            (number(&["empty"]), "empty, to be sent again"),
            (number(&["skipped"]), "passed over, because no chat is in it"),
        ];
        let said: Vec<String> = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{} {what}", count(*number)))
            .collect();
        format!("Of these: {}.", said.join("; "))
    }

    fn delivered(&self) -> String {
        let size: u64 = self.files.iter().filter_map(|file| file.bytes).sum();
        let number = counted(self.files.len() as u64, "file");
        format!(
            "You sent {number} of {} altogether, and a program has read each of them.",
            bytes(size)
        )
    }

    /// The parts that list faults, with what opens them.
    fn parts(&self) -> [(&'static str, &'static str, &[Task<'f>]); 2] {
        [
            (
                "What must be corrected",
                "Files with these faults are not accepted. The most frequent fault comes first.",
                &self.wrong,
            ),
            (
                "What should be looked at",
                "These files are accepted, but perhaps not read as they were meant.",
                &self.doubtful,
            ),
        ]
    }

    fn markdown(&self) -> String {
        let mut text = format!("# Your delivery: {}\n\n", plain(self.supplier));
        let mut add = |line: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{line}\n");
        };
        add(&self.delivered());
        add(&self.outcome());
        if self.wrong.is_empty() && self.doubtful.is_empty() {
            add(NOTHING);
        }
        for (title, lead, tasks) in self.parts() {
            if tasks.is_empty() {
                continue;
            }
            add(&format!("## {title}\n\n{lead}"));
            for (number, task) in (1..).zip(tasks) {
                add(&format!("### {number}. {}", task.title()));
                let page = &task.tally.code.page;
                add(&format!("{} {}", page.what, page.why));
                add(&format!("**How to mend it.** {}", page.fix));
                add("**Where:**");
                let mut places = String::new();
                for (path, finding) in &task.places {
                    let _ = writeln!(
                        places,
                        "- {}: {}",
                        code(&at(path, finding)),
                        plain(&finding.message)
                    );
                }
                if task.left > 0 {
                    let _ = writeln!(places, "- {}", task.rest());
                }
                add(places.trim_end());
            }
        }
        add("## What was delivered");
        add(HASHES);
        let mut rows = String::from("| File | Bytes | Hash | Outcome |\n|---|--:|---|---|\n");
        for file in &self.files {
            let size = file.bytes.map_or_else(String::new, |bytes| bytes.to_string());
            let hash = file.hash.as_deref().unwrap_or_default();
            let (path, outcome) = (plain(&file.path), outcome_of(file.verdict));
            let _ = writeln!(rows, "| {path} | {size} | {hash} | {outcome} |");
        }
        add(rows.trim_end());
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn html(&self, nonce: &str) -> String {
        let title = format!("Your delivery: {}", self.supplier);
        let dress = Dress {
            style: STYLE,
            scripts: &[],
        };
        document(&title, nonce, &dress, |html| self.body(html, &title))
    }

    fn body(&self, html: &mut Html, title: &str) {
        html.raw("<header>\n<h1>").text(title).raw("</h1>\n<p>");
        html.text(&self.delivered()).raw("</p>\n<p>");
        html.text(&self.outcome())
            .raw("</p>\n</header>\n<main id=\"main\">\n");
        if self.wrong.is_empty() && self.doubtful.is_empty() {
            html.raw("<section><p>").raw(NOTHING).raw("</p></section>\n");
        }
        for (title, lead, tasks) in self.parts() {
            if tasks.is_empty() {
                continue;
            }
            html.raw("<section>\n<h2>")
                .raw(title)
                .raw("</h2>\n<p>")
                .raw(lead)
                .raw("</p>\n");
            for (number, task) in (1_u64..).zip(tasks) {
                html.raw("<h3>").count(number).raw(". ").text(&task.title());
                let page = &task.tally.code.page;
                html.raw("</h3>\n<p>").prose(page.what).raw(" ").prose(page.why);
                html.raw("</p>\n<p><strong>How to mend it.</strong> ")
                    .prose(page.fix);
                html.raw("</p>\n<ul class=\"samples\">");
                for (path, finding) in &task.places {
                    html.raw("<li>")
                        .text(&finding.message)
                        .raw("<span class=\"place\">");
                    html.text(&at(path, finding)).raw("</span></li>");
                }
                if task.left > 0 {
                    html.raw("<li>").text(&task.rest()).raw("</li>");
                }
                html.raw("</ul>\n");
            }
            html.raw("</section>\n");
        }
        html.raw("<section>\n<h2>What was delivered</h2>\n<p>")
            .prose(HASHES)
            .raw("</p>\n");
        let heads = [words("File"), numbers("Size"), words("Hash"), words("Outcome")];
        table(html, "The files", &heads, |html| {
            for file in &self.files {
                html.row(&file.path).size(file.bytes.unwrap_or_default());
                html.raw("<td><code>")
                    .text(file.hash.as_deref().unwrap_or_default())
                    .raw("</code></td>");
                html.word(outcome_of(file.verdict)).end_row();
            }
        });
        html.raw("</section>\n</main>\n");
    }
}

const NOTHING: &str = "Nothing has to be corrected. Thank you.";

const HASHES: &str = "The hash tells which bytes were read: `b3sum FILE` prints the same where nothing was changed on the way.";

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
        let of_file = |file: &&'f JudgedFile| {
            let (path, findings) = (file.path.as_str(), file.findings.iter());
            let of_code = findings.filter(move |finding| finding.code == tally.code);
            of_code.map(move |finding| (path, finding)).collect::<Vec<_>>()
        };
        let places: Vec<_> = files.iter().flat_map(of_file).take(PLACES).collect();
        let listed: u64 = places.iter().map(|(_, finding)| finding.count).sum();
        Self {
            left: tally.count.saturating_sub(listed),
            tally,
            places,
        }
    }

    /// The code's name as words, its number, and how often it is there.
    fn title(&self) -> String {
        let CodeTally {
            code, count, files, ..
        } = self.tally;
        format!(
            "{}: {} in {} ({})",
            titled(code.name),
            counted(count, "place"),
            counted(files, "file"),
            code.code
        )
    }

    fn rest(&self) -> String {
        format!("and {} more", counted(self.left, "place"))
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
        let letters = letters(&files());
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
        assert!(thanks.markdown.contains(NOTHING) && thanks.html.contains(NOTHING));
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
