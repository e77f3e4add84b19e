//! The bill: what a set of conversations costs in each dialect and encoding, and for whom.
//!
//! A bill is booked rendering by rendering, from the tables of a dataset or from renderings that were made just now; its
//! rows are the same.

mod claims;
mod dataset;
pub(crate) mod money;
mod prices;
mod said;
mod totals;

use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_token::{Encoding, TokenCounts};
use jiff::tz::TimeZone;

use crate::cells::token_table::coverage_rank;
use crate::cells::{Cells, GroupKey};
use crate::numbers::{quotient, thousandths};
use crate::report::TokenCell;

pub use claims::{CLAIMS, Claim, Saving, savings};
pub use dataset::{of_dataset, of_datasets};
pub use prices::{Charge, Price, PriceError, Unpriced, parse_prices};
pub use said::{Said, SaidBill, day};

/// The name that stands in place of a dialect where text is billed before any dialect renders it.
pub const TEXT: &str = "text";

/// What is billed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum BillBy {
    /// The source that read a conversation.
    Source,
    /// The input that it came from.
    Input,
    /// The conversation.
    Conversation,
    /// The room: conversations of one title, else the conversation.
    Room,
    /// The day: of a message, or of the answer to a request.
    Day,
    /// The model that wrote an answer, or was asked.
    Model,
    /// Who sent a message; the text alone is billed.
    Participant,
    /// The role of who sent it; the text alone is billed.
    Role,
    /// The tool that is called; the text alone is billed.
    Tool,
}

impl BillBy {
    /// Whether text is billed before any dialect renders it: a rendering belongs to no single speaker.
    pub const fn is_of_text(self) -> bool {
        matches!(self, Self::Participant | Self::Role | Self::Tool)
    }

    /// Whether the groups are ids or names of the input.
    pub const fn is_of_ids(self) -> bool {
        matches!(
            self,
            Self::Conversation | Self::Room | Self::Input | Self::Model | Self::Participant | Self::Tool
        )
    }

    /// The heading of the groups.
    pub fn noun(self) -> &'static str {
        self.into()
    }
}

/// What of a dataset is billed; empty lists leave nothing out.
#[derive(Clone, Default)]
pub struct BillRequest {
    /// What is billed apart: nothing, one thing, or two.
    pub by: Vec<BillBy>,
    /// Whether text is billed, before any dialect renders it.
    pub text: bool,
    /// The zone of days; UTC where none is named.
    pub zone: Option<TimeZone>,
    /// Dialects with their profiles.
    pub dialects: Vec<(String, String)>,
    /// Encodings.
    pub encodings: Vec<String>,
    /// Encodings beside the registry's, in which tools can be counted.
    pub own: Vec<Encoding>,
}

/// A rendering in one encoding, or a share of one, as far as a bill cares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Booking {
    /// Renderings; 0 for a share that is not the last.
    pub renderings: u64,
    /// All tokens of the one rendering, whose share this is; none where it is not known, or is booked with another share.
    pub whole: Option<u64>,
    /// Messages that it shows.
    pub messages: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its tokens and their parts.
    pub tally: TokenCounts,
    /// How often it is sent.
    pub requests: u64,
    /// Requests, tokens sent, tokens sent from a cache and tokens written, as the provider logged them.
    pub logged: [u64; 4],
    /// How many break a rule of their dialect.
    pub invalid: u64,
    /// Its losses.
    pub losses: u64,
}

/// Sums of a cell.
#[derive(Clone, Debug, Default)]
struct Sums {
    booked: Booking,
    /// Of the whole renderings.
    spread: Spread,
}

/// One row of a bill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillRow {
    /// What is billed apart; empty where nothing is.
    pub group: String,
    /// What is billed apart beside it; empty where nothing is.
    pub second: String,
    /// What the group is called beside its id.
    pub name: Option<String>,
    /// The same of the second.
    pub second_name: Option<String>,
    /// Whether renderings were counted one by one, so that percentiles are known.
    pub is_spread: bool,
    /// The price.
    pub cell: TokenCell,
}

/// What conversations cost.
#[derive(Clone, Debug, Default)]
pub struct Bill {
    cells: Cells<Sums>,
    /// What groups are called beside their ids.
    names: BTreeMap<String, String>,
}

/// The group of what [`Bill::top`] leaves out.
pub const REST: &str = "(the rest)";

impl Bill {
    /// Books one rendering in one encoding.
    pub fn book(&mut self, key: GroupKey<&str>, booking: &Booking) {
        let sums = self.cells.at(key);
        sums.booked.add(booking);
        if let Some(tokens) = booking.whole {
            sums.spread.add(tokens);
        }
    }

    /// Adds what another bill has, as if it had been booked here.
    pub fn merge(&mut self, other: &Self) {
        for (key, sums) in other.cells.iter() {
            self.cells.at(key.as_ref()).add(sums);
        }
        for (group, name) in &other.names {
            self.call(group, name);
        }
    }

    /// Says what a group is called beside its id.
    pub fn call(&mut self, group: &str, name: &str) {
        if group != name && !name.is_empty() && !self.names.contains_key(group) {
            self.names.insert(group.to_owned(), name.to_owned());
        }
    }

    /// The same bill with `groups` groups, those of the most tokens, and one for the rest.
    #[must_use]
    pub fn top(&self, groups: usize) -> Self {
        let mut tokens: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (key, sums) in self.cells.iter() {
            *tokens.entry((&key.group, &key.second)).or_default() += sums.booked.tally.tokens;
        }
        let mut ranked: Vec<_> = tokens.into_iter().collect();
        ranked.sort_by_key(|(group, tokens)| (std::cmp::Reverse(*tokens), *group));
        let kept: BTreeSet<_> = ranked.into_iter().take(groups).map(|(group, _)| group).collect();
        let mut bill = Self {
            names: self.names.clone(),
            ..Self::default()
        };
        for (key, sums) in self.cells.iter() {
            let mut key = key.as_ref();
            if !kept.contains(&(key.group, key.second)) {
                (key.group, key.second) = (REST, "");
            }
            bill.cells.at(key).add(sums);
        }
        bill
    }

    /// The bill of all groups together.
    #[must_use]
    pub fn total(&self) -> Self {
        let mut bill = Self::default();
        for (key, sums) in self.cells.iter() {
            let key = GroupKey {
                group: "",
                second: "",
                ..key.as_ref()
            };
            bill.cells.at(key).add(sums);
        }
        bill
    }

    /// The rows: groups in the order in which they came; in each, coverages, then encodings, then dialects in theirs.
    pub fn rows(&self) -> Vec<BillRow> {
        let mut names: [Names; 4] = Default::default();
        let [groups, seconds, encodings, dialects] = &mut names;
        let mut rows: Vec<([usize; 5], BillRow)> = self
            .cells
            .iter()
            .map(|(key, sums)| {
                let rank = [
                    groups.rank(&key.group),
                    seconds.rank(&key.second),
                    coverage_rank(&key.coverage),
                    encodings.rank(&key.encoding),
                    dialects.rank(&format!("{}@{}", key.dialect, key.profile)),
                ];
                (rank, self.row(key, sums))
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
    let rows = counts.into_iter().map(|count| BillRow {
        cell: cell(count),
        ..BillRow::default()
    });
    let mut rows: Vec<BillRow> = rows.collect();
    rows.sort_by_key(|row| {
        let encoding = encodings.iter().position(|name| *name == row.cell.encoding);
        (coverage_rank(&row.cell.coverage), encoding)
    });
    set_ratios(&mut rows);
    rows.into_iter().map(|row| row.cell).collect()
}

/// The cell of what was counted; what it is held against is not known yet.
fn cell(count: RenderingCount) -> TokenCell {
    TokenCell {
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
        parts: count.parts,
        assistant_content: count.assistant_content,
        requests: count.requests,
        tokens_sent: count.tokens_sent,
        written: count.written,
        logged_requests: count.logged_requests,
        logged_input: count.logged_input,
        logged_cached_input: count.logged_cached_input,
        logged_output: count.logged_output,
        p50: count.p50,
        p95: count.p95,
        p99: count.p99,
        invalid: count.invalid,
        losses: count.losses,
    }
}

/// Names by the order in which they first came.
#[derive(Default)]
struct Names(BTreeMap<String, usize>);

impl Names {
    fn rank(&mut self, name: &str) -> usize {
        let next = self.0.len();
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

impl Bill {
    fn row(&self, key: &GroupKey<String>, sums: &Sums) -> BillRow {
        let Sums { booked, spread } = sums;
        let (tally, renderings) = (&booked.tally, booked.renderings);
        let [logged_requests, logged_input, logged_cached_input, logged_output] = booked.logged;
        BillRow {
            group: key.group.clone(),
            second: key.second.clone(),
            name: self.names.get(&key.group).cloned(),
            second_name: self.names.get(&key.second).cloned(),
            is_spread: renderings > 0 && spread.count() == renderings,
            cell: cell(RenderingCount {
                dialect: key.dialect.clone(),
                profile: key.profile.clone(),
                coverage: key.coverage.clone(),
                encoding: key.encoding.clone(),
                renderings,
                messages_rendered: booked.messages,
                bytes: booked.bytes,
                tokens: tally.tokens,
                parts: tally.parts,
                assistant_content: tally.assistant_content,
                requests: booked.requests,
                tokens_sent: tally.sent,
                written: tally.written,
                logged_requests,
                logged_input,
                logged_cached_input,
                logged_output,
                p50: spread.percentile(50),
                p95: spread.percentile(95),
                p99: spread.percentile(99),
                invalid: booked.invalid,
                losses: booked.losses,
            }),
        }
    }
}

impl Booking {
    fn add(&mut self, more: &Self) {
        self.renderings += more.renderings;
        self.messages += more.messages;
        self.bytes += more.bytes;
        self.tally += more.tally;
        self.requests += more.requests;
        for (sum, more) in self.logged.iter_mut().zip(more.logged) {
            *sum = sum.saturating_add(more);
        }
        self.invalid += more.invalid;
        self.losses += more.losses;
    }
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.booked.add(&more.booked);
        self.spread.merge(&more.spread);
    }
}

/// Holds every row against the cheapest per message of its group, coverage and encoding.
fn set_ratios(rows: &mut [BillRow]) {
    for stretch in rows.chunk_by_mut(|one, other| {
        (&one.group, &one.second, &one.cell.coverage, &one.cell.encoding)
            == (
                &other.group,
                &other.second,
                &other.cell.coverage,
                &other.cell.encoding,
            )
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
                renderings: 1,
                whole: Some(*tokens),
                messages: *messages,
                tally: TokenCounts {
                    tokens: *tokens,
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
    fn the_rest_and_the_total_add_up_to_what_there_is() {
        let mut bill = Bill::default();
        for (group, tokens) in [("a", 5), ("b", 50), ("c", 7), ("b", 1)] {
            let key = GroupKey {
                group,
                ..GroupKey::default()
            };
            let tally = TokenCounts {
                tokens,
                ..TokenCounts::default()
            };
            bill.book(
                key,
                &Booking {
                    renderings: 1,
                    whole: Some(tokens),
                    tally,
                    ..Booking::default()
                },
            );
        }
        let shown = |bill: &Bill| -> Vec<(String, u64, u64)> {
            let rows = bill.rows().into_iter();
            rows.map(|row| (row.group, row.cell.renderings, row.cell.tokens))
                .collect()
        };
        assert_eq!(
            shown(&bill.top(1)),
            [(REST.to_owned(), 2, 12), ("b".to_owned(), 2, 51)]
        );
        assert_eq!(shown(&bill.top(3)), shown(&bill));
        assert_eq!(shown(&bill.total()), [(String::new(), 4, 63)]);
        assert_eq!(shown(&bill.top(0)), [(REST.to_owned(), 4, 63)]);
    }

    #[test]
    fn a_bill_of_no_messages_has_means_and_ratios_of_zero() {
        let rows = booked(&[("openai-chat", "whole", 0, 0)]);
        let cell = &rows[0].cell;
        assert_eq!((cell.per_message, cell.ratio, cell.mean), (0.0, 0.0, 0.0));
    }
}
