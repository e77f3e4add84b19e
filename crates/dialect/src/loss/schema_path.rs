//! Where in a schema something is wrong: a path that shows the names of properties, and one that hides them.

/// A step into a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'s> {
    /// A keyword.
    Keyword(&'s str),
    /// A name that the schema gives: of a property, of a definition.
    Name(&'s str),
    /// A number in a list.
    Index(usize),
}

/// What is wrong with a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Problem {
    /// The path with every name as `['…']`.
    pub hidden: String,
    /// The path as it is.
    pub path: String,
    /// What is wrong there, in words that follow the path.
    pub words: &'static str,
}

impl Problem {
    /// What is wrong where these steps lead; without one it is the root.
    pub(crate) fn of(steps: &[Step<'_>], words: &'static str) -> Self {
        let [mut path, mut hidden] = [String::new(), String::new()];
        for step in steps {
            let (shown, masked) = match step {
                Step::Keyword(key) => (format!(".{key}"), format!(".{key}")),
                Step::Index(index) => (format!("[{index}]"), format!("[{index}]")),
                Step::Name(name) => (format!("['{}']", name.escape_debug()), "['…']".to_owned()),
            };
            path.push_str(&shown);
            hidden.push_str(&masked);
        }
        let plain = |path: String| path.strip_prefix('.').map_or("$".to_owned(), str::to_owned);
        Self {
            path: plain(path),
            hidden: plain(hidden),
            words,
        }
    }

    /// The sentence, in which names are hidden.
    pub(crate) fn sentence(&self) -> String {
        let Self { hidden, words, .. } = self;
        format!("`{hidden}` {words}")
    }
}
