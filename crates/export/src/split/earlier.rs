//! `split.assigned`: a file in the folder of an export that lists the part of each conversation. A later export that reads this
//! file (`--split-like`) keeps every conversation in its part.
//!
//! The file holds a JSON object a line. It has no suffix that a loader would take for data.

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
    #[serde(borrow)]
    conversation_id: std::borrow::Cow<'l, str>,
    #[serde(borrow)]
    part: std::borrow::Cow<'l, str>,
}

/// The file's text: conversations in their order, each with the name of its part.
pub(crate) fn text<'p>(places: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    let mut text = String::new();
    for (conversation, part) in places {
        let line = Line {
            conversation_id: conversation.into(),
            part: part.into(),
        };
        // Two texts are always JSON.
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    text
}

/// The number of each conversation's part in an earlier export, by the parts of this one.
pub(crate) fn read(folder: &Path, parts: &[SplitPart]) -> Result<HashMap<String, usize>, ExportError> {
    let path = folder.join(ASSIGNED);
    let step = "name the folder of an export that was made with `--split`";
    let text = ExportError::reading(&path, GIB, step)?;
    let mut places = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let read: Line<'_> = serde_json::from_str(line).map_err(|_| {
            ExportError::request(
                format!(
                    "{}, line {number}: an export does not write such a line",
                    path.display()
                ),
                "export the earlier dataset again",
            )
        })?;
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
        places.insert(read.conversation_id.into_owned(), part);
    }
    Ok(places)
}
