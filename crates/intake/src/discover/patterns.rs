//! Names that are left out: globs over the names of files and of archive members.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::DiscoverError;

/// A glob in which `*` does not match a slash.
pub(super) fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    let mut builder = GlobBuilder::new(pattern);
    builder.literal_separator(true).backslash_escape(true).build()
}

/// Patterns of names. A pattern without a slash matches files of that name in any folder.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    anywhere: GlobSet,
    whole: GlobSet,
}

impl Patterns {
    /// Parses patterns.
    ///
    /// # Errors
    ///
    /// When one is malformed.
    pub fn new(patterns: &[String]) -> Result<Self, DiscoverError> {
        let (mut anywhere, mut whole) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        // If the error is only in the combination, all patterns are named.
        let pattern_error = |source: globset::Error| DiscoverError::Pattern {
            pattern: source.glob().map_or_else(|| patterns.join(", "), str::to_owned),
            source,
        };
        for pattern in patterns {
            let set = if pattern.contains('/') {
                &mut whole
            } else {
                &mut anywhere
            };
            set.add(glob(pattern).map_err(pattern_error)?);
        }
        Ok(Self {
            anywhere: anywhere.build().map_err(pattern_error)?,
            whole: whole.build().map_err(pattern_error)?,
        })
    }

    /// Whether any pattern matches a name.
    pub fn matches(&self, name: &str) -> bool {
        let file = name.rsplit('/').next().unwrap_or(name);
        self.anywhere.is_match(file) || self.whole.is_match(name)
    }
}

#[cfg(test)]
mod tests {
    use super::Patterns;

    #[test]
    fn a_pattern_without_a_slash_means_any_folder() {
        let patterns = Patterns::new(&["*.png".to_owned(), "attachments/**".to_owned()]).unwrap();
        for name in ["a.png", "deep/er/a.png", "attachments/x", "attachments/y/z.json"] {
            assert!(patterns.matches(name), "{name}");
        }
        for name in ["a.json", "a.png/b.json", "more/attachments/x"] {
            assert!(!patterns.matches(name), "{name}");
        }
        assert!(!Patterns::default().matches("a"));
        assert!(Patterns::new(&["[".to_owned()]).is_err());
    }
}
