//! Finds `@name` in texts as Jaibber's clients do.
//!
//! A name is mentioned where it follows an `@`, in any case, and no ASCII letter, digit or underscore follows it. Any
//! character may precede the `@`, and letters of other scripts do not end a name (`@Coderé` mentions Coder).
//! Coder).

use std::collections::{HashMap, HashSet};

/// The names as a tree of letters, so that a crowded room costs no more than a small one.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The index in `bearers` of each name.
    whole: HashMap<String, usize>,
    /// The participants of each name.
    bearers: Vec<Vec<usize>>,
    steps: HashMap<(usize, char), usize>,
    /// The name that ends at a step.
    ends: HashMap<usize, usize>,
    /// The name of each participant.
    named: HashMap<usize, usize>,
}

/// The most participants with one name that a mention may mean. With more, the mention is ambiguous, and each of them would
/// be mentioned wherever the name appears.
const MAX_NAMESAKES: usize = 64;

/// The most further `@` inside a mention; a name may contain some. Without this limit, a text of only `@` would be searched
/// to its end from each of them.
const MAX_SIGNS: usize = 4;

/// The longest name that a mention may have, in letters: each letter takes many times its own memory.
const MAX_LETTERS: usize = 1_024;

impl Names {
    /// Adds the name of a participant.
    pub(super) fn add(&mut self, name: &str, bearer: usize) {
        if name.is_empty() {
            return;
        }
        let letters: String = name.chars().map(canonical).collect();
        let is_mentioned = letters.chars().nth(MAX_LETTERS).is_none();
        let steps = if is_mentioned { letters.as_str() } else { "" };
        let mut at = 0;
        for letter in steps.chars() {
            let next = self.steps.len() + 1;
            at = *self.steps.entry((at, letter)).or_insert(next);
        }
        let next = self.bearers.len();
        let known = *self.whole.entry(letters).or_insert(next);
        if is_mentioned {
            self.ends.insert(at, known);
        }
        if known == next {
            self.bearers.push(Vec::new());
        }
        if let Some(bearers) = self.bearers.get_mut(known)
            && bearers.len() < MAX_NAMESAKES
            && bearers.last() != Some(&bearer)
        {
            bearers.push(bearer);
        }
        self.named.insert(bearer, known);
    }

    /// Whether another participant has the same name.
    pub(super) fn is_shared(&self, bearer: usize) -> bool {
        let name = self.named.get(&bearer);
        name.is_some_and(|name| self.of(*name).len() > 1)
    }

    /// The participants with exactly this name, in any case.
    pub(super) fn called(&self, name: &str) -> &[usize] {
        let letters: String = name.chars().map(canonical).collect();
        self.whole.get(&letters).map_or(&[], |name| self.of(*name))
    }

    fn of(&self, name: usize) -> &[usize] {
        self.bearers.get(name).map_or(&[], Vec::as_slice)
    }

    /// The participants that a text mentions, each once, in order of first mention.
    pub(super) fn mentioned(&self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let signs = text.match_indices('@');
        for after in signs.filter_map(|(at, _)| text.get(at + 1..)) {
            let stop = after.match_indices('@').nth(MAX_SIGNS);
            let within = after.get(..stop.map_or(after.len(), |(at, _)| at));
            let mut at = 0;
            let mut letters = within.unwrap_or(after).chars();
            while let Some(next) = letters
                .next()
                .and_then(|letter| self.steps.get(&(at, canonical(letter))))
            {
                at = *next;
                let is_whole = !letters.clone().next().is_some_and(is_word);
                let name = self.ends.get(&at).filter(|_| is_whole);
                let bearers = name.into_iter().flat_map(|name| self.of(*name));
                let new = bearers.filter(|bearer| seen.insert(**bearer));
                found.extend(new);
            }
        }
        found
    }
}

/// The characters that `\w` of a JavaScript pattern matches.
const fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The letter that a JavaScript pattern that ignores case compares in place of any case of a letter.
fn canonical(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) if only.is_ascii() == letter.is_ascii() => only,
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_with_one_name_is_found_as_a_crowd() {
        let mut names = Names::default();
        for (bearer, name) in ["Ann", "Ann Lee", "ann", "Bo", ""].into_iter().enumerate() {
            names.add(name, bearer);
        }
        assert_eq!(names.mentioned("@ANN lee, @bo and @Bob"), [0, 2, 1, 3]);
        assert_eq!(names.mentioned("@@ann@"), [0, 2]);
        assert_eq!(names.called("ANN"), [0, 2]);
        assert!(names.called("An").is_empty() && names.called("").is_empty());
        assert!(names.mentioned("@").is_empty());
    }

    #[test]
    fn names_with_too_many_at_signs_or_namesakes_are_bounded() {
        let mut names = Names::default();
        for (bearer, name) in ["a@b@c@d@e", "a@b@c@d@e@f"].into_iter().enumerate() {
            names.add(name, bearer);
        }
        assert_eq!(names.mentioned("@a@b@c@d@e @a@b@c@d@e@f"), [0]);
        // A mention of a very common name means only the first participants.
        for bearer in 2..1_000 {
            names.add("Bo", bearer);
        }
        assert_eq!(names.mentioned("@Bo").len(), MAX_NAMESAKES);
        assert!(names.is_shared(2) && names.is_shared(999) && !names.is_shared(0));
    }

    #[test]
    fn a_name_too_long_for_a_mention_still_identifies_its_owner() {
        let mut names = Names::default();
        for (bearer, letters) in [MAX_LETTERS, MAX_LETTERS + 1].into_iter().enumerate() {
            let name = "n".repeat(letters);
            names.add(&name, bearer);
            assert_eq!(names.called(&name.to_uppercase()), [bearer]);
        }
        assert_eq!(names.mentioned(&format!("@{}", "n".repeat(MAX_LETTERS))), [0]);
        assert!(
            names
                .mentioned(&format!("@{}", "n".repeat(MAX_LETTERS + 1)))
                .is_empty()
        );
        assert_eq!(names.steps.len(), MAX_LETTERS);
    }

    #[test]
    fn cases_are_equal_as_in_a_script() {
        let mut names = Names::default();
        for (bearer, name) in ["Кодер", "straße", "kelvin"].into_iter().enumerate() {
            names.add(name, bearer);
        }
        assert_eq!(names.mentioned("@кодер"), [0]);
        assert!(names.mentioned("@STRASSE").is_empty());
        assert!(
            names.mentioned("@\u{212a}elvin").is_empty(),
            "the sign for Kelvin is not a k"
        );
    }
}
