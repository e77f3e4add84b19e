//! Sketches the first records of an entry; sources recognise their formats by the sketch.
//!
//! Only the head is read. It may be cut, and broken records are skipped.
//!
//! Why: docs/decisions/2026-11-22-format-detection-order.md.

mod names;
mod outline;

use std::collections::BTreeMap;

use chatmill_diag::cut;

use crate::event::{Framing, Head};
use crate::json;
use crate::table::row::SAMPLE;

pub use names::Name;

/// The maximum number of records in a sketch.
const MAX_RECORDS: usize = 16;

/// The number of bytes of a string value that a sketch keeps.
const MAX_STRING_BYTES: usize = 64;

/// The shape of the first records of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// How the entry is cut.
    pub framing: Framing,
    /// Up to 16 readable records.
    pub records: Vec<RecordSketch>,
}

/// The shape of one record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSketch {
    /// The names of the fields, in input order.
    pub keys: Vec<String>,
    /// (field, name inside): the names in an object field, or in the first object of an array field. The field is empty
    /// for a record that is itself an array.
    pub nested: Vec<(String, String)>,
    /// Whether the record is an object.
    pub is_object: bool,
    /// Whether the record is an array with a single object.
    pub is_single: bool,
    /// (field, text) of string values of at most 64 bytes; for a record that is an array, those of its first object.
    pub strings: Vec<(String, String)>,
    /// (field, text) of longer string values: their beginnings. The field is empty for a record that is itself a string.
    pub starts: Vec<(String, String)>,
    /// The path of every name in the record, up to eight levels: `messages[].content[].type`.
    pub names: BTreeMap<String, Name>,
}

impl RecordSketch {
    /// Whether a name occurs anywhere in the record, for example `messages[].tool_calls[].id`.
    pub fn names(&self, path: &str) -> bool {
        self.names.contains_key(path)
    }

    /// Whether one of these short texts is a value of the name.
    pub fn has_value(&self, path: &str, words: &[&str]) -> bool {
        self.names
            .get(path)
            .is_some_and(|name| words.iter().any(|word| name.words.contains(*word)))
    }
}

/// The decoded text of a JSON string that has its quotes.
fn plain(token: &[u8]) -> String {
    let inside = cut::slice(token, 1..token.len() - 1);
    String::from_utf8_lossy(&json::unescape_lossy(inside)).into_owned()
}

impl Head {
    /// Sketches the first records.
    pub fn sketch(&self) -> Sketch {
        let mut records = Vec::new();
        let mut rest = self.bytes.as_slice();
        if self.framing == Framing::Text {
            records.push(outline::of_text(rest));
        }
        while records.len() < MAX_RECORDS {
            let Some((record, after)) = self.next_record(rest) else {
                break;
            };
            let whole = after.is_some();
            match after {
                Some(_) if json::scan(record, u32::MAX).is_err() => {}
                // A cut record is only used if there is no complete one.
                None if !records.is_empty() => {}
                _ => records.push(RecordSketch {
                    names: names::of(record),
                    ..outline::outline(record)
                }),
            }
            if !whole {
                break;
            }
            rest = after.unwrap_or_default();
        }
        Sketch {
            framing: self.framing,
            records,
        }
    }

    /// The complete records, at most as many as a sample of rows has.
    pub fn records(&self) -> Vec<&[u8]> {
        let mut rest = Some(self.bytes.as_slice());
        let records = std::iter::from_fn(|| {
            let (record, after) = self.next_record(rest?)?;
            rest = after;
            after.map(|_| record)
        });
        records.take(SAMPLE).collect()
    }

    /// The next record and the text after it; `None` follows a record that is cut.
    fn next_record<'h>(&self, rest: &'h [u8]) -> Option<(&'h [u8], Option<&'h [u8]>)> {
        match self.framing {
            Framing::Empty | Framing::Tables | Framing::Text => None,
            Framing::Lines => outline::line(rest, self.complete),
            Framing::Array => outline::value(rest, b" \t\r\n,", self.bytes.len() == rest.len()),
            Framing::Documents => outline::value(rest, b" \t\r\n", false),
        }
    }
}
