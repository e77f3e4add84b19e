//! Tool definitions that a dialect would refuse. Archives repeat definitions in each row, so there
//! is one finding per definition and input, at the first row with it, with the number of rows.

use std::collections::HashMap;

use chatmill_diag::{Finding, codes};

use crate::entry::EntryRef;
use crate::record::locate::Located;

/// A definition in a row.
pub(super) struct DefinitionAt {
    /// Index of the dialect that refuses it.
    pub(super) rank: usize,
    /// The finding and its place.
    pub(super) located: Located,
    pub(super) entry: EntryRef,
    pub(super) record: Option<u64>,
    /// The conversation's id.
    pub(super) id: String,
}

/// The key of a definition: the dialect, the tool and a hash of the text; the tool is `None` beyond the limit.
type Key = (usize, Option<String>, u64);

/// The refused definitions of an input, in the order of their first rows.
#[derive(Default)]
pub(super) struct RefusedDefinitions {
    found: Vec<(Key, DefinitionAt)>,
    indexes: HashMap<Key, usize>,
}

impl RefusedDefinitions {
    /// Adds the definition of a row; at most `limit` definitions are kept apart.
    pub(super) fn add(&mut self, tool: String, text: u64, at: DefinitionAt, limit: u64) {
        self.put((at.rank, Some(tool), text), at, limit);
    }

    fn put(&mut self, key: Key, mut at: DefinitionAt, limit: u64) {
        let count = at.located.finding.count;
        if let Some((_, known)) = self
            .indexes
            .get(&key)
            .and_then(|index| self.found.get_mut(*index))
        {
            known.located.finding.count += count;
        } else if key.1.is_none() || (self.found.len() as u64) < limit {
            self.indexes.insert(key.clone(), self.found.len());
            self.found.push((key, at));
        } else {
            let message = "definitions of further tools would be refused";
            at.located = Located::nowhere(Finding {
                count,
                ..Finding::new(&codes::NOT_ACCEPTED, message)
            });
            at.record = None;
            self.put((at.rank, None, 0), at, limit);
        }
    }

    /// Adds the definitions of later rows.
    pub(super) fn merge(&mut self, later: Self, limit: u64) {
        for (key, at) in later.found {
            self.put(key, at, limit);
        }
    }

    /// Returns the definitions, each with its first row.
    pub(super) fn into_found(self) -> impl Iterator<Item = DefinitionAt> {
        self.found.into_iter().map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(limit: u64, rows: &[(usize, &str, u64)]) -> RefusedDefinitions {
        let mut refused = RefusedDefinitions::default();
        for (number, (rank, tool, text)) in (1..).zip(rows) {
            let at = DefinitionAt {
                rank: *rank,
                located: Located::nowhere(Finding::new(&codes::NOT_ACCEPTED, "x")),
                entry: EntryRef::default(),
                record: Some(number),
                id: String::new(),
            };
            refused.add((*tool).to_owned(), *text, at, limit);
        }
        refused
    }

    fn counts(refused: RefusedDefinitions) -> Vec<(Option<u64>, u64)> {
        let found = refused.into_found();
        found.map(|at| (at.record, at.located.finding.count)).collect()
    }

    #[test]
    fn a_definition_is_found_once_for_each_dialect_tool_and_text_at_its_first_row() {
        let rows = [(0, "f", 1), (1, "f", 1), (0, "f", 1), (0, "g", 1), (0, "f", 2)];
        let mut refused = added(9, &rows);
        assert_eq!(
            counts(added(9, &rows)),
            [(Some(1), 2), (Some(2), 1), (Some(4), 1), (Some(5), 1)]
        );
        refused.merge(added(9, &[(1, "f", 1), (0, "h", 1)]), 9);
        let merged = counts(refused);
        assert_eq!((merged.len(), merged[1]), (5, (Some(2), 2)));
    }

    #[test]
    fn definitions_beyond_the_limit_are_counted_for_each_dialect() {
        let mut refused = added(1, &[(0, "f", 1), (0, "g", 1), (1, "f", 1), (0, "f", 1)]);
        refused.merge(added(1, &[(0, "h", 1)]), 1);
        assert_eq!(counts(refused), [(Some(1), 2), (None, 2), (None, 1)]);
    }
}
