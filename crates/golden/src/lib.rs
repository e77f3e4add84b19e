//! Golden files: the output that a test expects byte for byte, written anew by `BLESS=1`.
//!
//! The crate depends on no other crate of the project, so that the tests of every crate can use it without building the others.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_push_string,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    reason = "an assertion for tests"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use similar::TextDiff;

/// The most lines of a difference that a message shows.
const MAX_SHOWN_LINES: usize = 60;

/// The most characters of a line that a message shows.
const MAX_SHOWN_CHARACTERS: usize = 300;

/// The line before and after a block of a page.
const FENCE: &str = "```";

/// The indentation of a case's results.
const INDENT: &str = "    ";

/// Whether golden files are to be written and not compared.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Asserts that a file contains exactly this text; with `BLESS=1`, writes the file.
#[track_caller]
pub fn assert_golden(path: &Path, actual: &str) {
    if let Err(message) = check(path, actual) {
        panic!("{message}");
    }
}

/// Compares a file with a text, byte for byte; with `BLESS=1`, writes the file. The message shows the lines that differ, with JSON laid out
/// first.
pub fn check(path: &Path, actual: &str) -> Result<(), String> {
    let settled = if is_blessing() {
        fs::write(path, actual).map_err(|error| error.to_string())
    } else {
        compare(path, actual)
    };
    settled.map_err(|message| format!("{}: {message}", path.display()))
}

/// Compares a file of cases with their results; with `BLESS=1`, writes the file. A case is some consecutive lines followed by its results,
/// each indented; blank lines and lines that begin with `# ` separate cases.
pub fn check_cases(path: &Path, comes_of: impl Fn(&str) -> String) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut rewritten = String::new();
    let mut case = String::new();
    for line in text.split_inclusive('\n').chain([""]) {
        let separates = line.trim().is_empty() || line.starts_with("# ");
        if (separates || line.starts_with(INDENT)) && !case.is_empty() {
            rewritten.push_str(&case);
            for line in comes_of(case.trim_end()).lines() {
                rewritten += &format!("{INDENT}{line}\n");
            }
            case.clear();
        }
        if separates {
            rewritten.push_str(line);
        } else if !line.starts_with(INDENT) {
            case.push_str(line);
        }
    }
    check(path, &rewritten)
}

/// The entries of a folder, sorted.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The pages `<subject>/<what happens>.md` below a folder, each with its name.
pub fn pages(root: &Path) -> Vec<(String, PathBuf)> {
    let subjects = entries(root).into_iter().filter(|path| path.is_dir());
    let files = subjects.flat_map(|subject| entries(&subject));
    let pages = files.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let named = pages.map(|path| {
        let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
        (name.display().to_string(), path)
    });
    named.collect()
}

/// A page with its blocks replaced: `comes_of` gets the text after the fence and the lines of the block, and returns the new lines.
pub fn with_blocks(
    page: &str,
    mut comes_of: impl FnMut(&str, &[&str]) -> Result<String, String>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if let Some(kind) = line.strip_prefix(FENCE) {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != FENCE).collect();
            out += &format!("{}{FENCE}\n", comes_of(kind, &block)?);
        }
    }
    Ok(out)
}

fn compare(path: &Path, actual: &str) -> Result<(), String> {
    let expected = fs::read_to_string(path).map_err(|error| format!("{error}; BLESS=1 writes it"))?;
    if expected == actual {
        return Ok(());
    }
    let shown = difference(&laid_out(&expected), &laid_out(actual));
    // The only difference may be the layout of JSON.
    let shown = shown.unwrap_or_else(|| difference(&expected, actual).unwrap_or_default());
    Err(format!("differs; BLESS=1 writes it again\n{shown}"))
}

/// Facts of a kind about the code of another system, found by running it: the cases of `vectors.json` in a folder of `data-samples`. Its
/// `notes` describe each kind.
pub fn vectors(folder: &str, kind: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples");
    let text = fs::read_to_string(path.join(folder).join("vectors.json"));
    let read = text.map(|text| serde_json::from_str::<Value>(&text));
    let Ok(Ok(vectors)) = read else {
        panic!("{folder} has no vectors: {read:?}");
    };
    assert!(
        vectors["notes"][kind].is_string(),
        "{folder} has no note about {kind}"
    );
    let cases = vectors["cases"].as_array().into_iter().flatten();
    cases.filter(|case| case["kind"] == kind).cloned().collect()
}

/// JSON, as one value or one per line, with a line for each field; any other text unchanged.
fn laid_out(text: &str) -> String {
    let pretty = |text: &str| -> Option<String> {
        let value: Value = serde_json::from_str(text).ok()?;
        serde_json::to_string_pretty(&value).ok()
    };
    let lines = || text.lines().map(pretty).collect::<Option<Vec<String>>>();
    let whole = pretty(text).or_else(|| Some(lines()?.join("\n")));
    whole.unwrap_or_else(|| text.to_owned())
}

/// The lines that differ, with three lines around them; `None` if no line differs.
fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let diff = TextDiff::from_lines(expected, actual);
    let unified = diff
        .unified_diff()
        .header("expected", "actual")
        .context_radius(3)
        .to_string();
    let cut = |line: &str| -> String { line.chars().take(MAX_SHOWN_CHARACTERS).collect() };
    let lines: Vec<String> = unified.lines().take(MAX_SHOWN_LINES).map(cut).collect();
    let more = unified.lines().count() - lines.len();
    let rest = if more > 0 {
        format!("\n… {more} lines more")
    } else {
        String::new()
    };
    Some(lines.join("\n") + &rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_gives_the_cases_of_the_kind_that_is_asked_for() {
        let cases = vectors("sources/gemini-contents", "line");
        assert!(!cases.is_empty() && cases.iter().all(|case| case["kind"] == "line"));
    }

    #[test]
    fn with_blocks_rewrites_fenced_blocks_and_nothing_else() {
        let page = "# A\n\n```x y\nb\nc\n```\nd\n";
        let rewritten = with_blocks(page, |kind, block| Ok(format!("{kind}: {}\n", block.concat())));
        assert_eq!(rewritten.as_deref(), Ok("# A\n\n```x y\nx y: bc\n```\nd\n"));
        assert!(with_blocks(page, |_, _| Err("no".to_owned())).is_err());
    }

    #[test]
    fn a_difference_shows_the_fields_of_json_that_differ() {
        let shown = difference(
            &laid_out("{\"a\":1,\"b\":[2,3]}\n{}\n"),
            &laid_out("{\"a\":1,\"b\":[2,4]}\n{}\n"),
        );
        let shown = shown.unwrap_or_default();
        assert!(shown.contains("\n-    3\n+    4\n"), "{shown}");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let expected = "line\n".repeat(100);
        let shown = difference(&expected, "").unwrap_or_default();
        assert_eq!(shown.lines().count(), MAX_SHOWN_LINES + 1);
        assert!(shown.ends_with("… 43 lines more"), "{shown}");
    }

    #[test]
    fn only_the_very_bytes_are_the_golden_ones() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
        let text = include_str!("lib.rs");
        assert_eq!(compare(&path, text), Ok(()));
        let difference_text = compare(&path, &format!("{text} ")).err().unwrap_or_default();
        assert!(
            difference_text.starts_with("differs; BLESS=1 writes it again\n"),
            "{difference_text}"
        );
        assert!(difference_text.contains("\n+ "), "{difference_text}");
        let difference_text = compare(&path.with_extension("missing"), "").err();
        assert!(
            difference_text.is_some_and(|difference_text| difference_text.ends_with("; BLESS=1 writes it"))
        );
    }

    #[test]
    fn json_that_is_written_otherwise_differs() {
        let (expected, actual) = ("{\"a\": 1}", "{\"a\":1}");
        assert_eq!(difference(&laid_out(expected), &laid_out(actual)), None);
        assert!(difference(expected, actual).is_some());
    }
}
