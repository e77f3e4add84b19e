//! The conversations that grew most from one night to another.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError};
use serde::{Deserialize, Serialize};

/// Conversations that are named.
const NAMED: usize = 3;

/// A conversation that grew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grown {
    /// Its id.
    pub conversation_id: String,
    /// Its messages in the earlier night; 0 where it is new.
    pub before: u64,
    /// Its messages now.
    pub after: u64,
}

/// The conversations with the most new messages, those with more first. What the earlier night had is held in memory, about
/// 100 bytes a conversation.
pub fn grown(before: &Dataset, after: &Dataset) -> Result<Vec<Grown>, DatasetError> {
    const COLUMNS: [&str; 2] = ["conversation_id", "message_count"];
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    before.scan("conversations", &COLUMNS, &mut |batch| {
        let (ids, counts) = (batch.texts("conversation_id")?, batch.numbers("message_count")?);
        for row in 0..batch.rows() {
            known.insert(ids.at(row).to_owned(), counts.at(row));
        }
        Ok(())
    })?;
    let mut most: Vec<Grown> = Vec::new();
    after.scan("conversations", &COLUMNS, &mut |batch| {
        let (ids, counts) = (batch.texts("conversation_id")?, batch.numbers("message_count")?);
        for row in 0..batch.rows() {
            let before = known.get(ids.at(row)).copied().unwrap_or_default();
            let after = counts.at(row);
            if after > before {
                most.push(Grown {
                    conversation_id: ids.at(row).to_owned(),
                    before,
                    after,
                });
            }
            if most.len() > 2 * NAMED {
                keep_most(&mut most);
            }
        }
        Ok(())
    })?;
    keep_most(&mut most);
    Ok(most)
}

fn keep_most(grown: &mut Vec<Grown>) {
    grown.sort_by_key(|grown| std::cmp::Reverse(grown.after - grown.before));
    grown.truncate(NAMED);
}
