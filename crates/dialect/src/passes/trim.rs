//! Removes white space at the end of the assistant's last turn.

use chatmill_model::Role;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.trims_end.is_some(), &[LossCode::WhitespaceTrimmed]),
    run: |plan, _, profile| {
        let (Some(rule), Some(last)) = (profile.trims_end, plan.turns.last().copied()) else {
            return;
        };
        if last.role == Role::Assistant
            && plan.trim_end(last)
            && let Some(position) = plan.blocks(&last).last().and_then(|block| block.position)
        {
            plan.losses.at(reasons::END_IS_TRIMMED.by(rule), position);
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, text};

    #[test]
    fn white_space_at_the_end_of_the_last_answer_is_removed() {
        let trimming = DialectProfile {
            trims_end: Some(ABC_01),
            ..PLAIN
        };
        let answered = Sample::new().post(BOT, vec![text("a \n")]);
        let (turns, losses) = answered.after(&[&PASS], &trimming);
        assert_eq!(turns, ["assistant: a"]);
        assert_eq!(losses, ["whitespace-trimmed 0 1"]);
        assert!(answered.after(&[&PASS], &PLAIN).1.is_empty());
        let asked = Sample::new().post(ANN, vec![text("a ")]);
        assert!(asked.after(&[&PASS], &trimming).1.is_empty());
    }
}
