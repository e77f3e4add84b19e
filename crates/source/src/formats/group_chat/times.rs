//! Times of messages, read with the conversation's default time zone.

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{OffsetOrigin, Timestamp};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::reader::iso8601::Moment;
use crate::reader::odd_times::{Odd, OddTimes};
use crate::reader::{FieldText, Notes, Site, field_text, iso8601};

/// Reads the times of one conversation.
pub(super) struct Clock {
    zone: Option<TimeZone>,
    odd: OddTimes,
}

impl Clock {
    /// Takes `default_timezone`, which stands at `path`: an IANA name or an offset.
    pub(super) fn new(default: Option<Value<'_>>, path: &str, notes: &mut Notes) -> Self {
        let zone = match field_text(default) {
            FieldText::Absent | FieldText::Null => None,
            FieldText::Text(text) => {
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
            FieldText::Number(_) | FieldText::Other => {
                let finding = Finding::new(&codes::WRONG_TYPE, "default_timezone is not a string")
                    .with_severity(Severity::Warning)
                    .at_path(path);
                notes.push(finding, default);
                None
            }
        };
        Self {
            zone,
            odd: OddTimes::default(),
        }
    }

    /// Reads a message's `create_time`.
    pub(super) fn read(&mut self, value: Option<Value<'_>>, site: &mut Site<'_>) -> Option<Timestamp> {
        let present = value?;
        let raw = match present.kind() {
            Kind::String => present.as_str()?.into_owned(),
            Kind::Number => present.raw().to_owned(),
            Kind::Null => {
                site.missing("create_time", Severity::Warning);
                return None;
            }
            _ => {
                site.warn("create_time", "create_time is not a string", present);
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
        let place = |finding: Finding| site.place(finding, ".create_time", present);
        if let Some(moment) = &moment {
            self.odd.enter(moment.odds, place);
        }
        let (instant, offset) = match moment {
            None => {
                let text = "create_time is not an ISO 8601 time";
                site.note(&codes::TIMESTAMP_UNUSABLE, text, ".create_time", present);
                (None, OffsetOrigin::Missing)
            }
            Some(moment) if moment.offset.is_none() => {
                if zone.is_some() {
                    let text = "times without an offset are read in default_timezone";
                    self.odd.enter_naive(text, codes::TIMESTAMP_NAIVE.severity, place);
                    (zoned, OffsetOrigin::ConversationZone)
                } else {
                    let text =
                        "times have no offset and there is no default_timezone: their instants are unknown";
                    self.odd.enter_naive(text, Severity::Warning, place);
                    (None, OffsetOrigin::Missing)
                }
            }
            Some(moment) => (moment.instant(), OffsetOrigin::Explicit),
        };
        Some(Timestamp { instant, raw, offset })
    }

    /// Reports what is odd about the times: one finding for each kind, at its first occurrence.
    pub(super) fn finish(self, notes: &mut Notes) {
        self.odd.finish(notes);
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
