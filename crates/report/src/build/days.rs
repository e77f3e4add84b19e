//! Messages by the day on which they were written, from the narrow column of their times.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError, Texts, Times, columns};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::report::{DayCount, Queried, queries};

/// Days that a report lists at most: 27 years.
const MOST_DAYS: usize = 10_000;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

columns! {
    struct TimedMessages {
        kind: Texts,
        created_at: Times,
    }
}

/// The days with messages; none where the dataset lacks the table.
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
