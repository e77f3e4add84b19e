//! Rows that are not in an export: their number by reason, and on request a list of them.

use std::collections::BTreeMap;

use serde::Serialize;

/// Renderings that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The reason: a filter, or a rule of the envelope.
    pub reason: String,
    /// The number of rows.
    pub rows: u64,
}

/// A rendering that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LeftOutRow {
    /// Id of its conversation.
    pub conversation_id: String,
    /// Participant who is the assistant, empty for none.
    pub perspective: String,
    /// The number of the rendering among those of this key.
    pub ordinal: u64,
    /// The reason for which it was left out.
    pub reason: String,
}

/// Counts rows that are left out, and lists them on request.
#[derive(Default)]
pub(crate) struct LeftOutRows {
    by_reason: BTreeMap<String, u64>,
    rows: Option<Vec<LeftOutRow>>,
}

impl LeftOutRows {
    pub(crate) fn new(are_listed: bool) -> Self {
        Self {
            by_reason: BTreeMap::new(),
            rows: are_listed.then(Vec::new),
        }
    }

    /// Adds a row by its key; `detail` is more specific than the reason that rows are counted by.
    pub(crate) fn add(
        &mut self,
        (conversation, perspective, ordinal): (&str, &str, u64),
        reason: String,
        detail: Option<String>,
    ) {
        if let Some(rows) = &mut self.rows {
            rows.push(LeftOutRow {
                conversation_id: conversation.to_owned(),
                perspective: perspective.to_owned(),
                ordinal,
                reason: detail.unwrap_or_else(|| reason.clone()),
            });
        }
        *self.by_reason.entry(reason).or_default() += 1;
    }

    /// The counts, sorted by reason, and the rows, sorted by their key.
    pub(crate) fn finish(self) -> (Vec<LeftOut>, Option<Vec<LeftOutRow>>) {
        let counts = self.by_reason.into_iter();
        let counts = counts.map(|(reason, rows)| LeftOut { reason, rows }).collect();
        let mut rows = self.rows;
        if let Some(rows) = &mut rows {
            rows.sort_unstable();
        }
        (counts, rows)
    }
}
