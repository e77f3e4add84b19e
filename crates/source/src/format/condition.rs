//! Conditions of format files: what stands at a path, and what does not.

use std::collections::BTreeMap;

use chatmill_intake::json::{Kind, Mark, Value};
use schemars::JsonSchema;
use serde::Deserialize;

use super::language::{Choice, Conditions, Word};
use super::path::{self, MapPath};

/// What must stand where. Of each path, one value must be one of the words. A word that ends in `*` means all that begin so; `true` and
/// `false` are JSON's own; `present` is anything but null and an empty text, `absent` the opposite.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<String, Wanted>")]
#[schemars(with = "BTreeMap<String, Wanted>")]
pub(super) struct Condition(Vec<(MapPath, Vec<String>)>);

/// The words that a condition is content with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Wanted {
    /// `true` or `false`.
    Is(bool),
    /// A word.
    Word(String),
    /// Any of these words.
    Any(Vec<String>),
}

impl TryFrom<BTreeMap<String, Wanted>> for Condition {
    type Error = String;

    fn try_from(written: BTreeMap<String, Wanted>) -> Result<Self, String> {
        if written.is_empty() {
            return Err("a condition names no path".to_owned());
        }
        let each = written.into_iter().map(|(path, wanted)| {
            let words = match wanted {
                Wanted::Is(is) => vec![is.to_string()],
                Wanted::Word(word) => vec![word],
                Wanted::Any(words) => words,
            };
            Ok((MapPath::parse(&path)?, words))
        });
        each.collect::<Result<_, String>>().map(Self)
    }
}

impl Condition {
    /// Whether it holds for a value. What decides it counts as read, where `reads` says so.
    pub(super) fn holds(&self, value: Value<'_>, reads: bool) -> bool {
        self.0.iter().all(|(path, words)| {
            let found = path.find(value);
            let is_scalar = |value: &&Value<'_>| !matches!(value.kind(), Kind::Array | Kind::Object);
            for value in found.iter().filter(|_| reads).filter(is_scalar) {
                value.mark(Mark::Taken);
            }
            words.iter().any(|word| match word.as_str() {
                "present" => found.iter().any(|value| says_something(*value)),
                "absent" => !found.iter().any(|value| says_something(*value)),
                word => found.iter().any(|value| is(*value, word)),
            })
        })
    }
}

fn says_something(value: Value<'_>) -> bool {
    value.written() != "\"\""
}

fn is(value: Value<'_>, word: &str) -> bool {
    match word.strip_suffix('*') {
        Some(start) => value.string().is_some_and(|own| own.starts_with(start)),
        None => path::says(value, word),
    }
}

impl Conditions {
    /// Whether one of them holds; what decides it counts as read.
    pub(super) fn hold(&self, value: Value<'_>) -> bool {
        self.0.iter().any(|condition| condition.holds(value, true))
    }

    /// Whether one of them holds, as somebody asks who reads nothing.
    pub(super) fn would_hold(&self, value: Value<'_>) -> bool {
        self.0.iter().any(|condition| condition.holds(value, false))
    }

    /// Whether something is said at all.
    pub(super) fn are_said(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Whether a piece or a case is there: its conditions hold, or it has none, and none of what excludes it holds.
pub(super) fn applies(when: &Conditions, unless: &Conditions, value: Value<'_>) -> bool {
    (!when.are_said() || when.would_hold(value)) && !unless.would_hold(value) && {
        // What did not decide is left: another piece may be the one.
        when.hold(value);
        unless.hold(value);
        true
    }
}

/// The word of the first choice that holds; what decides it is left, as far as it is not the word itself.
pub(super) fn chosen<'c, 'd>(choices: &'c [Choice], value: Value<'d>) -> Option<Chosen<'c, 'd>> {
    choices.iter().find_map(|choice| match choice {
        Choice::Always(Word::At(path)) => path.first(value).map(Chosen::Found),
        Choice::Always(Word::Said(word)) => Some(Chosen::Said(word)),
        Choice::Where(choice) => choice.when.would_hold(value).then_some(Chosen::Said(&choice.is)),
    })
}

/// A word that was chosen.
#[derive(Clone, Copy)]
pub(super) enum Chosen<'c, 'd> {
    /// The format file says it.
    Said(&'c str),
    /// The record says it.
    Found(Value<'d>),
}
