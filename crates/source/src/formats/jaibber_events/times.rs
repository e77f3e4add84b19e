//! Times: milliseconds of Ably's envelopes, ISO 8601 of stored messages.

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{OffsetOrigin, Timestamp};

use crate::options::ReadOptions;
use crate::reader::odd_times::OddTimes;
use crate::reader::zone::{READ_IN_ZONE, Zone};
use crate::reader::{Notes, Site, iso8601};

/// Reads times and counts those that have no offset.
#[derive(Debug)]
pub(super) struct Clock {
    odd: OddTimes,
    /// The zone of times without an offset, where a check says one.
    zone: Option<Zone>,
}

impl Clock {
    /// A clock that has met no time.
    pub(super) fn new(options: ReadOptions<'_>) -> Self {
        Self {
            odd: OddTimes::default(),
            zone: Zone::of_check(options),
        }
    }

    /// Reads a number of milliseconds since 1970 or an ISO 8601 time.
    pub(super) fn read(&mut self, value: Value<'_>, field: &str, site: &mut Site<'_>) -> Option<Timestamp> {
        let suffix = format!(".{field}");
        if value.kind() == Kind::Number {
            let raw = value.raw().to_owned();
            let milliseconds = raw.parse::<i64>().ok();
            let instant = milliseconds.and_then(|time| time.checked_mul(1000));
            if instant.is_none() {
                let text = "the time is not a whole number of milliseconds";
                site.note(&codes::TIMESTAMP_UNUSABLE, text, suffix, value);
            }
            return Some(timestamp(raw, instant));
        }
        let Some(raw) = value.as_str() else {
            let text = "the time is neither text nor a number and is left out";
            site.warn(field, text, value);
            return None;
        };
        match iso8601::parse(&raw) {
            None => {
                let text = "the time is not an ISO 8601 time";
                site.note(&codes::TIMESTAMP_UNUSABLE, text, suffix, value);
                Some(timestamp(raw.into_owned(), None))
            }
            Some(mut moment) => {
                let zoned = self.zone.as_ref().and_then(|zone| zone.instant(&mut moment));
                let place = |finding: Finding| site.place(finding, suffix.clone(), value);
                self.odd.enter(moment.odds, place);
                if moment.offset.is_none() {
                    let (text, severity) = match self.zone {
                        Some(_) => (READ_IN_ZONE, codes::TIMESTAMP_NAIVE.severity),
                        None => (
                            "times have no offset: their instants are unknown",
                            Severity::Warning,
                        ),
                    };
                    self.odd.enter_naive(text, severity, place);
                }
                let mut time = timestamp(raw.into_owned(), moment.instant().or(zoned));
                if zoned.is_some() {
                    time.offset = OffsetOrigin::ConversationZone;
                }
                Some(time)
            }
        }
    }

    /// Reports what is odd about the times: one finding for each kind, at its first occurrence.
    pub(super) fn finish(self, notes: &mut Notes) {
        self.odd.finish(notes);
    }
}

/// Where a time stands among others, in microseconds. Times without an offset are compared as if all had the same one.
pub(super) fn rank(time: &Timestamp) -> Option<i64> {
    time.instant.or_else(|| {
        let moment = iso8601::parse(&time.raw)?;
        moment.local().checked_sub(moment.offset.unwrap_or_default())
    })
}

fn timestamp(raw: String, instant: Option<i64>) -> Timestamp {
    Timestamp {
        offset: if instant.is_some() {
            OffsetOrigin::Explicit
        } else {
            OffsetOrigin::Missing
        },
        instant,
        raw,
    }
}
