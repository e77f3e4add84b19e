//! Fits results to the dialect: drops the flag of failures where it has no place, wraps results in an object, and fills empty ones.

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::text::json;
use crate::text::run::is_blank_character;
use crate::tools::arguments::inexact_integers;
use crate::transcript::turns::{Block, BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.marks_errors, profile.object_results, profile.empty_result) {
        _ if !profile.order.has_tools() => &[],
        (false, ..) => &[LossCode::ErrorFlagDropped],
        (true, Some(_), None) => &[LossCode::ResultWrapped, LossCode::NumberPrecision],
        (true, Some(_), Some(_)) => &[LossCode::ResultWrapped, LossCode::EmptyFilled],
        (true, None, Some(_)) => &[LossCode::EmptyFilled],
        (true, None, None) => &[],
    },
    run: |plan, transcript, profile| {
        if !plan.kinds.has(Kinds::RESULTS) {
            return;
        }
        let has_media = plan.blocks.iter().skip(1).map(Block::is_result_media);
        let has_media: Vec<bool> = has_media.chain([false]).collect();
        for (block, has_media) in plan.blocks.iter_mut().zip(has_media) {
            let (BlockContent::Result(result), Some(position)) = (&mut block.content, block.position) else {
                continue;
            };
            if result.item.is_some() {
                continue;
            }
            let losses = &mut plan.losses;
            if result.is_error() && !profile.marks_errors {
                losses.at(reasons::RESULT_HAS_NO_ERROR_FLAG, position);
            }
            let is_object = profile
                .object_results
                .filter(|_| json::is_portable_object(result.content));
            if is_object.is_some_and(|holds| holds(result.content, result.is_error())) {
                result.is_object = true;
                let compact = json::compact(result.content);
                if result.result.is_some_and(|result| !result.is_json) {
                    losses.at((LossCode::ResultWrapped, reasons::RESULT_IS_AN_OBJECT), position);
                }
                if compact.len() < result.content.len() {
                    let reason = reasons::OBJECT_LOSES_WHITE_SPACE;
                    losses.at((LossCode::ResultWrapped, reason), position);
                }
                if let Some(reason) = profile.rounds_numbers {
                    let inexact = inexact_integers(&compact);
                    losses.several((LossCode::NumberPrecision, reason), position, inexact);
                }
                result.content = transcript.arena().keep(compact);
            } else if let Some(reason) = profile.wraps_results {
                losses.at((LossCode::ResultWrapped, reason), position);
            }
            if let Some((filling, reason)) = profile.empty_result
                && !has_media
                && result.content.chars().all(is_blank_character)
            {
                result.content = filling;
                losses.at((LossCode::EmptyFilled, reason), position);
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, REASON, Sample, call, result};

    #[test]
    fn results_are_wrapped_and_filled_where_a_dialect_wants_it() {
        let sample = Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c", " ")]);
        assert!(sample.after(&[&PASS], &PLAIN).1.is_empty());
        let wrapping = DialectProfile {
            marks_errors: true,
            wraps_results: Some(REASON),
            object_results: Some(|_, is_error| !is_error),
            ..PLAIN
        };
        assert_eq!(sample.after(&[&PASS], &wrapping).1, ["result-wrapped 1 1"]);
        let object = Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c", "{ }")]);
        let (turns, losses) = object.after(&[&PASS], &wrapping);
        assert_eq!(turns[1], "tool: <result   {}>");
        assert_eq!(losses, ["result-wrapped 1 1", "result-wrapped 1 1"]);
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
