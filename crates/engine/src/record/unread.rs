//! Fields that the source does not read: counted for each
//! input during reading, reported once per path at its end.

use std::collections::BTreeMap;

use chatmill_diag::{Code, Finding, Severity, Span, codes};
use serde::{Deserialize, Serialize};

use crate::entry::EntryRef;
use crate::record::UnreadAt;
use crate::record::locate::Located;

/// The unread fields of an input, by the path of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnreadFields {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    paths: BTreeMap<String, UnreadField>,
    /// The number of values at paths beyond the limit.
    #[serde(default, skip_serializing_if = "chatmill_diag::is_zero")]
    further: u64,
}

/// The values at one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UnreadField {
    /// The number of values at this path.
    count: u64,
    /// The number of bytes of all values.
    bytes: u64,
    /// Whether any value contains words.
    has_words: bool,
    /// The place of the first value.
    first: FirstPlace,
}

/// The place of a field's first value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FirstPlace {
    /// Member of an archive.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entry: String,
    /// Table of a database.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table: String,
    /// Number of the record.
    pub record: u64,
    /// Start and end of the field in the entry, in bytes.
    pub span: Option<(u64, u64)>,
    /// Line and column.
    pub line_column: Option<(u64, u64)>,
}

impl UnreadFields {
    /// Returns whether there are no unread fields.
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.further == 0
    }

    /// Adds the unread fields of a record. Beyond `limit` paths, only their number is counted.
    pub(crate) fn add(&mut self, unread: &UnreadAt, place: FirstPlace, limit: u64) {
        let Located {
            finding, json_path, ..
        } = &unread.located;
        let field = UnreadField {
            count: finding.count,
            bytes: unread.bytes,
            has_words: finding.severity > Severity::Note,
            first: place,
        };
        self.put(json_path.as_deref().unwrap_or_default(), field, limit);
    }

    /// Adds an archive member that is no chat, under its kind.
    pub(crate) fn add_skipped(&mut self, member: &EntryRef, kind: &str, bytes: u64, limit: u64) {
        let field = UnreadField {
            count: 1,
            bytes,
            has_words: false,
            first: FirstPlace {
                entry: member.entry.clone(),
                ..FirstPlace::default()
            },
        };
        self.put(kind, field, limit);
    }

    fn put(&mut self, path: &str, field: UnreadField, limit: u64) {
        if let Some(known) = self.paths.get_mut(path) {
            known.count += field.count;
            known.bytes += field.bytes;
            known.has_words |= field.has_words;
        } else if (self.paths.len() as u64) < limit {
            self.paths.insert(path.to_owned(), field);
        } else {
            self.further += field.count;
        }
    }

    /// Adds the fields of a later slice.
    pub(crate) fn merge(&mut self, later: Self, limit: u64) {
        self.further += later.further;
        for (path, field) in later.paths {
            self.put(&path, field, limit);
        }
    }

    /// Returns the findings: one for each path, with its first place, and one for those beyond the limit.
    pub(crate) fn findings(self) -> impl Iterator<Item = (Located, Option<FirstPlace>)> {
        let further = (self.further > 0).then(|| {
            let finding = Finding::new(
                &codes::UNREAD_FIELD,
                "further fields that the source does not read",
            );
            let finding = Finding {
                count: self.further,
                ..finding
            };
            (Located::nowhere(finding), None)
        });
        let paths = self.paths.into_iter().map(|(path, field)| field.finding(path));
        paths.chain(further)
    }
}

/// Returns the code of an unread field.
pub(crate) fn unread_field(has_words: bool) -> &'static Code {
    if has_words {
        &codes::UNREAD_FIELD
    } else {
        &codes::WORDLESS_FIELD
    }
}

impl UnreadField {
    /// Returns the finding; `path` is the path of a field, or the kind of a member.
    fn finding(self, path: String) -> (Located, Option<FirstPlace>) {
        let times = if self.count == 1 { "once" } else { "in all" };
        let is_field = path.starts_with('$');
        let message = if is_field {
            let bytes = self.bytes;
            format!("the source does not read this field: {bytes} bytes {times}, kept in `extra`")
        } else {
            format!(
                "members of this kind are no chats, and are skipped: {path}, {} bytes {times}",
                self.bytes
            )
        };
        let finding = Finding::new(unread_field(self.has_words), message);
        let path = is_field.then_some(path);
        let finding = path
            .iter()
            .fold(finding, |finding, path| finding.at_path(path.clone()));
        let mut located = Located::nowhere(finding);
        located.finding.count = self.count;
        located.json_path = path;
        located.span = self.first.span.map(|(start, end)| Span { start, end });
        located.line_column = self.first.line_column;
        (located, Some(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, severity: Severity) -> UnreadAt {
        let finding = Finding::new(unread_field(severity > Severity::Note), "x");
        let mut located = Located::nowhere(finding);
        located.json_path = Some(path.to_owned());
        UnreadAt { located, bytes: 5 }
    }

    fn record(record: u64) -> FirstPlace {
        FirstPlace {
            record,
            ..FirstPlace::default()
        }
    }

    #[test]
    fn unread_paths_give_one_finding_with_the_first_place_and_the_sum_of_bytes() {
        let mut fields = UnreadFields::default();
        fields.add(&at("$.a", Severity::Note), record(1), 2);
        let mut later = UnreadFields::default();
        later.add(&at("$.a", Severity::Warning), record(7), 2);
        fields.merge(later, 2);
        let findings: Vec<_> = fields.findings().collect();
        assert_eq!(findings.len(), 1);
        let (located, first) = &findings[0];
        assert_eq!((located.finding.count, first.as_ref().unwrap().record), (2, 1));
        assert_eq!(located.finding.severity, Severity::Warning);
        assert!(
            located.finding.message.contains("10 bytes"),
            "{}",
            located.finding.message
        );
    }

    #[test]
    fn paths_beyond_the_limit_are_one_row_with_their_number() {
        let mut fields = UnreadFields::default();
        for (number, path) in (1..).zip(["$.a", "$.b", "$.c", "$.d", "$.a"]) {
            fields.add(&at(path, Severity::Note), record(number), 2);
        }
        let mut exactly = UnreadFields::default();
        for path in ["$.a", "$.b"] {
            exactly.add(&at(path, Severity::Note), record(1), 2);
        }
        let counts = |fields: UnreadFields| {
            fields
                .findings()
                .map(|(located, _)| located.finding.count)
                .collect::<Vec<_>>()
        };
        assert_eq!(counts(exactly.clone()), [1, 1]);
        fields.merge(exactly, 2);
        assert_eq!(counts(fields), [3, 2, 2]);
    }

    #[test]
    fn a_receipt_is_read_back() {
        let mut fields = UnreadFields::default();
        fields.add(&at("$.a", Severity::Note), record(3), 2);
        let text = serde_json::to_string(&fields).unwrap();
        assert_eq!(serde_json::from_str::<UnreadFields>(&text).unwrap(), fields);
        assert_eq!(serde_json::to_string(&UnreadFields::default()).unwrap(), "{}");
    }
}
