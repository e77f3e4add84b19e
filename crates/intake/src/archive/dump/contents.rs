//! The header and the table of contents of a `pg_dump` archive, field by field, which are the same in all formats.
//!
//! A schema may have thousands of entries; only those with data are kept, and only their names.

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

/// The numbers of the formats with data in files: tar and folder.
const FILES: [u8; 2] = [3, 5];

/// Where the data of a dump is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// In blocks after the table of contents.
    Custom,
    /// In files next to the table of contents. A folder also states `tar` as its format.
    Files,
}

/// The facts in the header and the table of contents.
pub(super) struct Contents {
    pub(super) layout: Layout,
    pub(super) format: Format,
    /// The compression of the data in the custom format.
    pub(super) codec: Option<Codec>,
    /// The entries with data, in order.
    pub(super) parts: Vec<Part>,
}

/// An entry of the table of contents that has data.
pub(super) struct Part {
    pub(super) id: u64,
    pub(super) holds: Holds,
    /// The file with the data; `None` in the custom format.
    pub(super) file: Option<String>,
}

/// The kind of data of an entry.
pub(super) enum Holds {
    Table(DumpTable),
    /// Large objects and the like, with the kind as the dump names it.
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
    /// The length of the header up to the format, in bytes.
    pub(super) const HEADER_BYTES: usize = 11;

    /// Whether bytes begin the table of contents of a dump with data in files.
    pub(super) fn is_of_files(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
            && head
                .get(Self::HEADER_BYTES - 1)
                .is_some_and(|format| FILES.contains(format))
    }

    /// Reads the header and the table of contents of a dump.
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
    // Since version 1.15 this is the number of the compression, before that the level of zlib.
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
    // The time of the dump, the name of the database, and the versions of server and program.
    for _ in 0..7 {
        fields.int()?;
    }
    for _ in 0..3 {
        fields.skip_text()?;
    }
    Ok((layout, format, codec))
}

/// Reads the entries and keeps those with data.
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
            "TABLE" | "TABLE ATTACH" | "DOMAIN" => definitions.add(&mut entry),
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

/// For each table and domain, the statements about it, the tables that it is part of, and the types that may be domains.
#[derive(Default)]
struct Definitions(BTreeMap<String, (Vec<Arc<str>>, Vec<String>)>);

impl Definitions {
    fn add(&mut self, entry: &mut Entry) {
        let definition = std::mem::take(&mut entry.definition);
        let parents = match Statement::parse(definition.as_bytes(), Syntax::default()) {
            Statement::Create { parents, columns, .. } => {
                let types = columns.into_iter().filter_map(|column| column.domain);
                parents.into_iter().chain(types).collect()
            }
            Statement::Attach { parent, .. } => vec![parent],
            Statement::Domain { base, .. } => base.into_iter().collect(),
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

    /// The statements about a table, after those about all tables that it is part of, and about its domains.
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

/// The fields of an entry that are kept.
struct Entry {
    id: u64,
    /// The kind of entry as the dump names it: `TABLE DATA`, `BLOBS`, …
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
        fields.int()?; // Whether there was data when the dump was written; the data itself is more reliable.
        fields.skip_text()?; // The catalogue id of the catalogue's table,
        fields.skip_text()?; // and that of the object.
        let tag = fields.text()?.unwrap_or_default();
        let kind = fields.text()?.unwrap_or_default();
        fields.int()?; // The section.
        let definition = if matches!(&*kind, "TABLE" | "TABLE ATTACH" | "DOMAIN" | "ENCODING") {
            fields.text()?.unwrap_or_default()
        } else {
            fields.skip_text()?;
            String::new()
        };
        fields.skip_text()?; // The statement that drops it.
        let copy = fields.text()?.unwrap_or_default();
        let schema = fields.text()?.unwrap_or_default();
        fields.skip_text()?; // The table space.
        if fields.layout.minor >= 14 {
            fields.skip_text()?; // The access method.
        }
        if fields.layout.minor >= 16 {
            fields.int()?; // The kind of relation.
        }
        fields.skip_text()?; // The owner.
        fields.skip_text()?; // Whether rows have object ids.
        while fields.skip_text()? {} // The dependencies.
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

    /// The name of a table with its schema.
    fn name(&self) -> String {
        if self.schema.is_empty() {
            self.tag.clone()
        } else {
            format!("{}.{}", self.schema, self.tag)
        }
    }
}

/// Skips the offset of an entry's data; true if there is data, at any offset.
fn offset_promises_data(fields: &mut Fields<'_>) -> Result<bool, StreamError> {
    let flag = fields.byte()?;
    fields.skip_bytes(fields.layout.offset_size as u64)?;
    match flag {
        1 | 2 => Ok(true),
        3 => Ok(false),
        _ => Err(StreamError::corrupt("an offset in the dump is malformed")),
    }
}

/// The form of a table's rows, from the statement `COPY schema.table (a, "b c") FROM stdin;`. Without that statement
/// the rows are in `INSERT` statements, and only the table's definition names the columns.
fn row_text(copy: &str) -> RowText {
    match Statement::parse(copy.as_bytes(), Syntax::default()) {
        // A table without columns has no column list.
        Statement::Copy { columns, .. } => RowText::Copy {
            columns: columns.unwrap_or_default(),
        },
        _ => RowText::Inserts,
    }
}

#[cfg(test)]
mod tests {
    use super::{Definitions, Entry, RowText, row_text};

    #[test]
    fn a_table_comes_with_its_domains_and_with_no_others() {
        let mut definitions = Definitions::default();
        for (kind, tag, definition) in [
            ("DOMAIN", "doc", "CREATE DOMAIN public.doc AS jsonb;"),
            ("DOMAIN", "twice", "CREATE DOMAIN public.twice AS public.doc;"),
            ("DOMAIN", "other", "CREATE DOMAIN public.other AS text;"),
            (
                "TABLE",
                "notes",
                "CREATE TABLE public.notes (id integer, text public.twice);",
            ),
        ] {
            definitions.add(&mut Entry {
                id: 1,
                kind: kind.to_owned(),
                schema: "public".to_owned(),
                tag: tag.to_owned(),
                definition: definition.to_owned(),
                copy: String::new(),
                has_data: false,
                file: None,
            });
        }
        let found = definitions.of("public.notes");
        let found: Vec<_> = found
            .iter()
            .map(|statement| statement.split(' ').nth(2))
            .collect();
        assert_eq!(
            found,
            [Some("public.doc"), Some("public.twice"), Some("public.notes")]
        );
    }

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
