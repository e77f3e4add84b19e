//! Idioms in comments and sentences: where they are, and how many each crate has.
//!
//! Comments count in all files, sentences (strings of [`SENTENCE_LENGTH`] letters and more) only in product code. Files that are
//! not Rust have comments, too: format files are a group of files like a crate, and so is each folder next to `crates`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use crate::allowances::{Counts, add};
use crate::prose::{COMMENTS, Prose, STRINGS, of_lines, of_rust};
use crate::sources::{SourceFile, files_below, has_ending, read};

/// Letters of a string that is a sentence, and neither a key nor a name.
const SENTENCE_LENGTH: usize = 25;

/// Folders and files that have comments.
const FOLDERS: &str = ".ci benches crates examples fuzz pipelines python xtask";
const FILES: &str = "Cargo.toml Dockerfile clippy.toml deny.toml justfile";

/// A word or a phrase, and what a sentence has instead.
pub(crate) struct Phrase<'t> {
    words: Vec<&'t str>,
    pub(crate) instead: &'t str,
}

impl<'t> Phrase<'t> {
    /// A form as `xtask/words.txt` has it: `_` is the space in a phrase.
    pub(crate) fn new(form: &'t str, instead: &'t str) -> Self {
        let words = form.split(['_', '\'']).collect();
        Self { words, instead }
    }

    pub(crate) fn text(&self) -> String {
        self.words.join(" ")
    }

    fn begins(&self, text: &[(usize, &str)]) -> bool {
        let mut pairs = self.words.iter().zip(text);
        self.words.len() <= text.len() && pairs.all(|(own, (_, word))| own.eq_ignore_ascii_case(word))
    }
}

/// The forms in a text, each with the line where it begins, counted from 0. Commands, keys and names between back quotes are left
/// out, and so are the names in the braces of a format string.
pub(crate) fn phrases_in<'f, 't>(forms: &'f [Phrase<'t>], text: &str) -> Vec<(usize, &'f Phrase<'t>)> {
    let is_part = |sign: char| sign.is_alphanumeric() || "_-{".contains(sign);
    let (mut words, mut line) = (Vec::new(), 0);
    for (place, piece) in text.split('`').enumerate() {
        for (breaks, piece) in piece.split('\n').enumerate() {
            line += breaks.min(1);
            let prose = if place % 2 == 0 { piece } else { "" };
            let parts = prose.split(|sign| !is_part(sign)).map(|word| (line, word));
            words.extend(parts.filter(|(_, word)| !word.is_empty()));
        }
    }
    let mut found = Vec::new();
    let mut rest = words.as_slice();
    while let [(line, _), after @ ..] = rest {
        let form = forms.iter().find(|form| form.begins(rest));
        found.extend(form.map(|form| (*line, form)));
        rest = after;
    }
    found
}

/// Counts the idioms, and returns a table of how many each group of files has. Strings of the files in `quoting` are texts that
/// others write.
pub(crate) fn count(
    root: &Path,
    idioms: &[Phrase<'_>],
    quoting: &[&str],
    sources: &[SourceFile],
    counts: &mut Counts,
) -> Result<String> {
    let lines = |file: &SourceFile| (file.path.clone(), file.text.lines().count());
    let product: BTreeMap<String, usize> = sources.iter().map(lines).collect();
    let mut paths: Vec<String> = FILES.split(' ').map(str::to_owned).collect();
    for folder in FOLDERS.split(' ') {
        paths.extend(files_below(root, folder)?);
    }
    let mut sizes: BTreeMap<(&'static str, &str), usize> = BTreeMap::new();
    for path in &paths {
        let Some(prose) = reader(path) else { continue };
        let text = read(root, path)?;
        let code_lines = product.get(path).filter(|_| !quoting.contains(&path.as_str()));
        for (kind, line, text) in prose(&text) {
            let is_product = code_lines.is_some_and(|lines| line <= *lines);
            let size = match kind {
                COMMENTS => text.lines().count(),
                _ => usize::from(is_product && is_sentence(text)),
            };
            *sizes.entry((kind, group(path))).or_default() += size;
            for (below, form) in phrases_in(idioms, &text.replace("\\n", "  "))
                .iter()
                .take_while(|_| size > 0)
            {
                let place = format!("{path}:{}: {}: {}", line + below, form.text(), form.instead);
                add(counts, kind, group(path), [place]);
            }
        }
    }
    table(&sizes, counts)
}

fn is_sentence(text: &str) -> bool {
    text.chars().filter(|sign| sign.is_alphabetic()).count() >= SENTENCE_LENGTH
}

/// How the prose of a file is found, by the ending of its name; data and samples have none.
fn reader(path: &str) -> Option<fn(&str) -> Vec<Prose<'_>>> {
    let is_sample = path.starts_with("crates") && (path.contains("/tests/") || path.contains("/cases/"));
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "rs" => Some(of_rust),
        _ if is_sample || path.contains("/corpus/") => None,
        "css" | "js" | "mjs" => Some(|text| of_lines(text, "//")),
        "" | "py" | "sh" | "toml" | "txt" => Some(|text| of_lines(text, "#")),
        _ => None,
    }
}

/// The crate or the folder of a file.
fn group(path: &str) -> &str {
    let mut folders = path.split('/');
    match (folders.next(), folders.next(), folders.next()) {
        (_, Some("source"), Some("src")) if has_ending(path, "toml") => "formats",
        (Some("crates"), Some(krate), _) => krate,
        (Some(folder), Some(_), _) => folder,
        _ => "workspace",
    }
}

/// How many idioms comments and sentences have, by group.
fn table(sizes: &BTreeMap<(&'static str, &str), usize>, counts: &Counts) -> Result<String> {
    let mut table = String::from("lines of comments, and sentences; idioms; per 1,000");
    for kind in [COMMENTS, STRINGS] {
        let mut all = (0, 0);
        let own = sizes.iter().filter(|((of, _), _)| *of == kind);
        let own = own.map(|((_, group), size)| (*group, *size));
        for (group, size) in own.chain([("all", 0)]) {
            let idioms = counts.get(&(kind, group.to_owned())).map_or(0, Vec::len);
            all = (all.0 + size, all.1 + idioms);
            let (size, idioms) = if group == "all" { all } else { (size, idioms) };
            let (whole, tenth) = (1000 * idioms / size, 10_000 * idioms / size % 10);
            write!(
                table,
                "\n{kind} {group:10} {size:>6} {idioms:>5} {whole:>4}.{tenth}"
            )?;
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let forms = [
            Phrase::new("stands", "is"),
            Phrase::new("of_one's_own", "separate"),
            Phrase::new("lies", "is"),
        ];
        let found = phrases_in(&forms, text).into_iter();
        found.map(|(line, form)| (line, form.text())).collect()
    }

    #[test]
    fn phrases_are_found_over_the_end_of_a_line() {
        let text = "/// Stands in a room of\n/// one's own, where it\n/// lies.";
        let forms = [(0, "stands"), (0, "of one s own"), (2, "lies")];
        assert_eq!(found(text), forms.map(|(line, form)| (line, form.to_owned())));
        assert_eq!(found("of one's"), []);
    }

    #[test]
    fn code_parts_of_words_and_names_in_braces_are_no_words() {
        assert_eq!(
            found("`it\nstands` stands-in lies_low {lies} belies ```lies```"),
            []
        );
        assert_eq!(found("`x\n` it\nlies"), [(2, "lies".to_owned())]);
    }

    #[test]
    fn samples_and_data_have_no_prose() {
        for path in [
            "crates/rule/tests/all.rs",
            ".ci/run",
            "crates/source/src/formats/amp.toml",
        ] {
            assert!(reader(path).is_some(), "{path}");
        }
        for path in [
            "crates/rule/tests/cases/x.txt",
            "fuzz/corpus/reader/empty",
            "crates/diag/page.md",
        ] {
            assert!(reader(path).is_none(), "{path}");
        }
    }

    #[test]
    fn files_are_grouped_by_crate_and_folder() {
        let paths = [
            "crates/rule/src/lib.rs",
            "crates/source/src/formats/amp.toml",
            ".ci/toys/run",
            "justfile",
        ];
        assert_eq!(paths.map(group), ["rule", "formats", ".ci", "workspace"]);
    }
}
