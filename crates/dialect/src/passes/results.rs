//! Results: what a dialect cannot say of them, and what it wants around them.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::order::Order;
use crate::text_run::is_blank_character;
use crate::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.marks_errors, profile.wraps_results, profile.empty_result) {
        _ if matches!(profile.order, Order::Toolless(_)) => &[],
        (false, ..) => &[LossCode::ErrorFlagDropped],
        (true, Some(_), _) => &[LossCode::ResultWrapped],
        (true, None, Some(_)) => &[LossCode::EmptyFilled],
        (true, None, None) => &[],
    },
    run: |plan, _, profile| {
        if !plan.kinds.has(Kinds::RESULTS) {
            return;
        }
        for block in &mut plan.blocks {
            let (BlockContent::Result(result), Some(position)) = (&mut block.held, block.position) else {
                continue;
            };
            let losses = &mut plan.losses;
            if result.is_error() && !profile.marks_errors {
                let reason = reasons::RESULT_SAYS_NO_FAILURE;
                losses.at(LossCode::ErrorFlagDropped, position, reason);
            }
            if let Some(reason) = profile.wraps_results {
                losses.at(LossCode::ResultWrapped, position, reason);
            }
            if let Some((filling, reason)) = profile.empty_result
                && result.content.chars().all(is_blank_character)
            {
                result.content = filling;
                losses.at(LossCode::EmptyFilled, position, reason);
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{BOT, PLAIN, REASON, Sample, call, result};
    use crate::profile::DialectProfile;

    #[test]
    fn results_are_wrapped_and_filled_where_a_dialect_wants_it() {
        let sample = Sample::new()
            .say(BOT, vec![call("c")])
            .say(BOT, vec![result("c", " ")]);
        assert!(sample.after(&[&PASS], &PLAIN).1.is_empty());
        let wrapping = DialectProfile {
            marks_errors: true,
            wraps_results: Some(REASON),
            ..PLAIN
        };
        assert_eq!(sample.after(&[&PASS], &wrapping).1, ["result-wrapped 1 1"]);
        let filling = DialectProfile {
            marks_errors: true,
            empty_result: Some(("nothing", REASON)),
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &filling);
        assert_eq!(turns[1], "tool: <result   nothing>");
        assert_eq!(losses, ["empty-filled 1 1"]);
    }
}
