//! `time-goes-backwards`: a message is older than the one before it.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::Linked;

use crate::walk::at_message;

/// Finds steps back in time, each compared with the last message with a known time.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let mut before: Option<(u32, i64)> = None;
    for message in &linked.conversation.messages {
        let Some(time) = &message.timestamp else { continue };
        let Some(instant) = time.instant else { continue };
        if let Some((position, earlier)) = before
            && instant < earlier
        {
            let step = span(earlier.saturating_sub(instant));
            let text = format!("time is {step} before that of position {position}");
            findings.push(at_message(&codes::TIME_GOES_BACKWARDS, message, text).marking(&time.raw));
        }
        before = Some((message.position, instant));
    }
}

/// A positive number of microseconds in the largest unit with a value of at least one.
fn span(microseconds: i64) -> String {
    const UNITS: [(i64, &str); 4] = [
        (86_400_000_000, "d"),
        (3_600_000_000, "h"),
        (60_000_000, "min"),
        (1_000_000, "s"),
    ];
    for (length, unit) in UNITS {
        if microseconds >= length {
            return format!("{} {unit}", microseconds / length);
        }
    }
    format!("{microseconds} µs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_reported_in_a_unit_that_fits() {
        let steps = [
            (1, "1 µs"),
            (999_999, "999999 µs"),
            (7_200_000_000, "2 h"),
            (700_000_000_000, "8 d"),
        ];
        for (microseconds, expected) in steps {
            assert_eq!(span(microseconds), expected);
        }
    }
}
