//! A day, as people write it in settings: `2026-03-02`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Microseconds of a day.
const MICROSECONDS: i64 = 86_400_000_000;

/// A day of the years 1 to 9999, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Day {
    year: i64,
    month: i64,
    of_month: i64,
}

/// Why a text is no day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDay(String);

impl fmt::Display for NoDay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is no day: write it as 2026-03-02", self.0)
    }
}

impl std::error::Error for NoDay {}

impl Day {
    /// The day of a time in microseconds since 1970, UTC.
    pub fn of(instant: i64) -> Self {
        // Civil dates from days, with years that begin in March: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms.
        let days = instant.div_euclid(MICROSECONDS) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            of_month: day,
        }
    }

    /// The first microsecond after the day, since 1970, UTC.
    pub fn end(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let shifted = if self.month > 2 {
            self.month - 3
        } else {
            self.month + 9
        };
        let of_year = (153 * shifted + 2) / 5 + self.of_month - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        (days + 1) * MICROSECONDS
    }
}

impl std::str::FromStr for Day {
    type Err = NoDay;

    fn from_str(text: &str) -> Result<Self, NoDay> {
        let wrong = || NoDay(text.chars().take(40).collect());
        let number = |part: Option<&str>, digits: usize| {
            part.filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|part| part.parse::<i64>().ok())
                .ok_or_else(wrong)
        };
        let mut parts = text.split('-');
        let (year, month, day) = (
            number(parts.next(), 4)?,
            number(parts.next(), 2)?,
            number(parts.next(), 2)?,
        );
        let read = Self {
            year,
            month,
            of_month: day,
        };
        // A day that there is not is another one when it is counted.
        let is_one = parts.next().is_none() && (1..=12).contains(&month) && year > 0;
        if is_one && day > 0 && Self::of(read.end() - 1) == read {
            Ok(read)
        } else {
            Err(wrong())
        }
    }
}

impl TryFrom<String> for Day {
    type Error = NoDay;

    fn try_from(text: String) -> Result<Self, NoDay> {
        text.parse()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04}-{:02}-{:02}", self.year, self.month, self.of_month)
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
    fn what_is_no_day_is_refused_and_named() {
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
            let refused = text.parse::<Day>().unwrap_err().to_string();
            assert!(
                refused.contains(text) && refused.contains("2026-03-02"),
                "{refused}"
            );
        }
    }
}
