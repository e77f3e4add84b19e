//! The cost of the rows of a bill: tokens of a known model at the price of that model, and all other tokens at each price of the list.

use std::collections::BTreeSet;

use chatmill_dataset::{Dataset, DatasetError};

use chatmill_model::BilledUsage;

use crate::bill::{Bill, BillBy, BillRequest, BillRow, Price, PriceList, PricedPart, TEXT, Unpriced, totals};
use crate::report::{Amount, MoneyBasis, MoneyCell, MoneyFigure, Report};

/// The cost for one model, or at one price for tokens without a model.
#[derive(Clone, Debug)]
pub struct ModelMoney<'p> {
    /// The logged name of the model; empty for tokens without a model.
    pub model: String,
    /// The price.
    pub price: &'p Price,
    /// The cost of sending the tokens once; `None` if the price does not apply to them.
    pub amount: Option<f64>,
    /// The estimated cost as requests; `None` if nothing is ever sent.
    pub as_requested: Option<f64>,
    /// The logged cost; `None` if not every request was logged, or a kind of its tokens has no price.
    pub as_logged: Option<f64>,
}

/// The cost of a row.
#[derive(Clone, Debug, Default)]
pub struct RowMoney<'p> {
    /// The cost of tokens with a model, by price.
    pub of_models: Vec<ModelMoney<'p>>,
    /// The sum of their amounts; `None` if no amount is known.
    pub amount: Option<f64>,
    /// The sum of their estimates as requests.
    pub as_requested: Option<f64>,
    /// The sum of their logged costs.
    pub as_logged: Option<f64>,
    /// The share of the row's tokens that `amount` does not include.
    pub unpriced: f64,
    /// The share of the row's requests that `as_logged` does not include.
    pub unlogged: f64,
    /// The cost of tokens without a model, at each price.
    pub each: Vec<ModelMoney<'p>>,
    /// Models, or prices for tokens without a model, with the reasons why something has no price.
    pub reasons: BTreeSet<(String, Unpriced)>,
}

impl<'p> ModelMoney<'p> {
    fn new(model: &str, price: &'p Price) -> Self {
        Self {
            model: model.to_owned(),
            price,
            amount: None,
            as_requested: None,
            as_logged: None,
        }
    }

    fn add_counted(&mut self, part: &PricedPart, is_text: bool) {
        add(&mut self.amount, self.price.estimate(&sent_once(part, is_text)));
        if part.requests > 0 {
            add(&mut self.as_requested, self.price.estimate(&as_requested(part)));
        }
    }
}

/// The tokens of a part, each once; written text is priced as output.
fn sent_once(part: &PricedPart, is_text: bool) -> BilledUsage {
    let output = if is_text { part.written } else { 0 };
    BilledUsage {
        input: part.tokens.saturating_sub(output),
        output,
        ..BilledUsage::default()
    }
}

/// The estimated usage of a part as requests.
fn as_requested(part: &PricedPart) -> BilledUsage {
    BilledUsage {
        input: part.sent,
        output: part.written,
        requests: part.requests,
        ..BilledUsage::default()
    }
}

/// The logged cost of a part; `None` unless every request was logged.
fn logged_cost(part: &PricedPart, price: &Price) -> Option<Result<f64, Unpriced>> {
    let logged: u64 = part.logged.values().map(|usage| usage.requests).sum();
    if logged == 0 || logged != part.requests {
        return None;
    }
    let costs = part.logged.iter();
    Some(
        costs
            .map(|(terms, usage)| price.cost_of_logged(usage, *terms, part.longest))
            .sum(),
    )
}

fn add(sum: &mut Option<f64>, amount: f64) {
    *sum = Some(sum.unwrap_or_default() + amount);
}

/// The cost of a row.
pub fn row_money<'p>(row: &BillRow, prices: &'p PriceList) -> RowMoney<'p> {
    let (is_text, encoding) = (row.cell.dialect == TEXT, row.cell.encoding.as_str());
    let mut money = RowMoney::default();
    let (mut tokens, mut requests, mut amounts, mut costs) = (0_u64, 0_u64, 0_u64, 0_u64);
    for part in &row.parts {
        tokens = tokens.saturating_add(part.tokens);
        requests = requests.saturating_add(part.requests);
        if part.model.is_empty() {
            money.add_each(part, prices, is_text, encoding);
            continue;
        }
        let counted = prices
            .find(&part.model, &part.day, Some(encoding))
            .and_then(|price| price.counts_in(encoding).map(|()| price));
        match counted {
            Ok(price) => {
                amounts = amounts.saturating_add(part.tokens);
                money.of(&part.model, price).add_counted(part, is_text);
            }
            Err(reason) => money.set_reason(&part.model, reason),
        }
        let found = prices.find(&part.model, &part.day, None);
        if let Ok(price) = found {
            let searches = part.logged.values().any(|usage| usage.searches > 0);
            if searches && price.per_search.is_none() {
                money.set_reason(&part.model, Unpriced::Kind("searches"));
            }
            match logged_cost(part, price) {
                Some(Ok(amount)) => {
                    costs = costs.saturating_add(part.requests);
                    add(&mut money.of(&part.model, price).as_logged, amount);
                }
                Some(Err(reason)) => money.set_reason(&part.model, reason),
                None => {}
            }
        }
    }
    let sum = |amount: fn(&ModelMoney<'p>) -> Option<f64>| {
        let mut sums = money.of_models.iter().filter_map(amount).peekable();
        sums.peek().is_some().then(|| sums.sum())
    };
    let sums = (
        sum(|of| of.amount),
        sum(|of| of.as_requested),
        sum(|of| of.as_logged),
    );
    (money.amount, money.as_requested, money.as_logged) = sums;
    money.unpriced = fraction(tokens.saturating_sub(amounts), tokens);
    money.unlogged = fraction(requests.saturating_sub(costs), requests);
    money
}

fn fraction(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl<'p> RowMoney<'p> {
    fn of(&mut self, model: &str, price: &'p Price) -> &mut ModelMoney<'p> {
        place(&mut self.of_models, model, price)
    }

    fn set_reason(&mut self, model: &str, reason: Unpriced) {
        self.reasons.insert((model.to_owned(), reason));
    }

    fn add_each(&mut self, part: &PricedPart, prices: &'p PriceList, is_text: bool, encoding: &str) {
        if prices.each().is_empty() {
            self.set_reason("", Unpriced::NoModel);
        }
        for price in prices.each().iter().filter(|price| price.may_hold_on(&part.day)) {
            match price.counts_in(encoding) {
                Ok(()) => place(&mut self.each, "", price).add_counted(part, is_text),
                Err(reason) => self.set_reason(&price.model, reason),
            }
            match logged_cost(part, price) {
                Some(Ok(amount)) => add(&mut place(&mut self.each, "", price).as_logged, amount),
                Some(Err(reason)) => self.set_reason(&price.model, reason),
                None => {}
            }
        }
    }
}

/// The entry of a model and price. The parts of a model are adjacent, so only the last entries can belong to it.
fn place<'m, 'p>(list: &'m mut Vec<ModelMoney<'p>>, model: &str, price: &'p Price) -> &'m mut ModelMoney<'p> {
    let own = list.iter().rev().take_while(|money| money.model == model);
    let behind = own.clone().position(|money| std::ptr::eq(money.price, price));
    let place = behind.map(|behind| list.len() - 1 - behind);
    let place = place.unwrap_or_else(|| {
        list.push(ModelMoney::new(model, price));
        list.len() - 1
    });
    chatmill_diag::cut::at_mut(list, place)
}

impl Report {
    /// Adds the cost of the renderings of the dataset, and of the most expensive conversations, rooms and participants.
    pub fn add_money(&mut self, dataset: &Dataset, prices: &PriceList) -> Result<(), DatasetError> {
        self.money = money(dataset, prices)?;
        let Some(most_expensive) = &mut self.dearest else {
            return Ok(());
        };
        let encoding = most_expensive.encoding.clone();
        let prices = prices
            .each()
            .iter()
            .filter(|price| price.counts_in(&encoding).is_ok());
        let prices: Vec<&Price> = prices.collect();
        for costly in most_expensive.all() {
            let usage = BilledUsage {
                input: costly.tokens - costly.written,
                output: costly.written,
                ..BilledUsage::default()
            };
            let amounts = prices.iter().map(|price| Amount {
                model: price.model.clone(),
                currency: price.currency.clone(),
                amount: price.estimate(&usage),
            });
            costly.money = amounts.collect();
        }
        Ok(())
    }
}

/// The cost of a dataset in each dialect and encoding, by model; of logged usage, if a price has no encoding.
pub(crate) fn money(dataset: &Dataset, prices: &PriceList) -> Result<Vec<MoneyCell>, DatasetError> {
    let request = BillRequest {
        by: vec![BillBy::Source],
        division: prices.division(),
        ..BillRequest::default()
    };
    let mut bill = Bill::default();
    if request.division.is_some() {
        totals::add(dataset, &request, totals::TotalsPart::All, &mut bill)?;
    }
    let encodings = dataset.encodings();
    let mut rows = bill.total().rows();
    rows.sort_by_key(|row| {
        encodings
            .iter()
            .position(|encoding| *encoding == row.cell.encoding)
    });
    Ok(rows.iter().flat_map(|row| cells(row, prices)).collect())
}

fn cells(row: &BillRow, prices: &PriceList) -> Vec<MoneyCell> {
    let money = row_money(row, prices);
    let mut cells: Vec<MoneyCell> = Vec::new();
    let mut add = |of: &ModelMoney<'_>, basis: MoneyBasis, amount: f64, as_requested: Option<f64>| {
        let figure = MoneyFigure {
            dialect: row.cell.dialect.clone(),
            profile: row.cell.profile.clone(),
            coverage: row.cell.coverage.clone(),
            model: of.price.model.clone(),
            currency: of.price.currency.clone(),
            basis,
            amount,
        };
        // Prices of one model for different days become one figure.
        let same = cells.iter_mut().find(|cell| {
            cell.figure.key() == figure.key() && cell.figure.basis == basis && basis != MoneyBasis::Each
        });
        match same {
            None => cells.push(MoneyCell { figure, as_requested }),
            Some(cell) => {
                cell.figure.amount += amount;
                cell.as_requested = cell
                    .as_requested
                    .zip(as_requested)
                    .map(|(one, other)| one + other);
            }
        }
    };
    for of in &money.each {
        if let Some(amount) = of.amount {
            add(of, MoneyBasis::Each, amount, of.as_requested);
        }
    }
    for of in &money.of_models {
        match (of.amount, of.as_logged) {
            (Some(amount), _) => add(of, MoneyBasis::Model, amount, of.as_requested),
            (None, Some(amount)) => add(of, MoneyBasis::Logged, amount, None),
            (None, None) => {}
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bill::Terms;
    use crate::report::TokenCell;
    use std::collections::BTreeMap;

    fn list(models: &[(&str, f64)]) -> PriceList {
        let price = |(model, per_million): &(&str, f64)| {
            format!(
                "[[price]]\nmodel = \"{model}\"\nencoding = \"o200k_base\"\ncurrency = \"USD\"\nper_million = {per_million}\n\
                 per_million_output = 10\ndate = \"2026-11-23\"\nsource = \"us\"\n"
            )
        };
        PriceList::parse(&models.iter().map(price).collect::<String>(), &[]).unwrap()
    }

    fn part(model: &str, tokens: u64, logged: u64) -> PricedPart {
        let usage = BilledUsage {
            input: 500_000,
            requests: logged,
            ..BilledUsage::default()
        };
        PricedPart {
            model: model.to_owned(),
            tokens,
            sent: 3 * tokens,
            written: 100_000,
            requests: 4,
            logged: if logged > 0 {
                BTreeMap::from([(Terms::BASE, usage)])
            } else {
                BTreeMap::new()
            },
            ..PricedPart::default()
        }
    }

    fn row(parts: Vec<PricedPart>, encoding: &str) -> BillRow {
        BillRow {
            cell: TokenCell {
                dialect: "openai-chat".to_owned(),
                encoding: encoding.to_owned(),
                ..TokenCell::default()
            },
            parts,
            ..BillRow::default()
        }
    }

    #[test]
    fn what_has_a_model_costs_what_that_model_does_and_all_else_has_a_figure_for_each_price() {
        let prices = list(&[("gpt-5", 2.0), ("gpt-5-mini", 0.25)]);
        let parts = vec![
            part("gpt-5", 1_000_000, 4),
            part("gpt-5-mini", 1_000_000, 0),
            part("unheard-of", 1_000_000, 0),
            part("", 1_000_000, 0),
        ];
        let row = row(parts, "o200k_base");
        let money = row_money(&row, &prices);
        assert_eq!(
            (money.amount, money.as_requested, money.as_logged),
            (Some(2.25), Some(8.75), Some(1.0))
        );
        assert_eq!((money.unpriced, money.unlogged), (0.5, 0.75));
        let each: Vec<_> = money
            .each
            .iter()
            .map(|of| (of.price.model.as_str(), of.amount))
            .collect();
        assert_eq!(each, [("gpt-5", Some(2.0)), ("gpt-5-mini", Some(0.25))]);
        assert_eq!(
            money.reasons,
            BTreeSet::from([("unheard-of".to_owned(), Unpriced::Name)])
        );
    }

    #[test]
    fn a_price_of_another_encoding_is_one_of_what_was_logged_only() {
        let prices = list(&[("gpt-5", 2.0)]);
        let row = row(vec![part("gpt-5", 1_000_000, 4)], "cl100k_base");
        let money = row_money(&row, &prices);
        assert_eq!((money.amount, money.as_logged), (None, Some(1.0)));
        assert_eq!(
            money.reasons,
            BTreeSet::from([("gpt-5".to_owned(), Unpriced::Encoding)])
        );
        let cells = cells(&row, &prices);
        assert_eq!(cells.len(), 1);
        assert_eq!(
            (cells[0].figure.basis, cells[0].figure.amount),
            (MoneyBasis::Logged, 1.0)
        );
    }

    #[test]
    fn half_of_the_requests_that_were_logged_are_no_bill() {
        let prices = list(&[("gpt-5", 2.0)]);
        let row = row(vec![part("gpt-5", 1_000_000, 3)], "o200k_base");
        assert_eq!(row_money(&row, &prices).as_logged, None);
    }
}
