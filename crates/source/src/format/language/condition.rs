//! Conditions of format files: tests of the value at a path.

use std::collections::BTreeMap;

use chatmill_intake::json::{Kind, Mark, Value};
use schemars::JsonSchema;
use serde::Deserialize;

use super::path::{self, MapPath};
use super::several::{OneOrMany, string_or_table};

/// Conditions; one of them is enough.
pub(in crate::format) type Conditions = OneOrMany<Condition>;

/// Words; the first one that applies is used.
pub(in crate::format) type Choices = OneOrMany<Choice>;

/// A word: always, or under a condition.
#[derive(Clone, Debug, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum Choice {
    /// The word itself, or the word at this path.
    Always(Word),
    /// A word where a condition holds.
    Where(ChoiceWhere),
}

/// A word under a condition.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct ChoiceWhere {
    /// The word.
    pub is: String,
    /// The condition under which it applies.
    pub when: Conditions,
}

/// A word, or a path to one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(in crate::format) enum Word {
    /// A word of the format file.
    Fixed(String),
    /// A word of the record.
    At(MapPath),
}

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word.starts_with('$') {
            MapPath::parse(&word).map(Self::At)
        } else {
            Ok(Self::Fixed(word))
        }
    }
}

string_or_table!(Choice: Always, Where);

impl Choice {
    /// Marks the values that decide the condition as read.
    pub(in crate::format) fn read(&self, value: Value<'_>) {
        if let Self::Where(choice) = self {
            choice.when.read(value);
        }
    }

    /// The path to the word, if the record has it.
    pub(in crate::format) fn path(&self) -> Option<&MapPath> {
        match self {
            Self::Always(Word::At(path)) => Some(path),
            _ => None,
        }
    }
}

/// A condition on values by path: of each path, one value must be one of the given words. A word that ends in
/// `*` matches every value with that prefix; `true` and `false` are JSON's own; `present` matches everything
/// but null and an empty text, `absent` the opposite.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<String, Wanted>")]
#[schemars(with = "BTreeMap<String, Wanted>")]
pub(in crate::format) struct Condition(Vec<(MapPath, Vec<Test>)>);

/// A test of one value.
#[derive(Clone, Debug)]
enum Test {
    Present,
    Absent,
    Is(String),
    Begins(String),
}

impl From<String> for Test {
    fn from(word: String) -> Self {
        match (word.as_str(), word.strip_suffix('*')) {
            ("present", _) => Self::Present,
            ("absent", _) => Self::Absent,
            (_, Some(start)) => Self::Begins(start.to_owned()),
            (_, None) => Self::Is(word),
        }
    }
}

/// The words that meet a condition.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum Wanted {
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
            Ok((
                MapPath::parse(&path)?,
                words.into_iter().map(Test::from).collect(),
            ))
        });
        each.collect::<Result<_, String>>().map(Self)
    }
}

impl Condition {
    /// Whether the condition holds for a value. Tested values are not marked as read.
    fn holds(&self, value: Value<'_>) -> bool {
        self.0.iter().all(|(path, tests)| {
            tests.iter().any(|test| match test {
                Test::Present => path.any(value, is_not_empty),
                Test::Absent => !path.any(value, is_not_empty),
                Test::Is(word) => path.any(value, |value| path::is_word(value, word)),
                Test::Begins(start) => path.any(value, |value| {
                    value.string().is_some_and(|own| own.starts_with(start.as_str()))
                }),
            })
        })
    }
}

fn is_not_empty(value: Value<'_>) -> bool {
    value.written() != "\"\""
}

impl Conditions {
    /// Whether one of the conditions holds; marks the tested values as read.
    pub(in crate::format) fn hold(&self, value: Value<'_>) -> bool {
        self.read(value);
        self.would_hold(value)
    }

    /// Whether one of the conditions holds, without marking values as read.
    pub(in crate::format) fn would_hold(&self, value: Value<'_>) -> bool {
        self.0.iter().any(|condition| condition.holds(value))
    }

    /// Marks the tested values as read, if they contain nothing else.
    pub(in crate::format) fn read(&self, value: Value<'_>) {
        for (path, _) in self.0.iter().flat_map(|condition| &condition.0) {
            path.each(value, |value| {
                if !matches!(value.kind(), Kind::Array | Kind::Object) {
                    value.mark(Mark::Taken);
                }
            });
        }
    }

    /// Whether any condition is given.
    pub(in crate::format) fn are_given(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Whether a piece or a case applies: `when` holds or is empty, and `unless` does not hold.
pub(in crate::format) fn applies(when: &Conditions, unless: &Conditions, value: Value<'_>) -> bool {
    (!when.are_given() || when.would_hold(value)) && !unless.would_hold(value) && {
        // Values of a condition that does not hold are left unread: another piece may read them.
        when.read(value);
        unless.read(value);
        true
    }
}

/// The word of the first choice that applies. The values that decide it are left unread, except for the word itself.
pub(in crate::format) fn chosen<'c, 'd>(choices: &'c [Choice], value: Value<'d>) -> Option<Chosen<'c, 'd>> {
    choices.iter().find_map(|choice| match choice {
        Choice::Always(Word::At(path)) => path.first(value).map(Chosen::Found),
        Choice::Always(Word::Fixed(word)) => Some(Chosen::Fixed(word)),
        Choice::Where(choice) => choice.when.would_hold(value).then_some(Chosen::Fixed(&choice.is)),
    })
}

/// A chosen word.
#[derive(Clone, Copy)]
pub(in crate::format) enum Chosen<'c, 'd> {
    /// A word of the format file.
    Fixed(&'c str),
    /// A word of the record.
    Found(Value<'d>),
}
