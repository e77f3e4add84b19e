//! Counts messages by day, from the column of their times.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError, Texts, Times, columns};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::report::{DayCount, Queried, queries};

/// The number of days that a report lists: 27 years.
const MOST_DAYS: usize = 10_000;

/// Microseconds in a day.
const DAY: i64 = 86_400_000_000;

columns! {
    struct TimedMessages {
        kind: Texts,
        created_at: Times,
    }
}

/// The days with messages; empty if the dataset does not have the table.
pub(super) fn days(dataset: &Dataset) -> Result<Queried<DayCount>, DatasetError> {
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    if dataset.has("messages") {
        dataset.each_row("messages", &mut |cells: &TimedMessages, row| {
            if let (Some(time), "message") = (cells.created_at.get(row), cells.kind.at(row)) {
                *counts.entry(time.div_euclid(DAY)).or_default() += 1;
            }
        })?;
    }
    let rows = counts.into_iter().filter_map(|(day, messages)| {
        let time = Timestamp::from_microsecond(day.checked_mul(DAY)?).ok()?;
        let day = time.to_zoned(TimeZone::UTC).date().to_string();
        Some(DayCount { day, messages })
    });
    Ok(Queried::new(queries::DAYS, rows.collect(), MOST_DAYS))
}
