//! Costs of a dataset, where prices are known.

use crate::bill::{BilledUsage, Price};
use crate::report::{Amount, MoneyCell, MoneyFigure, Report, TokenCell};

impl Report {
    /// Adds the costs of the renderings, and of the most expensive conversations, rooms and participants.
    pub fn add_money(&mut self, prices: &[Price]) {
        self.money = money(&self.tokens.rows, prices).collect();
        let Some(most_expensive) = &mut self.dearest else {
            return;
        };
        let encoding = most_expensive.encoding.clone();
        let prices: Vec<&Price> = prices.iter().filter(|price| price.encoding == encoding).collect();
        for costly in most_expensive.all() {
            let usage = BilledUsage {
                input: costly.tokens - costly.written,
                output: costly.written,
                ..BilledUsage::default()
            };
            let amounts = prices.iter().map(|price| Amount {
                model: price.model.clone(),
                currency: price.currency.clone(),
                amount: price.cost(&usage),
            });
            costly.money = amounts.collect();
        }
    }
}

/// The cost of each cell at the prices of its encoding.
pub(crate) fn money(cells: &[TokenCell], prices: &[Price]) -> impl Iterator<Item = MoneyCell> {
    cells.iter().flat_map(move |cell| {
        let prices = prices.iter().filter(|price| price.encoding == cell.encoding);
        prices.map(|price| MoneyCell {
            figure: MoneyFigure {
                dialect: cell.dialect.clone(),
                profile: cell.profile.clone(),
                coverage: cell.coverage.clone(),
                model: price.model.clone(),
                currency: price.currency.clone(),
                amount: price.of(cell.tokens),
            },
            as_served: (cell.requests > 0).then(|| {
                price.cost(&BilledUsage {
                    input: cell.tokens_sent,
                    cached_input: 0,
                    output: cell.written,
                    requests: cell.requests,
                })
            }),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Costly, MostExpensive};

    fn price(encoding: &str) -> Price {
        Price {
            model: "m".to_owned(),
            encoding: encoding.to_owned(),
            currency: "USD".to_owned(),
            per_million: 2.0,
            per_million_cached_input: None,
            per_million_output: Some(10.0),
            per_request: None,
            batch_discount: None,
            date: "2026-11-23".to_owned(),
            source: "us".to_owned(),
        }
    }

    #[test]
    fn money_is_that_of_the_encoding_and_answers_have_their_own_price() {
        let cell = |encoding: &str, requests| TokenCell {
            encoding: encoding.to_owned(),
            tokens: 1_000_000,
            requests,
            tokens_sent: 3_000_000,
            written: 100_000,
            ..TokenCell::default()
        };
        let mut report = Report::default();
        report.tokens.rows = vec![cell("a", 4), cell("b", 4), cell("a", 0)];
        let costly = Costly {
            tokens: 500_000,
            written: 100_000,
            ..Costly::default()
        };
        report.dearest = Some(MostExpensive {
            encoding: "a".to_owned(),
            participants: vec![costly],
            ..MostExpensive::default()
        });
        report.add_money(&[price("a"), price("c")]);
        let money: Vec<_> = report
            .money
            .iter()
            .map(|cell| (cell.figure.amount, cell.as_served))
            .collect();
        assert_eq!(money, [(2.0, Some(7.0)), (2.0, None)]);
        let participants = &report.dearest.unwrap().participants;
        assert_eq!(participants[0].money.len(), 1);
        assert!((participants[0].money[0].amount - 1.8).abs() < 1e-9);
    }
}
