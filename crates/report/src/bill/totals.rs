//! Bills that the table of totals answers alone: by source, day and model. No rendering is read.

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_token::TokenCounts;

use super::{Bill, BillBy, BillRequest, Booking};
use crate::cells::GroupKey;

/// Whether totals can answer.
pub(super) fn answer(by: &[BillBy]) -> bool {
    by.iter()
        .all(|by| matches!(by, BillBy::Source | BillBy::Day | BillBy::Model))
}

const COLUMNS: [&str; 27] = [
    "source",
    "day",
    "model",
    "dialect",
    "profile",
    "encoding",
    "coverage",
    "renderings",
    "messages_rendered",
    "bytes",
    "content",
    "names",
    "framing",
    "tools",
    "replies",
    "meta",
    "assistant_content",
    "requests",
    "tokens_sent",
    "written",
    "logged_requests",
    "logged_input",
    "logged_cached_input",
    "logged_output",
    "invalid",
    "losses",
    "tokens",
];

/// Books what is asked for off the totals; only what was logged, where everything else is booked already.
pub(super) fn book(
    dataset: &Dataset,
    request: &BillRequest,
    only_logged: bool,
    bill: &mut Bill,
) -> Result<(), DatasetError> {
    dataset.scan("totals", &COLUMNS, &mut |batch| {
        let [sources, days, models] = [batch.texts("source")?, batch.texts("day")?, batch.texts("model")?];
        let [dialects, profiles, encodings, coverages] = [
            batch.texts("dialect")?,
            batch.texts("profile")?,
            batch.texts("encoding")?,
            batch.texts("coverage")?,
        ];
        let numbers = |names: &[&str]| {
            names
                .iter()
                .map(|name| batch.numbers(name))
                .collect::<Result<Vec<_>, _>>()
        };
        let counts = numbers(&[
            "renderings",
            "messages_rendered",
            "bytes",
            "content",
            "names",
            "framing",
            "tools",
            "replies",
            "meta",
            "assistant_content",
            "requests",
            "tokens_sent",
            "written",
            "invalid",
            "losses",
        ])?;
        let logged = numbers(&[
            "logged_requests",
            "logged_input",
            "logged_cached_input",
            "logged_output",
        ])?;
        for row in 0..batch.rows() {
            let (dialect, profile) = (dialects.at(row), profiles.at(row));
            if !request.wants_dialect(dialect, profile) || !request.wants_encoding(encodings.at(row)) {
                continue;
            }
            let group = |by: Option<&BillBy>| match by {
                Some(BillBy::Source) => sources.at(row),
                Some(BillBy::Day) => days.get(row).unwrap_or("undated"),
                Some(BillBy::Model) => models.get(row).unwrap_or("(unknown)"),
                _ => "",
            };
            let key = GroupKey {
                group: group(request.by.first()),
                second: group(request.by.get(1)),
                dialect,
                profile,
                coverage: coverages.at(row),
                encoding: encodings.at(row),
            };
            let mut booking = Booking::default();
            for (sum, numbers) in booking.logged.iter_mut().zip(&logged) {
                *sum = numbers.at(row);
            }
            if !only_logged {
                let mut at = counts.iter().map(|numbers| numbers.at(row));
                let mut next = || at.next().unwrap_or_default();
                booking.renderings = next();
                booking.messages = next();
                booking.bytes = next();
                let mut tally = TokenCounts {
                    content: next(),
                    names: next(),
                    framing: next(),
                    tools: next(),
                    replies: next(),
                    meta: next(),
                    assistant_content: next(),
                    ..TokenCounts::default()
                };
                booking.requests = next();
                tally.sent = next();
                tally.written = next();
                tally.tokens = tally.parts();
                booking.tally = tally;
                booking.invalid = next();
                booking.losses = next();
            }
            bill.book(key, &booking);
        }
        Ok(())
    })
}
