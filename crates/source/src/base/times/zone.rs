//! Time zones: the instants of times without an offset.

use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::base::{iso8601, times::iso8601::Moment, times::unusual::TimeAnomaly};
use crate::options::ReadOptions;

/// Text of the finding for times without an offset if a check knows their zone.
pub(crate) const READ_IN_ZONE: &str = "times without an offset are read in the zone of the settings";

/// A zone, by its IANA name or its offset.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// The zone with this IANA name or offset; `None` if there is none.
    pub(crate) fn named(text: &str) -> Option<Self> {
        if let Some(micros) = iso8601::offset(text) {
            let seconds = i32::try_from(micros / 1_000_000).ok()?;
            return Offset::from_seconds(seconds).ok().map(TimeZone::fixed).map(Self);
        }
        TimeZone::get(text).ok().map(Self)
    }

    /// The zone of a check, for conversations that name none.
    pub(crate) fn of_check(options: ReadOptions<'_>) -> Option<Self> {
        Self::named(options.zone?)
    }

    /// Microseconds since 1970 of a time without an offset. At a change of clocks, the offset before the change is used.
    pub(crate) fn instant(&self, moment: &mut Moment) -> Option<i64> {
        if moment.offset.is_some() {
            return None;
        }
        let offset = match self.0.to_ambiguous_timestamp(moment.civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => {
                moment.anomalies.add(TimeAnomaly::Gap);
                before
            }
            AmbiguousOffset::Fold { before, .. } => {
                moment.anomalies.add(TimeAnomaly::Fold);
                before
            }
        };
        moment
            .local()
            .checked_sub(i64::from(offset.seconds()) * 1_000_000)
    }
}

/// The zone that a text names: `Europe/Kyiv`, or an offset such as `+02:00`.
pub fn time_zone(text: &str) -> Option<TimeZone> {
    Zone::named(text).map(|zone| zone.0)
}

/// Whether a text names a zone: `Europe/Kyiv`, or an offset such as `+02:00`.
pub fn is_zone(text: &str) -> bool {
    Zone::named(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_has_a_name_or_an_offset() {
        for text in ["Europe/Kyiv", "UTC", "+02:00", "-03:30"] {
            assert!(is_zone(text), "{text}");
        }
        for text in ["", "Kyiv Time", "25:00", "Europe/Nowhere"] {
            assert!(!is_zone(text), "{text}");
        }
    }

    #[test]
    fn a_time_is_read_in_the_zone_that_a_check_takes() {
        let instant = |zone: Option<&str>, text: &str| {
            let options = ReadOptions {
                zone,
                ..ReadOptions::default()
            };
            Zone::of_check(options)?.instant(&mut iso8601::parse(text)?)
        };
        assert_eq!(instant(None, "1970-01-01T02:00:00"), None);
        assert_eq!(instant(Some("+02:00"), "1970-01-01T02:00:00"), Some(0));
        assert_eq!(
            instant(Some("+02:00"), "1970-01-01T02:00:00Z"),
            None,
            "it has an offset"
        );
    }
}
