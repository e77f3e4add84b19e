//! Archives: their members in order, each with a label and a body. A reader takes them one by one, as entries, or as
//! dumps and databases inside the archive; nothing is extracted under its name.

pub(crate) mod dump;
pub(crate) mod label;
pub(crate) mod tar;
pub(crate) mod zip;

use chatmill_diag::Finding;
use chatmill_diag::codes::{ENTRY_LIMIT, LINK_NOT_FOLLOWED};

use crate::archive::dump::DumpTable;
use crate::archive::label::Heading;
use crate::columnar;
use crate::database::DatabaseFile;
use crate::stream::{Buffered, StreamError};

/// A member of an archive.
pub(crate) struct Member {
    pub(crate) heading: Heading,
    pub(crate) body: MemberBody,
}

/// The body of a member.
pub(crate) enum MemberBody {
    /// The bytes of a regular file.
    File(Buffered),
    /// Records, one per line.
    Lines(Buffered),
    /// The rows of a table, as text that can only be read with the table's name and columns.
    Table(Buffered, DumpTable),
    /// A database file.
    Database(DatabaseFile),
    /// A columnar file.
    Columns(DatabaseFile, columnar::Kind),
    /// A member that cannot be read: with an error it is a reject; without one the notes give the reason.
    Unread(Option<StreamError>),
}

impl MemberBody {
    pub(crate) const fn broken(broken: StreamError) -> Self {
        Self::Unread(Some(broken))
    }

    /// The body of a link, or of anything else that is no file: it gets a note and is not read.
    fn not_followed(heading: &mut Heading, message: &str) -> Self {
        heading.notes.push(Finding::new(&LINK_NOT_FOLLOWED, message));
        Self::Unread(None)
    }
}

/// The error for an archive with more members than allowed.
fn entry_limit(limit: u64) -> StreamError {
    StreamError::new(
        &ENTRY_LIMIT,
        format!("the archive holds more than {limit} entries"),
    )
}

impl Member {
    /// A member without a name: the input itself.
    pub(crate) fn unnamed(body: MemberBody) -> Self {
        let heading = Heading::default();
        Self { heading, body }
    }

    /// An error of the archive itself, with the label of the input.
    pub(crate) fn broken(broken: StreamError) -> Self {
        Self::unnamed(MemberBody::broken(broken))
    }

    /// The same member inside another one; the label and the notes of that one come first.
    pub(crate) fn inside(self, mut outer: Heading) -> Self {
        let Heading { label, notes } = self.heading;
        if !label.is_empty() {
            outer.label = format!("{}/{label}", outer.label);
        }
        outer.notes.extend(notes);
        Self {
            heading: outer,
            body: self.body,
        }
    }
}
