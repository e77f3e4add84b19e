//! Names that are left out: globs over the names of files and of members of archives.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::DiscoverError;

/// Patterns of names. One without a slash means a file of that name in any folder.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    anywhere: GlobSet,
    whole: GlobSet,
}

impl Patterns {
    /// Reads patterns.
    ///
    /// # Errors
    ///
    /// When one is malformed.
    pub fn new(patterns: &[String]) -> Result<Self, DiscoverError> {
        let mut anywhere = GlobSetBuilder::new();
        let mut whole = GlobSetBuilder::new();
        for pattern in patterns {
            let fault = |source| DiscoverError::Pattern {
                pattern: pattern.clone(),
                source,
            };
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(fault)?;
            if pattern.contains('/') {
                whole.add(glob);
            } else {
                anywhere.add(glob);
            }
        }
        let built = |set: GlobSetBuilder| {
            set.build().map_err(|source| DiscoverError::Pattern {
                pattern: patterns.join(", "),
                source,
            })
        };
        Ok(Self {
            anywhere: built(anywhere)?,
            whole: built(whole)?,
        })
    }

    /// Whether a name is among them.
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
