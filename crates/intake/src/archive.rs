//! Archives: members in their order, each with a label and a body; nothing is extracted.

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

/// The next member of an archive.
pub(crate) struct Member {
    pub(crate) heading: Heading,
    pub(crate) body: MemberBody,
}

/// The content of a member.
pub(crate) enum MemberBody {
    /// The bytes of a regular file.
    File(Buffered),
    /// Records, one a line.
    Lines(Buffered),
    /// The rows of a table, as text that only the table's name and columns make readable.
    Table(Buffered, DumpTable),
    /// A database file.
    Database(DatabaseFile),
    /// A file of columns.
    Columns(DatabaseFile, columnar::Kind),
    /// The member cannot be read: with a cause it is a reject, without one the notes give the reason.
    Unread(Option<StreamError>),
}

impl MemberBody {
    pub(crate) const fn broken(broken: StreamError) -> Self {
        Self::Unread(Some(broken))
    }

    /// A link, or what is no file: it is noted, and nothing is read of it.
    fn not_followed(heading: &mut Heading, message: &str) -> Self {
        heading.notes.push(Finding::new(&LINK_NOT_FOLLOWED, message));
        Self::Unread(None)
    }
}

/// More members than an archive may have.
fn entry_limit(limit: u64) -> StreamError {
    StreamError::new(
        &ENTRY_LIMIT,
        format!("the archive holds more than {limit} entries"),
    )
}

impl Member {
    /// A member without a name, as the input itself is one.
    pub(crate) fn unnamed(body: MemberBody) -> Self {
        let heading = Heading::default();
        Self { heading, body }
    }

    /// Corruption of the archive itself, under the label of the input.
    pub(crate) fn broken(broken: StreamError) -> Self {
        Self::unnamed(MemberBody::broken(broken))
    }

    /// The same member as a part of another one, whose label and notes come first.
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
