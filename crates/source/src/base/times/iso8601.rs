//! ISO 8601 times as `datetime.fromisoformat` of Python 3.11 reads them, because the format's importer calls it.
//!
//! Read: extended and basic form, any one character between date and time, date alone, week dates, fractions with point or comma (digits beyond
//! microseconds are cut), `Z` and offsets down to microseconds. Also read, and noted as [anomalies](TimeAnomaly): 24:00, a leap second, a lower-case
//! `z`, white space around the time, the word `UTC` after it. Not read: ordinal dates, and texts with a remainder that the C parser of 3.11 ignores
//! (`10:20:30.123456 +01:00`, `10:20.5`), because their meaning is ambiguous. Numbers of nine and more digits are not read either, although Python
//! accepts a digit between date and time: `1783110460000` is a count of milliseconds, not a day of 1783.

use std::borrow::Cow;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, ISOWeekDate, Time, Weekday};

use crate::base::times::unusual::{TimeAnomalies, TimeAnomaly};

const MICROSECONDS: i64 = 1_000_000;
const MICROSECOND_DIGITS: usize = 6;

/// The least digits of a count since 1970: fewer are a date without hyphens.
pub(crate) const COUNT_DIGITS: usize = 9;

/// A time as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Date and time of day.
    pub civil: DateTime,
    /// Microseconds east of UTC, if the text has an offset.
    pub offset: Option<i64>,
    /// The anomalies of the time.
    pub anomalies: TimeAnomalies,
}

impl Moment {
    /// Microseconds since 1970; `None` for a time without an offset.
    pub(crate) fn instant(&self) -> Option<i64> {
        self.local().checked_sub(self.offset?)
    }

    /// Microseconds since 1970 as if the time were UTC: every valid year fits.
    pub(crate) fn local(&self) -> i64 {
        let since = self
            .civil
            .duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
        i64::try_from(since.as_micros()).unwrap_or_default()
    }
}

/// Reads a time; `None` if the text is not one.
pub(crate) fn parse(text: &str) -> Option<Moment> {
    let mut anomalies = TimeAnomalies::default();
    let trimmed = text.trim();
    if trimmed.len() < text.len() {
        anomalies.add(TimeAnomaly::Blanks);
    }
    if is_number(trimmed) {
        return None;
    }
    let (date_text, rest) = trimmed.split_at_checked(date_length(trimmed.as_bytes())?)?;
    let date = date(date_text.as_bytes())?;
    if rest.is_empty() {
        return Some(Moment {
            civil: date.to_datetime(Time::midnight()),
            offset: None,
            anomalies,
        });
    }
    let mut rest = rest.chars();
    rest.next();
    let time_text = rest.as_str();
    let word = time_text.strip_suffix(" UTC");
    if word.is_some() {
        anomalies.add(TimeAnomaly::Utc);
    }
    let time_text = &*word.map_or(Cow::Borrowed(time_text), |clock| format!("{clock}Z").into());
    let (clock_text, offset) = match time_text.find(['+', '-', 'Z', 'z']) {
        None => (time_text, None),
        Some(at) => {
            let (clock_text, offset_text) = time_text.split_at_checked(at)?;
            if offset_text == "z" {
                anomalies.add(TimeAnomaly::LowerCase);
                (clock_text, Some(0))
            } else {
                (clock_text, Some(offset(offset_text)?))
            }
        }
    };
    if digits_after_seconds(clock_text) > MICROSECOND_DIGITS {
        anomalies.add(TimeAnomaly::Digits);
    }
    Some(Moment {
        civil: civil(date, clock(clock_text.as_bytes())?, &mut anomalies)?,
        offset,
        anomalies,
    })
}

/// Whether a text is a number with at least as many digits as counts since 1970 have, and perhaps a fraction.
fn is_number(text: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let first = text.as_bytes().get(..COUNT_DIGITS);
    if !first.is_some_and(|first| first.iter().all(is_digit)) {
        return false;
    }
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    whole.len() >= COUNT_DIGITS
        && [whole, fraction]
            .iter()
            .all(|digits| digits.as_bytes().iter().all(is_digit))
}

/// A date with a time of day: 24:00 is the beginning of the next day, a leap second the second after it.
fn civil(date: Date, clock: [i64; 4], anomalies: &mut TimeAnomalies) -> Option<DateTime> {
    let small = |field: i64| i8::try_from(field).ok();
    let [hour, minute, second, micros] = clock;
    let at = |hour, minute, second| {
        let time = Time::new(
            small(hour)?,
            small(minute)?,
            small(second)?,
            i32::try_from(micros * 1000).ok()?,
        );
        Some(date.to_datetime(time.ok()?))
    };
    match clock {
        [24, 0, 0, 0] => {
            anomalies.add(TimeAnomaly::EndOfDay);
            at(0, 0, 0)?.checked_add(1.day()).ok()
        }
        // Leap seconds end a quarter of an hour in every zone in use today.
        [_, 14 | 29 | 44 | 59, 60, _] => {
            anomalies.add(TimeAnomaly::LeapSecond);
            at(hour, minute, 59)?.checked_add(1.second()).ok()
        }
        _ => at(hour, minute, second),
    }
}

fn digits_after_seconds(clock: &str) -> usize {
    clock
        .split_once(['.', ','])
        .map_or(0, |(_, fraction)| fraction.len())
}

/// Reads `Z` or `+HH[:MM[:SS[.ffffff]]]`, colons all or none; microseconds east of UTC.
pub(crate) fn offset(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, amount) = match text.strip_prefix('+') {
        Some(amount) => (1, amount),
        None => (-1, text.strip_prefix('-')?),
    };
    let [hours, minutes, seconds, micros] = clock(amount.as_bytes())?;
    let total = ((hours * 60 + minutes) * 60 + seconds) * MICROSECONDS + micros;
    (total < 24 * 3600 * MICROSECONDS).then_some(sign * total)
}

/// Bytes of the leading date; one character of any kind separates it from the time.
fn date_length(text: &[u8]) -> Option<usize> {
    if text.len() < 7 {
        return None;
    }
    let at = |index: usize| text.get(index).copied();
    let digit_at = |index: usize| at(index).is_some_and(|byte| byte.is_ascii_digit());
    Some(match (at(4), at(5)) {
        (Some(b'-'), Some(b'W')) => match at(8) {
            Some(b'-') if text.len() == 9 => return None,
            // YYYY-Www-D, unless more digits show that the hyphen is the separator.
            Some(b'-') if !digit_at(10) => 10,
            _ => 8,
        },
        (Some(b'-'), _) => 10,
        (Some(b'W'), _) => {
            // YYYYWww or YYYYWwwD: the number of digits that follow decides.
            let digits = text
                .iter()
                .skip(7)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            match digits {
                0 | 1 => 7 + digits,
                odd if odd % 2 == 1 => 7,
                _ => 8,
            }
        }
        _ => 8,
    })
    .map(|length| length.min(text.len()))
}

fn date(text: &[u8]) -> Option<Date> {
    let year = i16::try_from(number(text.get(..4)?)?)
        .ok()
        .filter(|year| *year >= 1)?;
    let rest = text.get(4..)?;
    let (rest, extended) = match rest.strip_prefix(b"-") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let small = |digits: &[u8]| number(digits).and_then(|value| i8::try_from(value).ok());
    if let Some(week_text) = rest.strip_prefix(b"W") {
        let (week, day) = match (week_text, extended) {
            ([a, b], _) => (small(&[*a, *b])?, 1),
            ([a, b, b'-', day], true) | ([a, b, day], false) => (small(&[*a, *b])?, small(&[*day])?),
            _ => return None,
        };
        let weekday = Weekday::from_monday_one_offset(day).ok()?;
        return Some(ISOWeekDate::new(year, week, weekday).ok()?.date());
    }
    let (month, day) = match (rest, extended) {
        ([a, b, b'-', c, d], true) | ([a, b, c, d], false) => (small(&[*a, *b])?, small(&[*c, *d])?),
        _ => return None,
    };
    Date::new(year, month, day).ok()
}

/// Reads `HH[:MM[:SS[.ffffff]]]` into hours, minutes, seconds and microseconds; colons all or none.
fn clock(text: &[u8]) -> Option<[i64; 4]> {
    let (hours, mut rest) = two_digits(text)?;
    let colons = rest.first() == Some(&b':');
    let mut fields = [hours, 0, 0, 0];
    for field in fields.iter_mut().skip(1).take(2) {
        if rest.is_empty() {
            return Some(fields);
        }
        if colons {
            rest = rest.strip_prefix(b":")?;
        }
        (*field, rest) = two_digits(rest)?;
    }
    let [_, _, _, micros] = &mut fields;
    *micros = match rest {
        [] => 0,
        [b'.' | b',', fraction @ ..] if !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit) => {
            let digits = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(6);
            digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'))
        }
        _ => return None,
    };
    Some(fields)
}

fn two_digits(text: &[u8]) -> Option<(i64, &[u8])> {
    let (digits, rest) = text.split_at_checked(2)?;
    Some((number(digits)?, rest))
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value: i64, digit| {
        digit
            .is_ascii_digit()
            .then(|| value * 10 + i64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let moment = parse(text)?;
        let offset = moment
            .offset
            .map_or(String::new(), |micros| format!(" {}", micros / 1_000_000));
        Some(format!("{}{offset}", moment.civil))
    }

    #[test]
    fn times_are_read_as_python_reads_them() {
        for (text, expected) in [
            ("2026-02-28T10:20:30", "2026-02-28T10:20:30"),
            ("2026-02-28 10:20", "2026-02-28T10:20:00"),
            ("2026-02-28ß10", "2026-02-28T10:00:00"),
            ("2026-02-28", "2026-02-28T00:00:00"),
            ("2026-02-28110:20", "2026-02-28T10:20:00"),
            ("20260228x1020", "2026-02-28T10:20:00"),
            ("20260228", "2026-02-28T00:00:00"),
            ("20260228T102030", "2026-02-28T10:20:30"),
            ("20260228T1020", "2026-02-28T10:20:00"),
            ("2026-02-28T102030", "2026-02-28T10:20:30"),
            ("2026-W01-4T10:20", "2026-01-01T10:20:00"),
            ("2026-W01", "2025-12-29T00:00:00"),
            ("2026W014", "2026-01-01T00:00:00"),
            ("2026W01", "2025-12-29T00:00:00"),
            ("2026W014T10", "2026-01-01T10:00:00"),
            ("2026-02-28T10:20:30.1", "2026-02-28T10:20:30.1"),
            ("2026-02-28T10:20:30,123456", "2026-02-28T10:20:30.123456"),
            ("2026-02-28T10:20:30.1234567", "2026-02-28T10:20:30.123456"),
            ("2026-02-28T10:20:30Z", "2026-02-28T10:20:30 0"),
            ("2026-02-28T10:20:30+00:00", "2026-02-28T10:20:30 0"),
            ("2026-02-28T10:20:30+08:00", "2026-02-28T10:20:30 28800"),
            ("2026-02-28T10:20:30-0530", "2026-02-28T10:20:30 -19800"),
            ("2026-02-28T10+08", "2026-02-28T10:00:00 28800"),
            ("2026-02-28T10:20:30.5-01:02:03", "2026-02-28T10:20:30.5 -3723"),
            ("0001-01-01T00:00:00", "0001-01-01T00:00:00"),
            ("9999-12-31T23:59:59.999999", "9999-12-31T23:59:59.999999"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn times_that_python_refuses_are_refused() {
        for text in [
            "",
            "now",
            "2026",
            "2026-02",
            "2026-2-8",
            "2026-02-29",
            "2026-13-01",
            "0000-01-01",
            "2026-0228",
            "202602-28",
            "2026-02-28T",
            "2026-02-28T1",
            "2026-02-28T10:20:30.123456 +01:00",
            "2026-02-28T10:20.5",
            "2026-02-28T23:60",
            "2026-02-28T24:00:01",
            "2026-02-28T24:00:00.5",
            "2026-02-28T25:00",
            "9999-12-31T24:00",
            "2026-02-28T23:58:60",
            "2026-02-28T23:59:61",
            "2026-02-28T10:2030",
            "2026-02-28T1020:30",
            "2026-02-28T10:20:30.",
            "2026-02-28T10:20:30.12x",
            "2026-02-28T10:20:30.1234567x",
            "2026-02-28T10:20:30 Z",
            "2026-02-28T10:20:30+",
            "2026-02-28T10:20:30+8",
            "2026-02-28T10:20:30+24:00",
            "2026-W00",
            "2026-W54",
            "2026-W01-0",
            "2026-W01-8",
            "2026-W0",
            "2026-W01-",
            "2026-059",
            "1736241333",
            "1783110460000",
            " 1783110460000 ",
            "1783110460000.25",
            "17831104612",
            "178311046000000",
            "202601051000",
            "٢٠٢٦-02-28",
            "２026-02-28T10:20:30Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn iso_times_that_python_refuses_are_read_with_a_finding() {
        let anomalies_of = |text: &str| {
            let moment = parse(text).unwrap();
            (read(text).unwrap(), moment.anomalies.kinds().collect::<Vec<_>>())
        };
        for (text, expected, anomalies) in [
            (
                "2026-02-28T24:00",
                "2026-03-01T00:00:00",
                &[TimeAnomaly::EndOfDay][..],
            ),
            (
                "2026-12-31T24:00:00.000Z",
                "2027-01-01T00:00:00 0",
                &[TimeAnomaly::EndOfDay],
            ),
            (
                "2016-12-31T23:59:60Z",
                "2017-01-01T00:00:00 0",
                &[TimeAnomaly::LeapSecond],
            ),
            (
                "2017-01-01T05:29:60.5+05:30",
                "2017-01-01T05:30:00.5 19800",
                &[TimeAnomaly::LeapSecond],
            ),
            (
                "2026-02-28T10:20:30z",
                "2026-02-28T10:20:30 0",
                &[TimeAnomaly::LowerCase],
            ),
            (
                " 2026-02-28T10:20:30Z\n",
                "2026-02-28T10:20:30 0",
                &[TimeAnomaly::Blanks],
            ),
            (
                "2026-02-28T10:20:30.123456789Z",
                "2026-02-28T10:20:30.123456 0",
                &[TimeAnomaly::Digits],
            ),
            (
                "2026-02-28T24:00:00z ",
                "2026-03-01T00:00:00 0",
                &[TimeAnomaly::EndOfDay, TimeAnomaly::LowerCase, TimeAnomaly::Blanks],
            ),
            ("2026-02-28T10:20:30.123456Z", "2026-02-28T10:20:30.123456 0", &[]),
        ] {
            assert_eq!(
                anomalies_of(text),
                (expected.to_owned(), anomalies.to_vec()),
                "{text}"
            );
        }
    }

    #[test]
    fn every_year_that_can_be_written_has_its_instants() {
        for (text, expected) in [
            ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
            ("9999-12-31T23:59:59.999999-23:59", 253_402_387_139_999_999),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("0001-01-01T00:00:00+23:59", -62_135_683_140_000_000),
        ] {
            assert_eq!(
                parse(text).and_then(|moment| moment.instant()),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn offsets_stand_alone_as_time_zones() {
        let hours = |text: &str| offset(text).map(|micros| micros / 1_000_000);
        assert_eq!(hours("Z"), Some(0));
        assert_eq!(hours("+08:00"), Some(28_800));
        assert_eq!(hours("-0330"), Some(-12_600));
        assert_eq!(hours("+23:59:59"), Some(86_399));
        for text in ["", "08:00", "UTC", "+8", "+24:00", "+08:00 ", "z"] {
            assert_eq!(hours(text), None, "{text}");
        }
    }
}
