//! The money of a bill: columns of tables and spreadsheets, fields for programs, and the notes below.
//!
//! Tokens of known models have one column for all models, each at its own price; tokens without a model have a column for each price.

use std::collections::BTreeSet;

use chatmill_report::bill::BillRow;
use chatmill_report::bill::{ModelMoney, Price, PriceList, RowMoney, Unpriced, row_money};
use chatmill_report::numbers;
use serde_json::{Map, Value, json};

use crate::figures::counted;
use crate::output::harmless;
use crate::table::{Column, column};

/// The number of prices and reasons in the notes below a table.
const NOTED: usize = 12;

/// The money of the rows of a bill.
pub(super) struct Money<'m> {
    /// The rows of the groups.
    pub(super) rows: &'m [BillRow],
    pub(super) total: &'m [BillRow],
    pub(super) prices: &'m PriceList,
    /// Whether text is billed.
    pub(super) text: bool,
    /// Shows the name of a model, which may be masked.
    pub(super) shown_model: &'m dyn Fn(&str) -> String,
    /// Whether some of the tokens have a model.
    pub(super) has_models: bool,
    /// Whether some of the tokens have no model, and there are prices for them.
    pub(super) has_others: bool,
}

type Figure = fn(&ModelMoney<'_>) -> Option<f64>;
type Sum = fn(&RowMoney<'_>) -> Option<f64>;

const AMOUNT: (Sum, Figure) = (|row| row.amount, |of| of.amount);
const AS_REQUESTED: (Sum, Figure) = (|row| row.as_requested, |of| of.as_requested);

impl<'m> Money<'m> {
    /// Sets `has_models` and `has_others` from the rows.
    pub(super) fn looked_at(self) -> Self {
        let parts = || self.rows.iter().flat_map(|row| &row.parts);
        let has_models = parts().any(|part| !part.model.is_empty());
        let has_others = parts().any(|part| part.model.is_empty()) || !has_models;
        Self {
            has_models,
            has_others,
            ..self
        }
    }

    fn row(&self, row: &BillRow) -> RowMoney<'m> {
        row_money(row, self.prices)
    }

    /// The prices with a separate column.
    fn each(&self) -> &'m [Price] {
        if self.has_others { self.prices.each() } else { &[] }
    }

    /// The name of a model or price in a reason. Names of models may be masked; names of prices with a column are not.
    fn shown_name(&self, name: &str) -> String {
        if self.each().iter().any(|price| price.model == name) {
            name.to_owned()
        } else {
            (self.shown_model)(name)
        }
    }

    /// The columns of the cost of tokens.
    pub(super) fn columns(&'m self) -> Vec<Column<'m, BillRow>> {
        let mut columns = Vec::new();
        if self.has_models {
            columns.push(column("priced as", |row: &BillRow| self.priced_as(row)));
            columns.push(self.sum_column("", AMOUNT.0));
        }
        columns.extend(self.each_column(AMOUNT.1));
        columns
    }

    /// The columns of the cost of requests, estimated and logged.
    pub(super) fn requested_columns(&'m self) -> Vec<Column<'m, BillRow>> {
        let mut columns = Vec::new();
        if self.has_models {
            columns.push(self.sum_column("", AS_REQUESTED.0));
            columns.push(self.sum_column("logged\n", |row| row.as_logged));
        }
        columns.extend(self.each_column(AS_REQUESTED.1));
        columns
    }

    fn sum_column(&'m self, title: &str, sum: Sum) -> Column<'m, BillRow> {
        let title = format!("{title}{}", harmless(self.prices.currency()));
        column(title, move |row: &BillRow| shown(sum(&self.row(row))))
    }

    fn each_column(&'m self, figure: Figure) -> impl Iterator<Item = Column<'m, BillRow>> {
        self.each().iter().map(move |price| {
            let show = move |row: &BillRow| shown(of_price(&self.row(row).each, price).and_then(figure));
            column(price_name(price), show)
        })
    }

    /// The names of the prices for the models of a row.
    fn priced_as(&self, row: &BillRow) -> String {
        let money = self.row(row);
        let names: BTreeSet<&str> = money.of_models.iter().map(|of| of.price.model.as_str()).collect();
        match names.into_iter().collect::<Vec<_>>().as_slice() {
            [] => "–".to_owned(),
            [name] => harmless(&(self.shown_model)(name)),
            names => counted(names.len() as u64, "price"),
        }
    }

    /// The reasons why something has no price, and the prices with their sources.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut reasons: BTreeSet<(String, Unpriced)> = BTreeSet::new();
        for row in self.rows {
            reasons.extend(self.row(row).reasons);
        }
        let unpriced = reasons.iter().take(NOTED).map(|(name, reason)| {
            let name = self.shown_name(name);
            let name = if name.is_empty() { "(no model)" } else { &name };
            harmless(&format!("{name}: – where {reason}"))
        });
        let mut notes: Vec<String> = unpriced.collect();
        if reasons.len() > NOTED {
            notes.push(format!("and {} more without a price", reasons.len() - NOTED));
        }
        for total in self.total {
            let money = self.row(total);
            if self.has_models && (money.unpriced > 0.0 || money.unlogged > 0.0 && money.as_logged.is_some())
            {
                let of = if self.text {
                    "text".to_owned()
                } else {
                    total.cell.target()
                };
                notes.push(harmless(&format!(
                    "{of}: {:.1} % of all tokens have no price of a model, and {:.1} % of all requests are not included in the logged cost",
                    100.0 * money.unpriced,
                    100.0 * money.unlogged
                )));
            }
        }
        let prices = self.prices;
        let used: Vec<&Price> = if prices.each().is_empty() {
            let total = self.total.iter().flat_map(|row| self.row(row).of_models);
            let mut used: Vec<&Price> = Vec::new();
            for of in total {
                if !used.iter().any(|known| std::ptr::eq(*known, of.price)) {
                    used.push(of.price);
                }
            }
            used
        } else {
            prices.each().iter().collect()
        };
        // A list of all models would reveal which of them are in the input.
        let is_shown =
            |price: &&&Price| !prices.each().is_empty() || (self.shown_model)(&price.model) == price.model;
        notes.extend(
            used.iter()
                .filter(is_shown)
                .take(NOTED.max(prices.each().len()))
                .map(|price| harmless(&described(price))),
        );
        notes
    }

    /// The fields of a row, for programs.
    pub(super) fn fields(&self, row: &BillRow) -> Map<String, Value> {
        let money = self.row(row);
        let entry = |of: &ModelMoney<'_>, name: String| {
            json!({
                "model": name,
                "currency": of.price.currency,
                "amount": of.amount,
                "as_served_estimate": of.as_requested,
                "as_logged": of.as_logged,
            })
        };
        let mut entries: Vec<Value> = Vec::new();
        for of in &money.of_models {
            let mut entry = entry(of, (self.shown_model)(&of.model));
            if let Some(entry) = entry.as_object_mut() {
                let name = (self.shown_model)(&of.price.model);
                entry.insert("priced_as".to_owned(), json!(name));
            }
            entries.push(entry);
        }
        entries.extend(money.each.iter().map(|of| entry(of, of.price.model.clone())));
        let mut fields = Map::new();
        fields.insert("money".to_owned(), json!(entries));
        if row.parts.iter().any(|part| !part.model.is_empty()) {
            let sums = json!({
                "currency": self.prices.currency(),
                "amount": money.amount,
                "as_served_estimate": money.as_requested,
                "as_logged": money.as_logged,
                "unpriced_tokens": fraction(money.unpriced),
                "unpriced_requests": fraction(money.unlogged),
            });
            fields.insert("cost".to_owned(), sums);
        }
        if !money.reasons.is_empty() {
            let unpriced = money
                .reasons
                .iter()
                .map(|(name, why)| json!({"model": self.shown_name(name), "why": why.to_string()}));
            fields.insert("unpriced".to_owned(), unpriced.collect());
        }
        fields
    }

    /// The headings of the columns of money in a spreadsheet.
    pub(super) fn csv_header(&self) -> Vec<String> {
        let mut header = Vec::new();
        if self.has_models {
            let currency = self.prices.currency();
            header.extend([
                "priced_as".to_owned(),
                format!("amount {currency}"),
                format!("as served {currency} (estimate)"),
                format!("as logged {currency}"),
                "unpriced_tokens".to_owned(),
                "unpriced_requests".to_owned(),
            ]);
        }
        for price in self.each() {
            let name = format!("{} {}", price.model, price.currency);
            header.extend([name.clone(), format!("{name} as served (estimate)")]);
        }
        header
    }

    /// The cells of money of a row in a spreadsheet.
    pub(super) fn csv_cells(&self, row: &BillRow) -> Vec<String> {
        let cell = |amount: Option<f64>| amount.map_or_else(String::new, plain);
        let money = self.row(row);
        let mut cells = Vec::new();
        if self.has_models {
            let names: BTreeSet<String> = money
                .of_models
                .iter()
                .map(|of| (self.shown_model)(&of.price.model))
                .collect();
            cells.push(names.into_iter().collect::<Vec<_>>().join(" "));
            cells.extend([money.amount, money.as_requested, money.as_logged].map(cell));
            cells.extend([money.unpriced, money.unlogged].map(|part| fraction(part).to_string()));
        }
        for price in self.each() {
            let of = of_price(&money.each, price);
            cells.extend([of.and_then(AMOUNT.1), of.and_then(AS_REQUESTED.1)].map(cell));
        }
        cells
    }
}

fn of_price<'r, 'p>(list: &'r [ModelMoney<'p>], price: &Price) -> Option<&'r ModelMoney<'p>> {
    list.iter().find(|of| std::ptr::eq(of.price, price))
}

fn shown(amount: Option<f64>) -> String {
    amount.map_or_else(|| "–".to_owned(), numbers::money)
}

/// An amount for a spreadsheet: six decimals, or more if two significant digits need them.
fn plain(amount: f64) -> String {
    let six = format!("{amount:.6}");
    let money = numbers::money(amount);
    if money.len() > six.len() { money } else { six }
}

/// A share with four decimals.
fn fraction(part: f64) -> f64 {
    (part * 10_000.0).round() / 10_000.0
}

/// A price with its source.
fn described(price: &Price) -> String {
    let Price { model, currency, .. } = price;
    let of = price
        .encoding
        .as_ref()
        .map_or_else(String::new, |encoding| format!(" of {encoding}"));
    let input = price.per_million().unwrap_or_default();
    let output = price.per_million_output().map_or_else(
        || "answers are not priced".to_owned(),
        |output| format!("{output} {currency} per million output tokens"),
    );
    let more = price.more_rates();
    let more: Vec<String> = more
        .iter()
        .map(|(kind, rate)| format!(", {rate} per million {kind}"))
        .collect();
    let date = price
        .date
        .as_ref()
        .map_or_else(String::new, |date| format!(", as of {date}"));
    format!(
        "{model}: {input} {currency} per million tokens{of}, {output}{}{date} ({})",
        more.concat(),
        price.source
    )
}

/// The heading of a price column: the name, and the currency below it.
pub(super) fn price_name(price: &Price) -> String {
    format!("{}\n{}", harmless(&price.model), harmless(&price.currency))
}
