//! A bill as text tables, JSON and CSV. The tables show the tokens of a rendering, and below them an estimate of the requests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chatmill_engine::ReadProblems;
use chatmill_model::Component;
use chatmill_report::bill::{BillBy, BillRow, PriceList, REST, Saving};
use chatmill_report::report::TokenCell;
use serde_json::{Value, json};

use super::logged::logged_columns;
use super::money::{Money, price_name};
use crate::csv;
use crate::figures::{bytes, count, counted, quotient};
use crate::output::harmless;
use crate::table::{Column, column, table};
use crate::terminal;

/// The number of rows in the table; other formats have all rows.
const MAX_ROWS: usize = 200;

/// The footnote of the requests table.
const AS_REQUESTED: &str = "As served, an estimate: each answer is requested with everything before it, counted as the text of the rendering. \
    It leaves out the provider's own form of a request, reasoning that was not recorded, caching and truncation; the logged usage is the actual bill.";

/// A bill that is to be printed.
pub(super) struct BillLines<'b> {
    /// The fields by which it is grouped.
    pub by: &'b [BillBy],
    /// Whether it bills text, before any dialect renders it.
    pub text: bool,
    /// The rows of the groups.
    pub rows: &'b [BillRow],
    /// The rows of all groups together.
    pub total: &'b [BillRow],
    /// The prices; may be empty.
    pub prices: &'b PriceList,
    /// Shows the name of a model, which may be masked.
    pub shown_model: &'b dyn Fn(&str) -> String,
    /// The savings that dialects claim, and those of this bill.
    pub savings: &'b [Saving],
    /// The records that are missing in the bill.
    pub not_counted: &'b ReadProblems,
    /// The width that tables may have.
    pub columns: usize,
}

impl<'b> BillLines<'b> {
    /// The bill for a terminal: the prices and their components, then the notes.
    pub(super) fn table(&self) -> String {
        if self.rows.is_empty() {
            return "There is nothing to count.\n".to_owned();
        }
        let rows: Vec<&BillRow> = self.sorted();
        let mut text = self.prices_table(&rows);
        let more = rows.len().saturating_sub(MAX_ROWS);
        if more > 0 {
            text.push_str(&format!(
                "and {}; --format csv lists all\n",
                counted(more as u64, "more row")
            ));
        }
        text.push('\n');
        text.push_str(&self.parts_table(&rows));
        if let Some(as_requested) = self.requests_table(&rows) {
            text.push_str(&format!("\n{as_requested}{}\n", terminal::prose(AS_REQUESTED, 0)));
        }
        let notes = self.notes();
        if !notes.is_empty() {
            text.push_str(&format!("\n{}\n", terminal::prose(&notes.join("\n"), 2)));
        }
        text
    }

    fn money(&self) -> Money<'_> {
        let money = Money {
            rows: self.rows,
            total: self.total,
            prices: self.prices,
            text: self.text,
            shown_model: self.shown_model,
            has_models: false,
            has_others: false,
        };
        money.looked_at()
    }

    /// The rows in the order of the tables: days in order, other groups from the most to the least expensive.
    fn sorted(&self) -> Vec<&'b BillRow> {
        let mut rows: Vec<&'b BillRow> = self.rows.iter().collect();
        let by_time = self.by.first() == Some(&BillBy::Day);
        let mut sums: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for row in self.rows {
            *sums.entry((&row.group, &row.second)).or_default() += row.cell.tokens;
        }
        let key = |row: &&'b BillRow| {
            let group = (row.group.as_str(), row.second.as_str());
            let sum = sums.get(&group).copied().unwrap_or_default();
            let time = if by_time { row.group.as_str() } else { "" };
            // The rest is the last row, whatever it costs.
            (row.group == REST, time, Reverse(sum), group)
        };
        if !self.by.is_empty() {
            rows.sort_by(|one, other| key(one).cmp(&key(other)));
        }
        rows
    }

    /// The groups of a row, if the bill has groups; in tables with their names.
    fn groups(&self, row: &BillRow) -> Vec<String> {
        let shown = |(group, name): (&String, &Option<String>)| match name {
            Some(name) => harmless(&format!("{name} ({group})")),
            None => harmless(group),
        };
        let groups = [(&row.group, &row.name), (&row.second, &row.second_name)];
        groups.into_iter().take(self.by.len()).map(shown).collect()
    }

    /// The key columns of a row.
    fn names(&self) -> Vec<Column<'_, BillRow>> {
        let group = |place: usize| move |row: &BillRow| self.groups(row).swap_remove(place);
        let groups = self.by.iter().enumerate();
        let mut names: Vec<_> = groups
            .map(|(place, by)| column(by.noun(), group(place)))
            .collect();
        if !self.text {
            names.push(column("dialect", |row: &BillRow| harmless(&row.cell.target())));
            names.push(column("shows", |row: &BillRow| harmless(&row.cell.coverage)));
        }
        names.push(column("encoding", |row: &BillRow| harmless(&row.cell.encoding)));
        names
    }

    /// A table that fits: key columns, and then other columns. Empty columns are left out. If the table is too wide, columns of `spare` are
    /// left out first, from its front, then key columns with one value in all rows, then prices, from the last.
    fn fitted<'r>(
        &self,
        mut columns: Vec<Column<'_, BillRow>>,
        rows: impl Iterator<Item = &'r BillRow>,
        spare: &[&str],
    ) -> String {
        let rows: Vec<&BillRow> = rows.collect();
        if !terminal::shows_all() {
            // A column that has no price in any row is mentioned in a note.
            columns.retain(|column| rows.iter().any(|row| column.show(row) != "–"));
        }
        let mut all = self.names();
        let is_shared = |name: &str| {
            let shared = all.iter().find(|column| column.title == name);
            shared.is_some_and(|column| {
                rows.windows(2)
                    .all(|two| matches!(two, [one, other] if column.show(one) == column.show(other)))
            })
        };
        let shared = ["dialect", "encoding"].into_iter().filter(|name| is_shared(name));
        let prices: Vec<String> = self.prices.each().iter().skip(1).rev().map(price_name).collect();
        let mut spare = spare.to_vec();
        spare.extend(shared);
        spare.extend(prices.iter().map(String::as_str));
        spare.extend(["× cheapest", "per request", "tokens sent", "priced as"]);
        let words = all.len();
        all.extend(columns);
        table(&all, rows.into_iter(), words, &spare, self.columns)
    }

    /// The rows of all groups together, which are the last lines of a table; none if there is only one group.
    fn totals(&self) -> Vec<BillRow> {
        let is_shown = !self.by.is_empty() && self.rows.len() > self.total.len();
        let totals = self.total.iter().filter(|_| is_shown).map(|row| BillRow {
            group: "total".to_owned(),
            ..row.clone()
        });
        totals.collect()
    }

    fn prices_table(&self, rows: &[&BillRow]) -> String {
        let known = |show: fn(&TokenCell) -> String| {
            move |row: &BillRow| {
                if row.is_spread {
                    show(&row.cell)
                } else {
                    "–".to_owned()
                }
            }
        };
        let money = self.money();
        let mut columns = vec![
            column("tokens", |row: &BillRow| count(row.cell.tokens)),
            column("per message", |row: &BillRow| {
                format!("{:.1}", row.cell.per_message)
            }),
            // Text that no dialect renders has nothing to be compared with.
            if self.text {
                column("written", |row: &BillRow| count(row.cell.written))
            } else {
                column("× cheapest", |row: &BillRow| format!("{:.2}", row.cell.ratio))
            },
            column("mean", known(|cell| format!("{:.1}", cell.mean))),
            column("p50", known(|cell| count(cell.p50))),
            column("p95", known(|cell| count(cell.p95))),
            column("p99", known(|cell| count(cell.p99))),
        ];
        // For renderings, these columns are in the table of requests.
        if self.text {
            columns.extend(logged_columns(rows));
        }
        columns.extend(money.columns());
        let spare = ["p99", "p50", "p95", "mean", "per message", "shows"];
        let totals = self.totals();
        let rows = rows.iter().take(MAX_ROWS).copied().chain(&totals);
        self.fitted(columns, rows, &spare)
    }

    fn parts_table(&self, rows: &[&BillRow]) -> String {
        let parts = Component::ALL.into_iter().map(|component| {
            column(component.as_str(), move |row: &BillRow| {
                count(row.cell.parts.get(component))
            })
        });
        let mut columns: Vec<_> = parts.collect();
        columns.extend([
            column("messages", |row: &BillRow| count(row.cell.messages_rendered)),
            column("bytes", |row: &BillRow| bytes(row.cell.bytes)),
            column("losses", |row: &BillRow| count(row.cell.losses)),
            column("invalid", |row: &BillRow| count(row.cell.invalid)),
        ]);
        let spare = [
            "invalid", "losses", "meta", "replies", "bytes", "shows", "names", "messages",
        ];
        self.fitted(columns, rows.iter().take(MAX_ROWS).copied(), &spare)
    }

    /// The table of what the chats would have cost as requests; `None` if nothing is ever sent.
    fn requests_table(&self, rows: &[&BillRow]) -> Option<String> {
        let money = self.money();
        let mut columns = vec![
            column("requests", |row: &BillRow| count(row.cell.requests)),
            column("tokens sent", |row: &BillRow| count(row.cell.tokens_sent)),
            column("per request", |row: &BillRow| {
                quotient(row.cell.tokens_sent, row.cell.requests)
            }),
            column("× held", |row: &BillRow| {
                quotient(row.cell.tokens_sent, row.cell.tokens)
            }),
            column("written", |row: &BillRow| count(row.cell.written)),
        ];
        columns.extend(logged_columns(rows));
        columns.extend(money.requested_columns());
        let spare = [
            "per request",
            "× held",
            "from cache",
            "shows",
            "logged written",
            "logged sent",
            "logged",
        ];
        let totals = self.totals();
        let is_sent = |row: &&BillRow| row.cell.requests > 0;
        let sent = rows.iter().copied().filter(is_sent).take(MAX_ROWS);
        let mut sent = sent.chain(totals.iter().filter(is_sent)).peekable();
        sent.peek()?;
        Some(self.fitted(columns, sent, &spare))
    }

    /// The notes below the tables: claimed savings, and the sources of prices.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for saving in self.savings.iter().filter(|saving| saving.group.is_empty()) {
            notes.push(format!(
                "{} saves {:.1} % of the tokens of {} per message here, in {}; its documentation claims {:.1} % ({})",
                saving.claim.dialect,
                saving.percent,
                saving.claim.against,
                saving.encoding,
                saving.claim.percent,
                saving.claim.origin
            ));
        }
        let unserved = self.rows.iter().filter(|row| row.cell.requests == 0);
        let unserved = unserved.map(|row| row.cell.dialect.as_str());
        let unserved: BTreeSet<&str> = unserved.filter(|id| ONE_REQUEST.contains(id)).collect();
        if !unserved.is_empty() {
            let names: Vec<&str> = unserved.into_iter().collect();
            notes.push(format!(
                "{}: one rendering is one request, and the requests before it are not known; per_turn = true in [window] \
                 counts each request",
                names.join(", ")
            ));
        }
        notes.extend(self.money().notes());
        notes
    }

    /// The bill for programs.
    pub(super) fn json(&self) -> Value {
        let money = self.money();
        let priced = |row: &BillRow| {
            let mut fields = self.row_fields(row);
            fields.extend(money.fields(row));
            Value::Object(fields)
        };
        let rows: Vec<Value> = self.rows.iter().map(priced).collect();
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
        let total: Vec<Value> = self.total.iter().map(priced).collect();
        let by: Vec<&str> = self.by.iter().map(|by| by.noun()).collect();
        json!({
            "by": by.join(","),
            "rows": rows,
            "total": total,
            "claims": claims,
            "not_counted": self.not_counted,
        })
    }

    /// The fields of a row, without its money.
    fn row_fields(&self, row: &BillRow) -> serde_json::Map<String, Value> {
        let mut fields = serde_json::Map::new();
        let groups = [
            ("group", &row.group, &row.name),
            ("second", &row.second, &row.second_name),
        ];
        for (key, group, name) in groups.into_iter().take(self.by.len()) {
            fields.insert(key.to_owned(), json!(group));
            if let Some(name) = name {
                fields.insert(format!("{key}_name"), json!(name));
            }
        }
        // The struct has named fields, so it becomes an object.
        if let Ok(Value::Object(cell)) = serde_json::to_value(&row.cell) {
            fields.extend(cell);
        }
        if !row.is_spread {
            for key in ["mean", "p50", "p95", "p99"] {
                fields.insert(key.to_owned(), Value::Null);
            }
        }
        fields
    }

    /// The bill for spreadsheets: one line per row, columns of money after the counts, and then the columns that were added later.
    pub(super) fn csv(&self) -> String {
        let names = self
            .by
            .iter()
            .map(|by| by.noun())
            .chain(CSV)
            .chain(["not_counted"]);
        let mut header: Vec<String> = names.map(str::to_owned).collect();
        let money = self.money();
        header.extend(money.csv_header());
        header.extend(LATER.map(str::to_owned));
        let mut text = csv::line(&header);
        for row in self.rows {
            let fields = self.row_fields(row);
            let groups = [&row.group, &row.second].into_iter().take(self.by.len());
            let mut line: Vec<String> = groups.cloned().collect();
            let cells = |names: &[&str]| -> Vec<String> {
                let fields = names.iter().filter_map(|name| fields.get(*name));
                let cells = fields.map(|field| match field {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    Value::Number(number) => plain(number),
                    other => other.to_string(),
                });
                cells.collect()
            };
            line.extend(cells(&CSV));
            // Repeated in every line, so that missing records remain visible when lines are summed.
            line.push(self.not_counted.count.to_string());
            line.extend(money.csv_cells(row));
            line.extend(cells(&LATER));
            text.push_str(&csv::line(&line));
        }
        text
    }
}

/// The fields for programs that a spreadsheet has as columns.
const CSV: [&str; 30] = [
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
    "written",
    "logged_requests",
    "logged_input",
    "logged_cached_input",
    "logged_output",
];

/// Columns that were added later; they are at the end of a line, so that older columns keep their places.
const LATER: [&str; 5] = [
    "logged_cache_write",
    "logged_cache_write_1h",
    "logged_searches",
    "logged_cost_requests",
    "logged_cost",
];

/// A number for a spreadsheet; a whole number has no decimals.
fn plain(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(fraction) if number.is_f64() => fraction.to_string(),
        _ => number.to_string(),
    }
}

/// The dialects that render a single request.
static ONE_REQUEST: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let dialects = chatmill_dialect::DIALECTS.iter();
    dialects
        .filter(|dialect| dialect.is_one_request())
        .map(|dialect| dialect.id())
        .collect()
});

#[cfg(test)]
mod tests;
