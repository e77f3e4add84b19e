//! The bill: tokens and losses per dialect.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_dataset::{Dataset, DatasetError};

use super::ROWS;
use crate::bill::{self, Request};
use crate::queries;
use crate::report::{LossKind, Part, TokenCell};

/// The bill of a whole dataset.
pub(super) fn tokens(dataset: &Dataset) -> Result<Part<TokenCell>, DatasetError> {
    let query = if dataset.encodings().is_empty() {
        queries::UNCOUNTED.to_owned()
    } else {
        queries::tokens(dataset.encodings())
    };
    let bill = bill::of_dataset(dataset, &Request::default())?;
    let rows = bill.rows().into_iter().map(|row| row.cell).collect();
    Ok(Part::new(query, rows, ROWS))
}

/// Reads what each dialect lost, by kind.
pub(super) fn losses(dataset: &Dataset) -> Result<Part<LossKind>, DatasetError> {
    const COLUMNS: [&str; 7] = [
        "conversation_id",
        "dialect",
        "profile",
        "perspective",
        "ordinal",
        "code",
        "amount",
    ];
    let mut kinds: BTreeMap<(String, String, String), (u64, u64)> = BTreeMap::new();
    // The losses of one rendering are adjacent; a kind counts once for each.
    let mut rendering: (String, String, String, String, u64) = Default::default();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    dataset.scan("losses", &COLUMNS, &mut |batch| {
        let (ids, dialect) = (batch.texts("conversation_id")?, batch.texts("dialect")?);
        let (profile, perspective) = (batch.texts("profile")?, batch.texts("perspective")?);
        let (ordinal, code) = (batch.numbers("ordinal")?, batch.texts("code")?);
        let amount = batch.numbers("amount")?;
        for row in 0..batch.rows() {
            let is_same = (
                rendering.0.as_str(),
                rendering.1.as_str(),
                rendering.2.as_str(),
                rendering.3.as_str(),
                rendering.4,
            ) == (
                ids.at(row),
                dialect.at(row),
                profile.at(row),
                perspective.at(row),
                ordinal.at(row),
            );
            if !is_same {
                rendering = (
                    ids.at(row).to_owned(),
                    dialect.at(row).to_owned(),
                    profile.at(row).to_owned(),
                    perspective.at(row).to_owned(),
                    ordinal.at(row),
                );
                seen.clear();
            }
            let is_new = !seen.contains(code.at(row)) && seen.insert(code.at(row).to_owned());
            let key = (
                dialect.at(row).to_owned(),
                profile.at(row).to_owned(),
                code.at(row).to_owned(),
            );
            let sums = kinds.entry(key).or_default();
            sums.0 += u64::from(is_new);
            sums.1 += amount.at(row);
        }
        Ok(())
    })?;
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
    Ok(Part::new(queries::LOSSES, rows, ROWS))
}
