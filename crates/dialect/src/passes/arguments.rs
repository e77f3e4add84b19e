//! Arguments of calls in the form that the dialect wants.

use super::Pass;
use crate::arguments::{self, as_object, as_text, inexact_integers};
use crate::loss::LossCode;
use crate::order::Order;
use crate::profile::ArgumentsAs;
use crate::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.order, profile.arguments, profile.rounds_numbers) {
        (Order::Toolless(_), ..) => &[],
        (_, ArgumentsAs::Text, _) => arguments::LOSES_AS_TEXT,
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
        let made = transcript.made();
        let losses = &mut plan.losses;
        // Blocks that no turn holds any more are not written.
        for turn in &plan.turns {
            for block in plan.blocks.get_mut(turn.start..turn.end).unwrap_or_default() {
                let BlockContent::Call(call) = &mut block.held else {
                    continue;
                };
                let position = call.place.position;
                call.arguments = made.keep(match profile.arguments {
                    ArgumentsAs::Text => as_text(call.call, position, losses),
                    ArgumentsAs::Object(rule) => as_object(call.call, position, rule, losses),
                });
                if let Some(reason) = profile.rounds_numbers {
                    let inexact = inexact_integers(call.arguments);
                    losses.several(LossCode::NumberPrecision, position, inexact, reason);
                }
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{BOT, PLAIN, Sample, call, result};
    use crate::profile::DialectProfile;
    use crate::rules::samples::ABC_01;

    #[test]
    fn arguments_are_text_or_an_object() {
        let sample = Sample::new()
            .say(BOT, vec![call("c")])
            .say(BOT, vec![result("c", "x")]);
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
