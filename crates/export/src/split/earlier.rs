//! `split.assigned`: a file in the folder of an export that lists the part of each conversation. A later export that reads this
//! file (`--split-like`) keeps every conversation in its part.
//!
//! The file has a JSON object on each line; the first has the number of the others, so that a truncated file is noticed. The file has no suffix that
//! a loader would take for data, and hashes in place of ids, because people publish its folder.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use chatmill_diag::limits::GIB;
use serde::{Deserialize, Serialize};

use crate::error::ExportError;
use crate::split::{SplitBy, SplitPart};

/// Name of the file.
pub(crate) const ASSIGNED: &str = "split.assigned";

/// The first line; files of earlier versions have none.
#[derive(Serialize, Deserialize)]
struct Beginning {
    conversations: usize,
    /// Whether the lines are about sessions of conversations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sessions: bool,
}

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

/// The key of a conversation: 32 hexadecimal digits of the BLAKE3 hash of its id.
fn key(conversation: &str) -> String {
    let hash = blake3::hash(conversation.as_bytes()).to_hex();
    hash.chars().take(32).collect()
}

/// The file's text: conversations in order, each with the name of its part.
pub(crate) fn text<'p>(places: impl Iterator<Item = (&'p str, &'p str)>, by: SplitBy) -> String {
    // A number and texts can always be written as JSON.
    let lines = places.map(|(conversation, part)| {
        let line = Line {
            conversation: Some(key(conversation).into()),
            conversation_id: None,
            part: part.into(),
        };
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    });
    let lines: Vec<String> = lines.collect();
    let beginning = Beginning {
        conversations: lines.len(),
        sessions: by == SplitBy::Session,
    };
    serde_json::to_string(&beginning).unwrap_or_default() + "\n" + &lines.concat()
}

/// The index of each conversation's part in an earlier export, by the [`key`] of the conversation.
#[derive(Debug, Default)]
pub(crate) struct EarlierParts(HashMap<String, usize>);

impl EarlierParts {
    /// The part of a conversation, by its id.
    pub(crate) fn get(&self, conversation: &str) -> Option<&usize> {
        self.0.get(&key(conversation))
    }
}

/// Reads the parts of an earlier export, as indices of the parts of this one.
pub(crate) fn read(folder: &Path, parts: &[SplitPart], by: SplitBy) -> Result<EarlierParts, ExportError> {
    let path = folder.join(ASSIGNED);
    let step = "name the folder of an export that was made with `--split`";
    let text = ExportError::reading(&path, GIB, step)?;
    let again = "export the earlier dataset again";
    let beginning: Option<Beginning> = text
        .lines()
        .next()
        .and_then(|line| serde_json::from_str(line).ok());
    let has_sessions = beginning.as_ref().is_some_and(|beginning| beginning.sessions);
    if has_sessions != (by == SplitBy::Session) {
        let (has, other) = if has_sessions {
            ("sessions", "take `--split-by session`")
        } else {
            let other = "take another --split-by, or an export that was made with `--split-by session`";
            ("conversations", other)
        };
        return Err(ExportError::request(
            format!("{} divides {has}", path.display()),
            other,
        ));
    }
    let mut places = HashMap::new();
    for (number, line) in (1..).zip(text.lines()).skip(usize::from(beginning.is_some())) {
        let wrong = |why: &str, step: &str| {
            ExportError::request(format!("{}, line {number}: {why}", path.display()), step)
        };
        let unread = || wrong("an export does not write such a line", again);
        let read: Line<'_> = serde_json::from_str(line).map_err(|_| unread())?;
        let part = parts.iter().position(|part| part.name == read.part);
        let part = part.ok_or_else(|| {
            let why = format!("the part `{}` is no longer in --split", read.part);
            wrong(&why, "keep the names of the parts")
        })?;
        let conversation = match (read.conversation, read.conversation_id) {
            (Some(hash), None) => hash.into_owned(),
            (None, Some(id)) => key(&id),
            _ => return Err(unread()),
        };
        if places
            .insert(conversation, part)
            .is_some_and(|other| other != part)
        {
            return Err(wrong(
                "a line before it has the conversation in another part",
                again,
            ));
        }
    }
    if beginning.map_or(places.is_empty(), |beginning| {
        beginning.conversations != places.len()
    }) {
        let has = format!(
            "{} has {} conversations, but its export wrote another number",
            path.display(),
            places.len()
        );
        return Err(ExportError::request(has, again));
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
        let written = text(
            [("Ada & Ben", "test"), ("c2", "train")].into_iter(),
            SplitBy::Hash,
        );
        assert!(!written.contains("Ada") && !written.contains("c2"), "{written}");
        let old = "{\"conversation_id\":\"Ada & Ben\",\"part\":\"test\"}\n{\"conversation_id\":\"c2\",\"part\":\"train\"}\n";
        let parts = Split::parse("train=95,test=5", SplitBy::Hash).unwrap().parts;
        for text in [written.as_str(), old] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(ASSIGNED), text).unwrap();
            let earlier = read(folder.path(), &parts, SplitBy::Hash).unwrap();
            assert_eq!(
                ["Ada & Ben", "c2", "c3"].map(|id| earlier.get(id).copied()),
                [Some(1), Some(0), None]
            );
        }
    }

    fn refusal(text: &str) -> String {
        let parts = Split::parse("train=95,test=5", SplitBy::Hash).unwrap().parts;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(ASSIGNED), text).unwrap();
        read(folder.path(), &parts, SplitBy::Hash)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_line_without_a_conversation_or_with_two_is_refused() {
        for line in [
            "{\"part\":\"train\"}",
            "{\"conversation\":\"a\",\"conversation_id\":\"b\",\"part\":\"train\"}",
        ] {
            let error = refusal(line);
            assert!(
                error.ends_with("line 1: an export does not write such a line"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_conversation_in_two_parts_is_refused_by_its_line() {
        let written = text(
            [("a", "test"), ("b", "train"), ("a", "train")].into_iter(),
            SplitBy::Hash,
        );
        let without_number = written.split_once('\n').unwrap().1;
        for (text, line) in [(written.as_str(), 4), (without_number, 3)] {
            let error = refusal(text);
            let why = format!("line {line}: a line before it has the conversation in another part");
            assert!(error.ends_with(&why), "{error}");
        }
    }

    #[test]
    fn a_file_that_was_emptied_or_cut_is_refused() {
        let written = text([("a", "test"), ("b", "train")].into_iter(), SplitBy::Hash);
        let lines: Vec<&str> = written.split_inclusive('\n').collect();
        for (text, has) in [("", 0), (lines[0], 0), (&lines[..2].concat(), 1)] {
            let why = format!("has {has} conversations, but its export wrote another number");
            assert!(refusal(text).ends_with(&why), "{text}");
        }
        let error = refusal(written.split_at(written.len() - 9).0);
        assert!(
            error.ends_with("line 3: an export does not write such a line"),
            "{error}"
        );
    }

    #[test]
    fn an_export_without_a_conversation_is_no_cut_file() {
        let parts = Split::parse("train=95,test=5", SplitBy::Hash).unwrap().parts;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join(ASSIGNED),
            text(std::iter::empty(), SplitBy::Hash),
        )
        .unwrap();
        assert!(
            read(folder.path(), &parts, SplitBy::Hash)
                .unwrap()
                .get("a")
                .is_none()
        );
    }
}
