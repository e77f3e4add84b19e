//! Paths of a field map: a small part of JSON Path.
//!
//! `$` is the record, or the message. `.key` and `["key"]` step into a field, `[0]` to an element, `[*]` to all of them.

use chatmill_intake::json::{Kind, Value};

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    Each,
}

impl MapPath {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// One clause, where it is none of the form that is known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = |what: &str| format!("`{text}` is not a path: {what}");
        let mut rest = text.strip_prefix('$').ok_or_else(|| fault("it begins with $"))?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = if let Some(key) = rest.strip_prefix('.') {
                let end = key.find(['.', '[']).unwrap_or(key.len());
                let (key, after) = key.split_at_checked(end).unwrap_or((key, ""));
                (Step::Key(key.to_owned()), after)
            } else if let Some(quoted) = rest.strip_prefix("[\"") {
                let (key, after) = quoted
                    .split_once("\"]")
                    .ok_or_else(|| fault("a quoted name does not end with \"]"))?;
                (Step::Key(key.to_owned()), after)
            } else if let Some(after) = rest.strip_prefix("[*]") {
                (Step::Each, after)
            } else {
                let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let (index, after) =
                    inside.ok_or_else(|| fault("after $ come .key, [\"key\"], [0] and [*]"))?;
                let index = index.parse().map_err(|_| fault("an index is a number, or *"))?;
                (Step::Index(index), after)
            };
            if step == Step::Key(String::new()) {
                return Err(fault("a name is empty"));
            }
            steps.push(step);
            rest = after;
        }
        Ok(Self {
            text: text.to_owned(),
            steps,
        })
    }

    /// The path `$`.
    pub fn root() -> Self {
        Self {
            text: "$".to_owned(),
            steps: Vec::new(),
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is `$`.
    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }

    /// What it leads to from here, without nulls.
    pub fn find<'d>(&self, from: Value<'d>) -> Vec<Value<'d>> {
        let mut here = vec![from];
        for step in &self.steps {
            here = here
                .into_iter()
                .flat_map(|value| -> Vec<Value<'d>> {
                    match step {
                        Step::Key(key) => value.get(key).into_iter().collect(),
                        Step::Index(index) => value.items().nth(*index).into_iter().collect(),
                        Step::Each => value.items().collect(),
                    }
                })
                .collect();
        }
        here.retain(|value| value.kind() != Kind::Null);
        here
    }

    /// The first thing that it leads to.
    pub fn first<'d>(&self, from: Value<'d>) -> Option<Value<'d>> {
        self.find(from).into_iter().next()
    }

    /// Its names, as far as they follow one another from the start, and whether nothing but `[*]` comes after them.
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

    /// As names of a sketch are written: `a.b[].c`.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.steps {
            match step {
                Step::Key(key) if name.is_empty() => name.push_str(key),
                Step::Key(key) => {
                    name.push('.');
                    name.push_str(key);
                }
                Step::Index(_) | Step::Each => name.push_str("[]"),
            }
        }
        name
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
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (path, why) in [
            ("a.b", "begins with $"),
            ("$a", "after $ come"),
            ("$.", "a name is empty"),
            ("$.a..b", "a name is empty"),
            ("$[x]", "an index is a number"),
            ("$[\"a]", "does not end"),
            ("$.a[1", "after $ come"),
        ] {
            let fault = MapPath::parse(path).unwrap_err();
            assert!(fault.contains(why), "{path}: {fault}");
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
