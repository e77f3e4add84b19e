//! Days and times in the form of ISO 8601.

use std::fmt::Write as _;

/// A time in ISO 8601; with `Z` if the column declares it as an instant and not as the reading of a local clock.
pub(crate) fn time(units: i64, second: i64, is_instant: bool) -> String {
    let (seconds, rest) = (units.div_euclid(second), units.rem_euclid(second));
    let (days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute) = (clock / 3_600, clock / 60 % 60);
    let mut out = format!("{}T{hour:02}:{minute:02}:{:02}", date(days), clock % 60);
    if rest > 0 {
        let digits = second.ilog10() as usize;
        // Writing to a String cannot fail.
        let _ = write!(out, ".{rest:0digits$}");
    }
    if is_instant {
        out.push('Z');
    }
    out
}

/// A day, counted from 1970, as a calendar date.
pub(crate) fn date(days: i64) -> String {
    // Years begin in March here, so that the leap day is the last day of a year.
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
