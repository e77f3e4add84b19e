//! Findings that are known from an earlier check, with the number of occurrences that are still known.

use std::collections::HashMap;

/// Known findings, by key.
///
/// Findings of one key differ only in their line: several broken lines of one
/// file share a key. So a key is known as often as it was found, not forever.
#[derive(Clone, Debug, Default)]
pub struct Known(HashMap<Box<str>, u64>);

impl Known {
    /// Adds `count` known occurrences of a finding.
    pub fn add(&mut self, key: &str, count: u64) {
        let known = self.0.entry(key.into()).or_default();
        *known = known.saturating_add(count);
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many of `count` occurrences are known, and uses them up.
    pub(super) fn recognise(&mut self, key: &str, count: u64) -> u64 {
        let Some(left) = self.0.get_mut(key) else {
            return 0;
        };
        let recognised = count.min(*left);
        *left -= recognised;
        recognised
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_for_the_recorded_count_only() {
        let mut known = Known::default();
        known.add("a", 2);
        known.add("a", 1);
        assert_eq!(known.recognise("a", 2), 2);
        assert_eq!(known.recognise("a", 5), 1, "one was left");
        assert_eq!(known.recognise("a", 1), 0);
        assert_eq!(known.recognise("b", 1), 0);
    }
}
