//! Writes the arguments of calls in the form that the dialect wants.

use chatmill_diag::cut;

use super::Pass;
use crate::loss::LossCode;
use crate::tools::arguments::{self, ArgumentsAs, as_object, as_text, inexact_integers};
use crate::transcript::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (
        profile.order.has_tools(),
        profile.arguments,
        profile.rounds_numbers,
    ) {
        (false, ..) => &[],
        (_, ArgumentsAs::Text | ArgumentsAs::TextOrInput, _) => arguments::LOSES_AS_TEXT,
        (_, ArgumentsAs::Object(_), None) => arguments::LOSES_AS_OBJECT,
        (_, ArgumentsAs::Object(_), Some(_)) => &[
            LossCode::ArgsReserialised,
            LossCode::ArgsNotObject,
            LossCode::ArgsMalformed,
            LossCode::NumberPrecision,
        ],
    },
    run: |plan, transcript, profile| {
        if !plan.kinds.has(Kinds::CALLS) {
            return;
        }
        let arena = transcript.arena();
        let losses = &mut plan.losses;
        // Blocks that are no longer part of a turn are not written, so they lose nothing.
        for turn in &plan.turns {
            for block in cut::slice_mut(&mut plan.blocks, turn.range()) {
                let BlockContent::Call(call) = &mut block.content else {
                    continue;
                };
                if call.item.is_some() {
                    continue;
                }
                let position = call.place.position;
                call.arguments = arena.keep(match profile.arguments {
                    ArgumentsAs::TextOrInput if call.is_input() => call.call.arguments.source_text().into(),
                    ArgumentsAs::Text | ArgumentsAs::TextOrInput => as_text(call.call, position, losses),
                    ArgumentsAs::Object(rule) => as_object(call.call, position, rule, losses),
                });
                if let Some(reason) = profile.rounds_numbers {
                    let inexact = inexact_integers(call.arguments);
                    losses.several((LossCode::NumberPrecision, reason), position, inexact);
                }
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, Sample, call, result};

    #[test]
    fn arguments_are_text_or_an_object() {
        let sample = Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c", "x")]);
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns[0], "assistant: <call   {}>");
        assert_eq!(losses, ["args-reserialised 0 1"]);
        let object = DialectProfile {
            arguments: ArgumentsAs::Object(ABC_01),
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &object);
        assert_eq!(turns[0], "assistant: <call   {}>");
        assert!(losses.is_empty());
    }
}
