//! `cargo xtask words --check|--write`: private words, where the field has its own.
//!
//! A reader who knows the field and not chatmill meets README, the first screen of a page, help and messages first: *texts*. Who
//! changes the code meets *names*. `xtask/words.txt` lists the words and what the field says; where one stands all the same is
//! allowed in `xtask/words-allowed.txt`, so many times in each page and in each crate's messages and names.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};

use crate::allowances::{Counts, Kind, add, hold};
use crate::generated::Mode;
use crate::sources::{files_below, has_ending, read, source_files};

/// The words, each with the field's.
const WORDS: &str = "xtask/words.txt";

/// Where they stand all the same.
const ALLOWANCES: &str = "xtask/words-allowed.txt";

const KINDS: &[Kind] = &[
    ("names", 0, "take the field's word, xtask/words.txt"),
    ("texts", 0, "take the field's word, xtask/words.txt"),
];

/// Lines of a page that a reader sees before scrolling.
const SCREEN_LINES: usize = 40;

/// Which words go from where.
#[derive(Default)]
struct WordTable<'t> {
    texts: Vec<&'t str>,
    names: Vec<&'t str>,
}

impl<'t> WordTable<'t> {
    fn read(table: &'t str) -> Result<Self> {
        let mut words = Self::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let what = || format!("{WORDS}: a line is `WHERE FORMS = WORD`, not {line:?}");
            let (left, _) = line.split_once(" = ").with_context(what)?;
            let mut forms = left.split_whitespace();
            let lists = match forms.next() {
                Some("text") => [Some(&mut words.texts), None],
                Some("name") => [None, Some(&mut words.names)],
                Some("both") => [Some(&mut words.texts), Some(&mut words.names)],
                _ => return Err(anyhow!(what())),
            };
            for list in lists.into_iter().flatten() {
                list.extend(forms.clone());
            }
        }
        Ok(words)
    }

    /// The private words in the names and texts of code; `is_help`: comments of options and commands are printed.
    fn found(&self, tokens: TokenStream, is_help: bool) -> Vec<(&'static str, &'t str)> {
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
                    found.extend(known.map(|word| ("names", *word)));
                }
                TokenTree::Literal(literal) if !is_comment || is_help => {
                    found.extend(self.of_text(&literal.to_string()).map(|word| ("texts", word)));
                }
                TokenTree::Literal(_) | TokenTree::Punct(_) => {}
            }
        }
        found
    }

    /// The private words in a text; what stands between back quotes, commands, keys and names, is as it is.
    fn of_text(&self, text: &str) -> impl Iterator<Item = &'t str> {
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-';
        let prose = text.split('`').step_by(2);
        let words = prose.flat_map(move |text| text.split(move |sign| !is_part(sign)));
        words.filter_map(|word| {
            self.texts
                .iter()
                .find(|known| known.eq_ignore_ascii_case(word))
                .copied()
        })
    }
}

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let table = read(root, WORDS)?;
    let words = WordTable::read(&table)?;
    let mut counts = Counts::new();
    for file in source_files(root)? {
        let is_help = file.path.starts_with("crates/cli/src/");
        for (kind, word) in words.found(file.tokens()?, is_help) {
            let whose = format!("{}:{word}", file.krate);
            add(&mut counts, kind, &whose, [file.path.clone()]);
        }
    }
    for (path, text) in pages(root)? {
        for word in words.of_text(&text) {
            add(&mut counts, "texts", &format!("{path}:{word}"), [path.clone()]);
        }
    }
    hold(root, ALLOWANCES, KINDS, &counts, mode)
}

/// The words of a name, in small letters: of `each_input` and of `EachInput` the same.
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

/// README and the first screen of each page for users.
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
