//! Names for formats that are not read, recognised by their structure; and, in [`recognised`], the choice of the source of an entry.
//!
//! A file that no source reads is still an export of some program. Its name helps more than "unknown": it leads to the right tool, or to a field
//! map. Each format is one entry of `formats.toml`, with the names that only this format has.

mod files;
pub(crate) mod recognised;

use std::sync::LazyLock;

use chatmill_intake::{Head, RecordSketch, Sketch};
use serde::Deserialize;

use crate::base::conversations::names_conversation;
use crate::format::embedded;

/// A recognised format that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedFormat {
    /// A word for it, for example `chatgpt`.
    pub id: &'static str,
    /// The name with an article: `a ChatGPT account export`.
    pub name: &'static str,
    /// The evidence.
    pub why: String,
    /// The confidence, on the scale of [`Evidence::confidence`](crate::source::Evidence::confidence).
    pub confidence: u8,
}

impl UnsupportedFormat {
    /// Whether its records are rows of a table, as far as their names show.
    pub fn is_of_rows(&self) -> bool {
        KNOWN
            .format
            .iter()
            .any(|known| known.id == self.id && matches!(known.check, Some(Check::Rows)))
    }

    /// Whether it is recognised by the beginning of its text.
    pub fn is_text(&self) -> bool {
        let mut formats = KNOWN.format.iter();
        formats.any(|known| known.id == self.id && !known.begins.is_empty())
    }

    /// Whether the file is a table with a header, with rows as records.
    pub fn is_table(&self) -> bool {
        self.id == files::TABLE
    }
}

/// All known formats that are not read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    format: Vec<Known>,
    database: Vec<Known>,
}

static KNOWN: LazyLock<Lists> = LazyLock::new(|| embedded("what is not read", include_str!("formats.toml")));

/// The confidence for a file that no source recognises.
const PLAIN: u8 = 50;

/// A format that is recognised by its structure; the file describes the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    id: String,
    name: String,
    #[serde(default)]
    why: String,
    sure: Option<u8>,
    #[serde(default)]
    has: Vec<Vec<String>>,
    #[serde(default)]
    lacks: Vec<String>,
    /// The first words of a text.
    #[serde(default)]
    begins: Vec<String>,
    check: Option<Check>,
    #[serde(default)]
    unread: bool,
}

/// A check that lists of names cannot state.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Check {
    /// Records name their conversation, and have a text.
    Rows,
    /// The file begins like an agent file that was encoded as JSON twice.
    LettaText,
    /// Lines have equally many cells.
    Table,
}

impl Known {
    /// Whether the first records of a file, or its head, are of this format.
    fn is_seen(&self, records: &[RecordSketch], head: Option<&Head>) -> bool {
        let has = |name: &str| records.iter().any(|record| record.names(name));
        match self.check {
            Some(Check::Rows) => {
                let mut keys = records.iter().flat_map(|record| &record.keys);
                keys.any(|key| names_conversation(key))
                    && ["content", "text", "body", "message"].into_iter().any(has)
            }
            Some(Check::LettaText) => head.is_some_and(|head| files::is_letta(&head.bytes)),
            Some(Check::Table) => head.is_some_and(|head| head.csv().is_some()),
            None => {
                let begins = head.is_some_and(|head| files::begins(&head.bytes, &self.begins));
                begins
                    || records.iter().any(|record| {
                        self.has_one(|name| has_name(record, name)).is_some()
                            && !self.lacks.iter().any(|name| has_name(record, name))
                    })
            }
        }
    }

    /// The first list with all of its names present.
    fn has_one(&self, is_present: impl Fn(&str) -> bool) -> Option<&[String]> {
        let mut lists = self.has.iter();
        let found = lists.find(|names| names.iter().all(|name| is_present(name)));
        found.map(Vec::as_slice)
    }

    fn found(&'static self, why: String) -> UnsupportedFormat {
        UnsupportedFormat {
            id: &self.id,
            name: &self.name,
            why,
            confidence: self.sure.unwrap_or(PLAIN),
        }
    }
}

/// Whether a record has a name; `*` in the name matches any characters.
fn has_name(record: &RecordSketch, name: &str) -> bool {
    match name.split_once('*') {
        None => record.names(name),
        Some((start, end)) => {
            let mut names = record.names.keys();
            names.any(|name| name.starts_with(start) && name.ends_with(end))
        }
    }
}

/// The unsupported format that a file looks like, by its first bytes and the first records in them.
pub fn unsupported_format(head: &Head, sketch: &Sketch) -> Option<UnsupportedFormat> {
    first(&sketch.records, Some(head), |_| true)
}

/// The unsupported format of records that some source would read incorrectly.
pub(crate) fn unsupported_records(sketch: &Sketch) -> Option<UnsupportedFormat> {
    first(&sketch.records, None, |known| !known.unread)
}

fn first(
    records: &[RecordSketch],
    head: Option<&Head>,
    may_be: fn(&Known) -> bool,
) -> Option<UnsupportedFormat> {
    let mut all = KNOWN.format.iter();
    let known = all.find(|known| may_be(known) && known.is_seen(records, head))?;
    Some(known.found(known.why.clone()))
}

/// The unsupported database that these tables belong to, if known.
pub fn unsupported_tables(tables: &[String]) -> Option<UnsupportedFormat> {
    let has = |name: &str| tables.iter().any(|table| table == name);
    let mut known = KNOWN.database.iter();
    known.find_map(|known| {
        let way_out = if known.why.is_empty() { "" } else { "; " };
        let tables = known.has_one(has)?.join(", ");
        Some(known.found(format!("it has {tables}{way_out}{}", known.why)))
    })
}

/// The formats that are recognised by their structure: a word for each, and its name with an article.
pub fn unsupported_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = KNOWN.format.iter().chain(&KNOWN.database);
    all.map(|known| (known.id.as_str(), known.name.as_str()))
}

/// Whether a word names a format that is recognised by its structure.
pub fn is_known(word: &str) -> bool {
    let plain = word.to_ascii_lowercase().replace(['_', ' '], "-");
    unsupported_formats().any(|(id, _)| id == plain || id.replace('-', "") == plain)
}

#[cfg(test)]
mod tests {
    use super::unsupported_tables;

    #[test]
    fn databases_are_recognised_by_their_tables() {
        let named = |tables: &[&str]| {
            let tables: Vec<String> = tables.iter().map(|table| (*table).to_owned()).collect();
            unsupported_tables(&tables).map(|format| format.name)
        };
        assert_eq!(named(&["meta", "blobs"]), Some("a Cursor database"));
        assert_eq!(named(&["ItemTable", "cursorDiskKV"]), Some("a Cursor database"));
        let phone = ["chat", "handle", "message", "chat_message_join"];
        assert_eq!(named(&phone), Some("an iMessage database"));
        assert_eq!(named(&["meta"]), None);
    }
}
