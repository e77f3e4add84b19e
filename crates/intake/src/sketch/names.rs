//! The names in a record with their paths, and their short text values.
//!
//! Unlike the rest of the sketch this covers more than the first message of a list, because the field that
//! distinguishes two formats may be in a block of the tenth message. Only brackets and quotes are read, so that a cut
//! record still gives the names before the cut.

use std::collections::{BTreeMap, BTreeSet};

use super::plain;
use crate::frame::balance::structural;

/// The maximum nesting of objects and lists that are read.
const MAX_DEPTH: usize = 8;

/// The maximum number of different names of a record; a record that uses data as names has many.
const MAX_NAMES: usize = 512;

/// The maximum length of a name with its quotes, in bytes. No format has a longer one, and it would be part of all
/// paths below it.
const MAX_KEY_BYTES: usize = 256;

/// The maximum length of a text that is kept, in bytes.
const MAX_NAME_BYTES: usize = 32;

/// The maximum number of different texts that are kept for a name.
const MAX_WORDS: usize = 16;

/// The values of a name, wherever it occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Up to 16 different strings of at most 32 bytes.
    pub words: BTreeSet<String>,
    /// The length of the longest string in bytes; 0 if there is none.
    pub longest: usize,
}

/// All names in a record: `messages[].content[].type`. An element of a list is `[]`.
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

/// The names found so far, and the position.
#[derive(Default)]
struct Names {
    found: BTreeMap<String, Name>,
    /// The objects and lists around the current position that are read.
    open: Vec<Level>,
    /// The nesting below these; their paths, which would be as long as they are deep, are not kept.
    beyond: usize,
}

/// An object or a list.
struct Level {
    is_object: bool,
    /// The path of the object or list.
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
                // The strings in a list have no name.
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
