//! `report.html`: one self-contained page. No network, no third-party script, no style from anywhere else.
//!
//! The page is a template over a [`Report`]. This module adds transposed tables, and sums by dialect.

pub(crate) mod card;
pub mod conversation;

use std::collections::BTreeMap;

use chatmill_diag::codes;
use chatmill_model::Component;
use serde::Serialize;

use crate::cells::GroupKey;
use crate::cells::token_table::{TokenRow, TokenTable};
use crate::checked::found::found;
use crate::numbers::quotient;
use crate::report::{
    FindingChange, LossChange, LossCount, MoneyBasis, MoneyCell, Report, RunTime, TokenCell, TokenChange,
};
use crate::templates::{TemplateError, fill};

/// The fields of the page.
#[derive(Serialize)]
struct Page<'r> {
    nonce: &'r str,
    #[serde(flatten)]
    report: &'r Report,
    time: Option<&'r RunTime>,
    /// Numbers of the inputs that have findings.
    numbers: BTreeMap<&'r str, usize>,
    /// Codes and names of personal data and secrets.
    personal: [[&'static str; 2]; 2],
    components: [&'static str; Component::COUNT],
    overview: Vec<Group<'r>>,
    prices: Vec<Prices<'r>>,
    money_by_model: TokenTable<&'r MoneyCell>,
    lost: Vec<Lost<'r>>,
    changed: Option<Changed<'r>>,
}

/// The dialects of one coverage, the cheapest in the first encoding first.
#[derive(Serialize)]
struct Group<'r> {
    coverage: &'r str,
    rows: Vec<&'r TokenRow<&'r TokenCell>>,
}

/// The figures of one encoding by coverage, the cheapest first in each.
#[derive(Serialize)]
struct Prices<'r> {
    encoding: &'r str,
    coverages: Vec<Vec<&'r TokenCell>>,
}

/// The tokens of a dialect per message, and its losses.
#[derive(Serialize)]
struct Lost<'r> {
    target: String,
    per_message: f64,
    /// Losses per message.
    rate: f64,
    kinds: Vec<&'r LossCount>,
}

/// The differences from an earlier run.
#[derive(Serialize)]
struct Changed<'r> {
    findings: Vec<&'r FindingChange>,
    tokens: Vec<&'r TokenChange>,
    losses: Vec<&'r LossChange>,
    only_before: Vec<String>,
    only_after: Vec<String>,
}

/// The heading of a figure of money: a price, and which tokens it is applied to where that is not all of them.
fn money_column(cell: &MoneyCell) -> String {
    let model = &cell.figure.model;
    match cell.figure.basis {
        MoneyBasis::Each => model.clone(),
        MoneyBasis::Model => format!("{model}, its own tokens"),
        MoneyBasis::Logged => format!("{model}, as logged"),
    }
}

/// Writes the page. `nonce` is a word that no author of a chat can know; the policy runs only scripts that carry it.
pub(crate) fn page(report: &Report, nonce: &str) -> Result<String, TemplateError> {
    let mut prices = TokenTable::new(&report.run.encodings);
    for cell in &report.tokens.rows {
        *prices.cell(cell.key()) = Some(cell);
    }
    let mut money_by_model = TokenTable::new(&[]);
    let columns: Vec<String> = report.money.iter().map(money_column).collect();
    for (cell, column) in report.money.iter().zip(&columns) {
        let [dialect, profile, coverage, _] = cell.figure.key();
        *money_by_model.cell(GroupKey::of([dialect, profile, coverage, column])) = Some(cell);
    }
    let numbers = report.found.iter().enumerate().rev();
    let page = Page {
        nonce,
        report,
        time: report.time.as_ref(),
        numbers: numbers
            .map(|(number, file)| (file.path.as_str(), number + 1))
            .collect(),
        personal: [&codes::PERSONAL_DATA, &codes::SECRET].map(|code| [code.code, code.name]),
        components: Component::ALL.map(Component::as_str),
        overview: overview(&prices),
        prices: by_encoding(&prices),
        money_by_model,
        lost: lost(report),
        changed: report.comparison.as_ref().map(|comparison| Changed {
            findings: comparison.changed_findings().collect(),
            tokens: comparison.shared_tokens().collect(),
            losses: comparison.shared_losses().collect(),
            only_before: comparison.only_before(),
            only_after: comparison.only_after(),
        }),
    };
    let html = fill("report.html", &page, [("found", found(&report.found)?)])?;
    Ok(html.into_string())
}

/// The sort key of a dialect.
fn per_message(row: &TokenRow<&TokenCell>, encoding: usize) -> f64 {
    row.cell(encoding).map_or(f64::INFINITY, |cell| cell.per_message)
}

fn overview<'r>(prices: &'r TokenTable<&'r TokenCell>) -> Vec<Group<'r>> {
    let groups = prices.coverages.iter().map(|group| Group {
        coverage: &group.coverage,
        rows: group.by_price(|row| per_message(row, 0)),
    });
    groups.collect()
}

fn by_encoding<'r>(prices: &'r TokenTable<&'r TokenCell>) -> Vec<Prices<'r>> {
    let encodings = prices.encodings.iter().enumerate().map(|(place, encoding)| {
        let coverages = prices.coverages.iter().map(|group| -> Vec<&TokenCell> {
            let rows = group.by_price(|row| per_message(row, place));
            rows.into_iter()
                .filter_map(|row| row.cell(place).copied())
                .collect()
        });
        Prices {
            encoding,
            coverages: coverages.filter(|cells| !cells.is_empty()).collect(),
        }
    });
    encodings.filter(|_| !prices.coverages.is_empty()).collect()
}

/// The dialects of the first encoding, each with its losses.
fn lost(report: &Report) -> Vec<Lost<'_>> {
    let first = report.run.encodings.first().map_or("", String::as_str);
    let cells = report.tokens.rows.iter().filter(|cell| cell.encoding == first);
    let lost = cells.map(|cell| {
        let is_its = |kind: &&LossCount| (&kind.dialect, &kind.profile) == (&cell.dialect, &cell.profile);
        let kinds: Vec<_> = report.losses.rows.iter().filter(is_its).collect();
        let amount = kinds.iter().map(|kind| kind.amount).sum();
        Lost {
            target: cell.target(),
            per_message: cell.per_message,
            rate: quotient(amount, cell.messages_rendered),
            kinds,
        }
    });
    lost.collect()
}

#[cfg(test)]
mod tests;
