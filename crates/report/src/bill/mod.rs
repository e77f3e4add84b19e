//! The bill: the cost of conversations in each dialect and encoding, by groups.
//!
//! A bill sums renderings one by one, either from the tables of a dataset or from renderings in memory, with the same rows. The tokens in
//! `report.json` and the output of `chatmill tokens` are bills.

mod answers;
mod claims;
mod dataset;
mod message_text;
pub(crate) mod money;
mod prices;
mod shared;
mod totals;

use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

use chatmill_dataset::Spread;
use chatmill_dataset::overview::RenderingCount;
use chatmill_model::BilledUsage;
use chatmill_token::{Encoding, TokenCounts};
use jiff::tz::TimeZone;

use crate::cells::token_table::coverage_rank;
use crate::cells::{Cells, GroupKey};
use crate::numbers::{quotient, thousandths};
use crate::report::TokenCell;

pub use answers::PaidAnswers;
pub use claims::{Claim, Saving, savings};
pub use dataset::{of_dataset, of_datasets};
pub use message_text::{CallText, MessageBill, MessageText, day};
pub use money::{ModelMoney, RowMoney, row_money};
pub use prices::{Price, PriceDivision, PriceError, PriceList, Terms, Unpriced};
pub use shared::{Counted, Repeated};

/// The name in place of a dialect, if text is billed before any dialect renders it.
pub const TEXT: &str = "text";

/// A property by which a bill is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum BillBy {
    /// The source that read a conversation.
    Source,
    /// The input of a conversation.
    Input,
    /// The conversation.
    Conversation,
    /// The room: all conversations with the same title, or a conversation without a title.
    Room,
    /// The day: of a message, or of the answer to a request.
    Day,
    /// The model that wrote an answer, or that was requested.
    Model,
    /// The sender of a message; only text is billed.
    Participant,
    /// The role of a message; only text is billed.
    Role,
    /// The tool of a call; only text is billed.
    Tool,
}

impl BillBy {
    /// Whether the property needs a bill of text, since a rendering belongs to several senders, roles and tools.
    pub const fn is_of_text(self) -> bool {
        matches!(self, Self::Participant | Self::Role | Self::Tool)
    }

    /// Whether the groups are ids or names from the input.
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

/// The request for a bill; an empty list selects everything.
#[derive(Clone, Default)]
pub struct BillRequest {
    /// The groups: none, one property, or two.
    pub by: Vec<BillBy>,
    /// Whether text is billed, before any dialect renders it.
    pub text: bool,
    /// The time zone of days; UTC if `None`.
    pub zone: Option<TimeZone>,
    /// Dialects with their profiles.
    pub dialects: Vec<(String, String)>,
    /// Encodings.
    pub encodings: Vec<String>,
    /// Encodings outside the registry in which tools can be counted.
    pub own: Vec<Encoding>,
    /// The properties on which prices depend; `None` if nothing is priced.
    pub division: Option<PriceDivision>,
    /// The part of a dataset that is counted, if another dataset contains some of it.
    pub counted: Counted,
}

/// The counts of a rendering in one encoding, or of a part of a rendering, which a bill sums.
#[derive(Clone, Copy, Debug, Default)]
pub struct BillEntry {
    /// Number of renderings; 0 for a part of a rendering that is not the last.
    pub renderings: u64,
    /// All tokens of the rendering; `None` if they are not known, or were added with another part.
    pub whole: Option<u64>,
    /// Messages that the rendering shows.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
    /// Tokens and their components.
    pub token_counts: TokenCounts,
    /// The number of times that the rendering is sent.
    pub requests: u64,
    /// The usage that the provider logged.
    pub logged: BilledUsage,
    /// Renderings that break a rule of their dialect.
    pub invalid: u64,
    /// Losses.
    pub losses: u64,
}

/// The sums of a cell.
#[derive(Clone, Debug, Default)]
struct Sums {
    total: BillEntry,
    /// The distribution of the tokens of whole renderings.
    spread: Spread,
    /// The tokens and requests to which prices apply, by model and day.
    priced: BTreeMap<(String, String), PricedPart>,
}

/// The tokens and requests of one model and day, to which one price applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PricedPart {
    /// The model; empty if it is not known.
    pub model: String,
    /// The day, if prices depend on it.
    pub day: String,
    /// Tokens of the renderings, or of the text.
    pub tokens: u64,
    /// The estimated tokens of all requests.
    pub sent: u64,
    /// Tokens that the model wrote.
    pub written: u64,
    /// Requests.
    pub requests: u64,
    /// The logged usage, by the terms of its requests.
    pub logged: BTreeMap<Terms, BilledUsage>,
    /// A length in input tokens that no logged request exceeds.
    pub longest: u64,
}

/// One row of a bill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillRow {
    /// The group by the first property; empty if the bill has no groups.
    pub group: String,
    /// The group by the second property; empty without one.
    pub second: String,
    /// The name of the group, if its id is not a name.
    pub name: Option<String>,
    /// The name of the second group.
    pub second_name: Option<String>,
    /// Whether renderings were counted one by one, so that percentiles are known.
    pub is_spread: bool,
    /// The counts.
    pub cell: TokenCell,
    /// The parts of the row by model and day, to which prices apply; empty if nothing is priced.
    pub parts: Vec<PricedPart>,
}

/// The cost of conversations.
#[derive(Clone, Debug, Default)]
pub struct Bill {
    cells: Cells<Sums>,
    /// The names of groups by their ids.
    names: BTreeMap<String, String>,
}

/// The group with everything that [`Bill::top`] leaves out.
pub const REST: &str = "(the rest)";

impl Bill {
    /// Adds a rendering, or a part of one, in one encoding.
    pub fn add(&mut self, key: GroupKey<&str>, entry: &BillEntry) {
        let sums = self.cells.at(key);
        sums.total.add(entry);
        if let Some(tokens) = entry.whole {
            sums.spread.add(tokens);
        }
    }

    /// Subtracts requests that were added and are counted for another conversation.
    pub(crate) fn take_off_requests(&mut self, key: GroupKey<&str>, requests: u64) {
        let total = &mut self.cells.at(key).total;
        total.requests = total.requests.saturating_sub(requests);
    }

    /// Adds the part of the counted tokens that belongs to a model and a day, and the logged usage of a single request, or of several with
    /// a length that none exceeds.
    pub fn add_part(
        &mut self,
        key: GroupKey<&str>,
        entry: &BillEntry,
        (model, day): (&str, &str),
        (logged, longest): (&[(Terms, BilledUsage)], u64),
    ) {
        let of = (model.to_owned(), day.to_owned());
        let mut part = PricedPart {
            tokens: entry.token_counts.tokens,
            sent: entry.token_counts.sent,
            written: entry.token_counts.written,
            requests: entry.requests,
            longest,
            ..PricedPart::default()
        };
        for (terms, usage) in logged {
            *part.logged.entry(*terms).or_default() += *usage;
        }
        self.cells.at(key).priced.entry(of).or_default().add(&part);
    }

    /// Adds all rows of another bill.
    pub fn merge(&mut self, other: &Self) {
        for (key, sums) in other.cells.iter() {
            self.cells.at(key.as_ref()).add(sums);
        }
        for (group, name) in &other.names {
            self.set_name(group, name);
        }
    }

    /// Sets the name of a group, unless it already has one.
    pub fn set_name(&mut self, group: &str, name: &str) {
        if group != name && !name.is_empty() && !self.names.contains_key(group) {
            self.names.insert(group.to_owned(), name.to_owned());
        }
    }

    /// The bill of the `groups` groups with the most tokens, and of one group for the rest.
    #[must_use]
    pub fn top(&self, groups: usize) -> Self {
        let mut tokens: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (key, sums) in self.cells.iter() {
            *tokens.entry((&key.group, &key.second)).or_default() += sums.total.token_counts.tokens;
        }
        let mut ranked: Vec<_> = tokens.into_iter().collect();
        ranked.sort_by_key(|(group, tokens)| (std::cmp::Reverse(*tokens), *group));
        let shown_groups: BTreeSet<_> = ranked.into_iter().take(groups).map(|(group, _)| group).collect();
        let mut bill = Self {
            names: self.names.clone(),
            ..Self::default()
        };
        for (key, sums) in self.cells.iter() {
            let mut key = key.as_ref();
            if !shown_groups.contains(&(key.group, key.second)) {
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

    /// The rows: the groups in the order of their first entries, and in each group the coverages, then the encodings, then the dialects in
    /// theirs.
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

/// The bill of a whole run, from the counts of its manifest: coverages, then encodings in the order of `encodings`, then dialects.
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

/// The cell of these counts; the ratio is set later.
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
        logged_cache_write: count.logged_cache_write,
        logged_cache_write_1h: count.logged_cache_write_1h,
        logged_output: count.logged_output,
        logged_searches: count.logged_searches,
        logged_cost_requests: count.logged_cost_requests,
        logged_cost: count.logged_cost,
        p50: count.p50,
        p95: count.p95,
        p99: count.p99,
        invalid: count.invalid,
        losses: count.losses,
    }
}

/// Names, numbered in the order in which they first came.
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
        let Sums {
            total,
            spread,
            priced,
        } = sums;
        let (token_counts, renderings) = (&total.token_counts, total.renderings);
        let logged = &total.logged;
        BillRow {
            group: key.group.clone(),
            second: key.second.clone(),
            name: self.names.get(&key.group).cloned(),
            second_name: self.names.get(&key.second).cloned(),
            is_spread: renderings > 0 && spread.count() == renderings,
            parts: priced
                .iter()
                .map(|((model, day), part)| PricedPart {
                    model: model.clone(),
                    day: day.clone(),
                    ..part.clone()
                })
                .collect(),
            cell: cell(RenderingCount {
                dialect: key.dialect.clone(),
                profile: key.profile.clone(),
                coverage: key.coverage.clone(),
                encoding: key.encoding.clone(),
                renderings,
                messages_rendered: total.messages,
                bytes: total.bytes,
                tokens: token_counts.tokens,
                parts: token_counts.parts,
                assistant_content: token_counts.assistant_content,
                requests: total.requests,
                tokens_sent: token_counts.sent,
                written: token_counts.written,
                logged_requests: logged.requests,
                logged_input: logged.input,
                logged_cached_input: logged.cached_input,
                logged_cache_write: logged.cache_write,
                logged_cache_write_1h: logged.cache_write_1h,
                logged_output: logged.output,
                logged_searches: logged.searches,
                logged_cost_requests: logged.cost_requests,
                logged_cost: logged.logged_cost(),
                p50: spread.percentile(50),
                p95: spread.percentile(95),
                p99: spread.percentile(99),
                invalid: total.invalid,
                losses: total.losses,
            }),
        }
    }
}

impl BillEntry {
    fn add(&mut self, more: &Self) {
        self.renderings += more.renderings;
        self.messages += more.messages;
        self.bytes += more.bytes;
        self.token_counts += more.token_counts;
        self.requests += more.requests;
        self.logged += more.logged;
        self.invalid += more.invalid;
        self.losses += more.losses;
    }
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.total.add(&more.total);
        self.spread.merge(&more.spread);
        for (of, part) in &more.priced {
            match self.priced.get_mut(of) {
                Some(sum) => sum.add(part),
                None => drop(self.priced.insert(of.clone(), part.clone())),
            }
        }
    }
}

impl PricedPart {
    fn add(&mut self, more: &Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.sent = self.sent.saturating_add(more.sent);
        self.written = self.written.saturating_add(more.written);
        self.requests = self.requests.saturating_add(more.requests);
        for (terms, usage) in &more.logged {
            *self.logged.entry(*terms).or_default() += *usage;
        }
        self.longest = self.longest.max(more.longest);
    }
}

/// Sets the ratio of each row to the cheapest row of its group, coverage and encoding, per message.
fn set_ratios(rows: &mut [BillRow]) {
    for group in rows.chunk_by_mut(|one, other| {
        (&one.group, &one.second, &one.cell.coverage, &one.cell.encoding)
            == (
                &other.group,
                &other.second,
                &other.cell.coverage,
                &other.cell.encoding,
            )
    }) {
        let cheapest = group
            .iter()
            .map(|row| row.cell.per_message)
            .filter(|price| *price > 0.0)
            .fold(f64::INFINITY, f64::min);
        for row in group {
            if cheapest.is_finite() {
                row.cell.ratio = thousandths(row.cell.per_message / cheapest);
            }
        }
    }
}

#[cfg(test)]
mod tests;
