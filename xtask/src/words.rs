//! `cargo xtask words --check|--write`: private words, where the field has its own.
//!
//! A reader who knows the field and not chatmill meets README, the first screen of a page, help and messages first: *texts*. Who
//! changes the code meets *names*. `xtask/words.txt` lists the words and what the field says; where one stands all the same is
//! allowed in `xtask/words-allowed.txt`, so many times in each page and in each crate's messages and names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Literal, TokenStream, TokenTree};

use crate::counts::{Counts, Kind, hold};
use crate::generated::Mode;
use crate::sources::source_files;

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
}

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let table = fs::read_to_string(root.join(WORDS)).with_context(|| format!("cannot read {WORDS}"))?;
    let words = WordTable::read(&table)?;
    let mut counts = Counts::new();
    for file in source_files(root)? {
        let tokens = TokenStream::from_str(&file.text).map_err(|error| anyhow!("{}: {error}", file.path))?;
        let is_help = file.path.starts_with("crates/cli/src/");
        let mut found = Found::default();
        found.read(tokens, is_help, &words);
        for (kind, words) in [("names", found.names), ("texts", found.texts)] {
            for (word, number) in words {
                let place = format!("{} × {number}", file.path);
                let places = std::iter::repeat_n(place, number);
                counts
                    .entry((kind, format!("{}:{word}", file.krate)))
                    .or_default()
                    .extend(places);
            }
        }
    }
    for (path, text) in pages(root)? {
        for word in private_words(&without_code(&text), &words.texts) {
            counts
                .entry(("texts", format!("{path}:{word}")))
                .or_default()
                .push(path.clone());
        }
    }
    hold(root, ALLOWANCES, KINDS, &counts, mode)
}

/// How often which private word stands in a file of code.
#[derive(Default)]
struct Found<'w> {
    names: BTreeMap<&'w str, usize>,
    texts: BTreeMap<&'w str, usize>,
}

impl<'w> Found<'w> {
    /// `is_help`: comments of options and commands are printed.
    fn read(&mut self, tokens: TokenStream, is_help: bool, words: &WordTable<'w>) {
        let mut is_comment = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.read(group.stream(), is_help, words),
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    is_comment = name == "doc";
                    for part in parts(&name) {
                        if let Some(word) = words.names.iter().find(|word| ***word == part) {
                            *self.names.entry(word).or_default() += 1;
                        }
                    }
                }
                TokenTree::Literal(literal) if !is_comment || is_help => self.text(&literal, words),
                TokenTree::Literal(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn text(&mut self, literal: &Literal, words: &WordTable<'w>) {
        for word in private_words(&without_code(&literal.to_string()), &words.texts) {
            *self.texts.entry(word).or_default() += 1;
        }
    }
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

/// Those of `words` that stand in a text as words, each time that one does.
fn private_words<'w>(text: &str, words: &[&'w str]) -> Vec<&'w str> {
    let of_text = text.split(|sign: char| !sign.is_alphanumeric() && sign != '_' && sign != '-');
    let known = |word: &str| {
        words
            .iter()
            .find(|known| known.eq_ignore_ascii_case(word))
            .copied()
    };
    of_text.filter_map(known).collect()
}

/// The text without what stands between back quotes: commands, keys and names are as they are.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// README and the first screen of each page for users.
fn pages(root: &Path) -> Result<Vec<(String, String)>> {
    let read =
        |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));
    let mut pages = vec![("README.md".to_owned(), read("README.md")?)];
    for folder in ["docs", "docs/rules"] {
        for entry in fs::read_dir(root.join(folder)).with_context(|| format!("cannot list {folder}"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|ending| ending == "md") {
                let path = format!("{folder}/{name}");
                let text = read(&path)?;
                let screen: Vec<&str> = text.lines().take(SCREEN_LINES).collect();
                pages.push((path, screen.join("\n")));
            }
        }
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# why\nboth mill milled = process\ntext dear = expensive\nname said = content";

    fn found(code: &str, is_help: bool) -> String {
        let words = WordTable::read(TABLE).unwrap();
        let mut found = Found::default();
        found.read(TokenStream::from_str(code).unwrap(), is_help, &words);
        format!("{:?} {:?}", found.names, found.texts)
    }

    #[test]
    fn parts_of_names_are_found_in_either_case() {
        assert_eq!(
            found("struct MillKey; fn what_is_said() { let mills = SAID; }", false),
            r#"{"mill": 1, "said": 2} {}"#
        );
    }

    #[test]
    fn words_of_messages_are_found_and_those_in_back_quotes_are_not() {
        let code = r#"fn f() { warn("Mill it, what was said is dear; `mill` stays, so does millet") }"#;
        assert_eq!(found(code, false), r#"{} {"dear": 1, "mill": 1}"#);
    }

    #[test]
    fn comments_count_where_they_are_help() {
        let code = "/// Files that are milled.\nstruct S;";
        assert_eq!(found(code, false), "{} {}");
        assert_eq!(found(code, true), r#"{} {"milled": 1}"#);
    }

    #[test]
    fn a_line_without_a_place_or_a_word_of_the_field_is_refused() {
        for line in ["mill = process", "both mill"] {
            assert!(WordTable::read(line).is_err(), "{line}");
        }
    }
}
