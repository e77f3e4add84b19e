//! The reasons of all losses: constants that the build script makes of the list in `reasons.txt`.
//!
//! Why: docs/decisions/2026-11-22-loss-reasons-list.md.

use super::LossCode;
use super::reason::{LossCause, LossReason};

include!(concat!(env!("OUT_DIR"), "/reasons.rs"));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_reasons_have_the_same_words() {
        let words: BTreeSet<_> = ALL.iter().map(|reason| reason.words()).collect();
        assert_eq!(words.len(), ALL.len());
    }

    #[test]
    fn a_reason_is_one_clause_without_a_rule_and_without_gaps_to_fill() {
        for reason in ALL {
            let words = reason.words();
            let (start, end) = (words.chars().next(), words.chars().last());
            assert!(start.is_some_and(char::is_alphabetic), "{words}");
            assert!(!end.is_some_and(|end| ".!?".contains(end)), "{words}");
            let has_gap = words.contains("{}") || words.contains("{:");
            let has_rule = words
                .get(3..7)
                .is_some_and(|rule| rule.starts_with('-') && rule.ends_with(':'));
            assert!(!has_gap && !has_rule && !words.contains('\n'), "{words}");
        }
    }
}
