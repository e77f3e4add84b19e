//! The special tokens of a template: its tokenizer reads each as one token, so chat text must not spell them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::text::control_tokens::{self, ESCAPE};

/// Special tokens, sorted with the longest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    spellings: Vec<String>,
    /// The first characters of all tokens, without duplicates: a tokenizer may have hundreds of tokens with the same first character.
    firsts: Vec<char>,
}

impl Tokens {
    /// Keeps tokens of two or more characters; a single character is too common in chat text to be a boundary.
    pub(super) fn new(spellings: impl IntoIterator<Item = String>) -> Self {
        let is_long = |token: &String| token.chars().nth(1).is_some();
        let mut spellings: Vec<String> = spellings.into_iter().filter(is_long).collect();
        spellings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        spellings.dedup();
        let firsts: BTreeSet<char> = spellings
            .iter()
            .filter_map(|token| token.chars().next())
            .collect();
        Self {
            spellings,
            firsts: firsts.into_iter().collect(),
        }
    }

    /// Returns the tokens that the source of a template spells in the form `<|word|>`.
    pub(super) fn spelled_in(source: &str) -> impl Iterator<Item = String> + use<'_> {
        control_tokens::spelled(source).map(str::to_owned)
    }

    /// Returns the token that a text begins with.
    fn at_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut spellings = self.spellings.iter();
        let token = spellings.find(|token| text.starts_with(token.as_str()))?;
        Some(text.split_at(token.len()).0)
    }

    /// Returns the next token of a text, with the text before and after it.
    pub(super) fn split_once<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        text.match_indices(self.firsts.as_slice()).find_map(|(at, _)| {
            let (before, tail) = text.split_at(at);
            let token = self.at_start(tail)?;
            Some((before, token, tail.split_at(token.len()).1))
        })
    }

    /// Counts the tokens that a text spells.
    pub(super) fn count(&self, text: &str) -> u64 {
        let mut rest = text;
        let mut count = 0;
        while let Some((_, _, after)) = self.split_once(rest) {
            rest = after;
            count += 1;
        }
        count
    }

    /// Inserts U+200B after the first character of each token, and returns the text with the number of tokens.
    pub(super) fn escape<'t>(&self, text: Cow<'t, str>) -> (Cow<'t, str>, u64) {
        let mut escaped = String::new();
        let mut rest: &str = &text;
        let mut count = 0;
        while let Some((before, token, _)) = self.split_once(rest) {
            let first = token.chars().next().map_or(0, char::len_utf8);
            escaped.push_str(before);
            escaped.push_str(token.split_at(first).0);
            escaped.push(ESCAPE);
            rest = rest.split_at(before.len() + first).1;
            count += 1;
        }
        if count == 0 {
            return (text, 0);
        }
        escaped.push_str(rest);
        (Cow::Owned(escaped), count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(spellings: &[&str]) -> Tokens {
        Tokens::new(spellings.iter().map(|token| (*token).to_owned()))
    }

    #[test]
    fn chat_text_cannot_spell_a_special_token() {
        let tokens = tokens(&["<s>", "<s>end", "[INST]", "!", ""]);
        let (text, count) = tokens.escape(Cow::Borrowed("a <s>end <<s> [INST] !"));
        assert_eq!(text, "a <\u{200b}s>end <<\u{200b}s> [\u{200b}INST] !");
        assert_eq!((count, tokens.count(&text)), (3, 0));
        assert!(matches!(
            tokens.escape(Cow::Borrowed("a")),
            (Cow::Borrowed("a"), 0)
        ));
    }

    #[test]
    fn the_longest_token_counts() {
        let tokens = tokens(&["<s>", "<s>end"]);
        assert_eq!(tokens.split_once("x<s>end<s>y"), Some(("x", "<s>end", "<s>y")));
        assert_eq!(tokens.split_once("<s"), None);
        assert_eq!(tokens.count("x<s>end<s>y"), 2);
    }

    #[test]
    fn a_template_spells_its_own_tokens() {
        let spelled: Vec<String> = Tokens::spelled_in("{{ '<|a|>' + x }}<|b_1|><||>").collect();
        assert_eq!(spelled, ["<|a|>", "<|b_1|>"]);
    }
}
