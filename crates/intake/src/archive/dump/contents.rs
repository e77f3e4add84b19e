//! Header and table of contents of a `pg_dump` archive, field by field; the same in all its formats.
//!
//! Of the thousands of entries that a schema has, only those with data are kept, and of these only names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use chatmill_diag::Limits;
use chatmill_diag::codes::ENTRY_LIMIT;

use super::fields::{Fields, Layout, broken};
use super::{DumpTable, MAGIC, RowText};
use crate::stream::{Buffered, StreamError};
use crate::table::sql::Syntax;
use crate::table::statement::Statement;
use crate::unpack::Codec;

const CONTENTS_END: &str = "the dump ends inside its table of contents";

/// The numbers of the formats whose data is in files: tar and folder.
const FILES: [u8; 2] = [3, 5];

/// The place of the data in a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// In blocks after the table of contents.
    Custom,
    /// The data is in files beside the table of contents. That of a folder states `tar` as well.
    Files,
}

/// The facts in the header and the table of contents.
pub(super) struct Contents {
    pub(super) layout: Layout,
    pub(super) format: Format,
    /// The compression of the data in the custom format.
    pub(super) codec: Option<Codec>,
    /// The entries that have data, in their order.
    pub(super) parts: Vec<Part>,
}

/// An entry of the table of contents that has data.
pub(super) struct Part {
    pub(super) id: u64,
    pub(super) holds: Holds,
    /// The file with the data; nothing in the custom format.
    pub(super) file: Option<String>,
}

/// The kind of data.
pub(super) enum Holds {
    Table(DumpTable),
    /// Large objects and the like; how the dump calls them.
    Other(String),
}

impl Part {
    pub(super) fn name(&self) -> &str {
        match &self.holds {
            Holds::Table(table) => &table.name,
            Holds::Other(name) => name,
        }
    }
}

impl Contents {
    /// Bytes of the header up to the format.
    pub(super) const HEADER_BYTES: usize = 11;

    /// Whether bytes begin the table of contents of a dump of files.
    pub(super) fn is_of_files(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
            && head
                .get(Self::HEADER_BYTES - 1)
                .is_some_and(|format| FILES.contains(format))
    }

    /// Reads the beginning of a dump.
    pub(super) fn read(bytes: &mut Buffered, limits: &Limits) -> Result<Self, StreamError> {
        let (layout, format, codec) = header(bytes)?;
        let parts = entries(bytes, layout, format, limits)?;
        Ok(Self {
            layout,
            format,
            codec,
            parts,
        })
    }
}

/// Reads the header before the entries.
fn header(bytes: &mut Buffered) -> Result<(Layout, Format, Option<Codec>), StreamError> {
    let mut start = [0; Contents::HEADER_BYTES];
    bytes
        .read_exact(&mut start)
        .map_err(|error| broken(&error, CONTENTS_END))?;
    let [magic @ .., major, minor, _, int_size, offset_size, format] = start;
    if magic != *MAGIC {
        return Err(StreamError::corrupt("the dump does not begin as one"));
    }
    if major != 1 || !(12..=16).contains(&minor) {
        return Err(StreamError::unsupported(format!(
            "a dump of archive version {major}.{minor} is not read, only 1.12 to 1.16: convert it with `pg_restore -f -`"
        )));
    }
    if !(4..=8).contains(&int_size) || !(4..=8).contains(&offset_size) {
        return Err(StreamError::corrupt("the dump's header has impossible sizes"));
    }
    let layout = Layout {
        minor,
        int_size: usize::from(int_size),
        offset_size: usize::from(offset_size),
    };
    let format = match format {
        1 => Format::Custom,
        format if FILES.contains(&format) => Format::Files,
        _ => {
            return Err(StreamError::unsupported(
                "a dump of an unknown format is not read",
            ));
        }
    };
    let mut fields = Fields::new(bytes, layout, CONTENTS_END);
    // A number of its own since version 1.15, before that the level of zlib.
    let compression = if minor >= 15 {
        i64::from(fields.byte()?)
    } else {
        fields.int()?
    };
    let codec = match (minor, compression) {
        (_, 0) => None,
        (..15, _) | (_, 1) => Some(Codec::Zlib),
        (_, 2) => Some(Codec::Lz4),
        (_, 3) => Some(Codec::Zstd),
        _ => {
            return Err(StreamError::unsupported(
                "a dump in an unknown compression is not read",
            ));
        }
    };
    // The time of the dump, the names of the database and of the versions of server and program.
    for _ in 0..7 {
        fields.int()?;
    }
    for _ in 0..3 {
        fields.pass_text()?;
    }
    Ok((layout, format, codec))
}

/// Reads the entries and keeps those that have data.
pub(super) fn entries(
    bytes: &mut Buffered,
    layout: Layout,
    format: Format,
    limits: &Limits,
) -> Result<Vec<Part>, StreamError> {
    let mut fields = Fields::new(bytes, layout, CONTENTS_END);
    fields.budget = limits.record;
    let count = fields.count()?;
    if count > limits.archive_entries {
        let limit = limits.archive_entries;
        return Err(StreamError::new(
            &ENTRY_LIMIT,
            format!("the dump's table of contents has more than {limit} entries"),
        ));
    }
    let mut encoding = None;
    let mut definitions = Definitions::default();
    let mut parts = Vec::new();
    for _ in 0..count {
        let mut entry = Entry::read(&mut fields, format)?;
        match &*entry.kind {
            "ENCODING" => {
                let statement = Statement::parse(entry.definition.as_bytes(), Syntax::default());
                if let Statement::Encoding(name) = statement {
                    encoding = Some(name);
                }
            }
            "TABLE" | "TABLE ATTACH" => definitions.add(&mut entry),
            _ => {}
        }
        if entry.has_data {
            let holds = if entry.kind == "TABLE DATA" {
                let name = entry.name();
                Holds::Table(DumpTable {
                    text: row_text(&entry.copy),
                    definitions: definitions.of(&name),
                    name,
                    encoding: encoding.clone(),
                })
            } else {
                Holds::Other(entry.kind)
            };
            parts.push(Part {
                id: entry.id,
                holds,
                file: entry.file,
            });
        }
    }
    Ok(parts)
}

/// The statements about each table, and the tables that it is a part of.
#[derive(Default)]
struct Definitions(BTreeMap<String, (Vec<Arc<str>>, Vec<String>)>);

impl Definitions {
    fn add(&mut self, entry: &mut Entry) {
        let definition = std::mem::take(&mut entry.definition);
        let parents = match Statement::parse(definition.as_bytes(), Syntax::default()) {
            Statement::Create { parents, .. } => parents,
            Statement::Attach { parent, .. } => vec![parent],
            _ => Vec::new(),
        };
        let schema = &entry.schema;
        let parents = parents.into_iter().map(|parent| {
            if parent.contains('.') {
                parent
            } else {
                format!("{schema}.{parent}")
            }
        });
        let known = self.0.entry(entry.name()).or_default();
        known.0.push(definition.into());
        known.1.extend(parents);
    }

    /// The statements about a table and all that it is a part of, which come first.
    fn of(&self, name: &str) -> Vec<Arc<str>> {
        let (mut found, mut seen, mut next) = (Vec::new(), BTreeSet::new(), vec![name]);
        while let Some(name) = next.pop() {
            if let Some((statements, parents)) = self.0.get(name).filter(|_| seen.insert(name)) {
                found.extend(statements.iter().rev().cloned());
                next.extend(parents.iter().map(String::as_str));
            }
        }
        found.reverse();
        found
    }
}

/// The relevant fields of one entry.
struct Entry {
    id: u64,
    /// The kind of entry, in the dump's words: `TABLE DATA`, `BLOBS`, …
    kind: String,
    schema: String,
    tag: String,
    definition: String,
    copy: String,
    has_data: bool,
    file: Option<String>,
}

impl Entry {
    fn read(fields: &mut Fields<'_>, format: Format) -> Result<Self, StreamError> {
        let id = fields.count()?;
        fields.int()?; // Whether the program that wrote the dump had data for it: the data itself says that better.
        fields.pass_text()?; // Ids in the catalogue: of the catalogue's table,
        fields.pass_text()?; // and of the object.
        let tag = fields.text()?.unwrap_or_default();
        let kind = fields.text()?.unwrap_or_default();
        fields.int()?; // Section.
        let definition = if matches!(&*kind, "TABLE" | "TABLE ATTACH" | "ENCODING") {
            fields.text()?.unwrap_or_default()
        } else {
            fields.pass_text()?;
            String::new()
        };
        fields.pass_text()?; // How to drop it.
        let copy = fields.text()?.unwrap_or_default();
        let schema = fields.text()?.unwrap_or_default();
        fields.pass_text()?; // Table space.
        if fields.layout.minor >= 14 {
            fields.pass_text()?; // Access method.
        }
        if fields.layout.minor >= 16 {
            fields.int()?; // Kind of relation.
        }
        fields.pass_text()?; // Owner.
        fields.pass_text()?; // Whether rows have ids of their own.
        while fields.pass_text()? {} // What it depends on.
        let (has_data, file) = match format {
            Format::Custom => (offset_promises_data(fields)?, None),
            Format::Files => {
                let file = fields.text()?.filter(|name| !name.is_empty());
                (file.is_some(), file)
            }
        };
        Ok(Self {
            id,
            kind,
            schema,
            tag,
            definition,
            copy,
            has_data,
            file,
        })
    }

    /// Name of a table with its schema.
    fn name(&self) -> String {
        if self.schema.is_empty() {
            self.tag.clone()
        } else {
            format!("{}.{}", self.schema, self.tag)
        }
    }
}

/// Skips the offset of an entry's data; returns whether there is data, at any offset.
fn offset_promises_data(fields: &mut Fields<'_>) -> Result<bool, StreamError> {
    let flag = fields.byte()?;
    fields.pass(fields.layout.offset_size as u64)?;
    match flag {
        1 | 2 => Ok(true),
        3 => Ok(false),
        _ => Err(StreamError::corrupt("an offset in the dump is malformed")),
    }
}

/// The form of a table's rows, by the statement `COPY schema.table (a, "b c") FROM stdin;`. Without such a
/// statement the rows are inserted, and only the table's definition names their columns.
fn row_text(copy: &str) -> RowText {
    match Statement::parse(copy.as_bytes(), Syntax::default()) {
        // A table without columns has no list.
        Statement::Copy { columns, .. } => RowText::Copy {
            columns: columns.unwrap_or_default(),
        },
        _ => RowText::Inserts,
    }
}

#[cfg(test)]
mod tests {
    use super::{RowText, row_text};

    #[test]
    fn columns_are_read_from_the_copy_statement() {
        let table: &[(&str, Option<&[&str]>)] = &[
            (
                "COPY public.messages (id, body) FROM stdin;\n",
                Some(&["id", "body"]),
            ),
            (
                "COPY public.\"odd (name\" (\"a, b\", \"c\"\"d\", e) FROM stdin;\n",
                Some(&["a, b", "c\"d", "e"]),
            ),
            ("COPY public.nothing  FROM stdin;\n", Some(&[])),
            ("COPY public.cut (id, bo", None),
            ("COPY public.cut (id, \"bo", None),
            ("", None),
            ("INSERT INTO x", None),
        ];
        for (statement, columns) in table {
            let expected = columns.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            let read = match row_text(statement) {
                RowText::Copy { columns } => Some(columns),
                RowText::Inserts => None,
            };
            assert_eq!(read, expected, "{statement}");
        }
    }
}
