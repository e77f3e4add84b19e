//! Numbers as text: separators, units, percentages, and nouns that agree with their number.

use std::time::Duration;

use chatmill_report::numbers;
pub(crate) use chatmill_report::numbers::{count, counted, thousandths};
use indicatif::DecimalBytes;
use jiff::Timestamp;

/// Bytes in decimal units.
pub(crate) fn bytes(number: u64) -> String {
    DecimalBytes(number).to_string()
}

/// Bytes in decimal units, always with three digits, for numbers that change while they are read.
pub(crate) fn about(number: u64) -> String {
    let mut value = number as f64;
    let mut units = ["B", "kB", "MB", "GB", "TB", "PB"].into_iter().peekable();
    while let Some(unit) = units.next() {
        // From 999.5 on, rounding would give a fourth digit.
        if value < 999.5 || units.peek().is_none() {
            let digits = match value {
                _ if unit == "B" => 0,
                ..9.995 => 2,
                ..99.95 => 1,
                _ => 0,
            };
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    String::new()
}

/// A quotient with one decimal; a dash when there is nothing to divide by.
pub(crate) fn quotient(dividend: u64, divisor: u64) -> String {
    if divisor == 0 {
        "–".to_owned()
    } else {
        format!("{:.1}", dividend as f64 / divisor as f64)
    }
}

/// A share as percent, with as many decimals as a small one needs.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent == 0.0 || percent >= 1.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.2} %")
    }
}

/// An instant in UTC, formatted by `strftime`.
pub(crate) fn instant(microseconds: i64, form: &str) -> String {
    Timestamp::from_microsecond(microseconds).map_or_else(
        |_| format!("{microseconds} µs after 1970"),
        |instant| instant.strftime(form).to_string(),
    )
}

/// A duration in its two largest units; a short duration has a decimal.
pub(crate) fn duration(duration: Duration) -> String {
    numbers::duration(duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(0, "record"), "0 records");
        assert_eq!(counted(1_204_000, "record"), "1,204,000 records");
    }

    #[test]
    fn bytes_on_the_way_have_three_digits() {
        let shown: Vec<String> = [0, 999, 1_000, 29_940, 299_000_000, 999_600_000, 1_250_000_000]
            .map(about)
            .into();
        assert_eq!(
            shown,
            [
                "0 B", "999 B", "1.00 kB", "29.9 kB", "299 MB", "1.00 GB", "1.25 GB"
            ]
        );
    }

    #[test]
    fn a_quotient_by_zero_is_a_dash() {
        assert_eq!(quotient(7, 2), "3.5");
        assert_eq!(quotient(7, 0), "–");
    }

    #[test]
    fn small_percentages_are_not_rounded_to_zero() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.001), "0.10 %");
        assert_eq!(percent(0.25), "25 %");
    }

    #[test]
    fn durations_have_two_units_at_most() {
        assert_eq!(duration(Duration::from_millis(1_240)), "1.2 s");
        assert_eq!(duration(Duration::from_millis(15_900)), "15 s");
        assert_eq!(duration(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!(duration(Duration::from_secs(7_260)), "2 h 1 min");
    }
}
