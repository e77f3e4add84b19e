//! Times: milliseconds of Ably's envelopes, ISO 8601 of stored messages.

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::Timestamp;

use crate::base::{Site, Times, iso8601, times::stamp};

/// Text of the finding for times without an offset whose zone is unknown.
pub(super) const NAIVE: &str = "times have no offset: their instants are unknown";

/// Reads a number of milliseconds since 1970 or an ISO 8601 time.
pub(super) fn read(
    times: &mut Times,
    value: Value<'_>,
    field: &str,
    site: &mut Site<'_>,
) -> Option<Timestamp> {
    if value.kind() == Kind::Number {
        let milliseconds = value.raw().parse::<i64>().ok();
        let instant = milliseconds.and_then(|time| time.checked_mul(1000));
        if instant.is_none() {
            let text = "the time is not a whole number of milliseconds";
            site.note(&codes::TIMESTAMP_UNUSABLE, text, format!(".{field}"), value);
        }
        return Some(stamp(value.raw().to_owned(), instant));
    }
    let Some(raw) = value.as_str() else {
        let text = "the time is neither text nor a number and is left out";
        site.warn(field, text, value);
        return None;
    };
    let unusable = (field, "the time is not an ISO 8601 time");
    Some(times.iso(raw.into_owned(), unusable, value, site))
}

/// The sort key of a time, in microseconds. Times without an offset are compared as if all had the same one.
pub(super) fn rank(time: &Timestamp) -> Option<i64> {
    time.instant.or_else(|| {
        let moment = iso8601::parse(&time.raw)?;
        moment.local().checked_sub(moment.offset.unwrap_or_default())
    })
}
