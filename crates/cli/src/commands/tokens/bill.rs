//! A bill for people, for programs and for spreadsheets.

use chatmill_engine::trouble::Troubles;
use chatmill_report::bill::{BillBy, BillRow, Price, Saving};
use serde_json::{Value, json};

use crate::csv;
use crate::figures::{bytes, count, counted, quotient};
use crate::output::{self, harmless};

/// Rows of the table; the rest is in the other formats.
const MAX_ROWS: usize = 200;

/// What stands under the table of what is sent.
const SERVED: &str =
    "As served, an estimate: each answer is asked with everything before it; caches and cuts are not known.";

/// A bill that is to be written.
pub(super) struct Lines<'b> {
    /// What is billed apart.
    pub by: BillBy,
    /// The rows.
    pub rows: &'b [BillRow],
    /// Prices, perhaps none.
    pub prices: &'b [Price],
    /// What the documents promise.
    pub savings: &'b [Saving],
    /// What is missing in the bill.
    pub not_counted: &'b Troubles,
}

impl Lines<'_> {
    /// For a terminal: the price and its parts, then what the documents promise.
    pub(super) fn table(&self) -> String {
        if self.rows.is_empty() {
            return "There is nothing to count.\n".to_owned();
        }
        let rows: Vec<&BillRow> = self.sorted();
        let mut text = self.prices_table(&rows);
        let more = rows.len().saturating_sub(MAX_ROWS);
        if more > 0 {
            text.push_str(&format!(
                "and {}; --format csv has all\n",
                counted(more as u64, "more row")
            ));
        }
        text.push('\n');
        text.push_str(&self.parts_table(&rows));
        if let Some(served) = self.served_table(&rows) {
            text.push_str(&format!("\n{served}{SERVED}\n"));
        }
        let notes = self.notes();
        if !notes.is_empty() {
            text.push_str(&format!("\n{}\n", notes.join("\n")));
        }
        text
    }

    /// The rows as people want them: days in order, other groups the dearest first.
    fn sorted(&self) -> Vec<&BillRow> {
        let mut rows: Vec<&BillRow> = self.rows.iter().collect();
        match self.by {
            BillBy::Nothing => {}
            BillBy::Day => rows.sort_by(|one, other| one.group.cmp(&other.group)),
            _ => {
                let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
                for row in self.rows {
                    *sums.entry(&row.group).or_default() += row.cell.tokens;
                }
                let sum = |row: &BillRow| sums.get(row.group.as_str()).copied().unwrap_or_default();
                rows.sort_by(|one, other| (sum(other), &one.group).cmp(&(sum(one), &other.group)));
            }
        }
        rows
    }

    /// The group of a row, where anything is billed apart.
    fn group<'r>(&self, row: &'r BillRow) -> Option<&'r str> {
        (self.by != BillBy::Nothing).then_some(row.group.as_str())
    }

    fn names(&self, row: &BillRow) -> Vec<String> {
        let mut names: Vec<String> = self.group(row).map(harmless).into_iter().collect();
        if !self.by.is_of_text() {
            names.push(harmless(&row.cell.target()));
            names.push(harmless(&row.cell.coverage));
        }
        names.push(harmless(&row.cell.encoding));
        names
    }

    fn header(&self) -> Vec<String> {
        let mut header: Vec<&str> = Vec::new();
        if self.by != BillBy::Nothing {
            header.push(self.by.noun());
        }
        if !self.by.is_of_text() {
            header.extend(["dialect", "shows"]);
        }
        header.push("encoding");
        header.into_iter().map(str::to_owned).collect()
    }

    fn prices_table(&self, rows: &[&BillRow]) -> String {
        let mut header = self.header();
        let names = header.len();
        header.extend(["tokens", "per message"].map(str::to_owned));
        // Text that no dialect renders is compared with nothing.
        if !self.by.is_of_text() {
            header.push("× cheapest".to_owned());
        }
        header.extend(["mean", "p50", "p95", "p99"].map(str::to_owned));
        header.extend(self.prices.iter().map(price_name));
        let lines = rows
            .iter()
            .take(MAX_ROWS)
            .map(|row| {
                let cell = &row.cell;
                let mut line = self.names(row);
                line.extend([count(cell.tokens), format!("{:.1}", cell.per_message)]);
                if !self.by.is_of_text() {
                    line.push(format!("{:.2}", cell.ratio));
                }
                line.extend([
                    format!("{:.1}", cell.mean),
                    count(cell.p50),
                    count(cell.p95),
                    count(cell.p99),
                ]);
                line.extend(self.prices.iter().map(|price| shown(money(price, row))));
                line
            })
            .collect();
        let mut table = output::table(header, lines, names);
        table.push('\n');
        table
    }

    fn parts_table(&self, rows: &[&BillRow]) -> String {
        let mut header = self.header();
        let names = header.len();
        let parts = [
            "content", "names", "framing", "tools", "replies", "meta", "messages", "bytes", "losses",
            "invalid",
        ];
        header.extend(parts.map(str::to_owned));
        let lines = rows
            .iter()
            .take(MAX_ROWS)
            .map(|row| {
                let cell = &row.cell;
                let mut line = self.names(row);
                let counts = [
                    cell.content,
                    cell.names,
                    cell.framing,
                    cell.tools,
                    cell.replies,
                    cell.meta,
                    cell.messages_rendered,
                ];
                line.extend(counts.map(count));
                line.extend([bytes(cell.bytes), count(cell.losses), count(cell.invalid)]);
                line
            })
            .collect();
        let mut table = output::table(header, lines, names);
        table.push('\n');
        table
    }

    /// What the chats would have cost while they went on; nothing where nothing is ever sent.
    fn served_table(&self, rows: &[&BillRow]) -> Option<String> {
        let mut header = self.header();
        let names = header.len();
        header.extend(
            [
                "requests",
                "tokens sent",
                "per request",
                "× held",
                "assistant says",
            ]
            .map(str::to_owned),
        );
        header.extend(self.prices.iter().map(price_name));
        let lines: Vec<Vec<String>> = rows
            .iter()
            .filter(|row| row.cell.requests > 0)
            .take(MAX_ROWS)
            .map(|row| {
                let cell = &row.cell;
                let mut line = self.names(row);
                line.extend([
                    count(cell.requests),
                    count(cell.tokens_sent),
                    quotient(cell.tokens_sent, cell.requests),
                    quotient(cell.tokens_sent, cell.tokens),
                    count(cell.assistant_content),
                ]);
                line.extend(self.prices.iter().map(|price| shown(served(price, row))));
                line
            })
            .collect();
        (!lines.is_empty()).then(|| output::table(header, lines, names) + "\n")
    }

    /// What stands under the tables: promises, and where prices come from.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for saving in self.savings.iter().filter(|saving| saving.group.is_empty()) {
            notes.push(format!(
                "{} saves {:.1} % of the tokens of {} per message here, in {}; promised are {:.1} % ({})",
                saving.claim.dialect,
                saving.percent,
                saving.claim.against,
                saving.encoding,
                saving.claim.percent,
                saving.claim.origin
            ));
        }
        for price in self.prices {
            let output = price.per_million_output.map_or_else(
                || "answers are not priced".to_owned(),
                |output| format!("{output} {} for a million of answers", price.currency),
            );
            notes.push(harmless(&format!(
                "{}: {} {} for a million tokens of {}, {output}, read on {} ({})",
                price.model, price.per_million, price.currency, price.encoding, price.date, price.source
            )));
        }
        notes
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|row| self.row_json(row)).collect();
        let claims: Vec<Value> = self
            .savings
            .iter()
            .map(|saving| {
                json!({
                    "group": saving.group,
                    "dialect": saving.claim.dialect,
                    "against": saving.claim.against,
                    "encoding": saving.encoding,
                    "promised_percent": saving.claim.percent,
                    "percent": (saving.percent * 10.0).round() / 10.0,
                    "origin": saving.claim.origin,
                })
            })
            .collect();
        json!({"by": self.by.noun(), "rows": rows, "claims": claims, "not_counted": self.not_counted})
    }

    fn row_json(&self, row: &BillRow) -> Value {
        let money: Vec<Value> = self
            .prices
            .iter()
            .filter_map(|price| {
                let money = money(price, row)?;
                Some(json!({
                    "model": price.model,
                    "currency": price.currency,
                    "amount": money,
                    "as_served_estimate": served(price, row),
                }))
            })
            .collect();
        let mut fields = serde_json::Map::new();
        if let Some(group) = self.group(row) {
            fields.insert("group".to_owned(), json!(group));
        }
        // A struct with named fields is always an object.
        if let Ok(Value::Object(cell)) = serde_json::to_value(&row.cell) {
            fields.extend(cell);
        }
        fields.insert("money".to_owned(), json!(money));
        Value::Object(fields)
    }

    /// For spreadsheets: one line a row, money in columns at the end.
    pub(super) fn csv(&self) -> String {
        let mut header: Vec<String> = Vec::new();
        if self.by != BillBy::Nothing {
            header.push(self.by.noun().to_owned());
        }
        header.extend(
            [
                "dialect",
                "profile",
                "coverage",
                "encoding",
                "renderings",
                "messages_rendered",
                "bytes",
                "tokens",
                "content",
                "names",
                "framing",
                "tools",
                "replies",
                "meta",
                "mean",
                "p50",
                "p95",
                "p99",
                "per_message",
                "ratio",
                "invalid",
                "losses",
                "assistant_content",
                "requests",
                "tokens_sent",
                "not_counted",
            ]
            .map(str::to_owned),
        );
        for price in self.prices {
            let name = format!("{} {}", price.model, price.currency);
            header.extend([name.clone(), format!("{name} as served (estimate)")]);
        }
        let mut text = csv::line(&header);
        for row in self.rows {
            let cell = &row.cell;
            let mut line: Vec<String> = self.group(row).map(str::to_owned).into_iter().collect();
            line.extend([&cell.dialect, &cell.profile, &cell.coverage, &cell.encoding].map(Clone::clone));
            line.extend(
                [
                    cell.renderings,
                    cell.messages_rendered,
                    cell.bytes,
                    cell.tokens,
                    cell.content,
                    cell.names,
                    cell.framing,
                    cell.tools,
                    cell.replies,
                    cell.meta,
                ]
                .map(|number| number.to_string()),
            );
            line.push(cell.mean.to_string());
            line.extend([cell.p50, cell.p95, cell.p99].map(|number| number.to_string()));
            line.extend([cell.per_message, cell.ratio].map(|number| number.to_string()));
            let counts = [
                cell.invalid,
                cell.losses,
                cell.assistant_content,
                cell.requests,
                cell.tokens_sent,
                // The same on every line: a bill that is added up says how much is missing in it.
                self.not_counted.count,
            ];
            line.extend(counts.map(|number| number.to_string()));
            for price in self.prices {
                let amounts = [money(price, row), served(price, row)];
                line.extend(
                    amounts.map(|amount| amount.map_or_else(String::new, |money| format!("{money:.6}"))),
                );
            }
            text.push_str(&csv::line(&line));
        }
        text
    }
}

/// What a row costs; nothing where the price is for tokens of another encoding.
fn money(price: &Price, row: &BillRow) -> Option<f64> {
    (price.encoding == row.cell.encoding).then(|| price.of(row.cell.tokens))
}

/// What a row would have cost as it was served, by estimate; nothing where it is never sent.
fn served(price: &Price, row: &BillRow) -> Option<f64> {
    let cell = &row.cell;
    (price.encoding == cell.encoding && cell.requests > 0)
        .then(|| price.of_requests(cell.tokens_sent, cell.assistant_content))
}

fn price_name(price: &Price) -> String {
    harmless(&format!("{} {}", price.model, price.currency))
}

fn shown(money: Option<f64>) -> String {
    money.map_or_else(|| "–".to_owned(), |money| format!("{money:.4}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_report::report::TokenCell;

    fn row(group: &str, tokens: u64) -> BillRow {
        BillRow {
            group: group.to_owned(),
            cell: TokenCell {
                dialect: "openai-chat".to_owned(),
                profile: "document".to_owned(),
                encoding: "o200k_base".to_owned(),
                tokens,
                requests: 2,
                tokens_sent: 2 * tokens,
                assistant_content: tokens / 16,
                ..TokenCell::default()
            },
        }
    }

    static COUNTED: Troubles = Troubles {
        count: 0,
        first: Vec::new(),
        warnings: Vec::new(),
        failures: Vec::new(),
    };

    fn lines<'b>(by: BillBy, rows: &'b [BillRow], prices: &'b [Price]) -> Lines<'b> {
        Lines {
            by,
            rows,
            prices,
            savings: &[],
            not_counted: &COUNTED,
        }
    }

    #[test]
    fn days_come_in_order_and_other_groups_by_price() {
        let rows = [row("2026-02-01", 5), row("2026-01-01", 1), row("2026-03-01", 3)];
        let order = |by| -> Vec<u64> {
            let lines = lines(by, &rows, &[]);
            lines.sorted().iter().map(|row| row.cell.tokens).collect()
        };
        assert_eq!(order(BillBy::Day), [1, 5, 3]);
        assert_eq!(order(BillBy::Source), [5, 3, 1]);
    }

    #[test]
    fn money_is_only_for_tokens_of_its_encoding() {
        let rows = [row("", 2_000_000)];
        let price = |encoding: &str| Price {
            model: "m".to_owned(),
            encoding: encoding.to_owned(),
            currency: "USD".to_owned(),
            per_million: 1.25,
            per_million_output: Some(10.0),
            date: "2026-01-31".to_owned(),
            source: "us".to_owned(),
        };
        let prices = [price("o200k_base"), price("cl100k_base")];
        let lines = lines(BillBy::Nothing, &rows, &prices);
        assert!(lines.csv().ends_with(",2.500000,6.250000,,\n"), "{}", lines.csv());
        assert_eq!(lines.json()["rows"][0]["money"][0]["amount"], 2.5);
        assert_eq!(lines.json()["rows"][0]["money"][0]["as_served_estimate"], 6.25);
        assert_eq!(lines.json()["rows"][0]["money"].as_array().unwrap().len(), 1);
        let table = lines.table();
        assert!(table.contains("read on 2026-01-31 (us)"), "{table}");
        assert!(
            table.contains("6.2500") && table.contains("an estimate"),
            "{table}"
        );
    }
}
