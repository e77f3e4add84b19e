//! Makes bills by source, day and model from the table of totals; no renderings are read.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_dataset::{Components, Dataset, DatasetError, Numbers, Reals, Texts, columns};
use chatmill_model::{BilledUsage, Cost};
use chatmill_token::TokenCounts;

use super::answers::repeated_in;
use super::{Bill, BillBy, BillEntry, BillRequest, PriceDivision, Terms};
use crate::cells::GroupKey;

/// Whether the table of totals has these groups.
pub(super) fn answer(by: &[BillBy]) -> bool {
    by.iter()
        .all(|by| matches!(by, BillBy::Source | BillBy::Day | BillBy::Model))
}

/// Whether a bill of renderings by these groups is made from the table.
pub(super) fn are_asked(by: &[BillBy]) -> bool {
    answer(by) || by.iter().any(|by| matches!(by, BillBy::Day | BillBy::Model))
}

columns! {
    struct TotalColumns with parts: Components {
        source: Texts,
        day: Texts,
        model: Texts,
        dialect: Texts,
        profile: Texts,
        encoding: Texts,
        coverage: Texts,
        renderings: Numbers,
        messages_rendered: Numbers,
        bytes: Numbers,
        assistant_content: Numbers,
        requests: Numbers,
        tokens_sent: Numbers,
        written: Numbers,
        logged_requests: Numbers,
        logged_input: Numbers,
        logged_cached_input: Numbers,
        logged_cache_write: Option<Numbers>,
        logged_cache_write_1h: Option<Numbers>,
        logged_output: Numbers,
        logged_searches: Option<Numbers>,
        logged_cost_requests: Option<Numbers>,
        logged_cost: Option<Reals>,
        invalid: Numbers,
        losses: Numbers,
    }
}

impl TotalColumns {
    fn logged(&self, row: usize) -> BilledUsage {
        let added = |column: &Option<Numbers>| column.as_ref().map_or(0, |column| column.at(row));
        let cost = self.logged_cost.as_ref().and_then(|column| column.get(row));
        BilledUsage {
            requests: self.logged_requests.at(row),
            input: self.logged_input.at(row),
            cached_input: self.logged_cached_input.at(row),
            cache_write: added(&self.logged_cache_write),
            cache_write_1h: added(&self.logged_cache_write_1h),
            output: self.logged_output.at(row),
            searches: added(&self.logged_searches),
            cost_requests: added(&self.logged_cost_requests),
            cost: cost.and_then(Cost::new).map_or(0, Cost::billionths),
        }
    }

    fn entry(&self, row: usize) -> BillEntry {
        let parts = self.parts.at(row);
        BillEntry {
            renderings: self.renderings.at(row),
            whole: None,
            messages: self.messages_rendered.at(row),
            bytes: self.bytes.at(row),
            token_counts: TokenCounts {
                tokens: parts.total(),
                parts,
                assistant_content: self.assistant_content.at(row),
                sent: self.tokens_sent.at(row),
                written: self.written.at(row),
            },
            requests: self.requests.at(row),
            logged: self.logged(row),
            invalid: self.invalid.at(row),
            losses: self.losses.at(row),
        }
    }
}

/// The part of the rows of `totals` that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TotalsPart {
    /// Everything.
    All,
    /// The logged usage and the parts for prices; the rest was added before.
    Logged,
}

columns! {
    struct LoggedMessage {
        usage_input: Numbers,
        usage_tier: Option<Texts>,
    }
}

/// The terms of all logged requests of a dataset, and a length in tokens that no request exceeds; `u64::MAX` if the dataset has no
/// messages.
fn terms(dataset: &Dataset, division: &PriceDivision) -> Result<(Terms, u64), DatasetError> {
    let mut terms = Terms {
        above: division.lengths.is_empty().then_some(0),
        ..Terms::BASE
    };
    if !has_messages(dataset) {
        return Ok((terms, u64::MAX));
    }
    let (mut longest, mut tiers) = (0, BTreeSet::new());
    dataset.each_row("messages", &mut |messages: &LoggedMessage, row| {
        let Some(input) = messages.usage_input.get(row) else {
            return;
        };
        longest = longest.max(input);
        let tier = messages.usage_tier.as_ref().and_then(|column| column.get(row));
        tiers.insert(tier.and_then(|word| word.parse().ok()).unwrap_or_default());
    })?;
    if let Some(first) = tiers.pop_first() {
        terms.tier = tiers.is_empty().then_some(first);
    }
    Ok((terms, longest))
}

/// Whether the dataset has the table of messages.
pub(super) fn has_messages(dataset: &Dataset) -> bool {
    !dataset
        .manifest()
        .absent_tables
        .iter()
        .any(|table| table == "messages")
}

/// Adds the requested rows of `totals` to a bill.
pub(super) fn add(
    dataset: &Dataset,
    request: &BillRequest,
    of: TotalsPart,
    bill: &mut Bill,
) -> Result<(), DatasetError> {
    let division = request.division.as_ref();
    let (terms, longest) = match division {
        Some(division) => terms(dataset, division)?,
        None => (Terms::BASE, 0),
    };
    let repeated = repeated_in(dataset)?;
    // The usage that has still to be subtracted, for each dialect and encoding.
    let mut left = BTreeMap::new();
    dataset.each_row("totals", &mut |totals: &TotalColumns, row| {
        let (dialect, profile) = (totals.dialect.at(row), totals.profile.at(row));
        let encoding = totals.encoding.at(row);
        if !request.wants(dialect, profile, encoding) {
            return;
        }
        // Day and model are null if they are not known.
        let group = |by: Option<&BillBy>| match by {
            Some(BillBy::Source) => totals.source.at(row),
            Some(BillBy::Day) => totals.day.get(row).unwrap_or("undated"),
            Some(BillBy::Model) => totals.model.get(row).unwrap_or("(unknown)"),
            _ => "",
        };
        let key = GroupKey {
            group: group(request.by.first()),
            second: group(request.by.get(1)),
            dialect,
            profile,
            coverage: totals.coverage.at(row),
            encoding,
        };
        let mut entry = totals.entry(row);
        let mut copied = 0;
        if !repeated.is_empty() {
            let of = [dialect, profile, encoding].map(str::to_owned);
            let left = left.entry(of).or_insert_with(|| repeated.clone());
            let answers = (
                totals.source.at(row).to_owned(),
                totals.day.get(row).map(str::to_owned),
                totals.model.at(row).to_owned(),
            );
            // If there are several coverages, repeated requests are subtracted from one that has them all.
            if let Some(copies) = left
                .get(&answers)
                .filter(|copies| copies.requests <= entry.logged.requests)
            {
                entry.logged -= *copies;
                copied = copies.requests;
                entry.requests = entry.requests.saturating_sub(copied);
                left.remove(&answers);
            }
        }
        match of {
            TotalsPart::All => bill.add(key, &entry),
            TotalsPart::Logged => {
                let logged = BillEntry {
                    logged: entry.logged,
                    ..BillEntry::default()
                };
                bill.add(key, &logged);
                bill.take_off_requests(key, copied);
            }
        }
        if let Some(division) = division {
            let logged = [(terms, entry.logged)];
            let is_logged = entry.logged.requests > 0;
            let logged = if is_logged { logged.as_slice() } else { &[] };
            let day = totals.day.get(row).filter(|_| division.by_day);
            let model = totals.model.at(row);
            bill.add_part(key, &entry, (model, day.unwrap_or_default()), (logged, longest));
        }
    })
}
