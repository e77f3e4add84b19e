//! Archives: members in their order, each with a label and a body; nothing is extracted.

pub(crate) mod label;
pub(crate) mod tar;
pub(crate) mod zip;

use chatmill_diag::Finding;

use crate::stream::{Broken, Buffered};

/// What comes next in an archive.
pub(crate) enum Member {
    /// A regular file.
    Body {
        label: String,
        notes: Vec<Finding>,
        body: Buffered,
    },
    /// A member without a readable body: with a cause it is a reject, without one its notes say all.
    Unread {
        label: String,
        notes: Vec<Finding>,
        broken: Option<Broken>,
    },
}

impl Member {
    /// Damage of the archive itself, under the label of the input.
    pub(crate) fn broken(broken: Broken) -> Self {
        Self::Unread {
            label: String::new(),
            notes: Vec::new(),
            broken: Some(broken),
        }
    }
}
