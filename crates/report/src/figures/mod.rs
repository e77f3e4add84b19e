//! The figures of runs that conditions compare, from manifests and small tables; no renderings are read. A night keeps them in its record,
//! so that they outlive the dataset; `chatmill diff` makes them from both datasets.

mod dated;

use std::collections::BTreeSet;

use chatmill_dataset::{Dataset, DatasetError, Numbers, Texts, columns};
use chatmill_diag::Ledger;
use serde::{Deserialize, Serialize};

use crate::bill::money::money;
use crate::bill::{self, PriceList};
use crate::build::total;
use crate::figures::dated::without_dates;
use crate::report::{Comparison, MoneyFigure, TokenCell, TokenChange};

/// The number of missing inputs that are named.
const MAX_NAMES: usize = 20;

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Inputs.
    pub inputs: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages.
    pub messages: u64,
    /// Records that were cut from the inputs.
    pub framed: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records and messages that could not be read.
    pub rejects: u64,
    /// Occurrences of findings that are errors.
    pub errors: u64,
    /// Occurrences of findings that are warnings.
    pub warnings: u64,
    /// Tokens per dialect, profile, coverage and encoding.
    pub tokens: Vec<TokenFigure>,
    /// The cost, if prices are known.
    pub money: Vec<MoneyFigure>,
}

/// Tokens of one dialect in one encoding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenFigure {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// The coverage of its renderings.
    pub coverage: String,
    /// Encoding.
    pub encoding: String,
    /// Tokens.
    pub tokens: u64,
    /// Messages that the renderings show.
    pub messages_rendered: u64,
}

impl RunFigures {
    /// The figures of a dataset; without money if there are no prices.
    pub fn of(dataset: &Dataset, prices: &PriceList) -> Result<Self, DatasetError> {
        let manifest = dataset.manifest();
        let mut ledger = Ledger::default();
        for input in manifest.inputs.iter() {
            ledger.add(&input.ledger());
        }
        let (errors, warnings) = occurrences(dataset)?;
        let cells = bill::cells(dataset.overview()?.renderings, dataset.encodings());
        Ok(Self {
            inputs: manifest.inputs.len() as u64,
            conversations: total(dataset, "conversations")?,
            messages: total(dataset, "messages")?,
            framed: ledger.framed,
            rejected: ledger.rejected,
            rejects: dataset.rows("rejects"),
            errors,
            warnings,
            tokens: cells.iter().map(TokenFigure::from).collect(),
            money: money(dataset, prices)?
                .into_iter()
                .map(|cell| cell.figure)
                .collect(),
        })
    }

    /// Replaces the names of models that come from the input.
    pub fn mask_models(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        for figure in &mut self.money {
            figure.mask_model(mask);
        }
    }

    /// The share of rejected records among the framed ones; 0 without records.
    pub(crate) fn reject_ratio(&self) -> f64 {
        if self.framed == 0 {
            0.0
        } else {
            self.rejected as f64 / self.framed as f64
        }
    }
}

impl TokenFigure {
    /// Dialect, profile, coverage and encoding; figures of two runs with the same key are compared.
    pub(crate) fn key(&self) -> [&str; 4] {
        [&self.dialect, &self.profile, &self.coverage, &self.encoding]
    }
}

impl From<&TokenCell> for TokenFigure {
    fn from(cell: &TokenCell) -> Self {
        Self {
            dialect: cell.dialect.clone(),
            profile: cell.profile.clone(),
            coverage: cell.coverage.clone(),
            encoding: cell.encoding.clone(),
            tokens: cell.tokens,
            messages_rendered: cell.messages_rendered,
        }
    }
}

columns! {
    struct Severities {
        severity: Texts,
        count: Numbers,
    }
}

/// The numbers of errors and of warnings.
fn occurrences(dataset: &Dataset) -> Result<(u64, u64), DatasetError> {
    let (mut errors, mut warnings) = (0, 0);
    dataset.each_row(
        "findings",
        &mut |columns: &Severities, row| match columns.severity.at(row) {
            "error" => errors += columns.count.at(row),
            "warning" => warnings += columns.count.at(row),
            _ => {}
        },
    )?;
    Ok((errors, warnings))
}

/// Inputs of the earlier run that the later one does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingInputs {
    /// The number of missing inputs.
    pub count: u64,
    /// The names of some of them.
    pub names: Vec<String>,
}

/// The values that conditions compare: the figures of a run and, if there is an earlier run, its figures and the changes since.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The figures of the run.
    pub after: RunFigures,
    /// The earlier run; `None` on a first night.
    pub before: Option<Earlier>,
}

/// The values of an earlier run with which conditions compare.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// The figures of the run.
    pub figures: RunFigures,
    /// Inputs that the later run does not have.
    pub missing: MissingInputs,
    /// The tokens of both runs, with those of the conversations that both have.
    pub tokens: Vec<TokenChange>,
    /// The money of the earlier run at the prices of the later one.
    pub repriced: Vec<MoneyFigure>,
}

impl Case {
    /// A run without an earlier one.
    pub fn first(after: &Dataset, prices: &PriceList) -> Result<Self, DatasetError> {
        Ok(Self {
            after: RunFigures::of(after, prices)?,
            before: None,
        })
    }

    /// A run and an earlier one; `comparison` is that of these two, and `then` are the figures of the earlier run that were recorded when
    /// it was made, at the prices of that time.
    pub fn of(
        before: &Dataset,
        after: &Dataset,
        comparison: &Comparison,
        prices: &PriceList,
        then: Option<&RunFigures>,
    ) -> Result<Self, DatasetError> {
        let mut figures = RunFigures::of(before, prices)?;
        let repriced = figures.money.clone();
        // If a night recorded the money of a model for other tokens (counted here, or logged), that amount is shown and has no percentage.
        for figure in &mut figures.money {
            let recorded = then.iter().flat_map(|then| &then.money);
            let mut same: Vec<_> = recorded.filter(|then| then.is_of_model(figure)).collect();
            same.sort_by_key(|then| then.basis != figure.basis);
            if let Some(then) = same.first() {
                (figure.basis, figure.amount) = (then.basis, then.amount);
            }
        }
        let earlier = Earlier {
            figures,
            repriced,
            missing: missing(before, after),
            tokens: comparison.tokens.clone(),
        };
        Ok(Self {
            after: RunFigures::of(after, prices)?,
            before: Some(earlier),
        })
    }
}

/// Inputs that the later run does not have under any date. A file that is named after a day has another name every day: yesterday's file is
/// missing only if there is none for any day.
fn missing(before: &Dataset, after: &Dataset) -> MissingInputs {
    let there: BTreeSet<&str> = after.manifest().inputs.paths().collect();
    let undated: BTreeSet<String> = there.iter().map(|path| without_dates(path)).collect();
    let mut missing = MissingInputs::default();
    let mut seen = BTreeSet::new();
    for path in before.manifest().inputs.paths() {
        let stem = without_dates(path);
        let is_there = there.contains(path) || (stem != path && undated.contains(&stem));
        // Several missing days of one file count as one missing file.
        if !is_there && seen.insert(stem) {
            missing.count += 1;
            if missing.names.len() < MAX_NAMES {
                missing.names.push(path.to_owned());
            }
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_records_has_a_reject_ratio_of_zero() {
        assert!(RunFigures::default().reject_ratio().abs() < f64::EPSILON);
        let figures = RunFigures {
            framed: 200,
            rejected: 3,
            ..RunFigures::default()
        };
        assert!((figures.reject_ratio() - 0.015).abs() < f64::EPSILON);
    }
}
