//! `report.html`: one self-contained page, which loads no scripts, styles or other files.
//!
//! The page is a template over a [`Report`]. This module adds transposed tables, and sums by dialect. `card` writes the dataset card from
//! the same report, and `conversation` the page of `chatmill show`.

pub(crate) mod card;
pub mod conversation;

use std::collections::BTreeMap;

use chatmill_diag::codes;
use chatmill_model::Component;
use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use crate::cells::GroupKey;
use crate::cells::token_table::{TokenRow, TokenTable};
use crate::checked::found::found;
use crate::numbers::quotient;
use crate::report::{
    DayCount, FindingChange, LossChange, LossCount, MoneyBasis, MoneyCell, Report, RunTime, TokenCell,
    TokenChange,
};
use crate::templates::{TemplateError, fill};

/// The fields of the page.
#[derive(Serialize)]
struct Page<'r> {
    nonce: &'r str,
    #[serde(flatten)]
    report: &'r Report,
    time: Option<&'r RunTime>,
    /// The numbers of the inputs that have findings.
    numbers: BTreeMap<&'r str, usize>,
    /// The codes and names of personal data and secrets.
    personal: [[&'static str; 2]; 2],
    components: [&'static str; Component::COUNT],
    plot: Option<Plot>,
    overview: Vec<Group<'r, &'r TokenCell>>,
    prices: Vec<Prices<'r>>,
    money_by_model: &'r TokenTable<&'r MoneyCell>,
    money_by_price: Vec<Group<'r, &'r MoneyCell>>,
    lost: Vec<Lost<'r>>,
    changed: Option<Changed<'r>>,
}

/// The dialects of one coverage, sorted by the price in the first column.
#[derive(Serialize)]
struct Group<'r, C> {
    coverage: &'r str,
    rows: Vec<&'r TokenRow<C>>,
}

/// The messages by day.
#[derive(Serialize)]
struct Plot {
    /// The number of days from the first to the last message.
    days: usize,
    /// The number of days without a message.
    empty: usize,
    /// The number of days per bar.
    width: usize,
    /// The days of each bar, the label of its first day, and the number of messages.
    bars: Vec<(String, String, u64)>,
}

/// The greatest number of bars in a plot.
const BARS: usize = 200;

/// The figures of one encoding by coverage, the cheapest first.
#[derive(Serialize)]
struct Prices<'r> {
    encoding: &'r str,
    coverages: Vec<Vec<&'r TokenCell>>,
}

/// The losses of a dialect, and its tokens per message.
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

/// The heading of a figure of money: the price, and the tokens to which it applies, if these are not all.
fn money_column(cell: &MoneyCell) -> String {
    let model = &cell.figure.model;
    match cell.figure.basis {
        MoneyBasis::Each => model.clone(),
        MoneyBasis::Model => format!("{model}, its own tokens"),
        MoneyBasis::Logged => format!("{model}, as logged"),
    }
}

/// Writes the page. `nonce` is a word that no author of a chat can know; the content security policy runs only scripts that have it.
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
        plot: plot(&report.days.rows),
        overview: by_price(&prices, per_message),
        prices: by_encoding(&prices),
        money_by_price: by_price(&money_by_model, |cell| cell.figure.amount),
        money_by_model: &money_by_model,
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

/// The bars of messages by day; `None` if all messages are from one day.
fn plot(rows: &[DayCount]) -> Option<Plot> {
    let days = rows
        .iter()
        .filter_map(|row| Some((row.day.parse::<Date>().ok()?, row.messages)));
    let days: Vec<(Date, u64)> = days.collect();
    let (first, last) = (days.first()?.0, days.last()?.0);
    let after = |day: Date| usize::try_from((day - first).get_days()).ok();
    let number = after(last).filter(|days| *days > 0)? + 1;
    let width = number.div_ceil(BARS);
    let mut counts = vec![0; number.div_ceil(width)];
    for (day, messages) in &days {
        if let Some(count) = counts.get_mut(after(*day)? / width) {
            *count += messages;
        }
    }
    let bar = |(place, messages): (usize, u64)| {
        let day = |after: usize| first.checked_add(i64::try_from(after).ok()?.days()).ok();
        let from = day(place * width)?;
        let to = day((place * width + width).min(number) - 1)?;
        let title = if from == to {
            from.to_string()
        } else {
            format!("{from} to {to}")
        };
        let form = if number > 366 { "%Y-%m" } else { "%m-%d" };
        Some((title, from.strftime(form).to_string(), messages))
    };
    Some(Plot {
        days: number,
        empty: number.saturating_sub(days.len()),
        width,
        bars: counts.into_iter().enumerate().filter_map(bar).collect(),
    })
}

fn per_message(cell: &TokenCell) -> f64 {
    cell.per_message
}

/// The dialects of each coverage, sorted by a price in the first column.
fn by_price<'r, C>(table: &'r TokenTable<&'r C>, price: impl Fn(&C) -> f64) -> Vec<Group<'r, &'r C>> {
    let groups = table.coverages.iter().map(|group| Group {
        coverage: &group.coverage,
        rows: group.by_price(|row| row.cell(0).map_or(f64::INFINITY, |cell| price(cell))),
    });
    groups.collect()
}

fn by_encoding<'r>(prices: &'r TokenTable<&'r TokenCell>) -> Vec<Prices<'r>> {
    let encodings = prices.encodings.iter().enumerate().map(|(place, encoding)| {
        let coverages = prices.coverages.iter().map(|group| -> Vec<&TokenCell> {
            let price = |row: &TokenRow<_>| row.cell(place).copied().map_or(f64::INFINITY, per_message);
            let rows = group.by_price(price);
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

/// The dialects of the first encoding, with their losses.
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
