//! Escapes the first text of a turn if it begins like gryag's line of ids, because readers would take it for one.

use chatmill_diag::cut;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::text::control_tokens::escape_line;
use crate::transcript::turns::{BlockContent, Lead};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.escapes_lines, &[LossCode::ReservedTextEscaped]),
    run: |plan, transcript, profile| {
        if !profile.escapes_lines {
            return;
        }
        for index in 0..plan.turns.len() {
            let turn = *cut::at(&plan.turns, index);
            let Some(first) = plan.blocks(&turn).first().copied() else {
                continue;
            };
            let Some(run) = plan.runs(&first).next() else {
                continue;
            };
            let (escaped, true) = escape_line(run.text.into()) else {
                continue;
            };
            let text = transcript.arena().keep(escaped);
            match first.content {
                _ if matches!(first.lead, Lead::Name(_)) => {
                    if let Some(block) = plan.blocks_mut(turn).first_mut() {
                        block.lead = Lead::Name(text);
                    }
                }
                BlockContent::Words(_, words) => {
                    if let Some(run) = plan.words_mut(words).first_mut() {
                        run.text = text;
                    }
                }
                _ => {}
            }
            if let Some(position) = first.position {
                plan.losses.at(reasons::TEXT_LIKE_META_LINE, position);
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, Sample, text};

    #[test]
    fn a_first_text_like_a_line_of_ids_is_escaped() {
        let sample = Sample::new().post(ANN, vec![text("[meta] a"), text("[meta] b")]);
        assert!(sample.after(&[&PASS], &PLAIN).1.is_empty());
        let escaping = DialectProfile {
            escapes_lines: true,
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &escaping);
        assert_eq!(turns, ["user: [\u{200b}meta] a | [meta] b"]);
        assert_eq!(losses, ["reserved-text-escaped 0 1"]);
    }
}
