//! Sets the ids of calls and results: the ids of the source where the dialect allows them, otherwise new ones, all distinct.

use chatmill_model::ToolResult;

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::naming::calls::CallIds;
use crate::transcript::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.order.has_tools(), profile.drops_ids) {
        (false, _) => &[],
        (_, None) => &[LossCode::ToolIdRewritten],
        (_, Some(_)) => &[LossCode::ToolIdRewritten, LossCode::ToolIdDropped],
    },
    run: |plan, transcript, profile| {
        if !profile.order.has_tools() || !transcript.has_tool_use() {
            return;
        }
        let view = transcript.view();
        let ids = CallIds::new(
            view,
            transcript.messages(),
            &profile.ids,
            transcript.arena(),
            &mut plan.losses,
        );
        if !plan.kinds.has(Kinds::CALLS) && !plan.kinds.has(Kinds::RESULTS) {
            return;
        }
        for block in &mut plan.blocks {
            match &mut block.content {
                BlockContent::Call(call) => {
                    call.id = ids.of(call.place).1;
                    if let (Some(reason), Some(position)) = (profile.drops_ids, block.position) {
                        plan.losses.at((LossCode::ToolIdDropped, reason), position);
                    }
                }
                BlockContent::Result(result) => {
                    let given = result.result.and_then(ToolResult::known_id);
                    if let Some(place) = result.call {
                        let (own, written) = ids.of(place);
                        result.id = written;
                        let is_new = result.result.is_some() && given != own && profile.drops_ids.is_none();
                        if let Some(position) = block.position.filter(|_| is_new) {
                            plan.losses.at(reasons::RESULT_BEARS_THE_CALLS_ID, position);
                        }
                        continue;
                    }
                    let given = given.unwrap_or_default();
                    result.id = ids.loose(given);
                    if let Some(position) = block.position.filter(|_| result.id != given) {
                        plan.losses.at(reasons::ID_WITHOUT_A_CALL, position);
                    }
                }
                _ => {}
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use chatmill_model::Part;

    use super::*;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, REASON, Sample, call, result};

    #[test]
    fn ids_that_occur_twice_are_written_anew_and_results_follow() {
        let sample = Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c", "x")])
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c", "y")]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        let ids: Vec<&str> = turns.iter().map(|turn| turn.split(' ').nth(2).unwrap()).collect();
        assert_eq!(ids, ["c", "c", "call_0", "call_0"]);
        assert_eq!(losses, ["tool-id-rewritten 2 1"]);
        let unnamed = Part::ToolResult(ToolResult::default());
        let nameless = Sample::new().post(BOT, vec![call("c")]).post(BOT, vec![unnamed]);
        assert_eq!(nameless.after(&[&PASS], &PLAIN).1, ["tool-id-rewritten 1 1"]);
        let without = DialectProfile {
            drops_ids: Some(REASON),
            ..PLAIN
        };
        let (_, losses) = sample.after(&[&PASS], &without);
        assert_eq!(
            losses,
            [
                "tool-id-dropped 0 1",
                "tool-id-rewritten 2 1",
                "tool-id-dropped 2 1"
            ]
        );
    }
}
