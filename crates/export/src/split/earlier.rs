//! `split.assigned`: a file in the folder of an export that lists the part of each conversation. A later export that reads this
//! file (`--split-like`) keeps every conversation in its part.
//!
//! The file holds a JSON object a line. It has no suffix that a loader would take for data, and hashes in place of ids, for it stands
//! in a folder that people publish.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use chatmill_diag::limits::GIB;
use serde::{Deserialize, Serialize};

use crate::error::ExportError;
use crate::split::SplitPart;

/// Name of the file.
pub(crate) const ASSIGNED: &str = "split.assigned";

#[derive(Serialize, Deserialize)]
struct Line<'l> {
    /// The hash of the conversation's id.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    conversation: Option<Cow<'l, str>>,
    /// The id itself, in files of versions that wrote it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    conversation_id: Option<Cow<'l, str>>,
    #[serde(borrow)]
    part: Cow<'l, str>,
}

/// What stands for a conversation: 32 hexadecimal digits of the BLAKE3 hash of its id.
fn key(conversation: &str) -> String {
    let hash = blake3::hash(conversation.as_bytes()).to_hex();
    hash.chars().take(32).collect()
}

/// The file's text: conversations in their order, each with the name of its part.
pub(crate) fn text<'p>(places: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    let mut text = String::new();
    for (conversation, part) in places {
        let line = Line {
            conversation: Some(key(conversation).into()),
            conversation_id: None,
            part: part.into(),
        };
        // Two texts are always JSON.
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    text
}

/// The number of each conversation's part in an earlier export, by the [`key`] of the conversation.
#[derive(Debug, Default)]
pub(crate) struct EarlierParts(HashMap<String, usize>);

impl EarlierParts {
    /// The part of a conversation, by its id.
    pub(crate) fn get(&self, conversation: &str) -> Option<&usize> {
        self.0.get(&key(conversation))
    }
}

/// Reads the parts of an earlier export, by the parts of this one.
pub(crate) fn read(folder: &Path, parts: &[SplitPart]) -> Result<EarlierParts, ExportError> {
    let path = folder.join(ASSIGNED);
    let step = "name the folder of an export that was made with `--split`";
    let text = ExportError::reading(&path, GIB, step)?;
    let mut places = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let unread = || {
            ExportError::request(
                format!(
                    "{}, line {number}: an export does not write such a line",
                    path.display()
                ),
                "export the earlier dataset again",
            )
        };
        let read: Line<'_> = serde_json::from_str(line).map_err(|_| unread())?;
        let part = parts.iter().position(|part| part.name == read.part);
        let part = part.ok_or_else(|| {
            ExportError::request(
                format!(
                    "{}, line {number}: the part `{}` is no longer in --split",
                    path.display(),
                    read.part
                ),
                "keep the names of the parts",
            )
        })?;
        let conversation = match (read.conversation, read.conversation_id) {
            (Some(hash), None) => hash.into_owned(),
            (None, Some(id)) => key(&id),
            _ => return Err(unread()),
        };
        places.insert(conversation, part);
    }
    Ok(EarlierParts(places))
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "tests write the files of earlier versions"
)]
mod tests {
    use super::*;
    use crate::split::{Split, SplitBy};

    #[test]
    fn the_file_holds_no_id_and_is_read_as_files_with_ids_are() {
        let written = text([("Ada & Ben", "test"), ("c2", "train")].into_iter());
        assert!(!written.contains("Ada") && !written.contains("c2"), "{written}");
        let old = "{\"conversation_id\":\"Ada & Ben\",\"part\":\"test\"}\n{\"conversation_id\":\"c2\",\"part\":\"train\"}\n";
        let parts = Split::parse("train=95,test=5", SplitBy::Hash).unwrap().parts;
        for text in [written.as_str(), old] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(ASSIGNED), text).unwrap();
            let earlier = read(folder.path(), &parts).unwrap();
            assert_eq!(
                ["Ada & Ben", "c2", "c3"].map(|id| earlier.get(id).copied()),
                [Some(1), Some(0), None]
            );
        }
    }

    #[test]
    fn a_line_without_a_conversation_or_with_two_is_refused() {
        let parts = Split::parse("train=1", SplitBy::Hash).unwrap().parts;
        for line in [
            "{\"part\":\"train\"}",
            "{\"conversation\":\"a\",\"conversation_id\":\"b\",\"part\":\"train\"}",
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(ASSIGNED), line).unwrap();
            let error = read(folder.path(), &parts).unwrap_err().to_string();
            assert!(
                error.ends_with("line 1: an export does not write such a line"),
                "{error}"
            );
        }
    }
}
