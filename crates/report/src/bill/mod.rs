//! The bill: what a set of conversations costs in each dialect and encoding, and for whom.
//!
//! A bill is booked rendering by rendering, from the tables of a dataset or from renderings that were made just now; its
//! rows are the same.

mod claims;
mod dataset;
mod prices;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_token::{Encoding, TokenCounts};

use crate::cells::{Cells, GroupKey};
use crate::report::TokenCell;
use crate::token_table::coverage_rank;

pub use claims::{CLAIMS, Claim, Saving, savings};
pub use dataset::{day, of_dataset};
pub use prices::{Price, PriceError, parse_prices};

/// The name that stands in place of a dialect where text is billed before any dialect renders it.
pub const TEXT: &str = "text";

/// What is billed apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BillBy {
    /// Nothing: one bill for all.
    #[default]
    Nothing,
    /// The source that read a conversation.
    Source,
    /// The conversation.
    Conversation,
    /// The day on which a conversation begins, in UTC.
    Day,
    /// Who sent a message; the text alone is billed.
    Participant,
    /// The role of who sent it; the text alone is billed.
    Role,
    /// The tool that is called; arguments and results are billed.
    Tool,
}

impl BillBy {
    /// Whether text is billed before any dialect renders it: a rendering belongs to no single speaker.
    pub const fn is_of_text(self) -> bool {
        matches!(self, Self::Participant | Self::Role | Self::Tool)
    }

    /// Whether the groups are ids or names of the input.
    pub const fn is_of_ids(self) -> bool {
        matches!(self, Self::Conversation | Self::Participant | Self::Tool)
    }

    /// The heading of the groups.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Source => "source",
            Self::Conversation => "conversation",
            Self::Day => "day",
            Self::Participant => "participant",
            Self::Role => "role",
            Self::Tool => "tool",
        }
    }
}

/// What of a dataset is billed; empty lists leave nothing out.
#[derive(Clone, Default)]
pub struct BillRequest {
    /// What is billed apart.
    pub by: BillBy,
    /// Dialects with their profiles.
    pub dialects: Vec<(String, String)>,
    /// Encodings.
    pub encodings: Vec<String>,
    /// Encodings beside the registry's, in which tools can be counted.
    pub own: Vec<Encoding>,
}

/// One rendering in one encoding, as far as a bill cares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Booking {
    /// Messages that it shows.
    pub messages: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its tokens and their parts.
    pub tally: TokenCounts,
    /// How often it is sent.
    pub requests: u64,
    /// Whether it breaks a rule of its dialect.
    pub invalid: bool,
    /// Its losses.
    pub losses: u64,
}

/// Sums of a cell.
#[derive(Clone, Debug, Default)]
struct Sums {
    messages: u64,
    bytes: u64,
    tally: TokenCounts,
    requests: u64,
    spread: Spread,
    invalid: u64,
    losses: u64,
}

/// One row of a bill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillRow {
    /// What is billed apart; empty where nothing is.
    pub group: String,
    /// The price.
    pub cell: TokenCell,
}

/// What conversations cost.
#[derive(Clone, Debug, Default)]
pub struct Bill(Cells<Sums>);

impl Bill {
    /// Books one rendering in one encoding.
    pub fn book(&mut self, key: GroupKey<&str>, booking: &Booking) {
        let sums = self.0.at(key);
        sums.messages += booking.messages;
        sums.bytes += booking.bytes;
        sums.tally += booking.tally;
        sums.requests += booking.requests;
        sums.spread.add(booking.tally.tokens);
        sums.invalid += u64::from(booking.invalid);
        sums.losses += booking.losses;
    }

    /// The rows: groups in the order in which they came; in each, coverages, then encodings, then dialects in theirs.
    pub fn rows(&self) -> Vec<BillRow> {
        let mut order = Order::default();
        let mut rows: Vec<([usize; 4], BillRow)> = self
            .0
            .iter()
            .map(|(key, sums)| {
                let rank = [
                    order.groups.rank(&key.group),
                    coverage_rank(&key.coverage),
                    order.encodings.rank(&key.encoding),
                    order.dialects.rank(&format!("{}@{}", key.dialect, key.profile)),
                ];
                (rank, row(key, sums))
            })
            .collect();
        rows.sort_by_key(|(rank, _)| *rank);
        let mut rows: Vec<BillRow> = rows.into_iter().map(|(_, row)| row).collect();
        set_ratios(&mut rows);
        rows
    }
}

/// The bill of a whole run as its manifest has it: coverages, then encodings as they stand here, then dialects in their order.
pub(crate) fn cells(counts: Vec<RenderingCount>, encodings: &[String]) -> Vec<TokenCell> {
    let mut rows: Vec<BillRow> = counts.into_iter().map(counted).collect();
    rows.sort_by_key(|row| {
        let encoding = encodings.iter().position(|name| *name == row.cell.encoding);
        (coverage_rank(&row.cell.coverage), encoding)
    });
    set_ratios(&mut rows);
    rows.into_iter().map(|row| row.cell).collect()
}

fn counted(count: RenderingCount) -> BillRow {
    let cell = TokenCell {
        mean: quotient(count.tokens, count.renderings),
        per_message: quotient(count.tokens, count.messages_rendered),
        ratio: 0.0,
        dialect: count.dialect,
        profile: count.profile,
        coverage: count.coverage,
        encoding: count.encoding,
        renderings: count.renderings,
        messages_rendered: count.messages_rendered,
        bytes: count.bytes,
        tokens: count.tokens,
        content: count.content,
        names: count.names,
        framing: count.framing,
        tools: count.tools,
        replies: count.replies,
        meta: count.meta,
        assistant_content: count.assistant_content,
        requests: count.requests,
        tokens_sent: count.tokens_sent,
        p50: count.p50,
        p95: count.p95,
        p99: count.p99,
        invalid: count.invalid,
        losses: count.losses,
    };
    BillRow {
        group: String::new(),
        cell,
    }
}

/// Names by the order in which they first came.
#[derive(Default)]
struct Order {
    groups: Names,
    encodings: Names,
    dialects: Names,
}

#[derive(Default)]
struct Names(std::collections::BTreeMap<String, usize>);

impl Names {
    fn rank(&mut self, name: &str) -> usize {
        if let Some(rank) = self.0.get(name) {
            return *rank;
        }
        let next = self.0.len();
        self.0.insert(name.to_owned(), next);
        next
    }
}

fn row(key: &GroupKey<String>, sums: &Sums) -> BillRow {
    let tally = &sums.tally;
    let renderings = sums.spread.count();
    BillRow {
        group: key.group.clone(),
        cell: TokenCell {
            dialect: key.dialect.clone(),
            profile: key.profile.clone(),
            coverage: key.coverage.clone(),
            encoding: key.encoding.clone(),
            renderings,
            messages_rendered: sums.messages,
            bytes: sums.bytes,
            tokens: tally.tokens,
            content: tally.content,
            names: tally.names,
            framing: tally.framing,
            tools: tally.tools,
            replies: tally.replies,
            meta: tally.meta,
            assistant_content: tally.assistant_content,
            requests: sums.requests,
            tokens_sent: tally.sent,
            mean: quotient(tally.tokens, renderings),
            p50: sums.spread.percentile(50),
            p95: sums.spread.percentile(95),
            p99: sums.spread.percentile(99),
            per_message: quotient(tally.tokens, sums.messages),
            ratio: 0.0,
            invalid: sums.invalid,
            losses: sums.losses,
        },
    }
}

/// Holds every row against the cheapest per message of its group, coverage and encoding.
fn set_ratios(rows: &mut [BillRow]) {
    for stretch in rows.chunk_by_mut(|one, other| {
        (&one.group, &one.cell.coverage, &one.cell.encoding)
            == (&other.group, &other.cell.coverage, &other.cell.encoding)
    }) {
        let cheapest = stretch
            .iter()
            .map(|row| row.cell.per_message)
            .filter(|price| *price > 0.0)
            .fold(f64::INFINITY, f64::min);
        for row in stretch {
            if cheapest.is_finite() {
                row.cell.ratio = thousandths(row.cell.per_message / cheapest);
            }
        }
    }
}

/// A quotient, rounded so that it looks the same everywhere; 0 when there is nothing to divide by.
pub(crate) fn quotient(dividend: u64, divisor: u64) -> f64 {
    if divisor == 0 {
        0.0
    } else {
        thousandths(dividend as f64 / divisor as f64)
    }
}

fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booked(bookings: &[(&str, &str, u64, u64)]) -> Vec<BillRow> {
        let mut bill = Bill::default();
        for (dialect, coverage, messages, tokens) in bookings {
            let key = GroupKey {
                dialect: *dialect,
                coverage: *coverage,
                profile: "document",
                encoding: "o200k_base",
                ..GroupKey::default()
            };
            let booking = Booking {
                messages: *messages,
                tally: TokenCounts {
                    tokens: *tokens,
                    content: *tokens,
                    ..TokenCounts::default()
                },
                ..Booking::default()
            };
            bill.book(key, &booking);
        }
        bill.rows()
    }

    #[test]
    fn prices_are_held_against_the_cheapest_of_the_same_coverage() {
        let rows = booked(&[
            ("tzurot", "single-turn", 1, 3),
            ("openai-chat", "whole", 10, 400),
            ("gryag-compact", "whole", 10, 100),
            ("openai-chat", "whole", 10, 200),
        ]);
        let found: Vec<(&str, u64, f64, f64)> = rows
            .iter()
            .map(|row| {
                let cell = &row.cell;
                (cell.dialect.as_str(), cell.tokens, cell.per_message, cell.ratio)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("openai-chat", 600, 30.0, 3.0),
                ("gryag-compact", 100, 10.0, 1.0),
                ("tzurot", 3, 3.0, 1.0),
            ]
        );
    }

    #[test]
    fn nothing_rendered_divides_by_nothing() {
        let rows = booked(&[("openai-chat", "whole", 0, 0)]);
        let cell = &rows[0].cell;
        assert_eq!((cell.per_message, cell.ratio, cell.mean), (0.0, 0.0, 0.0));
    }
}
