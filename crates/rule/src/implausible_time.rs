//! `future-time`, `time-before-1990`, `wrong-time-unit`: times at which nobody can have written.
//!
//! The current day is a parameter (`now`): without it no time is in the future.

use chatmill_diag::{Code, Day, Finding, Limits, codes};
use chatmill_model::Linked;

use crate::walk::at_message;

/// 1990-01-01, in microseconds since 1970.
const FIRST: i64 = 631_152_000_000_000;
/// 2100-01-01, in microseconds since 1970.
const LAST: i64 = 4_102_444_800_000_000;

/// Finds impossible times: one finding a conversation and code.
pub(crate) fn check(linked: &Linked, limits: &Limits, findings: &mut Vec<Finding>) {
    let end = limits.now.map_or(i64::MAX, Day::end);
    let mut found: Vec<Finding> = Vec::new();
    for message in &linked.conversation.messages {
        let Some(time) = &message.timestamp else { continue };
        let Some(instant) = time.instant else { continue };
        let Some((code, text)) = assess(instant, end) else {
            continue;
        };
        match found.iter_mut().find(|first| first.code == code) {
            Some(first) => first.count += 1,
            None => found.push(at_message(code, message, text).marking(&time.raw)),
        }
    }
    found.sort_by_key(|finding| finding.code.code);
    findings.append(&mut found);
}

/// The code and the text for an implausible time; `end` is the end of today.
fn assess(instant: i64, end: i64) -> Option<(&'static Code, &'static str)> {
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
        return Some((&codes::TIME_BEFORE_1990, "the time is before 1990"));
    }
    (instant >= end).then_some((&codes::FUTURE_TIME, "the time is in the future"))
}
