//! Labels of archive members, which are made from the names of the members. A label is never used as a path.

use std::collections::HashSet;

use chatmill_diag::codes::{REPEATED_ENTRY, UNSAFE_ENTRY_NAME};
use chatmill_diag::{Finding, cut};

/// The maximum length of a label, in bytes.
const MAX_LABEL_BYTES: usize = 512;

/// The label of a member, with the notes about its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heading {
    pub(crate) label: String,
    pub(crate) notes: Vec<Finding>,
}

/// Makes labels and detects repeated names.
#[derive(Default)]
pub(crate) struct Labels {
    /// The first 16 bytes of the BLAKE3 of each name, so that long names take no more memory.
    seen: HashSet<[u8; 16]>,
}

impl Labels {
    /// The label of a member, with notes about an unsafe or repeated name.
    pub(crate) fn label(&mut self, name: &[u8]) -> Heading {
        let mut notes = Vec::new();
        if let Some(why) = unsafe_because(name) {
            notes.push(Finding::new(&UNSAFE_ENTRY_NAME, why));
        }
        let mut short = [0; 16];
        blake3::Hasher::new().update(name).finalize_xof().fill(&mut short);
        if !self.seen.insert(short) {
            notes.push(Finding::new(
                &REPEATED_ENTRY,
                "an earlier entry of the archive has the same name",
            ));
        }
        Heading {
            label: shorten(name),
            notes,
        }
    }
}

/// The name as text, cut to [`MAX_LABEL_BYTES`].
fn shorten(name: &[u8]) -> String {
    // A cut inside a character leaves at most three of its bytes, which become one U+FFFD.
    let mut label = String::from_utf8_lossy(cut::up_to(name, MAX_LABEL_BYTES + 4)).into_owned();
    while label.len() > MAX_LABEL_BYTES {
        label.pop();
    }
    label
}

/// The reason why a name would be unsafe as a path; `None` if it would not.
fn unsafe_because(name: &[u8]) -> Option<&'static str> {
    if name.contains(&0) {
        Some("the entry's name contains a NUL byte")
    } else if name.contains(&b'\\') {
        Some("the entry's name contains a backslash")
    } else if name.starts_with(b"/") || matches!(name, [drive, b':', ..] if drive.is_ascii_alphabetic()) {
        Some("the entry's name is an absolute path")
    } else if name.split(|byte| *byte == b'/').any(|step| step == b"..") {
        Some("the entry's name leads out of its folder")
    } else if name.len() > MAX_LABEL_BYTES {
        Some("the entry's name is longer than 512 bytes and was cut")
    } else if std::str::from_utf8(name).is_err() {
        Some("the entry's name is not UTF-8")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use chatmill_diag::codes::{REPEATED_ENTRY, UNSAFE_ENTRY_NAME};

    use super::{Heading, Labels, MAX_LABEL_BYTES};

    #[test]
    fn dangerous_names_are_labels_with_a_note() {
        let long = vec![b'a'; 65_000];
        let names: [&[u8]; 9] = [
            b"../x",
            b"a/../../x",
            b"/etc/passwd",
            b"C:x",
            b"a\\b",
            b"a\0b",
            b"\xFF\xFE",
            &long,
            b"..",
        ];
        for name in names {
            let Heading { label, notes } = Labels::default().label(name);
            assert!(label.len() <= MAX_LABEL_BYTES, "{label}");
            assert_eq!(notes.len(), 1, "{label}");
            assert_eq!(*notes[0].code, UNSAFE_ENTRY_NAME, "{label}");
        }
    }

    #[test]
    fn harmless_names_stay_as_they_are() {
        for name in ["a.json", "deep/er/..name..json", "für/中.json", ""] {
            let heading = Labels::default().label(name.as_bytes());
            assert_eq!((heading.label.as_str(), heading.notes), (name, Vec::new()));
        }
    }

    #[test]
    fn a_cut_name_stays_text() {
        let name = "中".repeat(400);
        let Heading { label, .. } = Labels::default().label(name.as_bytes());
        assert!(
            name.starts_with(&label) && label.len() > MAX_LABEL_BYTES - 4,
            "{}",
            label.len()
        );
    }

    #[test]
    fn the_second_use_of_a_name_is_noted() {
        let mut labels = Labels::default();
        assert_eq!(labels.label(b"a").notes, []);
        assert_eq!(labels.label(b"b").notes, []);
        assert_eq!(*labels.label(b"a").notes[0].code, REPEATED_ENTRY);
    }
}
