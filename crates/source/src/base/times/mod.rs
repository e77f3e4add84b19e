//! Times of rows: ISO 8601 text with a space or a `T`, or the number of seconds (milliseconds, microseconds) since 1970.
//!
//! A reader has one [`Times`] for each conversation, which makes a [`Timestamp`] of each value and collects findings. A time without an
//! offset has no instant, unless a check knows its zone; it is only used to order rows. One finding counts such times.

pub(crate) mod iso8601;
pub(crate) mod unusual;
pub(crate) mod zone;

use std::borrow::Cow;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{OffsetOrigin, Timestamp};
use jiff::civil::DateTime;

use crate::base::times::iso8601::COUNT_DIGITS;
use crate::base::times::unusual::{TimeAnomalies, TimeAnomaly, UnusualTimes};
use crate::base::times::zone::{READ_IN_ZONE, Zone};
use crate::base::{Notes, Site};
use crate::options::ReadOptions;

/// Reads the times of one conversation.
#[derive(Debug)]
pub(crate) struct Times {
    anomalies_seen: UnusualTimes,
    /// The zone of times without an offset, if one is known.
    zone: Option<Zone>,
    /// Texts of the finding: for a known zone, and for an unknown one.
    naive: [&'static str; 2],
}

impl Times {
    /// A reader that has not read any time.
    pub(crate) fn new(options: ReadOptions<'_>) -> Self {
        let text = "times have no offset: their instants are unknown, they only order the rows";
        Self::within(Zone::of_check(options), [READ_IN_ZONE, text])
    }

    /// A reader for times of this zone, with the texts of the finding: for a known zone, and for an unknown one.
    pub(crate) fn within(zone: Option<Zone>, naive: [&'static str; 2]) -> Self {
        Self {
            anomalies_seen: UnusualTimes::default(),
            zone,
            naive,
        }
    }

    /// Reads a time that must be ISO 8601, from the field named `field`; `text` is the finding about one that is not.
    pub(crate) fn iso(
        &mut self,
        raw: String,
        (field, text): (&str, &str),
        value: Value<'_>,
        site: &mut Site<'_>,
    ) -> Timestamp {
        let Some(mut moment) = iso8601::parse(&raw) else {
            site.note(&codes::TIMESTAMP_UNUSABLE, text, format!(".{field}"), value);
            return stamp(raw, None);
        };
        let place = |finding: Finding| site.place(finding, format!(".{field}"), value);
        let zoned = self.zone.as_ref().and_then(|zone| zone.instant(&mut moment));
        self.anomalies_seen.enter(moment.anomalies, place);
        match moment.offset {
            Some(_) => stamp(raw, moment.instant()),
            None => self.without_offset(raw, zoned, place),
        }
    }

    /// Reads the time of a row from the field named `field`; absent and null mean no time.
    pub(crate) fn read(
        &mut self,
        value: Option<Value<'_>>,
        field: &str,
        site: &mut Site<'_>,
    ) -> Option<Timestamp> {
        let present = value.filter(|value| !value.is_null())?;
        let Some(raw) = text(present) else {
            let text = format!("{field} is neither text nor a number: it is kept as it is");
            site.warn(field, &text, present);
            return None;
        };
        let place = |finding: Finding| site.place(finding, format!(".{field}"), present);
        let read = moment(&raw).map(|(moment, anomalies)| {
            self.anomalies_seen.enter(anomalies, place);
            moment
        });
        Some(match read {
            None => {
                let text = format!("{field} is not a time");
                site.note(&codes::TIMESTAMP_UNUSABLE, &text, format!(".{field}"), present);
                stamp(raw.into_owned(), None)
            }
            Some(Moment::Known(instant)) => stamp(raw.into_owned(), Some(instant)),
            Some(Moment::Local(civil)) => {
                let zoned = self.zoned(&civil.to_string());
                self.without_offset(raw.into_owned(), zoned, place)
            }
        })
    }

    /// Takes a local time without an offset: `iso` is the time in ISO 8601, `raw` the text in the source.
    pub(crate) fn naive(&mut self, iso: &str, raw: String, place: impl Fn(Finding) -> Finding) -> Timestamp {
        self.without_offset(raw, self.zoned(iso), place)
    }

    fn zoned(&self, iso: &str) -> Option<i64> {
        self.zone.as_ref()?.instant(&mut iso8601::parse(iso)?)
    }

    fn without_offset(
        &mut self,
        raw: String,
        instant: Option<i64>,
        place: impl Fn(Finding) -> Finding,
    ) -> Timestamp {
        let [known, unknown] = self.naive;
        let (code, text, offset) = match self.zone {
            Some(_) => (&codes::TIMESTAMP_NAIVE, known, OffsetOrigin::ConversationZone),
            None => (&codes::TIMESTAMP_WITHOUT_ZONE, unknown, OffsetOrigin::Missing),
        };
        self.anomalies_seen.enter_naive(code, text, place);
        Timestamp { instant, raw, offset }
    }

    /// Reports anomalies of the times: one finding for each kind, at its first occurrence.
    pub(crate) fn finish(self, notes: &mut Notes) {
        self.anomalies_seen.finish(notes);
    }
}

/// The sort key of a time in microseconds; a time without an offset counts as UTC.
pub(crate) fn order(value: Option<Value<'_>>) -> Option<i64> {
    match moment(&text(value?)?)? {
        (Moment::Known(micros), _) => Some(micros),
        (Moment::Local(civil), _) => micros(civil),
    }
}

/// The microseconds of a time, without marking it as read; a time without an offset counts as UTC.
pub(crate) fn moment_of(value: Value<'_>) -> Option<i64> {
    let text = match value.kind() {
        Kind::Number => Cow::Borrowed(value.written()),
        _ => value.string()?,
    };
    match moment(&text)? {
        (Moment::Known(micros), _) => Some(micros),
        (Moment::Local(civil), _) => micros(civil),
    }
}

/// Sort keys that order values by time; a value without a time stays after its predecessor.
pub(crate) fn keys<'d>(values: impl Iterator<Item = Option<Value<'d>>>) -> Vec<i64> {
    let mut last = i64::MIN;
    values
        .map(|value| {
            last = order(value).unwrap_or(last);
            last
        })
        .collect()
}

/// A time with an instant; `None`, without a finding, for a value that is not a time or has no offset.
pub(crate) fn known(value: Value<'_>) -> Option<Timestamp> {
    let raw = text(value)?;
    let (Moment::Known(instant), _) = moment(&raw)? else {
        return None;
    };
    Some(stamp(raw.into_owned(), Some(instant)))
}

/// A time as it was written, with its instant if it is known.
pub(crate) fn stamp(raw: String, instant: Option<i64>) -> Timestamp {
    let offset = match instant {
        Some(_) => OffsetOrigin::Explicit,
        None => OffsetOrigin::Missing,
    };
    Timestamp { instant, raw, offset }
}

fn text(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::String => value.as_str(),
        Kind::Number => value.number_text().map(Cow::Borrowed),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Moment {
    /// Microseconds since 1970: the time has an offset, or is counted from 1970.
    Known(i64),
    /// The local time of a clock with an unknown offset.
    Local(DateTime),
}

/// Microseconds since 1970 as if the time were UTC.
fn micros(civil: DateTime) -> Option<i64> {
    let since = civil.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    i64::try_from(since.as_micros()).ok()
}

/// Whether a text is a time.
pub(crate) fn is_one(text: &str) -> bool {
    moment(text).is_some()
}

fn moment(text: &str) -> Option<(Moment, TimeAnomalies)> {
    if let Some(moment) = iso8601::parse(text) {
        let instant = match moment.offset {
            Some(_) => Moment::Known(moment.instant()?),
            None => Moment::Local(moment.civil),
        };
        return Some((instant, moment.anomalies));
    }
    let trimmed = text.trim();
    let mut anomalies = TimeAnomalies::default();
    if trimmed.len() < text.len() {
        anomalies.add(TimeAnomaly::Blanks);
    }
    let known = count(trimmed, &mut anomalies).or_else(|| in_words(trimmed));
    let local = || silly_tavern(trimmed).map(Moment::Local);
    Some((known.map(Moment::Known).or_else(local)?, anomalies))
}

/// A time in the format of Google's exports: `Thursday, November 3, 2016 at 11:59:50 AM UTC`.
fn in_words(text: &str) -> Option<i64> {
    let text = text.strip_suffix(" UTC")?.replace('\u{202f}', " ");
    micros(DateTime::strptime("%A, %B %d, %Y at %I:%M:%S %p", &text).ok()?)
}

/// A time as `SillyTavern` wrote it until November 2025, `June 19, 2023 4:13pm`, and before that,
/// `2023-6-19 @16h 14m 05s 123ms`, where the milliseconds have no leading zeros.
fn silly_tavern(text: &str) -> Option<DateTime> {
    let signs = text.replace(|sign: char| sign == ' ' || sign.is_ascii_digit(), "");
    if !matches!(signs.as_str(), "--@hmsms" | "--@hms") {
        return DateTime::strptime("%B %d, %Y %I:%M%p", text).ok();
    }
    let mut numbers = text
        .split(|sign: char| !sign.is_ascii_digit())
        .filter(|digits| !digits.is_empty());
    let year = numbers.next()?.parse().ok()?;
    let mut next = || numbers.next()?.parse::<i8>().ok();
    let (month, day, hour, minute, second) = (next()?, next()?, next()?, next()?, next()?);
    let millis: i32 = numbers.next().unwrap_or("0").parse().ok()?;
    let nanos = millis.checked_mul(1_000_000)?;
    DateTime::new(year, month, day, hour, minute, second, nanos).ok()
}

/// A count since 1970. Its magnitude determines the unit: seconds up to the year 5138, then milliseconds, then microseconds.
fn count(text: &str, anomalies: &mut TimeAnomalies) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_count = whole.len() >= COUNT_DIGITS
        && whole.len() <= 17
        && [whole, fraction]
            .iter()
            .all(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_count {
        return None;
    }
    let number: i64 = whole.parse().ok()?;
    let (unit, digits) = match number {
        ..100_000_000_000 => (1_000_000, 6),
        100_000_000_000..100_000_000_000_000 => (1_000, 3),
        _ => (1, 0),
    };
    if fraction.len() > digits {
        anomalies.add(TimeAnomaly::Digits);
    }
    let padded = fraction.bytes().chain(std::iter::repeat(b'0')).take(digits);
    let rest = padded.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    number.checked_mul(unit)?.checked_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Option<i64> {
        match moment(text)? {
            (Moment::Known(instant), _) => Some(instant),
            (Moment::Local(_), _) => None,
        }
    }

    #[test]
    fn text_and_counts_are_the_same_instants() {
        let instant = 1_768_714_548_005_797;
        for text in [
            "2026-01-18T05:35:48.005797+00:00",
            "2026-01-18 05:35:48.005797+00",
            "2026-01-18 06:35:48.005797+01",
            "2026-01-18T05:35:48.005797Z",
            "1768714548.005797",
            "1768714548005.797",
            "1768714548005797",
        ] {
            assert_eq!(known(text), Some(instant), "{text}");
        }
        assert_eq!(known("1768714548"), Some(1_768_714_548_000_000));
        // Their digits could also be a date, one more digit and a time of day.
        for text in ["1783110460000", "1783110460000.0", "1783110460"] {
            let seconds = Some(1_783_110_460_000_000);
            assert_eq!(known(text), seconds, "{text}");
        }
    }

    #[test]
    fn digits_beyond_microseconds_and_blanks_are_noted() {
        let anomalies = |text: &str| moment(text).unwrap().1.kinds().collect::<Vec<_>>();
        assert_eq!(anomalies("1768714548.0057971"), [TimeAnomaly::Digits]);
        assert_eq!(anomalies("1768714548005.7971"), [TimeAnomaly::Digits]);
        assert_eq!(anomalies(" 1768714548"), [TimeAnomaly::Blanks]);
        assert_eq!(anomalies("2026-01-18 05:35:48.0057971+00"), [TimeAnomaly::Digits]);
        assert_eq!(anomalies("1768714548.005797"), []);
    }

    #[test]
    fn a_time_without_offset_orders_and_is_no_instant() {
        for (text, expected) in [
            ("2026-01-18 05:35:48", "2026-01-18T05:35:48"),
            ("20260118", "2026-01-18T00:00:00"),
            ("June 19, 2023 4:13pm", "2023-06-19T16:13:00"),
            ("June 9, 2023 12:05am", "2023-06-09T00:05:00"),
            ("2023-6-19 @16h 14m 05s 123ms", "2023-06-19T16:14:05.123"),
            ("2023-6-19 @16h 14m 05s 45ms", "2023-06-19T16:14:05.045"),
            ("2023-6-19@16h15m05s", "2023-06-19T16:15:05"),
        ] {
            let Some((Moment::Local(civil), _)) = moment(text) else {
                panic!("{text} is no local time")
            };
            assert_eq!(civil.to_string(), expected, "{text}");
            assert!(micros(civil).is_some());
        }
        for text in [
            "",
            "infinity",
            "12345",
            "1e9",
            "-1768714548",
            "yesterday",
            "1768714548.x",
            "June 19, 2023 14:13pm",
            "June 31, 2023 4:13pm",
            "2023-6-19 @25h 14m 05s 123ms",
            "2023-6-19 @16h 14m",
        ] {
            assert!(moment(text).is_none(), "{text}");
        }
    }
}
