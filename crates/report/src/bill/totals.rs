//! Bills by source, day and model, from the table of totals alone. No rendering is read.

use chatmill_dataset::{Components, Dataset, DatasetError, Numbers, Texts, columns};
use chatmill_token::TokenCounts;

use super::{Bill, BillBy, BillEntry, BillRequest, BilledUsage, PriceDivision, Terms};
use crate::cells::GroupKey;

/// Whether the table of totals has these groups.
pub(super) fn answer(by: &[BillBy]) -> bool {
    by.iter()
        .all(|by| matches!(by, BillBy::Source | BillBy::Day | BillBy::Model))
}

/// Whether the table is read for a bill of renderings by these groups.
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
        logged_output: Numbers,
        invalid: Numbers,
        losses: Numbers,
    }
}

impl TotalColumns {
    fn logged(&self, row: usize) -> [u64; 4] {
        let logged = [
            &self.logged_requests,
            &self.logged_input,
            &self.logged_cached_input,
            &self.logged_output,
        ];
        logged.map(|column| column.at(row))
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

/// What is added of the rows of `totals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TotalsPart {
    /// Everything.
    All,
    /// The logged usage, and what prices apply to, where the rest was added before.
    Logged,
}

columns! {
    struct LoggedInput {
        usage_input: Numbers,
    }
}

/// The largest logged input of a message, where prices depend on lengths; any where the run left out the messages.
fn longest(dataset: &Dataset, division: &PriceDivision) -> Result<u64, DatasetError> {
    let mut longest = 0;
    if division.lengths.is_empty() {
        return Ok(longest);
    }
    if !has_messages(dataset) {
        return Ok(u64::MAX);
    }
    dataset.each_row("messages", &mut |messages: &LoggedInput, row| {
        longest = longest.max(messages.usage_input.at(row));
    })?;
    Ok(longest)
}

/// Whether the run wrote the table of messages.
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
    let longest = division.map_or(Ok(0), |division| longest(dataset, division))?;
    dataset.each_row("totals", &mut |totals: &TotalColumns, row| {
        let (dialect, profile) = (totals.dialect.at(row), totals.profile.at(row));
        let encoding = totals.encoding.at(row);
        if !request.wants(dialect, profile, encoding) {
            return;
        }
        // Day and model are null where they are not known, as the page of the table says.
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
        let entry = totals.entry(row);
        match of {
            TotalsPart::All => bill.add(key, &entry),
            TotalsPart::Logged => {
                let logged = BillEntry {
                    logged: entry.logged,
                    ..BillEntry::default()
                };
                bill.add(key, &logged);
            }
        }
        if let Some(division) = division {
            let [requests, input, cached_input, output] = entry.logged;
            let usage = BilledUsage {
                input,
                cached_input,
                output,
                requests,
                ..BilledUsage::default()
            };
            let terms = Terms {
                above: division.lengths.is_empty().then_some(0),
                ..Terms::BASE
            };
            let logged = [(terms, usage)];
            let logged = if requests > 0 { logged.as_slice() } else { &[] };
            let day = totals.day.get(row).filter(|_| division.by_day);
            let model = totals.model.at(row);
            bill.add_part(key, &entry, (model, day.unwrap_or_default()), (logged, longest));
        }
    })
}
