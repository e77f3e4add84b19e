//! Archives: members in their order, each with a label and a body; nothing is extracted.

pub(crate) mod dump;
pub(crate) mod label;
pub(crate) mod tar;
pub(crate) mod zip;

use chatmill_diag::Finding;

use crate::archive::dump::DumpTable;
use crate::columnar;
use crate::database::DatabaseFile;
use crate::stream::{Buffered, StreamError};

/// What comes next in an archive.
pub(crate) enum Member {
    /// A regular file.
    Body {
        label: String,
        notes: Vec<Finding>,
        body: Buffered,
    },
    /// Records, one a line.
    Lines {
        label: String,
        notes: Vec<Finding>,
        body: Buffered,
    },
    /// The rows of a table, as text that only the table's name and columns make readable.
    Table {
        label: String,
        notes: Vec<Finding>,
        body: Buffered,
        table: DumpTable,
    },
    /// A database file.
    Database {
        label: String,
        notes: Vec<Finding>,
        file: DatabaseFile,
    },
    /// A file of columns.
    Columns {
        label: String,
        notes: Vec<Finding>,
        file: DatabaseFile,
        kind: columnar::Kind,
    },
    /// A member without a readable body: with a cause it is a reject, without one its notes say all.
    Unread {
        label: String,
        notes: Vec<Finding>,
        broken: Option<StreamError>,
    },
}

impl Member {
    /// Damage of the archive itself, under the label of the input.
    pub(crate) fn broken(broken: StreamError) -> Self {
        Self::Unread {
            label: String::new(),
            notes: Vec::new(),
            broken: Some(broken),
        }
    }

    /// The same member as a part of another one, whose label and notes come first.
    pub(crate) fn inside(mut self, outer: &str, mut outer_notes: Vec<Finding>) -> Self {
        let (Self::Body { label, notes, .. }
        | Self::Lines { label, notes, .. }
        | Self::Table { label, notes, .. }
        | Self::Database { label, notes, .. }
        | Self::Columns { label, notes, .. }
        | Self::Unread { label, notes, .. }) = &mut self;
        *label = match label.as_str() {
            "" => outer.to_owned(),
            inner => format!("{outer}/{inner}"),
        };
        outer_notes.append(notes);
        *notes = outer_notes;
        self
    }
}
