//! The names in a record, each with its path, and their short text values.
//!
//! This sketch covers more than the first message of a list: the field that distinguishes two formats may be
//! in a block of the tenth. It reads brackets and quotes only, so that a record that is cut gives the names
//! before the cut.

use std::collections::{BTreeMap, BTreeSet};

use super::plain;
use crate::frame::balance::structural;

/// Objects and lists around one another that are looked into.
const MAX_DEPTH: usize = 8;

/// Different names that are kept of a record; data that serve as names are many.
const MAX_NAMES: usize = 512;

/// Bytes of a name, quotes included: a longer one is none that a format has, and would stand in the paths of all that is below it.
const MAX_KEY_BYTES: usize = 256;

/// Bytes of a text that is kept.
const MAX_NAME_BYTES: usize = 32;

/// Different texts that are kept of a name.
const MAX_WORDS: usize = 16;

/// The values of a name, wherever it occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Up to 16 different strings of at most 32 bytes.
    pub words: BTreeSet<String>,
    /// Bytes of the longest string; 0 where none stands there.
    pub longest: usize,
}

/// Every name of a record: `messages[].content[].type`. An element of a list is `[]`.
pub(super) fn of(record: &[u8]) -> BTreeMap<String, Name> {
    let mut names = Names::default();
    let mut at = 0;
    while let Some(found) = structural(record.split_at(at).1) {
        at += found;
        let rest = record.split_at(at).1;
        at += match rest.first() {
            Some(b'"') => {
                let Some(token) = super::outline::string(rest) else {
                    break;
                };
                let after = rest.split_at(token.len()).1;
                let next = after.iter().find(|byte| !byte.is_ascii_whitespace());
                names.string(token, next == Some(&b':'));
                token.len()
            }
            Some(bracket @ (b'{' | b'[')) => {
                names.open(*bracket);
                1
            }
            _ => {
                names.close();
                1
            }
        };
    }
    names.found
}

/// The reading so far.
#[derive(Default)]
struct Names {
    found: BTreeMap<String, Name>,
    /// The objects and lists around the present place that are looked into.
    open: Vec<Level>,
    /// The number of further names: their paths, which would be as long as they are deep, are not kept.
    beyond: usize,
}

/// An object or a list.
struct Level {
    is_object: bool,
    /// The path of the name.
    path: String,
    /// The path of its current value.
    value: String,
}

impl Names {
    fn open(&mut self, bracket: u8) {
        if self.open.len() == MAX_DEPTH {
            self.beyond += 1;
            return;
        }
        let path = self.here().to_owned();
        let is_object = bracket == b'{';
        let value = if is_object {
            path.clone()
        } else {
            format!("{path}[]")
        };
        self.open.push(Level {
            is_object,
            path,
            value,
        });
    }

    fn close(&mut self) {
        match self.beyond.checked_sub(1) {
            Some(left) => self.beyond = left,
            None => drop(self.open.pop()),
        }
    }

    /// The path of the current value.
    fn here(&self) -> &str {
        self.open.last().map_or("", |level| level.value.as_str())
    }

    fn string(&mut self, token: &[u8], is_key: bool) {
        if self.beyond > 0 {
            return;
        }
        match self.open.last_mut() {
            Some(level) if level.is_object && is_key => {
                let own = if token.len() > MAX_KEY_BYTES {
                    "…".to_owned()
                } else {
                    plain(token)
                };
                level.value = match level.path.as_str() {
                    "" => own,
                    path => format!("{path}.{own}"),
                };
                if self.found.len() < MAX_NAMES || self.found.contains_key(&level.value) {
                    self.found.entry(level.value.clone()).or_default();
                }
            }
            Some(level) => {
                // The strings of a list have no name of their own.
                let is_new = !level.is_object && self.found.len() < MAX_NAMES;
                if is_new && !self.found.contains_key(&level.value) {
                    self.found.insert(level.value.clone(), Name::default());
                }
                let Some(name) = self.found.get_mut(&level.value) else {
                    return;
                };
                let length = token.len().saturating_sub(2);
                name.longest = name.longest.max(length);
                if length <= MAX_NAME_BYTES && name.words.len() < MAX_WORDS {
                    name.words.insert(plain(token));
                }
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::reader::testing::cases;

    fn names(record: &str) -> Vec<String> {
        of(record.as_bytes())
            .into_iter()
            .map(|(path, name)| {
                let words: Vec<_> = name.words.into_iter().collect();
                format!("{path}={}/{}", words.join("+"), name.longest)
            })
            .collect()
    }

    #[test]
    fn names_of_records_match_the_case_file() {
        cases("names", |_, record| names(record).join(" "));
    }

    #[test]
    fn names_and_words_are_limited() {
        let many: Vec<String> = (0..600).map(|number| format!("\"k{number}\":\"v\"")).collect();
        assert_eq!(names(&format!("{{{}}}", many.join(","))).len(), 512);
        let records: Vec<String> = (10..40).map(|number| format!("{{\"a\":\"{number}\"}}")).collect();
        let found = of(format!("[{}]", records.join(",")).as_bytes());
        assert_eq!(found["[].a"].words.len(), 16);
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(33));
        assert_eq!(names(&long), ["a=/33"]);
        let key = format!("{{\"{}\":[{{\"a\":1}}]}}", "k".repeat(255));
        assert_eq!(names(&key), ["…=/0", "…[].a=/0"]);
        let deep = "{\"a\":".repeat(9) + "1" + &"}".repeat(9);
        assert_eq!(
            names(&deep).last().map(String::as_str),
            Some("a.a.a.a.a.a.a.a=/0")
        );
    }
}
