//! The reason of a loss: an entry of the list, and the rule of the dialect that demands it, if there is one.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::LossCode;
use crate::loss::rule::DialectRule;

/// Why something was lost: a clause of the list, with or without a rule, for example `OAC-06: the id occurs on an earlier call`.
///
/// A reason is small and contains nothing from the chat: position and amount are separate columns.
#[derive(Clone, Copy, Debug)]
pub struct LossReason {
    /// The rule of the dialect that demands the change.
    rule: Option<&'static DialectRule>,
    /// The index of the clause in the list.
    number: u16,
    /// The clause at that index.
    clause: &'static str,
}

impl LossReason {
    /// Creates an entry of the list; nothing else creates reasons.
    pub(super) const fn new(number: u16, clause: &'static str) -> Self {
        Self {
            rule: None,
            number,
            clause,
        }
    }

    /// Returns the same clause with the rule of the dialect that demands it.
    pub(crate) const fn by(self, rule: &'static DialectRule) -> Self {
        Self {
            rule: Some(rule),
            ..self
        }
    }

    /// Returns the words of the reason, as in tables.
    pub fn words(self) -> Cow<'static, str> {
        match self.rule {
            None => Cow::Borrowed(self.clause),
            Some(_) => Cow::Owned(self.to_string()),
        }
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        let rule = self.rule.map(|rule| rule.id().bytes().chain(": ".bytes()));
        rule.into_iter().flatten().chain(self.clause.bytes())
    }
}

/// The code and the reason of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LossCause {
    /// The kind of loss.
    pub(crate) code: LossCode,
    /// The reason.
    pub(crate) reason: LossReason,
}

impl LossCause {
    /// Returns the same cause with the rule of the dialect that demands it.
    pub(crate) const fn by(self, rule: &'static DialectRule) -> Self {
        Self {
            reason: self.reason.by(rule),
            ..self
        }
    }
}

impl From<(LossCode, LossReason)> for LossCause {
    fn from((code, reason): (LossCode, LossReason)) -> Self {
        Self { code, reason }
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rule) = self.rule {
            write!(formatter, "{rule}: ")?;
        }
        formatter.write_str(self.clause)
    }
}

impl PartialEq for LossReason {
    fn eq(&self, other: &Self) -> bool {
        // All clauses of the list are different, so the index identifies the words.
        (self.number, self.rule) == (other.number, other.rule)
    }
}

impl Eq for LossReason {}

impl Hash for LossReason {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl PartialOrd for LossReason {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LossReason {
    /// Compares by words, so that the place of an entry in the list does not change a dataset.
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            Ordering::Equal
        } else {
            self.bytes().cmp(other.bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::{ABC_01, ABC_02, ABC_03};

    const ONE: LossReason = LossReason::new(0, "there are no ids");
    const TWO: LossReason = LossReason::new(1, "a call has a name");

    #[test]
    fn a_reason_with_a_rule_begins_with_it_and_differs_from_the_plain_one() {
        let ruled = ONE.by(ABC_02);
        assert_eq!(ruled.words(), "ABC-02: there are no ids");
        assert_eq!(ruled.to_string(), ruled.words());
        assert!(matches!(ONE.words(), Cow::Borrowed("there are no ids")));
        assert!(ruled != ONE && ruled == ONE.by(ABC_02) && ruled != ONE.by(ABC_03));
    }

    #[test]
    fn reasons_are_ordered_as_their_words_are() {
        let mut reasons = [ONE, TWO.by(ABC_03), TWO, ONE.by(ABC_02), ONE.by(ABC_01)];
        reasons.sort_unstable();
        let words = reasons.map(LossReason::words);
        assert!(words.is_sorted(), "{words:?}");
    }
}
