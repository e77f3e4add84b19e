//! The place of an error in a JSON schema.

use chatmill_diag::cut;

/// A step into a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaStep<'s> {
    /// A keyword.
    Keyword(&'s str),
    /// The name of a property or of a definition.
    Name(&'s str),
    /// An index in a list.
    Index(usize),
}

/// An error in a schema and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Problem {
    /// The path, for example `properties['a'].items`.
    pub path: String,
    /// The names in the path, as they are shown there.
    pub names: Vec<String>,
    /// The error in words that follow the path.
    pub words: &'static str,
}

/// Maximum number of code points of a name in a path.
const NAME_CHARACTERS: usize = 64;

impl Problem {
    /// Creates the error at the end of these steps; no steps are the root.
    pub(crate) fn of(steps: &[SchemaStep<'_>], words: &'static str) -> Self {
        let (mut path, mut names) = (String::new(), Vec::new());
        for step in steps {
            let step = match step {
                SchemaStep::Keyword(key) => format!(".{key}"),
                SchemaStep::Index(index) => format!("[{index}]"),
                SchemaStep::Name(name) => {
                    let name = cut::beginning(name, NAME_CHARACTERS).escape_debug().to_string();
                    let step = format!("['{name}']");
                    names.push(name);
                    step
                }
            };
            path.push_str(&step);
        }
        let path = path.strip_prefix('.').unwrap_or("$").to_owned();
        Self { path, names, words }
    }

    /// Returns the error as a sentence with hidden names.
    pub(crate) fn sentence(&self) -> String {
        let hide = |path: String, name: &String| path.replace(&format!("['{name}']"), "['…']");
        let path = self.names.iter().fold(self.path.clone(), hide);
        format!("`{path}` {}", self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_names_on_one_line_and_its_sentence_hides_them() {
        let steps = [
            SchemaStep::Keyword("properties"),
            SchemaStep::Name("a'b\n"),
            SchemaStep::Keyword("anyOf"),
            SchemaStep::Index(1),
        ];
        let problem = Problem::of(&steps, "is wrong");
        assert_eq!(problem.path, r"properties['a\'b\n'].anyOf[1]");
        assert_eq!(problem.sentence(), "`properties['…'].anyOf[1]` is wrong");
        assert_eq!(Problem::of(&[], "is wrong").sentence(), "`$` is wrong");
    }
}
