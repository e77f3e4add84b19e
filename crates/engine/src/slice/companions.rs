//! Companion files: files of an export with rows about the conversations in its other files, such as ratings.
//!
//! Only in inputs and archives with such a file are whole conversations spilled
//! until its rows are read; elsewhere each conversation is read immediately.

use std::collections::HashSet;

use chatmill_intake::Reader;
use chatmill_source::SOURCES;

use crate::plan::PlannedInput;

/// The inputs that are companion files, by section and name.
pub(super) struct Companions(HashSet<(usize, String)>);

/// Returns the names of companion files.
fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().filter_map(|source| source.companion())
}

impl Companions {
    /// Finds the companion files among some inputs.
    pub(super) fn of(inputs: &[PlannedInput]) -> Self {
        let mut found = HashSet::new();
        for planned in inputs {
            let name = planned.input.name();
            if names().any(|companion| file_name(&name) == companion) {
                found.insert((planned.section, name.into_owned()));
            }
        }
        Self(found)
    }

    /// Returns whether the folder of an input contains the file with this name.
    pub(super) fn has(&self, planned: &PlannedInput, companion: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let name = planned.input.name();
        let beside = match name.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{companion}"),
            None => companion.to_owned(),
        };
        self.0.contains(&(planned.section, beside))
    }

    /// Returns whether the folder of an input contains any companion
    /// file, so that its other files have to be read together with it.
    pub(super) fn has_any(&self, planned: &PlannedInput) -> bool {
        names().any(|companion| self.has(planned, companion))
    }
}

/// Returns the companion files that an archive contains, or may contain, at its first member.
pub(super) fn of_archive(reader: &Reader, entry: &str) -> Vec<&'static str> {
    let has = |name: &&str| file_name(entry) == *name || reader.may_have_member(name);
    names().filter(has).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::typed_in_tests;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "tests need folders of their own")]
    fn inputs_of_the_folder_that_has_the_file_are_read_with_it_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "a/message_feedback.json",
            "a/conversations.json",
            "b/conversations.json",
            "c/feedback.json",
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "[]").unwrap();
        }
        let inputs = typed_in_tests(&[folder.path().to_string_lossy().into_owned()]);
        let companions = Companions::of(&inputs);
        let with: Vec<_> = inputs
            .iter()
            .filter(|planned| companions.has_any(planned))
            .map(|planned| planned.input.name().into_owned())
            .collect();
        assert_eq!(with, ["a/conversations.json", "a/message_feedback.json"]);
    }
}
