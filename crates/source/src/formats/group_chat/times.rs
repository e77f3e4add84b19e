//! Times of messages, read with the conversation's default time zone.

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{OffsetOrigin, Timestamp};

use crate::options::ReadOptions;
use crate::reader::odd_times::OddTimes;
use crate::reader::zone::{READ_IN_ZONE, Zone};
use crate::reader::{FieldText, Notes, Site, field_text, iso8601};

/// Reads the times of one conversation.
pub(super) struct Clock {
    zone: Option<Zone>,
    /// The zone that a check takes where the conversation names none.
    of_check: Option<Zone>,
    odd: OddTimes,
}

impl Clock {
    /// Takes `default_timezone`, which stands at `path`: an IANA name or an offset.
    pub(super) fn new(
        default: Option<Value<'_>>,
        path: &str,
        options: ReadOptions<'_>,
        notes: &mut Notes,
    ) -> Self {
        let zone = match field_text(default) {
            FieldText::Absent | FieldText::Null => None,
            FieldText::Text(text) => {
                let zone = Zone::named(&text);
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
            of_check: Zone::of_check(options).filter(|_| zone.is_none()),
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
        let zone = self.zone.as_ref().or(self.of_check.as_ref());
        let zoned = moment
            .as_mut()
            .zip(zone)
            .and_then(|(moment, zone)| zone.instant(moment));
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
                    let text = match self.of_check {
                        Some(_) => READ_IN_ZONE,
                        None => "times without an offset are read in default_timezone",
                    };
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
