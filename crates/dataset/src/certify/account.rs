//! What is wrong with the account of an input. It is asked before a dataset is published, of what was counted while its rows were
//! written, and again when it is certified, of the rows that its tables hold.

use serde::{Deserialize, Serialize};

use crate::manifest::InputEntry;
use crate::tables::table::Table;
use crate::tables::{ConversationColumns, RejectColumns};

/// Rows of an input against which its account is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRows {
    /// In the table of conversations.
    pub conversations: u64,
    /// Frames in the table of rejects.
    pub rejects: u64,
}

impl InputRows {
    /// As many as an account says.
    pub fn said(input: &InputEntry) -> Self {
        Self {
            conversations: input.conversations,
            rejects: input.rejected,
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.rejects += other.rejects;
    }

    /// Where they are not as many as those that an account says.
    pub(crate) fn faults(self, said: Self, input: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for (found, said, what, table) in [
            (
                self.conversations,
                said.conversations,
                "rows",
                ConversationColumns::NAME,
            ),
            (self.rejects, said.rejects, "frames", RejectColumns::NAME),
        ] {
            if found != said {
                faults.push(format!("{input} has {found} {what} in {table} instead of {said}"));
            }
        }
        faults
    }
}

/// Whether every record, byte and row of an input became something.
pub(crate) fn is_balanced(input: &InputEntry) -> bool {
    input.ledger().balances() && input.rows.balances()
}

/// What is wrong with the account of an input of which these rows were found: what was framed became something, and was written
/// as what it became; it was read, or refused and says so; what is plain was read once, from its first byte to its last.
pub fn account_faults(input: &InputEntry, found: InputRows) -> Vec<String> {
    let path = &input.path;
    let mut faults = Vec::new();
    if !is_balanced(input) {
        faults.push(format!("the ledger of {path} does not balance"));
    }
    if let Some(code) = &input.refused {
        let is_one_reject = (input.framed, input.rejected, input.entries) == (1, 1, 0);
        if input.hash.is_some() || !is_one_reject || input.decoded_bytes > 0 {
            faults.push(format!("{path} was refused ({code}) and read all the same"));
        }
    } else if input.hash.is_none() {
        faults.push(format!("{path} has no hash and was not refused"));
    } else if input.entries == 0 {
        faults.push(format!("nothing of {path} was read, and it was not refused"));
    } else if input.plain && (input.entries, input.decoded_bytes) != (1, input.bytes) {
        faults.push(format!(
            "{} bytes of {path} were read in {} entries, and it is one of {}",
            input.decoded_bytes, input.entries, input.bytes
        ));
    }
    faults.extend(found.faults(InputRows::said(input), path));
    faults
}
