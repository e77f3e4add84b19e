//! The bill: tokens and losses per dialect.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError};

use super::{ROWS, scan};
use crate::bill::{self, BillRequest};
use crate::queries;
use crate::report::{LossKind, Queried, TokenCell};

/// The bill of a whole dataset.
pub(super) fn tokens(dataset: &Dataset) -> Result<Queried<TokenCell>, DatasetError> {
    let query = if dataset.encodings().is_empty() {
        queries::UNCOUNTED.to_owned()
    } else {
        queries::tokens(dataset.encodings())
    };
    if !(dataset.has("renderings") && dataset.has("token_counts")) {
        return Ok(Queried::new(query, Vec::new(), ROWS));
    }
    let bill = bill::of_dataset(dataset, &BillRequest::default())?;
    let rows = bill.rows().into_iter().map(|row| row.cell).collect();
    Ok(Queried::new(query, rows, ROWS))
}

/// Reads what each dialect lost, by kind.
pub(super) fn losses(dataset: &Dataset) -> Result<Queried<LossKind>, DatasetError> {
    const COLUMNS: [&str; 7] = [
        "conversation_id",
        "dialect",
        "profile",
        "perspective",
        "ordinal",
        "code",
        "amount",
    ];
    let mut kinds: Kinds = BTreeMap::new();
    // The losses of one rendering are adjacent.
    let mut rendering = Lost::default();
    scan(dataset, "losses", &COLUMNS, &mut |batch| {
        let (ids, dialect) = (batch.texts("conversation_id")?, batch.texts("dialect")?);
        let (profile, perspective) = (batch.texts("profile")?, batch.texts("perspective")?);
        let (ordinal, code) = (batch.numbers("ordinal")?, batch.texts("code")?);
        let amount = batch.numbers("amount")?;
        for row in 0..batch.rows() {
            let key = [ids.at(row), dialect.at(row), profile.at(row), perspective.at(row)];
            if rendering.key != key || rendering.ordinal != ordinal.at(row) {
                std::mem::take(&mut rendering).book(&mut kinds);
                rendering.key = key.map(str::to_owned);
                rendering.ordinal = ordinal.at(row);
            }
            rendering.add(code.at(row), amount.at(row));
        }
        Ok(())
    })?;
    rendering.book(&mut kinds);
    let mut rows: Vec<LossKind> = kinds
        .into_iter()
        .map(|((dialect, profile, code), (renderings, amount))| LossKind {
            dialect,
            profile,
            code,
            renderings,
            amount,
        })
        .collect();
    rows.sort_by(|one, other| {
        (
            &one.dialect,
            &one.profile,
            std::cmp::Reverse(one.amount),
            &one.code,
        )
            .cmp(&(
                &other.dialect,
                &other.profile,
                std::cmp::Reverse(other.amount),
                &other.code,
            ))
    });
    Ok(Queried::new(queries::LOSSES, rows, ROWS))
}

/// Renderings and occurrences by dialect, profile and code.
type Kinds = BTreeMap<(String, String, String), (u64, u64)>;

/// The losses of one rendering.
#[derive(Default)]
struct Lost {
    /// Conversation, dialect, profile and perspective.
    key: [String; 4],
    ordinal: u64,
    /// Occurrences of each code.
    amounts: Vec<(String, u64)>,
}

impl Lost {
    fn add(&mut self, code: &str, amount: u64) {
        match self.amounts.iter_mut().find(|(known, _)| known == code) {
            Some((_, sum)) => *sum += amount,
            None => self.amounts.push((code.to_owned(), amount)),
        }
    }

    fn book(self, kinds: &mut Kinds) {
        let [_, dialect, profile, _] = self.key;
        for (code, amount) in self.amounts {
            let sums = kinds.entry((dialect.clone(), profile.clone(), code)).or_default();
            sums.0 += 1;
            sums.1 += amount;
        }
    }
}
