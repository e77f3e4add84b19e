//! Names for formats that are not read, recognised by their structure.
//!
//! A file that no source reads is still an export of some program. Its name helps more than "unknown": it leads to the right
//! tool, or to a field map. Each format is one entry of a table, with what only that format has.

mod agents;
mod databases;
mod exports;
mod files;
mod roleplay;
mod training;

pub use databases::unsupported_tables;
pub(crate) use files::is_table;

use chatmill_intake::{Head, RecordSketch, Sketch};

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
    /// Whether the file is a table with a header, whose rows are records.
    pub fn is_table(&self) -> bool {
        self.id == files::TABLE
    }
}

/// A format that is told by its looks.
struct Known {
    id: &'static str,
    name: &'static str,
    confidence: u8,
    /// The evidence in a file, if there is any.
    sees: fn(&Glimpse<'_>) -> Option<&'static str>,
}

/// One row of a table: a word, a name with an article, the confidence, and the evidence.
const fn known(
    id: &'static str,
    name: &'static str,
    confidence: u8,
    sees: fn(&Glimpse<'_>) -> Option<&'static str>,
) -> Known {
    Known {
        id,
        name,
        confidence,
        sees,
    }
}

/// The beginning of a file.
struct Glimpse<'h> {
    /// The first records.
    records: &'h [RecordSketch],
    /// The first bytes; empty where only records are examined.
    head: &'h [u8],
}

impl Glimpse<'_> {
    /// Whether a record has all of these names, anywhere in a list.
    fn has(&self, names: &[&str]) -> bool {
        self.records
            .iter()
            .any(|record| names.iter().all(|name| record.names(name)))
    }
}

/// The unsupported format that a file looks like, if any.
pub fn unsupported_format(head: &Head, sketch: &Sketch) -> Option<UnsupportedFormat> {
    let glimpse = Glimpse {
        records: &sketch.records,
        head: &head.bytes,
    };
    first(
        &glimpse,
        &[
            agents::FORMATS,
            exports::FORMATS,
            roleplay::FORMATS,
            training::FORMATS,
            files::FORMATS,
        ],
    )
}

/// The unsupported format of records that some source would read, but wrongly.
pub(crate) fn unsupported_records(sketch: &Sketch) -> Option<UnsupportedFormat> {
    let glimpse = Glimpse {
        records: &sketch.records,
        head: &[],
    };
    first(&glimpse, &[agents::FORMATS, exports::FORMATS, training::FORMATS])
}

/// The formats that are told by their looks: a word for each, and its name with an article.
pub fn unsupported_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    let records = [
        agents::FORMATS,
        exports::FORMATS,
        roleplay::FORMATS,
        training::FORMATS,
        files::FORMATS,
    ];
    let records = records.into_iter().flatten();
    records
        .map(|known| (known.id, known.name))
        .chain(databases::all())
}

/// Whether a word is one for a format that is told by its looks.
pub fn is_known(word: &str) -> bool {
    let plain = word.to_ascii_lowercase().replace(['_', ' '], "-");
    unsupported_formats().any(|(id, _)| id == plain || id.replace('-', "") == plain)
}

fn first(glimpse: &Glimpse<'_>, tables: &[&[Known]]) -> Option<UnsupportedFormat> {
    let mut all = tables.iter().flat_map(|table| table.iter());
    all.find_map(|known| {
        (known.sees)(glimpse).map(|why| UnsupportedFormat {
            id: known.id,
            name: known.name,
            why: why.to_owned(),
            confidence: known.confidence,
        })
    })
}
