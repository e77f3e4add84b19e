//! `cargo xtask words [--check|--write]`: private words and idioms, where the field has its own.
//!
//! A reader who knows the field and not chatmill meets README, the first screen of a page, help and messages first: *texts*. Code
//! has *names*, *comments* and *strings*. `xtask/words.txt` lists the words and what to write instead; `xtask/words-allowed.txt`
//! has how often a page, or the names, messages and comments of a crate, may use one all the same.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};

use crate::allowances::{Counts, Kind, add, hold};
use crate::generated::Mode;
use crate::idioms::{self, Phrase, phrases_in};
use crate::prose::{COMMENTS, STRINGS};
use crate::sources::{files_below, has_ending, read, source_files};

/// The list of words, each with the field's.
const WORDS: &str = "xtask/words.txt";

/// The number of times that each may be used all the same.
const ALLOWANCES: &str = "xtask/words-allowed.txt";

const KINDS: &[Kind] = &[
    (COMMENTS, 0, "a sentence has a subject and a plain verb"),
    ("names", 0, "take the field's word, xtask/words.txt"),
    (STRINGS, 0, "a sentence has a subject and a plain verb"),
    ("texts", 0, "take the field's word, xtask/words.txt"),
];

/// Lines of a page that a reader sees before scrolling.
const SCREEN_LINES: usize = 40;

/// The words to avoid, by the place where they are avoided.
#[derive(Default)]
struct WordTable<'t> {
    texts: Vec<Phrase<'t>>,
    names: Vec<&'t str>,
    idioms: Vec<Phrase<'t>>,
    /// Files with strings that are texts of others.
    quoting: Vec<&'t str>,
}

impl<'t> WordTable<'t> {
    fn read(table: &'t str) -> Result<Self> {
        let mut words = Self::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let what = || format!("{WORDS}: a line is `WHERE FORMS = WORD`, not {line:?}");
            let (left, instead) = line.split_once(" = ").with_context(what)?;
            let (place, forms) = left.split_once(' ').with_context(what)?;
            let names = forms.split_whitespace();
            let forms = names.clone().map(|form| Phrase::new(form, instead));
            match place {
                "text" => words.texts.extend(forms),
                "name" => words.names.extend(names),
                "both" => {
                    words.texts.extend(forms);
                    words.names.extend(names);
                }
                "comment" => words.idioms.extend(forms),
                "quotes" => words.quoting.extend(names),
                _ => return Err(anyhow!(what())),
            }
        }
        Ok(words)
    }

    /// Returns the private words in the names and texts of code; with `is_help`, comments are texts, because options and commands print them.
    fn found(&self, tokens: TokenStream, is_help: bool) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let mut is_comment = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => found.extend(self.found(group.stream(), is_help)),
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    is_comment = name == "doc";
                    let known = parts(&name).into_iter();
                    let known = known.filter_map(|part| self.names.iter().find(|word| **word == part));
                    found.extend(known.map(|word| ("names", (*word).to_owned())));
                }
                TokenTree::Literal(literal) if !is_comment || is_help => {
                    let forms = phrases_in(&self.texts, &literal.to_string());
                    found.extend(forms.into_iter().map(|(_, form)| ("texts", form.text())));
                }
                TokenTree::Literal(_) | TokenTree::Punct(_) => {}
            }
        }
        found
    }
}

/// Checks or writes the counts; without a mode, lists the idioms by place and counts them by group.
pub(crate) fn run(root: &Path, mode: Option<Mode>) -> Result<String> {
    let table = read(root, WORDS)?;
    let words = WordTable::read(&table)?;
    let mut counts = Counts::new();
    let sources = source_files(root)?;
    for file in &sources {
        let is_help = file.path.starts_with("crates/cli/src/");
        for (kind, word) in words.found(file.tokens()?, is_help) {
            let whose = format!("{}:{word}", file.krate);
            add(&mut counts, kind, &whose, [file.path.clone()]);
        }
    }
    for (path, text) in pages(root)? {
        for (_, form) in phrases_in(&words.texts, &text) {
            let whose = format!("{path}:{}", form.text());
            add(&mut counts, "texts", &whose, [path.clone()]);
        }
    }
    let table = idioms::count(root, &words.idioms, &words.quoting, &sources, &mut counts)?;
    let Some(mode) = mode else {
        let idioms = counts
            .iter()
            .filter(|((kind, _), _)| [COMMENTS, STRINGS].contains(kind));
        let places = idioms.flat_map(|(_, places)| places).chain([&table]);
        return Ok(places.map(String::as_str).collect::<Vec<_>>().join("\n"));
    };
    hold(root, ALLOWANCES, KINDS, &counts, mode)
}

/// Splits a name into its words in lower case: those of `each_input` and of `EachInput` are the same.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for sign in name.chars() {
        if sign == '_' || (sign.is_uppercase() && was_small) {
            parts.push(String::new());
        }
        was_small = sign.is_lowercase() || sign.is_ascii_digit();
        if let Some(part) = parts.last_mut()
            && sign != '_'
        {
            part.extend(sign.to_lowercase());
        }
    }
    parts
}

/// Returns README and the first screen of each page for users.
fn pages(root: &Path) -> Result<Vec<(String, String)>> {
    let mut pages = vec![("README.md".to_owned(), read(root, "README.md")?)];
    for path in files_below(root, "docs")? {
        if has_ending(&path, "md") && !path.starts_with("docs/decisions/") {
            let text = read(root, &path)?;
            let screen: Vec<&str> = text.lines().take(SCREEN_LINES).collect();
            pages.push((path, screen.join("\n")));
        }
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# why\nboth mill milled = process\ntext dear = expensive\nname said = content";

    fn found(code: &str, is_help: bool) -> String {
        let words = WordTable::read(TABLE).unwrap();
        let found = words.found(code.parse().unwrap(), is_help).into_iter();
        let found: Vec<String> = found.map(|(kind, word)| format!("{kind} {word}")).collect();
        found.join(", ")
    }

    #[test]
    fn parts_of_names_are_found_in_either_case() {
        assert_eq!(
            found("struct MillKey; fn what_is_said() { let mills = SAID; }", false),
            "names mill, names said, names said"
        );
    }

    #[test]
    fn words_of_messages_are_found_and_those_in_back_quotes_are_not() {
        let code = r#"fn f() { warn("Mill it, what was said is dear; `mill` stays, so does millet") }"#;
        assert_eq!(found(code, false), "texts mill, texts dear");
    }

    #[test]
    fn comments_count_where_they_are_help() {
        let code = "/// Files that are milled.\nstruct S;";
        assert_eq!(found(code, false), "");
        assert_eq!(found(code, true), "texts milled");
    }

    #[test]
    fn a_line_without_a_place_or_a_word_of_the_field_is_refused() {
        for line in ["mill = process", "both mill"] {
            assert!(WordTable::read(line).is_err(), "{line}");
        }
    }
}
