//! The losses and changes of an export's rows, by code, as its summary shows them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chatmill_dialect::{Changed, LossAmounts, LossCode};
use serde::Serialize;

/// The losses or changes of one kind in the rows of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossFigures {
    /// The code of the loss.
    pub code: &'static str,
    /// Rows with it.
    pub rows: u64,
    /// Occurrences in these rows; `None` if the dataset has no table `losses`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<u64>,
    /// The kind of difference from the source.
    pub changed: Changed,
    /// What happened, in a clause.
    pub meaning: String,
}

/// A sentence without its capital letter and its full stop.
fn clause(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let first = sentence.chars().next();
    let rest = sentence.chars().skip(1);
    first
        .into_iter()
        .flat_map(char::to_lowercase)
        .chain(rest)
        .collect()
}

/// The losses of written rows, by code.
#[derive(Debug, Default)]
pub(crate) struct LossCounts(BTreeMap<LossCode, (u64, Option<u64>)>);

impl LossCounts {
    /// Counts the losses of a row; `amounts` has the occurrences of each code, if they are known.
    pub(crate) fn add(&mut self, codes: &[&str], amounts: Option<&LossAmounts>) {
        for code in codes.iter().filter_map(|code| LossCode::find(code)) {
            let (rows, amount) = self.0.entry(code).or_insert((0, Some(0)));
            *rows += 1;
            let more = amounts.and_then(|amounts| amounts.get(&code));
            *amount = amount.zip(more).map(|(sum, more)| sum + more);
        }
    }

    /// The figures: made-up content first, then changed text, then the rest; each sorted by rows, the most first.
    pub(crate) fn figures(self) -> Vec<LossFigures> {
        let figures = self.0.into_iter().map(|(code, (rows, amount))| LossFigures {
            code: code.as_str(),
            rows,
            amount,
            changed: code.changed(),
            meaning: clause(code.meaning()),
        });
        let mut figures: Vec<LossFigures> = figures.collect();
        figures.sort_by_key(|figures| (figures.changed, Reverse(figures.rows)));
        figures
    }
}
