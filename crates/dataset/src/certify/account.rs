//! Problems with the account of an input. They are looked for twice: before a dataset is published, in the counts taken
//! while its rows were written, and when it is certified, in the rows of its tables.

use serde::{Deserialize, Serialize};

use crate::manifest::InputEntry;
use crate::tables::table::Table;
use crate::tables::{ConversationColumns, RejectColumns};

/// The numbers of rows of an input that are compared with its account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRows {
    /// Rows in the table of conversations.
    pub conversations: u64,
    /// Rejected frames in the table of rejects.
    pub rejects: u64,
}

impl InputRows {
    /// The numbers that an account states.
    pub fn stated(input: &InputEntry) -> Self {
        Self {
            conversations: input.conversations,
            rejects: input.rejected,
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.rejects += other.rejects;
    }

    /// The differences from the numbers that an account states, one clause each.
    pub(crate) fn problems(self, stated: Self, input: &str) -> Vec<String> {
        let mut problems = Vec::new();
        for (found, stated, what, table) in [
            (
                self.conversations,
                stated.conversations,
                "rows",
                ConversationColumns::NAME,
            ),
            (self.rejects, stated.rejects, "frames", RejectColumns::NAME),
        ] {
            if found != stated {
                problems.push(format!(
                    "{input} has {found} {what} in {table} instead of {stated}"
                ));
            }
        }
        problems
    }
}

/// Whether every record, byte and row of an input is accounted for.
pub(crate) fn is_balanced(input: &InputEntry) -> bool {
    input.ledger().balances() && input.rows.balances()
}

/// Problems with the account of an input for which these rows were found. Every framed record must have an outcome and
/// its row; the input must be read or refused; an input that is no container must be read once, from its first byte to
/// its last.
pub fn account_problems(input: &InputEntry, found: InputRows) -> Vec<String> {
    let path = &input.path;
    let mut problems = Vec::new();
    if !is_balanced(input) {
        problems.push(format!(
            "the records of {path} do not add up: framed is not accepted + rejected + filtered"
        ));
    }
    if let Some(code) = &input.refused {
        let is_one_reject = (input.framed, input.rejected, input.entries) == (1, 1, 0);
        if input.hash.is_some() || !is_one_reject || input.decoded_bytes > 0 {
            problems.push(format!(
                "{path} was refused ({code}), but records of it were read"
            ));
        }
    } else if input.hash.is_none() {
        problems.push(format!("{path} has no hash, but was not refused"));
    } else if input.entries == 0 {
        problems.push(format!("nothing of {path} was read, and it was not refused"));
    } else if input.plain && (input.entries, input.decoded_bytes) != (1, input.bytes) {
        problems.push(format!(
            "{} bytes of {path} were read in {} entries instead of {} bytes in one",
            input.decoded_bytes, input.entries, input.bytes
        ));
    }
    problems.extend(found.problems(InputRows::stated(input), path));
    problems
}
