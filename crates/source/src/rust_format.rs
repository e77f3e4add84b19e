//! Formats that are written in Rust: a table of functions and facts for each, which implements [`Source`].

use chatmill_diag::{Finding, Limits};
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Value};
use chatmill_intake::table::TableMap;

use crate::frame::{ExportPath, FrameView, Reading, Row};
use crate::layout::reading;
use crate::source::{About, Source};

type Recognise = fn(&Sketch) -> Option<(u8, Vec<String>)>;
type ReadFrame<R> = fn(FrameView<'_>, &Limits) -> R;
type Rows = fn(Value<'_>) -> Option<Vec<Row>>;

/// The function that reads a format, and what happens to the texts that it read.
#[derive(Debug)]
pub(crate) enum Read {
    /// Texts are unchanged, so that they can be written back.
    Stored(ReadFrame<Result<Reading, Box<Finding>>>),
    /// Reasoning is taken out of the texts.
    Thoughts(ReadFrame<Result<Reading, Box<Finding>>>),
    /// The function does this itself, and sets the name and the traits of its format.
    Own(ReadFrame<Reading>),
}

/// A format that is written in Rust; the fields are described at [`Source`].
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a different question of `Source`"
)]
pub struct RustFormat {
    pub(crate) about: &'static About,
    pub(crate) recognise: Recognise,
    pub(crate) read: Read,
    pub(crate) lines: Option<&'static str>,
    pub(crate) tables: Option<fn() -> Vec<TableMap>>,
    pub(crate) message_path: Option<fn(u32) -> Option<String>>,
    pub(crate) has_scattered_messages: bool,
    /// Cuts a record into rows; a format that has this function groups its rows.
    pub(crate) rows: Option<Rows>,
    /// Decides by the first records whether the rows of an entry are grouped; `None`: always, if `rows` is given.
    pub(crate) groups_rows: Option<fn(&Sketch) -> bool>,
    pub(crate) export_path: Option<fn(&Sketch, &str) -> ExportPath>,
    pub(crate) companion: Option<&'static str>,
    pub(crate) ignored_kind: Option<fn(&Sketch) -> Option<&'static str>>,
    pub(crate) merges: bool,
    pub(crate) can_merge: bool,
    pub(crate) resumes: bool,
}

impl RustFormat {
    /// A format with a complete conversation in each record.
    pub(crate) const fn of(about: &'static About, recognise: Recognise, read: Read) -> Self {
        Self {
            about,
            recognise,
            read,
            lines: None,
            tables: None,
            message_path: None,
            has_scattered_messages: false,
            rows: None,
            groups_rows: None,
            export_path: None,
            companion: None,
            ignored_kind: None,
            merges: false,
            can_merge: false,
            resumes: false,
        }
    }
}

/// A table map from its name, its source and the name of the table, with the required columns and the JSON columns.
pub(crate) fn table_map([name, source, table]: [&str; 3], requires: &[&str], json: &[&str]) -> TableMap {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    TableMap {
        name: name.to_owned(),
        source: source.to_owned(),
        table: table.to_owned(),
        requires: names(requires),
        json: names(json),
        ..TableMap::default()
    }
}

impl Source for RustFormat {
    fn about(&self) -> &'static About {
        self.about
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        (self.recognise)(sketch)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        match self.read {
            Read::Stored(read) => self.about.stored(read(*frame, limits)),
            Read::Thoughts(read) => reading(self.about, read(*frame, limits)),
            Read::Own(read) => read(*frame, limits),
        }
    }

    fn lines(&self) -> Option<String> {
        self.lines.map(str::to_owned)
    }

    fn tables(&self) -> Vec<TableMap> {
        self.tables.map_or_else(Vec::new, |tables| tables())
    }

    fn message_path(&self, index: u32) -> Option<String> {
        match self.message_path {
            Some(path) => path(index),
            None => (!self.has_scattered_messages).then(|| "$".to_owned()),
        }
    }

    fn has_scattered_messages(&self) -> bool {
        self.has_scattered_messages
    }

    fn groups_rows(&self, sketch: &Sketch) -> bool {
        self.groups_rows
            .map_or(self.rows.is_some(), |groups_rows| groups_rows(sketch))
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        self.rows.and_then(|rows| rows(document.root()))
    }

    fn export_path(&self, sketch: &Sketch, path: &str) -> Option<ExportPath> {
        self.export_path.map(|export_path| export_path(sketch, path))
    }

    fn companion(&self) -> Option<&'static str> {
        self.companion
    }

    fn ignored_kind(&self, sketch: &Sketch) -> Option<&'static str> {
        self.ignored_kind.and_then(|ignored_kind| ignored_kind(sketch))
    }

    fn merges(&self) -> bool {
        self.merges
    }

    fn can_merge(&self) -> bool {
        self.merges || self.can_merge
    }

    fn resumes(&self) -> bool {
        self.resumes
    }
}
