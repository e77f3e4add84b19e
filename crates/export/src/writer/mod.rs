//! One file of an export: lines, or a table whose columns are the keys of the records after the keys of their rows.

pub(crate) mod nested;
pub(crate) mod shuffle;

use std::borrow::Cow;
use std::ops::Range;

use chatmill_dataset::{
    Compression, DatasetError, FileMeasure, Folder, FolderFile, FreeCell, FreeKind, FreeTable, NestedValue,
};

use crate::candidate::RenderedAs;
use crate::error::ExportError;
use crate::fields::{self, Field};
use crate::format::Format;

/// Columns before the record's own in a table.
const KEYS: [(&str, FreeKind); 5] = [
    ("conversation_id", FreeKind::Word),
    ("dialect", FreeKind::Word),
    ("profile", FreeKind::Word),
    ("perspective", FreeKind::Word),
    ("ordinal", FreeKind::Number),
];

/// The keys of renderings that are not objects: of a text, and of another JSON value.
pub(crate) const TEXT: &str = "text";
pub(crate) const CONTENT: &str = "content";
/// The keys of the assistant's ranges in such a rendering, and of the ranges that are trained on.
const SPANS: [&str; 2] = ["assistant_spans", "learned_spans"];

/// The assistant's ranges of a text, and those of them that are trained on.
type OwnSpans<'a> = [&'a [Range<u64>]; 2];

/// The key of a row among the rows of its dialect.
#[derive(Clone, Copy)]
pub(crate) struct RowKey<'r> {
    pub(crate) conversation: &'r str,
    pub(crate) perspective: &'r str,
    pub(crate) ordinal: u64,
}

/// A record to write.
pub(crate) enum Record<'a> {
    /// An object, which is written unchanged.
    Object { line: &'a str, fields: Vec<Field<'a>> },
    /// An object from an envelope.
    Fields(Vec<Field<'a>>),
    /// Another JSON value, for example a list of messages; in a table with its spans.
    Value { json: &'a str, spans: OwnSpans<'a> },
    /// Text, which is not JSON, with its spans.
    Text { text: &'a str, spans: OwnSpans<'a> },
}

impl Record<'_> {
    /// The top-level keys, each with the type of its column. Spans are added where one column is the whole
    /// rendering.
    pub(crate) fn keys(&self) -> Vec<(&str, FreeKind)> {
        match self {
            Self::Object { fields, .. } | Self::Fields(fields) => fields
                .iter()
                .map(|field| (field.name.as_ref(), FreeKind::Json))
                .collect(),
            Self::Value { .. } => own_keys(CONTENT, FreeKind::Json),
            Self::Text { .. } => own_keys(TEXT, FreeKind::Text),
        }
    }
}

fn own_keys(name: &'static str, kind: FreeKind) -> Vec<(&'static str, FreeKind)> {
    let spans = SPANS.map(|spans| (spans, FreeKind::Spans));
    std::iter::once((name, kind)).chain(spans).collect()
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
    Table {
        table: Box<FreeTable>,
        columns: Columns,
        rendered: RenderedAs,
    },
}

impl Writer {
    pub(crate) fn create(
        folder: &Folder,
        name: &str,
        format: Format,
        columns: &Columns,
        rendered: &RenderedAs,
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
            rendered: rendered.clone(),
        })
    }

    pub(crate) fn write(&mut self, key: &RowKey<'_>, record: &Record<'_>) -> Result<(), ExportError> {
        match self {
            Self::Lines(file) => {
                match record {
                    Record::Object { line, .. } | Record::Value { json: line, .. } => {
                        file.add(line.as_bytes())?;
                    }
                    Record::Fields(fields) => file.add(fields::object(fields).as_bytes())?,
                    Record::Text { text, spans } => file.add(text_line(text, *spans).as_bytes())?,
                }
                Ok(file.add(b"\n")?)
            }
            Self::Table {
                table,
                columns,
                rendered,
            } => {
                let mut fields: Vec<&Field<'_>> = match record {
                    Record::Object { fields, .. } | Record::Fields(fields) => fields.iter().collect(),
                    Record::Value { .. } | Record::Text { .. } => Vec::new(),
                };
                fields.sort_by(|one, other| one.name.cmp(&other.name));
                let contents: Vec<CellContent<'_>> = columns
                    .iter()
                    .map(|(name, kind)| {
                        let field = fields.binary_search_by(|field| (*field.name).cmp(name));
                        let field = field.ok().and_then(|place| fields.get(place).copied());
                        CellContent::of(record, field, name, *kind).map_err(|misfit| {
                            ExportError::request(
                                format!("{misfit} in conversation `{}`", key.conversation),
                                "take `--nested json`, which keeps every record as it is",
                            )
                        })
                    })
                    .collect::<Result<_, _>>()?;
                let mut cells = vec![
                    FreeCell::Text(key.conversation),
                    FreeCell::Text(&rendered.dialect),
                    FreeCell::Text(&rendered.profile),
                    FreeCell::Text(key.perspective),
                    FreeCell::Number(key.ordinal),
                ];
                cells.extend(contents.iter().map(CellContent::cell));
                Ok(table.push(&cells)?)
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

/// The content of a record in a column.
enum CellContent<'r> {
    Text(Cow<'r, str>),
    Spans(&'r [Range<u64>]),
    Nested(NestedValue<'r>),
    Nothing,
}

impl<'r> CellContent<'r> {
    /// The text itself of a field in a column of text, JSON in one of JSON; the error names the value that does not fit its structure.
    fn of(
        record: &'r Record<'_>,
        field: Option<&'r Field<'_>>,
        name: &str,
        kind: FreeKind,
    ) -> Result<Self, String> {
        Ok(match (record, kind) {
            (Record::Object { .. } | Record::Fields(_), FreeKind::Nested(shape)) => {
                let value = field.map(|field| nested::value(&field.json, shape)).transpose();
                let value = value.map_err(|misfit| misfit.of(name))?;
                value.map_or(Self::Nothing, Self::Nested)
            }
            (Record::Object { .. } | Record::Fields(_), _) => {
                let text = match kind {
                    FreeKind::Text | FreeKind::Word => field.and_then(Field::text).map(Cow::Owned),
                    _ => field.map(|field| Cow::Borrowed(field.json.as_ref())),
                };
                text.map_or(Self::Nothing, Self::Text)
            }
            (Record::Value { spans, .. } | Record::Text { spans, .. }, FreeKind::Spans) => {
                let [assistant, trained] = *spans;
                let [is_assistant, _] = SPANS.map(|key| key == name);
                Self::Spans(if is_assistant { assistant } else { trained })
            }
            (Record::Value { json: text, .. } | Record::Text { text, .. }, _) => {
                Self::Text(Cow::Borrowed(text))
            }
        })
    }

    fn cell(&self) -> FreeCell<'_> {
        match self {
            Self::Text(text) => FreeCell::Text(text),
            Self::Spans(spans) => FreeCell::Spans(spans),
            Self::Nested(value) => FreeCell::Nested(value),
            Self::Nothing => FreeCell::Missing,
        }
    }
}

/// The line of a text with its spans.
fn text_line(text: &str, spans: OwnSpans<'_>) -> String {
    let bounds = |span: &Range<u64>| format!("{{\"start\":{},\"end\":{}}}", span.start, span.end);
    let list = |spans: &[Range<u64>]| {
        let spans: Vec<String> = spans.iter().map(bounds).collect();
        format!("[{}]", spans.join(","))
    };
    let spans = SPANS.into_iter().zip(spans.map(list));
    let mut fields = vec![Field::new(TEXT, fields::text(text))];
    fields.extend(spans.map(|(name, json)| Field::new(name, json)));
    fields::object(&fields)
}
