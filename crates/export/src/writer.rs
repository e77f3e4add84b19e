//! One file of an export: lines, or a table whose columns are the keys of the records behind the keys of their rows.

use chatmill_dataset::{
    Compression, DatasetError, FileMeasure, Folder, FolderFile, FreeCell, FreeKind, FreeTable,
};

use crate::envelope::Row;
use crate::fields::{self, Field};
use crate::request::Format;

/// Columns in front of the record's own in a table.
const KEYS: [(&str, FreeKind); 5] = [
    ("conversation_id", FreeKind::Text),
    ("dialect", FreeKind::Text),
    ("profile", FreeKind::Text),
    ("perspective", FreeKind::Text),
    ("ordinal", FreeKind::Number),
];

/// The key of what is no object: a text, or a list.
pub(crate) const TEXT: &str = "text";
pub(crate) const CONTENT: &str = "content";

/// A record to write.
pub(crate) enum Record<'a> {
    /// An object, which is written as it stands.
    Object { line: &'a str, fields: Vec<Field<'a>> },
    /// An object that an envelope put together.
    Fields(Vec<Field<'a>>),
    /// Another JSON value, for example a list of messages.
    Value(&'a str),
    /// Text, which is no JSON.
    Text(&'a str),
}

impl Record<'_> {
    /// Its top-level keys.
    pub(crate) fn keys(&self) -> Vec<&str> {
        match self {
            Self::Object { fields, .. } | Self::Fields(fields) => {
                fields.iter().map(|field| field.name.as_ref()).collect()
            }
            Self::Value(_) => vec![CONTENT],
            Self::Text(_) => vec![TEXT],
        }
    }
}

/// The columns of a record's own.
pub(crate) type Columns = Vec<(String, FreeKind)>;

/// Whether a key is the name of one of the columns in front.
pub(crate) fn is_reserved(key: &str) -> bool {
    KEYS.iter().any(|(name, _)| *name == key)
}

/// An open file of an export.
pub(crate) enum Writer {
    Lines(Box<FolderFile>),
    Table { table: Box<FreeTable>, columns: Columns },
}

impl Writer {
    pub(crate) fn create(
        folder: &Folder,
        name: &str,
        format: Format,
        columns: &Columns,
    ) -> Result<Self, DatasetError> {
        let file = folder.file(name)?;
        if format == Format::Jsonl {
            return Ok(Self::Lines(Box::new(file)));
        }
        let all: Columns = KEYS
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), *kind))
            .chain(columns.iter().cloned())
            .collect();
        let compression = Compression::parse("zstd(3)").unwrap_or(Compression::None);
        Ok(Self::Table {
            table: Box::new(FreeTable::create(file, &all, compression)?),
            columns: columns.clone(),
        })
    }

    pub(crate) fn write(
        &mut self,
        row: &Row<'_>,
        profile: &str,
        record: &Record<'_>,
    ) -> Result<(), DatasetError> {
        match self {
            Self::Lines(file) => {
                match record {
                    Record::Object { line, .. } | Record::Value(line) => file.add(line.as_bytes())?,
                    Record::Fields(fields) => file.add(fields::object(fields).as_bytes())?,
                    Record::Text(text) => {
                        file.add(fields::object(&[Field::new(TEXT, fields::text(text))]).as_bytes())?;
                    }
                }
                file.add(b"\n")
            }
            Self::Table { table, columns } => {
                let texts: Vec<Option<String>> = columns
                    .iter()
                    .map(|(name, kind)| cell(record, name, *kind))
                    .collect();
                let mut cells = vec![
                    FreeCell::Text(row.conversation),
                    FreeCell::Text(row.dialect),
                    FreeCell::Text(profile),
                    FreeCell::Text(row.perspective),
                    FreeCell::Number(row.ordinal),
                ];
                cells.extend(
                    texts
                        .iter()
                        .map(|text| text.as_deref().map_or(FreeCell::Missing, FreeCell::Text)),
                );
                table.push(&cells)
            }
        }
    }

    pub(crate) fn finish(self) -> Result<FileMeasure, DatasetError> {
        match self {
            Self::Lines(file) => file.finish(),
            Self::Table { table, .. } => table.finish(),
        }
    }
}

/// What a record holds in a column: the text itself in a column of text, JSON in one of JSON.
fn cell(record: &Record<'_>, name: &str, kind: FreeKind) -> Option<String> {
    match record {
        Record::Object { fields, .. } | Record::Fields(fields) => {
            let field = fields.iter().find(|field| field.name == name)?;
            match kind {
                FreeKind::Text => field.text(),
                FreeKind::Json | FreeKind::Number => Some(field.json.clone().into_owned()),
            }
        }
        Record::Value(json) => Some((*json).to_owned()),
        Record::Text(text) => Some((*text).to_owned()),
    }
}
