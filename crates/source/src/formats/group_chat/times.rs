//! Times of messages: the clock of a conversation knows its default zone and counts what had none.

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{OffsetOrigin, Timestamp};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::reader::fields::{Taken, taken};
use crate::reader::iso8601;
use crate::reader::iso8601::Moment;
use crate::reader::notes::{Notes, Site};
use crate::reader::odd_times::{Odd, OddTimes};

/// Reads the times of one conversation.
pub struct Clock {
    zone: Option<TimeZone>,
    naive: u64,
    first_naive: Option<Finding>,
    odd: OddTimes,
}

impl Clock {
    /// Takes `default_timezone`, which stands at `path`: an IANA name or an offset.
    pub fn new(default: Option<Value<'_>>, path: &str, notes: &mut Notes) -> Self {
        let zone = match taken(default) {
            Taken::Absent | Taken::Null => None,
            Taken::Text(text) => {
                let zone = zone(&text);
                if zone.is_none() {
                    let finding = Finding::new(
                        &codes::UNKNOWN_TIMEZONE,
                        "default_timezone is neither an IANA name nor an offset",
                    );
                    notes.push(finding.at_path(path).quoting(&text), default);
                }
                zone
            }
            Taken::Number(_) | Taken::Other => {
                let finding = Finding::new(&codes::WRONG_TYPE, "default_timezone is no string")
                    .with_severity(Severity::Warning)
                    .at_path(path);
                notes.push(finding, default);
                None
            }
        };
        Self {
            zone,
            naive: 0,
            first_naive: None,
            odd: OddTimes::default(),
        }
    }

    /// Reads a message's `create_time`.
    pub fn read(&mut self, value: Option<Value<'_>>, site: &mut Site<'_>) -> Option<Timestamp> {
        let present = value?;
        let raw = match present.kind() {
            Kind::String => present.as_str()?.into_owned(),
            Kind::Number => present.raw().to_owned(),
            Kind::Null => {
                site.missing("create_time", Severity::Warning);
                return None;
            }
            _ => {
                site.warn("create_time", "create_time is no string", present);
                return None;
            }
        };
        let mut moment = (present.kind() == Kind::String)
            .then(|| iso8601::parse(&raw))
            .flatten();
        let zone = self.zone.as_ref();
        let zoned = moment
            .as_mut()
            .zip(zone)
            .and_then(|(moment, zone)| in_zone(moment, zone));
        if let Some(moment) = &moment {
            self.odd.enter(moment.odds, |finding| {
                site.place(finding, ".create_time", present)
            });
        }
        let (instant, offset) = match moment {
            None => {
                site.note(
                    &codes::TIMESTAMP_UNUSABLE,
                    "create_time is no ISO 8601 time",
                    ".create_time",
                    present,
                );
                (None, OffsetOrigin::Missing)
            }
            Some(moment) if moment.offset.is_none() => {
                self.naive += 1;
                if self.first_naive.is_none() {
                    let finding = Finding::new(&codes::TIMESTAMP_NAIVE, "");
                    self.first_naive = Some(site.place(finding, ".create_time", present));
                }
                match zone {
                    Some(_) => (zoned, OffsetOrigin::ConversationZone),
                    None => (None, OffsetOrigin::Missing),
                }
            }
            Some(moment) => (moment.instant(), OffsetOrigin::Explicit),
        };
        Some(Timestamp { instant, raw, offset })
    }

    /// Says how many times had no offset of their own: one finding, at the first of them.
    pub fn finish(self, notes: &mut Notes) {
        self.odd.finish(notes);
        if let Some(mut finding) = self.first_naive {
            finding.count = self.naive;
            if self.zone.is_some() {
                "times without an offset are read in default_timezone".clone_into(&mut finding.message);
            } else {
                "times have no offset and there is no default_timezone: their instants are unknown"
                    .clone_into(&mut finding.message);
                finding.severity = Severity::Warning;
            }
            notes.findings.push(finding);
        }
    }
}

fn zone(text: &str) -> Option<TimeZone> {
    if let Some(micros) = iso8601::offset(text) {
        let seconds = i32::try_from(micros / 1_000_000).ok()?;
        return Offset::from_seconds(seconds).ok().map(TimeZone::fixed);
    }
    TimeZone::get(text).ok()
}

/// Microseconds since 1970 of a time without an offset in a zone; where clocks change, the offset from before the change counts.
fn in_zone(moment: &mut Moment, zone: &TimeZone) -> Option<i64> {
    if moment.offset.is_some() {
        return None;
    }
    let offset = match zone.to_ambiguous_timestamp(moment.civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } => {
            moment.odds.add(Odd::Gap);
            before
        }
        AmbiguousOffset::Fold { before, .. } => {
            moment.odds.add(Odd::Fold);
            before
        }
    };
    moment
        .local()
        .checked_sub(i64::from(offset.seconds()) * 1_000_000)
}
