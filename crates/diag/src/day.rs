//! A day, as people write it in settings: `2026-03-02`.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A day of the years 1 to 9999; in UTC unless a zone is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Day(Date);

impl Day {
    /// The UTC day of a time in microseconds since 1970; the first or the last day that can be represented if the time is beyond.
    pub fn of(instant: i64) -> Self {
        Self::in_zone(instant, &TimeZone::UTC)
    }

    /// The day of a time by the clocks of a zone.
    pub fn in_zone(instant: i64, zone: &TimeZone) -> Self {
        let beyond = if instant < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        };
        let time = Timestamp::from_microsecond(instant).unwrap_or(beyond);
        Self(time.to_zoned(zone.clone()).date())
    }

    /// The first microsecond after the day, in UTC since 1970.
    pub fn end(self) -> i64 {
        /// Microseconds in a day.
        const MICROSECONDS: i64 = 86_400_000_000;
        let days = self.0.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24;
        (days + 1) * MICROSECONDS
    }
}

impl std::str::FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A spelling other than that of `Display` (`20260302`, with a time, with a plus) is refused.
        let day = text.parse::<Date>().ok();
        let day = day.filter(|day| day.year() > 0 && day.to_string() == text);
        day.map(Self)
            .ok_or_else(|| format!("`{text:.40}` is not a day: write it as 2026-03-02"))
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_where_the_next_begins() {
        for (text, end) in [
            ("1970-01-01", 86_400_000_000),
            ("1969-12-31", 0),
            ("2000-02-29", 951_868_800_000_000),
            ("2026-11-23", 1_795_478_400_000_000),
        ] {
            let day: Day = text.parse().unwrap();
            assert_eq!(day.end(), end, "{text}");
            assert_eq!(Day::of(end - 1), day);
            assert_ne!(Day::of(end), day);
            assert_eq!(day.to_string(), text);
        }
    }

    #[test]
    fn a_malformed_date_is_refused_and_named() {
        for text in [
            "",
            "today",
            "2026-2-3",
            "2026-02-30",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "0000-01-01",
            "2026-01-01-01",
            "2026-01-01T00:00:00Z",
            "-026-01-01",
        ] {
            let refused = text.parse::<Day>().unwrap_err();
            assert!(
                refused.contains(text) && refused.contains("2026-03-02"),
                "{refused}"
            );
        }
    }
}
