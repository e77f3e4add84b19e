//! Times of messages, read with the conversation's default time zone.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::Timestamp;

use crate::base::times::zone::{READ_IN_ZONE, Zone};
use crate::base::{FieldText, Notes, Site, Times, field_text, times::stamp};
use crate::options::ReadOptions;

/// The clock of a conversation with the `default_timezone` (an IANA name or an offset) at `path`.
pub(super) fn clock(
    default: Option<Value<'_>>,
    path: &str,
    options: ReadOptions<'_>,
    notes: &mut Notes,
) -> Times {
    let mut zone = None;
    match field_text(default) {
        FieldText::Absent | FieldText::Null => {}
        FieldText::Text(text) => {
            zone = Zone::named(&text);
            if zone.is_none() {
                let message = "default_timezone is neither an IANA name nor an offset";
                let finding = Finding::new(&codes::UNKNOWN_TIMEZONE, message);
                notes.push(finding.at_path(path).quoting(&text), default);
            }
        }
        FieldText::Number(_) | FieldText::Other => {
            let finding = Finding::new(&codes::BEARABLE_TYPE, "default_timezone is not a string");
            notes.push(finding.at_path(path), default);
        }
    }
    let known = match zone {
        Some(_) => "times without an offset are read in default_timezone",
        None => READ_IN_ZONE,
    };
    let unknown = "times have no offset and there is no default_timezone: their instants are unknown";
    Times::within(zone.or_else(|| Zone::of_check(options)), [known, unknown])
}

/// Reads a message's `create_time`.
pub(super) fn read(times: &mut Times, value: Option<Value<'_>>, site: &mut Site<'_>) -> Option<Timestamp> {
    let present = value?;
    let unusable = ("create_time", "create_time is not an ISO 8601 time");
    match present.kind() {
        Kind::String => Some(times.iso(present.as_str()?.into_owned(), unusable, present, site)),
        Kind::Number => {
            site.note(&codes::TIMESTAMP_UNUSABLE, unusable.1, ".create_time", present);
            Some(stamp(present.raw().to_owned(), None))
        }
        Kind::Null => {
            site.empty("create_time");
            None
        }
        _ => {
            site.warn("create_time", "create_time is not a string", present);
            None
        }
    }
}
