//! `future-time`, `time-before-1990`, `wrong-time-unit`: times at which nobody can have written.
//!
//! What day it is, the rule is told: without it nothing lies in the future.

use chatmill_diag::{Code, Day, Finding, Limits, codes};
use chatmill_model::Linked;

use crate::Rule;
use crate::walk::at_message;

/// Finds times that cannot be: one finding a conversation and code.
pub(crate) struct ImplausibleTime;

/// 1990-01-01, in microseconds since 1970.
const FIRST: i64 = 631_152_000_000_000;
/// 2100-01-01, in microseconds since 1970.
const LAST: i64 = 4_102_444_800_000_000;

impl Rule for ImplausibleTime {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[
            &codes::FUTURE_TIME,
            &codes::TIME_BEFORE_1990,
            &codes::WRONG_TIME_UNIT,
        ];
        CODES
    }

    fn check(&self, linked: &Linked, limits: &Limits, findings: &mut Vec<Finding>) {
        let end = limits.now.map_or(i64::MAX, Day::end);
        let mut found: [Option<Finding>; 3] = [const { None }; 3];
        for message in &linked.conversation.messages {
            let Some(time) = &message.timestamp else { continue };
            let Some(instant) = time.instant else { continue };
            let Some((code, text)) = judge(instant, end) else {
                continue;
            };
            let place = self.codes().iter().position(|known| *known == code);
            match place.and_then(|place| found.get_mut(place)) {
                Some(Some(first)) => first.count += 1,
                Some(none) => *none = Some(at_message(code, message, text).marking(&time.raw)),
                None => {}
            }
        }
        findings.extend(found.into_iter().flatten());
    }
}

/// What is wrong with a time, where `end` is when today ends.
fn judge(instant: i64, end: i64) -> Option<(&'static Code, &'static str)> {
    let is_plausible = |instant: i64| (FIRST..LAST).contains(&instant);
    let factor = [1_000, 1_000_000].into_iter();
    if instant > 0
        && instant < FIRST
        && factor
            .clone()
            .any(|factor| is_plausible(instant.saturating_mul(factor)))
    {
        return Some((
            &codes::WRONG_TIME_UNIT,
            "the time was counted in a longer unit than it was read in",
        ));
    }
    if instant >= LAST && factor.clone().any(|factor| is_plausible(instant / factor)) {
        return Some((
            &codes::WRONG_TIME_UNIT,
            "the time was counted in a shorter unit than it was read in",
        ));
    }
    if instant < FIRST {
        return Some((&codes::TIME_BEFORE_1990, "the time lies before 1990"));
    }
    (instant >= end).then_some((&codes::FUTURE_TIME, "the time has not come yet"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, at};

    fn found(times: &[i64], now: Option<&str>) -> Vec<(&'static str, Option<u32>, u64)> {
        let mut sample = Sample::new();
        for time in times {
            sample.say("u1", "tick").timestamp = Some(at(*time));
        }
        let limits = Limits {
            now: now.map(|day| day.parse().unwrap()),
            ..Limits::default()
        };
        let mut findings = Vec::new();
        ImplausibleTime.check(&sample.linked(), &limits, &mut findings);
        findings
            .iter()
            .map(|finding| (finding.code.name, finding.position, finding.count))
            .collect()
    }

    #[test]
    fn the_day_itself_is_not_later_and_without_a_day_nothing_is() {
        // The last second of 2026-11-23, and the one after.
        let (last, next) = (1_795_478_399, 1_795_478_400);
        assert_eq!(found(&[last], Some("2026-11-23")), []);
        assert_eq!(
            found(&[last, next, next], Some("2026-11-23")),
            [("future-time", Some(1), 2)]
        );
        assert_eq!(found(&[next], None), []);
    }

    #[test]
    fn times_before_1990_are_told() {
        let first = FIRST / 1_000_000;
        assert_eq!(found(&[first], None), []);
        assert_eq!(
            found(&[first - 1, 0, -5], None),
            [("time-before-1990", Some(0), 3)]
        );
    }

    #[test]
    fn another_unit_is_told_from_a_time_that_is_missing() {
        let real = 1_772_442_000_i64;
        assert_eq!(found(&[real / 1_000], None), [("wrong-time-unit", Some(0), 1)]);
        assert_eq!(
            found(&[real * 1_000], Some("2026-11-23")),
            [("wrong-time-unit", Some(0), 1)]
        );
        assert_eq!(
            found(&[real / 1_000_000], None),
            [("wrong-time-unit", Some(0), 1)]
        );
    }
}
