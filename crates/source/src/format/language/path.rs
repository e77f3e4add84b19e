//! Paths of format files and field maps: a small part of JSON Path.
//!
//! `$` is the current value: the record, a message, an element of a list. `.key` and `["key"]` step into a field, `[0]` to an element, `[*]` to all
//! elements, or to all values of an object, `[key=word]` to those with that word in the field `key`, `[@key]` to the element with the index that the
//! field `key` next to the list gives, or to the first if that field is absent.

use std::borrow::Cow;

use chatmill_intake::json::{Kind, Value};
use schemars::JsonSchema;
use serde::Deserialize;

use super::several::OneOrMany;
use crate::base::id;

/// Bytes of the longest path.
const MAX_BYTES: usize = 256;

/// Paths; the first one with a match is used.
pub(in crate::format) type Paths = OneOrMany<MapPath>;

/// A path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct MapPath {
    text: String,
    /// The path in the notation of a sketch's names.
    name: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    Each,
    Where { key: String, word: String },
    At(String),
}

impl TryFrom<String> for MapPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl Default for MapPath {
    /// The path `$`.
    fn default() -> Self {
        Self {
            text: "$".to_owned(),
            name: String::new(),
            steps: Vec::new(),
        }
    }
}

impl MapPath {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// One clause with the reason, if the text is not a path.
    pub fn parse(text: &str) -> Result<Self, String> {
        let error = |what: &str| format!("`{text}` is not a path: {what}");
        if text.len() > MAX_BYTES {
            return Err(format!("a path is longer than {MAX_BYTES} bytes"));
        }
        let mut rest = text.strip_prefix('$').ok_or_else(|| error("it begins with $"))?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = if let Some(key) = rest.strip_prefix('.') {
                let end = key.find(['.', '[']).unwrap_or(key.len());
                let (key, after) = key.split_at_checked(end).unwrap_or((key, ""));
                (Step::Key(key.to_owned()), after)
            } else if let Some(quoted) = rest.strip_prefix("[\"") {
                let (key, after) = quoted
                    .split_once("\"]")
                    .ok_or_else(|| error("a quoted name does not end with \"]"))?;
                (Step::Key(key.to_owned()), after)
            } else if let Some(after) = rest.strip_prefix("[*]") {
                (Step::Each, after)
            } else {
                let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let (inside, after) = inside
                    .ok_or_else(|| error("after $ come .key, [\"key\"], [0], [*], [@key] and [key=word]"))?;
                let step = match inside.split_once('=') {
                    _ if inside.starts_with('@') => Step::At(inside.trim_start_matches('@').to_owned()),
                    Some((key, word)) if !key.is_empty() => Step::Where {
                        key: key.to_owned(),
                        word: word.to_owned(),
                    },
                    _ => {
                        let index = inside.parse();
                        Step::Index(index.map_err(|_| error("an index is a number, or *"))?)
                    }
                };
                (step, after)
            };
            if [Step::Key(String::new()), Step::At(String::new())].contains(&step) {
                return Err(error("a name is empty"));
            }
            steps.push(step);
            rest = after;
        }
        Ok(Self {
            text: text.to_owned(),
            name: name_of(&steps),
            steps,
        })
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the path is `$`.
    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }

    /// The values at this path, without nulls.
    pub fn find<'d>(&self, from: Value<'d>) -> Vec<Value<'d>> {
        let mut found = Vec::new();
        self.each(from, |value| found.push(value));
        found
    }

    /// The first value at this path.
    pub fn first<'d>(&self, from: Value<'d>) -> Option<Value<'d>> {
        walk(&self.steps, from, &mut Some)
    }

    /// The value of the field at the end of this path, null included; `None` if the field is absent.
    pub(crate) fn field<'d>(&self, from: Value<'d>) -> Option<Value<'d>> {
        let (Step::Key(key), before) = self.steps.split_last()? else {
            return None;
        };
        walk(before, from, &mut Some)?.get(key)
    }

    /// The name of the last field in the path; empty if it has none.
    pub(crate) fn last_key(&self) -> &str {
        let keys = self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            _ => None,
        });
        keys.unwrap_or_default()
    }

    /// The list with the elements that the path ends with; otherwise the first value at the path.
    pub(crate) fn list_in<'d>(&self, from: Value<'d>) -> Option<Value<'d>> {
        let steps = self.steps.strip_suffix(&[Step::Each]);
        walk(steps.unwrap_or(&self.steps), from, &mut Some)
    }

    /// The elements of a list, or the values of an object with ids as keys.
    pub(crate) fn elements(list: Value<'_>) -> Vec<Value<'_>> {
        match list.kind() {
            Kind::Object => list.fields().map(|(_, value)| value).collect(),
            _ => list.items().collect(),
        }
    }

    /// The path without a final `[*]`.
    pub(crate) fn list(&self) -> Cow<'_, str> {
        self.text
            .strip_suffix("[*]")
            .map_or(Cow::Borrowed(self.text.as_str()), Cow::Borrowed)
    }

    /// The leading names of the path, and whether only `[*]` follows them.
    pub fn keys(&self) -> (Vec<&str>, bool) {
        let keys: Vec<&str> = self
            .steps
            .iter()
            .map_while(|step| match step {
                Step::Key(key) => Some(key.as_str()),
                _ => None,
            })
            .collect();
        let takes_all = self.steps.iter().skip(keys.len()).all(|step| *step == Step::Each);
        (keys, takes_all)
    }

    /// The path in the notation of a sketch's names: `a.b[].c`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether any value at the path satisfies `is`.
    pub(in crate::format) fn any<'d>(&self, from: Value<'d>, is: impl Fn(Value<'d>) -> bool) -> bool {
        walk(&self.steps, from, &mut |value| is(value).then_some(())).is_some()
    }

    /// Calls a function with each value at the path.
    pub(in crate::format) fn each<'d>(&self, from: Value<'d>, mut then: impl FnMut(Value<'d>)) {
        walk(&self.steps, from, &mut |value| {
            then(value);
            None::<()>
        });
    }
}

/// A path to a value inside of another, never to the value itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "MapPath")]
#[schemars(with = "String")]
pub(in crate::format) struct InnerPath(pub MapPath);

impl TryFrom<MapPath> for InnerPath {
    type Error = &'static str;

    fn try_from(path: MapPath) -> Result<Self, Self::Error> {
        if path.is_root() {
            return Err(
                "the path leads to the message itself: name a field of the message, such as `$.replies[*]`",
            );
        }
        Ok(Self(path))
    }
}

impl OneOrMany<MapPath> {
    /// The first value that a path leads to.
    pub(in crate::format) fn first<'d>(&self, value: Value<'d>) -> Option<Value<'d>> {
        self.found(value).map(|(found, _)| found)
    }

    /// The first value that a path leads to, with the name of that path for findings.
    pub(in crate::format) fn found<'d>(&self, value: Value<'d>) -> Option<(Value<'d>, &str)> {
        let mut paths = self.0.iter();
        paths.find_map(|path| path.first(value).map(|found| (found, path.name())))
    }

    /// The first id or name at a path.
    pub(in crate::format) fn id(&self, value: Value<'_>) -> Option<String> {
        let mut found = self.0.iter().filter_map(|path| path.first(value));
        found.find_map(id)
    }
}

/// The notation of a sketch's names for these steps.
fn name_of(steps: &[Step]) -> String {
    let mut name = String::new();
    for step in steps {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => {
                name.push('.');
                name.push_str(key);
            }
            Step::Index(_) | Step::Each | Step::Where { .. } | Step::At(_) => name.push_str("[]"),
        }
    }
    name
}

/// Walks the steps from a value, until the callback returns a result.
fn walk<'d, T>(steps: &[Step], from: Value<'d>, there: &mut impl FnMut(Value<'d>) -> Option<T>) -> Option<T> {
    let (mut here, mut beside) = (from, from);
    for (at, step) in (1..).zip(steps) {
        let rest = steps.get(at..).unwrap_or_default();
        match step {
            Step::Key(key) => {
                beside = here;
                here = here.get(key)?;
            }
            Step::At(key) => {
                let index = beside
                    .get(key)
                    .and_then(|index| index.number_text()?.parse().ok());
                here = here.items().nth(index.unwrap_or_default())?;
            }
            Step::Index(index) => here = here.items().nth(*index)?,
            Step::Each if here.kind() == Kind::Object => {
                return here.fields().find_map(|(_, value)| walk(rest, value, there));
            }
            Step::Each => return here.items().find_map(|value| walk(rest, value, there)),
            Step::Where { key, word } => {
                let is = |value: &Value<'d>| value.get(key).is_some_and(|own| is_word(own, word));
                let mut those = here.items().filter(is);
                return those.find_map(|value| walk(rest, value, there));
            }
        }
    }
    if here.kind() == Kind::Null {
        return None;
    }
    there(here)
}

/// Whether a value is this word, as a string or as JSON writes it.
pub(in crate::format) fn is_word(value: Value<'_>, word: &str) -> bool {
    match value.string() {
        Some(own) => own == word,
        None => value.written() == word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::json;

    fn found(path: &str, record: &str) -> Vec<String> {
        let document = json::scan(record.as_bytes(), 16).unwrap();
        let path = MapPath::parse(path).unwrap();
        let values = path.find(document.root());
        values.into_iter().map(|value| value.raw().to_owned()).collect()
    }

    #[test]
    fn a_path_leads_to_fields_and_elements() {
        let record = r#"{"a":{"odd key":[{"b":1},{"b":null},{"c":2},{"b":3}]}}"#;
        assert_eq!(found("$", "7"), ["7"]);
        assert_eq!(found(r#"$.a["odd key"][0].b"#, record), ["1"]);
        assert_eq!(found(r#"$["a"]["odd key"][*].b"#, record), ["1", "3"]);
        assert!(found("$.a.b.c[9]", record).is_empty());
        assert_eq!(found(r#"$.a["odd key"][b=3].b"#, record), ["3"]);
        assert_eq!(found("$.a[*][2].c", record), ["2"]);
        let versions = r#"{"all":[{"a":1},{"a":2}],"chosen":1,"other":{"all":[3,4]},"wrong":7}"#;
        assert_eq!(found("$.all[@chosen].a", versions), ["2"]);
        assert_eq!(found("$.other.all[@chosen]", versions), ["3"]);
        assert!(found("$.all[@wrong]", versions).is_empty());
    }

    #[test]
    fn an_invalid_path_names_its_reason() {
        for (path, why) in [
            ("a.b", "begins with $"),
            ("$a", "after $ come"),
            ("$.", "a name is empty"),
            ("$.a..b", "a name is empty"),
            ("$.a[@]", "a name is empty"),
            ("$[x]", "an index is a number"),
            ("$[\"a]", "does not end"),
            ("$.a[1", "after $ come"),
        ] {
            let error = MapPath::parse(path).unwrap_err();
            assert!(error.contains(why), "{path}: {error}");
        }
    }

    #[test]
    fn the_names_of_a_path_are_those_of_a_sketch() {
        let path = MapPath::parse("$.data.turns[*].parts[0].text").unwrap();
        assert_eq!(path.name(), "data.turns[].parts[].text");
        assert_eq!(path.keys(), (vec!["data", "turns"], false));
        assert_eq!(MapPath::parse("$.a[*]").unwrap().keys(), (vec!["a"], true));
    }
}
