//! Losses of a rendering and the rules that it breaks: the codes, the reasons and the entries of the loss ledger.
//!
//! Passes and dialects declare each loss with a code and a reason of the list; sorted and summed losses go out, as rows of the table
//! `losses`. The rules of a dialect are in its file, where they become constants.
//!
//! Why: docs/decisions/2026-11-22-losses-table-rows.md.

mod reason;
#[expect(
    unreachable_pub,
    reason = "a list of constants, some of which other crates use"
)]
pub(crate) mod reasons;
pub(crate) mod rule;
pub(crate) mod schema_path;
pub(crate) mod violation;

use chatmill_diag::cut;
pub(crate) use reason::LossCause;
pub use reason::LossReason;
use serde::Serialize;

/// The reasons of replaced personal data and secrets, one for each kind.
pub mod pseudonyms {
    pub use super::reasons::{
        CARD_REPLACED, EMAIL_REPLACED, IBAN_REPLACED, IP_REPLACED, NAME_REPLACED, PHONE_REPLACED,
        SECRET_REPLACED,
    };
}

/// What a loss changes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// Content was made up that is not in the source.
    #[serde(rename = "made-up")]
    Invented,
    /// Words, calls, pictures or turns are different, moved or missing.
    Words,
    /// Only form, ids, times or metadata are different.
    Form,
}

macro_rules! loss_codes {
    ($(#[doc = $doc:literal] $name:ident = $word:literal, $changed:ident,)*) => {
        /// The kind of a loss or change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum LossCode { $(#[doc = $doc] $name,)* }

        impl LossCode {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the word in tables.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Finds the code with this word in tables.
            pub fn find(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == word)
            }

            /// Returns what the loss changes of the source.
            pub const fn changed(self) -> Changed {
                match self { $(Self::$name => Changed::$changed,)* }
            }

            /// Returns a sentence that describes what happened.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }.trim()
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

/// Returns the codes of several lists, sorted and without duplicates.
pub(crate) fn united(lists: &[&[LossCode]]) -> Vec<LossCode> {
    let mut codes = lists.concat();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The amount of each kind of loss in a rendering.
pub type LossAmounts = std::collections::BTreeMap<LossCode, u64>;

/// One entry of the loss ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The kind of loss.
    pub code: LossCode,
    /// Position of the message; `None` for a loss of the whole rendering.
    pub position: Option<u32>,
    /// Number of occurrences.
    pub amount: u64,
    /// The reason.
    pub reason: LossReason,
}

/// All losses of a rendering with one code and one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedLoss<'p> {
    /// The kind of loss.
    pub code: LossCode,
    /// The reason.
    pub reason: LossReason,
    /// Number of occurrences.
    pub amount: u64,
    /// Positions of the messages, ascending; empty for losses of the whole rendering.
    pub positions: &'p [u32],
}

/// The losses of a rendering, one entry for each code and reason. The allocations are reused for the next rendering.
#[derive(Debug, Default)]
pub struct FoldedLosses {
    entries: Vec<Fold>,
    /// The index of the entry for each loss.
    numbers: Vec<usize>,
    positions: Vec<u32>,
}

#[derive(Debug)]
struct Fold {
    code: LossCode,
    reason: LossReason,
    amount: u64,
    /// Its newest position.
    last: Option<u32>,
    /// The number of its positions; later the index of the first of them.
    places: usize,
}

impl FoldedLosses {
    /// Folds losses, which must be in order of position. Entries are in order of first appearance.
    pub fn fold(&mut self, losses: &[Loss]) -> impl Iterator<Item = FoldedLoss<'_>> {
        self.entries.clear();
        self.numbers.clear();
        for loss in losses {
            let number = self.add(loss);
            self.numbers.push(number);
        }
        let mut start = 0;
        for entry in &mut self.entries {
            entry.last = None;
            let places = std::mem::replace(&mut entry.places, start);
            start += places;
        }
        self.positions.clear();
        self.positions.resize(start, 0);
        for (loss, number) in losses.iter().zip(&self.numbers) {
            let entry = cut::at_mut(&mut self.entries, *number);
            if let Some(position) = loss.position.filter(|_| entry.last < loss.position) {
                *cut::at_mut(&mut self.positions, entry.places) = position;
                entry.last = loss.position;
                entry.places += 1;
            }
        }
        let (mut start, positions) = (0, self.positions.as_slice());
        self.entries.iter().map(move |entry| FoldedLoss {
            code: entry.code,
            reason: entry.reason,
            amount: entry.amount,
            positions: {
                let from = std::mem::replace(&mut start, entry.places);
                cut::slice(positions, from..entry.places)
            },
        })
    }

    /// Adds a loss to its entry and returns the index of the entry.
    fn add(&mut self, loss: &Loss) -> usize {
        // A rendering has only a few reasons: a linear search is cheaper than hashing.
        let is_known = |entry: &Fold| entry.code == loss.code && entry.reason == loss.reason;
        let mut known = self.entries.iter_mut().enumerate();
        if let Some((number, entry)) = known.find(|(_, entry)| is_known(entry)) {
            entry.amount += loss.amount;
            entry.places += usize::from(entry.last < loss.position);
            entry.last = entry.last.max(loss.position);
            return number;
        }
        self.entries.push(Fold {
            code: loss.code,
            reason: loss.reason,
            amount: loss.amount,
            last: loss.position,
            places: usize::from(loss.position.is_some()),
        });
        self.entries.len() - 1
    }
}

/// The losses that are collected while a rendering is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(Vec<Loss>);

impl Losses {
    /// Declares a loss of one message.
    pub(crate) fn at(&mut self, cause: impl Into<LossCause>, position: u32) {
        self.add(cause, Some(position), 1);
    }

    /// Declares several equal losses of one message; nothing if `amount` is 0.
    pub(crate) fn several(&mut self, cause: impl Into<LossCause>, position: u32, amount: u64) {
        self.add(cause, Some(position), amount);
    }

    /// Declares losses of the whole rendering; nothing if `amount` is 0.
    pub(crate) fn whole_rendering(&mut self, cause: impl Into<LossCause>, amount: u64) {
        self.add(cause, None, amount);
    }

    /// Declares equal losses of one message, or of the whole rendering without a position; nothing if `amount` is 0.
    pub(crate) fn add(&mut self, cause: impl Into<LossCause>, position: Option<u32>, amount: u64) {
        let LossCause { code, reason } = cause.into();
        if amount > 0 {
            self.0.push(Loss {
                code,
                position,
                amount,
                reason,
            });
        }
    }

    /// Returns the losses in order of position and code, those without a position first; equal losses are added up.
    pub(crate) fn finish(mut self) -> Vec<Loss> {
        let key = |loss: &Loss| (loss.position, loss.code, loss.reason);
        // Each pass adds its losses in order, so that the stable sort mostly merges sorted runs.
        self.0.sort_by_key(key);
        self.0.dedup_by(|next, first| {
            let is_equal = key(next) == key(first);
            if is_equal {
                first.amount += next.amount;
            }
            is_equal
        });
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_kebab_word_of_its_own() {
        let words: std::collections::BTreeSet<_> = LossCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), LossCode::ALL.len());
        for word in words {
            assert!(
                word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
                "{word}"
            );
        }
    }

    #[test]
    fn losses_fold_into_one_entry_for_each_code_and_reason() {
        let mut losses = Losses::default();
        losses.whole_rendering(reasons::NO_PLACE_FOR_TIMES, 4);
        losses.at(reasons::POLICY_DROPS_MEDIA, 1);
        losses.several(reasons::POLICY_DROPS_MEDIA, 3, 2);
        losses.at((LossCode::MediaDropped, reasons::NO_PLACE_FOR_TIMES.reason), 2);
        let losses = losses.finish();
        let mut folded = FoldedLosses::default();
        let seen: Vec<_> = folded
            .fold(&losses)
            .map(|loss| (loss.code, loss.reason, loss.amount, loss.positions.to_vec()))
            .collect();
        assert_eq!(
            seen,
            [
                (
                    LossCode::TimestampDropped,
                    reasons::NO_PLACE_FOR_TIMES.reason,
                    4,
                    vec![]
                ),
                (
                    LossCode::MediaDropped,
                    reasons::POLICY_DROPS_MEDIA.reason,
                    3,
                    vec![1, 3]
                ),
                (
                    LossCode::MediaDropped,
                    reasons::NO_PLACE_FOR_TIMES.reason,
                    1,
                    vec![2]
                ),
            ]
        );
    }

    #[test]
    fn equal_losses_add_up_and_come_out_in_order() {
        let mut losses = Losses::default();
        losses.at(reasons::POLICY_DROPS_MEDIA, 3);
        losses.at(reasons::POLICY_DROPS_MEDIA, 3);
        losses.at(reasons::MESSAGE_IS_EMPTY, 1);
        losses.whole_rendering(reasons::NO_PLACE_FOR_TIMES, 4);
        losses.whole_rendering(reasons::NO_PLACE_FOR_MENTIONS, 0);
        let losses = losses.finish();
        let seen: Vec<_> = losses
            .iter()
            .map(|loss| (loss.position, loss.code, loss.amount))
            .collect();
        assert_eq!(
            seen,
            [
                (None, LossCode::TimestampDropped, 4),
                (Some(1), LossCode::EmptyDropped, 1),
                (Some(3), LossCode::MediaDropped, 2),
            ]
        );
    }
}
