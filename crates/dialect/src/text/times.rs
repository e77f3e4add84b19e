//! Times in formats that require ISO 8601: the text of the source, unless it has no offset.

use std::borrow::Cow;

use chatmill_model::{OffsetOrigin, Timestamp};
use jiff::civil::DateTime;

/// Returns the time as in the source, or as ISO 8601 in UTC if that is a count since 1970.
pub(crate) fn uncounted(time: &Timestamp) -> Cow<'_, str> {
    written(time, is_count(time))
}

/// Whether the text of the source is a count since 1970.
fn is_count(time: &Timestamp) -> bool {
    let mut bytes = time.raw.trim().bytes();
    bytes.all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns the time as in the source, or as ISO 8601 in UTC if its offset comes from the conversation's time zone.
pub(crate) fn zoned(time: &Timestamp) -> Cow<'_, str> {
    written(time, time.offset == OffsetOrigin::ConversationZone)
}

/// Returns the time as in the source, or as ISO 8601 in UTC if that is a count since 1970 or its offset comes from the conversation's time
/// zone.
pub(crate) fn iso(time: &Timestamp) -> Cow<'_, str> {
    if time.offset == OffsetOrigin::ConversationZone {
        zoned(time)
    } else {
        uncounted(time)
    }
}

/// Whether every reader accepts what [`iso`] writes as a time: an instant, a count, or ISO 8601 without an offset.
pub(crate) fn is_plain(time: &Timestamp) -> bool {
    time.instant.is_some() || is_count(time) || time.raw.trim().parse::<DateTime>().is_ok()
}

fn written(time: &Timestamp, anew: bool) -> Cow<'_, str> {
    let instant = time.instant.filter(|_| anew);
    match instant.and_then(|instant| jiff::Timestamp::from_microsecond(instant).ok()) {
        Some(instant) => Cow::Owned(instant.to_string()),
        None => Cow::Borrowed(&time.raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(raw: &str, instant: Option<i64>, offset: OffsetOrigin) -> Timestamp {
        Timestamp {
            instant,
            raw: raw.to_owned(),
            offset,
        }
    }

    #[test]
    fn counts_become_times_and_times_stay_as_they_are() {
        let counted = time(
            "1760000000.5",
            Some(1_760_000_000_500_000),
            OffsetOrigin::Explicit,
        );
        assert_eq!(uncounted(&counted), "2025-10-09T08:53:20.5Z");
        assert_eq!(zoned(&counted), "1760000000.5");
        let written = time(
            "2026-03-01 09:00:00+01",
            Some(1_772_352_000_000_000),
            OffsetOrigin::Explicit,
        );
        assert_eq!(uncounted(&written), "2026-03-01 09:00:00+01");
        let unknown = time("1760000000", None, OffsetOrigin::Missing);
        assert_eq!(uncounted(&unknown), "1760000000");
    }

    #[test]
    fn times_of_rows_have_an_offset() {
        let counted = time("1760000000", Some(1_760_000_000_000_000), OffsetOrigin::Explicit);
        assert_eq!(iso(&counted), "2025-10-09T08:53:20Z");
        let local = time(
            "2026-03-02T09:04:00",
            Some(1_772_438_640_000_000),
            OffsetOrigin::ConversationZone,
        );
        assert_eq!(iso(&local), "2026-03-02T08:04:00Z");
    }

    #[test]
    fn a_time_in_the_conversations_zone_has_its_offset() {
        let local = time(
            "2026-03-02T09:04:00",
            Some(1_772_438_640_000_000),
            OffsetOrigin::ConversationZone,
        );
        assert_eq!(zoned(&local), "2026-03-02T08:04:00Z");
    }
}
