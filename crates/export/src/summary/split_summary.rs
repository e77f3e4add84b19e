//! The division of an export in figures.

use serde::Serialize;

use crate::split::assignment::Assignment;
use crate::split::{LeakRule, Split, StrataSummary};

/// How an export was divided, and the overlap of its parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitSummary {
    /// Properties that conversations of different parts do not have in common, unless their group is divided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// Groups of conversations that are in several parts of an earlier export, and stay there; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided_groups: Option<u64>,
    /// The number of consecutive words from which on parts overlap.
    pub ngram: usize,
    /// The handling of conversations that share such words with an earlier part.
    pub ngram_leaks: LeakRule,
    /// Conversations that moved to another part; `None` if none may move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<u64>,
    /// Rows of the parts after the first that share such words with an earlier part; `None` if that was not counted.
    pub leaks: Option<Vec<PartLeak>>,
    /// The distance of the parts from their shares of the strata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strata: Option<StrataSummary>,
}

/// Rows of a part that share words with an earlier part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartLeak {
    /// The name of the part.
    pub part: String,
    /// Rows of conversations that share words.
    pub rows: u64,
}

impl SplitSummary {
    /// A summary before the first row.
    pub(crate) fn new(split: &Split, assignment: &Assignment) -> Self {
        let later = split.parts.iter().skip(1).map(|part| PartLeak {
            part: part.name.clone(),
            rows: 0,
        });
        Self {
            group_by: split.group_by.clone(),
            divided_groups: assignment.divided_groups,
            ngram: split.ngram.get(),
            ngram_leaks: split.ngram_leaks,
            moved: (split.ngram_leaks == LeakRule::Move).then_some(assignment.moved),
            leaks: assignment.why_unknown().is_none().then(|| later.collect()),
            strata: assignment.strata.clone(),
        }
    }

    /// Counts a row that shares words with an earlier part.
    pub(crate) fn add_leak(&mut self, part: usize) {
        let mut leaks = self.leaks.iter_mut().flatten();
        if let Some(leak) = leaks.nth(part.saturating_sub(1)) {
            leak.rows += 1;
        }
    }
}
