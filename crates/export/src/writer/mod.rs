//! One file of an export: lines, or a table with the keys of the records as columns, after the keys of their rows. `convert` passes rows to
//! [`part_files::PartFiles`], which opens the files, and [`shuffle`] reorders rows before that on request.

pub(crate) mod nested;
pub(crate) mod pages;
pub(crate) mod part_files;
pub(crate) mod shuffle;

use std::borrow::Cow;
use std::ops::Range;

use chatmill_dataset::{
    Compression, DatasetError, FileMeasure, Folder, FolderFile, FreeCell, FreeKind, FreeTable, NestedValue,
};
use jiff::Timestamp;

use crate::candidate::RenderedAs;
use crate::error::ExportError;
use crate::fields::{self, Field};
use crate::format::Format;
use crate::writer::pages::Pages;

/// Columns of a table before the columns of the record.
pub(crate) const KEYS: [(&str, FreeKind); 5] = [
    ("conversation_id", FreeKind::Word),
    ("dialect", FreeKind::Word),
    ("profile", FreeKind::Word),
    ("perspective", FreeKind::Word),
    ("ordinal", FreeKind::Number),
];

/// The keys of renderings that are not objects: for a text, and for another JSON value.
pub(crate) const TEXT: &str = "text";
pub(crate) const CONTENT: &str = "content";
/// The keys of the assistant's spans in such a rendering, and of the spans that are trained on.
const SPANS: [&str; 2] = ["assistant_spans", "learned_spans"];

/// The assistant's spans of a text, and those of them that are trained on.
type OwnSpans<'a> = [&'a [Range<u64>]; 2];

/// The key of a row among the rows of its dialect.
#[derive(Clone, Copy)]
pub(crate) struct RowKey<'r> {
    pub(crate) conversation: &'r str,
    pub(crate) perspective: &'r str,
    pub(crate) ordinal: u64,
    /// Whether it is the first row of its conversation, in the order of the dataset.
    pub(crate) is_first: bool,
}

/// A row to write.
pub(crate) struct WrittenRow<'a> {
    pub(crate) key: RowKey<'a>,
    pub(crate) record: Record<'a>,
    /// The columns that are added to the record.
    pub(crate) added: Vec<Field<'a>>,
}

impl WrittenRow<'_> {
    /// The line of the row.
    fn line(&self) -> Result<Cow<'_, str>, ExportError> {
        let fields = match &self.record {
            Record::Object { line, .. } | Record::Value { json: line, .. } if self.added.is_empty() => {
                return Ok(Cow::Borrowed(line));
            }
            Record::Object { fields, .. } | Record::Fields(fields) => Cow::Borrowed(fields),
            Record::Text { text, spans } => Cow::Owned(text_fields(text, *spans)),
            Record::Value { .. } => {
                return Err(ExportError::request(
                    "a rendering of this dialect is a list, which takes no columns",
                    "take `--format parquet`, or leave `--columns` out",
                ));
            }
        };
        let taken = |added: &&Field<'_>| fields.iter().any(|field| field.name == added.name);
        if let Some(added) = self.added.iter().find(taken) {
            return Err(ExportError::taken(&added.name, "a key of a record"));
        }
        Ok(Cow::Owned(fields::object(fields.iter().chain(&self.added))))
    }
}

/// A record to write.
pub(crate) enum Record<'a> {
    /// An object, which is written unchanged.
    Object { line: &'a str, fields: Vec<Field<'a>> },
    /// An object from an envelope.
    Fields(Vec<Field<'a>>),
    /// Another JSON value, for example a list of messages; in a table with its spans.
    Value { json: &'a str, spans: OwnSpans<'a> },
    /// Text that is not JSON, with its spans.
    Text { text: &'a str, spans: OwnSpans<'a> },
}

impl Record<'_> {
    /// The hash of the record's text.
    pub(crate) fn hash(&self) -> blake3::Hash {
        match self {
            Self::Object { line: text, .. } | Self::Value { json: text, .. } | Self::Text { text, .. } => {
                blake3::hash(text.as_bytes())
            }
            Self::Fields(fields) => blake3::hash(fields::object(fields).as_bytes()),
        }
    }

    /// The top-level keys, each with the type of its column. Spans are added if one column is the whole rendering.
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

/// The names and types of columns.
pub(crate) type Columns = Vec<(String, FreeKind)>;

/// The properties that all files of an export have in common.
pub(crate) struct FileLayout<'l> {
    pub(crate) format: Format,
    pub(crate) rendered: &'l RenderedAs,
    /// The columns of a record itself, in a table.
    pub(crate) columns: Columns,
    /// The columns that are added to each record.
    pub(crate) added: Columns,
    /// The most bytes of a file; a larger part becomes several files.
    pub(crate) shard_bytes: u64,
}

/// Whether a key is the name of one of the columns in front.
pub(crate) fn is_reserved(key: &str) -> bool {
    KEYS.iter().any(|(name, _)| *name == key)
}

/// An open file of an export.
enum Writer<'l> {
    Lines(Box<FolderFile>),
    Pages(Box<Pages<'l>>),
    Table {
        table: Box<FreeTable>,
        layout: &'l FileLayout<'l>,
    },
}

impl<'l> Writer<'l> {
    fn create(folder: &'l Folder, name: &str, layout: &'l FileLayout<'l>) -> Result<Self, DatasetError> {
        let file = folder.file(name)?;
        match layout.format {
            Format::Jsonl => return Ok(Self::Lines(Box::new(file))),
            Format::Markdown => return Ok(Self::Pages(Box::new(Pages::new(folder, file, name)))),
            Format::Parquet => {}
        }
        let all: Columns = KEYS
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), *kind))
            .chain(layout.columns.iter().chain(&layout.added).cloned())
            .collect();
        let compression = Compression::parse("zstd(3)").unwrap_or(Compression::None);
        Ok(Self::Table {
            table: Box::new(FreeTable::create(file, &all, compression)?),
            layout,
        })
    }

    /// Writes a row, unless the file would then have more bytes than `most`; returns whether it was written.
    fn write(&mut self, row: &WrittenRow<'_>, most: u64) -> Result<bool, ExportError> {
        match self {
            Self::Lines(file) => {
                let line = row.line()?;
                if file.bytes() + line.len() as u64 + 1 > most {
                    return Ok(false);
                }
                file.add(line.as_bytes())?;
                file.add(b"\n")?;
            }
            Self::Pages(pages) => {
                if let Record::Text { text, .. } = row.record {
                    pages.write(row.key.conversation, text)?;
                }
            }
            Self::Table { table, layout } => {
                let contents = contents(row, layout)?;
                let mut cells = vec![
                    FreeCell::Text(row.key.conversation),
                    FreeCell::Text(&layout.rendered.dialect),
                    FreeCell::Text(&layout.rendered.profile),
                    FreeCell::Text(row.key.perspective),
                    FreeCell::Number(row.key.ordinal),
                ];
                cells.extend(contents.iter().map(CellContent::cell));
                if table.bytes_with(&cells) > most {
                    return Ok(false);
                }
                table.push(&cells)?;
            }
        }
        Ok(true)
    }

    /// The names of further files.
    fn pages(&mut self) -> Vec<String> {
        match self {
            Self::Pages(pages) => std::mem::take(&mut pages.names),
            Self::Lines(_) | Self::Table { .. } => Vec::new(),
        }
    }

    fn finish(self) -> Result<FileMeasure, DatasetError> {
        match self {
            Self::Lines(file) => file.finish(),
            Self::Pages(pages) => pages.finish(),
            Self::Table { table, .. } => table.finish(),
        }
    }
}

/// The contents of a row in the columns of a table after its key.
fn contents<'r>(
    row: &'r WrittenRow<'_>,
    layout: &FileLayout<'_>,
) -> Result<Vec<CellContent<'r>>, ExportError> {
    let (record, conversation) = (&row.record, row.key.conversation);
    let mut fields: Vec<&Field<'_>> = match record {
        Record::Object { fields, .. } | Record::Fields(fields) => fields.iter().collect(),
        Record::Value { .. } | Record::Text { .. } => Vec::new(),
    };
    fields.sort_by(|one, other| one.name.cmp(&other.name));
    let own = layout.columns.iter().map(|(name, kind)| {
        let field = fields.binary_search_by(|field| (*field.name).cmp(name));
        let field = field.ok().and_then(|place| fields.get(place).copied());
        CellContent::of(record, field, name, *kind).map_err(|misfit| {
            ExportError::request(
                format!("{misfit} in conversation `{conversation}`"),
                "take `--nested json`, which keeps every record as it is",
            )
        })
    });
    let added = layout.added.iter().zip(&row.added);
    let added = added.map(|((name, kind), field)| {
        CellContent::added(&field.json, *kind).ok_or_else(|| {
            ExportError::request(
                format!("the column `{name}` has another type in conversation `{conversation}`"),
                "run `chatmill certify` on the dataset",
            )
        })
    });
    own.chain(added).collect()
}

/// The content of a record in a column.
enum CellContent<'r> {
    Text(Cow<'r, str>),
    Nested(NestedValue<'r>),
    Cell(FreeCell<'r>),
}

impl<'r> CellContent<'r> {
    /// The unquoted text of a field in a column of text, JSON in a column of JSON; the error names the value that does not fit its structure.
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
                value.map_or(Self::Cell(FreeCell::Missing), Self::Nested)
            }
            (Record::Object { .. } | Record::Fields(_), _) => {
                let text = match kind {
                    FreeKind::Text | FreeKind::Word => field.and_then(Field::text).map(Cow::Owned),
                    _ => field.map(|field| Cow::Borrowed(field.json.as_ref())),
                };
                text.map_or(Self::Cell(FreeCell::Missing), Self::Text)
            }
            (Record::Value { spans, .. } | Record::Text { spans, .. }, FreeKind::Spans) => {
                let [assistant, trained] = *spans;
                let [is_assistant, _] = SPANS.map(|key| key == name);
                Self::Cell(FreeCell::Spans(if is_assistant { assistant } else { trained }))
            }
            (Record::Value { json: text, .. } | Record::Text { text, .. }, _) => {
                Self::Text(Cow::Borrowed(text))
            }
        })
    }

    /// The value of an added column; `None` if it does not have the column's type.
    fn added(json: &'r str, kind: FreeKind) -> Option<Self> {
        if json == "null" {
            return Some(Self::Cell(FreeCell::Missing));
        }
        Some(Self::Cell(match kind {
            FreeKind::Json => FreeCell::Text(json),
            FreeKind::Word | FreeKind::Text => return fields::string_value(json).map(Self::Text),
            FreeKind::Number => FreeCell::Number(json.parse().ok()?),
            FreeKind::Real => FreeCell::Real(json.parse().ok()?),
            FreeKind::Flag => FreeCell::Flag(json.parse().ok()?),
            FreeKind::Time => FreeCell::Time(
                fields::string_value(json)?
                    .parse::<Timestamp>()
                    .ok()?
                    .as_microsecond(),
            ),
            FreeKind::Nested(shape) => return nested::value(json, shape).ok().map(Self::Nested),
            FreeKind::Spans => return None,
        }))
    }

    fn cell(&self) -> FreeCell<'_> {
        match self {
            Self::Text(text) => FreeCell::Text(text),
            Self::Nested(value) => FreeCell::Nested(value),
            Self::Cell(cell) => *cell,
        }
    }
}

/// The fields of a text with its spans.
fn text_fields(text: &str, spans: OwnSpans<'_>) -> Vec<Field<'static>> {
    let bounds = |span: &Range<u64>| format!("{{\"start\":{},\"end\":{}}}", span.start, span.end);
    let list = |spans: &[Range<u64>]| {
        let spans: Vec<String> = spans.iter().map(bounds).collect();
        format!("[{}]", spans.join(","))
    };
    let spans = SPANS.into_iter().zip(spans.map(list));
    let mut fields = vec![Field::new(TEXT, fields::text(text))];
    fields.extend(spans.map(|(name, json)| Field::new(name, json)));
    fields
}
