//! Bills that the table of totals answers alone: by source, day and model. No rendering is read.

use chatmill_dataset::{Components, Dataset, DatasetError, Numbers, Texts, columns};
use chatmill_token::TokenCounts;

use super::{Bill, BillBy, BillRequest, Booking};
use crate::cells::GroupKey;

/// Whether totals can answer.
pub(super) fn answer(by: &[BillBy]) -> bool {
    by.iter()
        .all(|by| matches!(by, BillBy::Source | BillBy::Day | BillBy::Model))
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

    fn booking(&self, row: usize) -> Booking {
        let parts = self.parts.at(row);
        Booking {
            renderings: self.renderings.at(row),
            whole: None,
            messages: self.messages_rendered.at(row),
            bytes: self.bytes.at(row),
            tally: TokenCounts {
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

/// Books what is asked for off the totals; only what was logged, where everything else is booked already.
pub(super) fn book(
    dataset: &Dataset,
    request: &BillRequest,
    only_logged: bool,
    bill: &mut Bill,
) -> Result<(), DatasetError> {
    dataset.each_row("totals", &mut |totals: &TotalColumns, row| {
        let (dialect, profile) = (totals.dialect.at(row), totals.profile.at(row));
        let encoding = totals.encoding.at(row);
        if !request.wants_dialect(dialect, profile) || !request.wants_encoding(encoding) {
            return;
        }
        // Day and model are null where nobody says, as the table's page has it.
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
        let booking = if only_logged {
            Booking {
                logged: totals.logged(row),
                ..Booking::default()
            }
        } else {
            totals.booking(row)
        };
        bill.book(key, &booking);
    })
}
