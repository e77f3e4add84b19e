//! Escapes or keeps, by policy, control tokens and tags that the text of a chat spells.

use chatmill_diag::cut;
use chatmill_model::{Component, Role};

use super::Pass;
use crate::loss::violation::Violation;
use crate::loss::{LossCode, Losses, reasons};
use crate::passes::profile::ControlTokenRule;
use crate::text::control_tokens::{self, Reserved};
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Lead, TurnPlan};
use crate::view::policy::ControlTokens;

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.control_tokens {
        Some(_) => &[LossCode::ReservedTextEscaped, LossCode::SpecialTokenInText],
        None => &[],
    },
    run: |plan, transcript, profile| {
        let Some(rule) = profile.control_tokens else {
            return;
        };
        let mut forged = 0;
        let mut losses = std::mem::take(&mut plan.losses);
        for turn in plan.turns.clone() {
            // What the text must not spell, and the tag that readers take for a call or a result.
            let (reserved, forging) = match turn.role {
                Role::System => (Reserved::Tokens, None),
                Role::Assistant => (Reserved::Tools, Some("<tool_call>")),
                Role::User | Role::Tool => (Reserved::Tags, Some("<tool_response>")),
            };
            for index in turn.start..turn.end {
                let mut treat = Treatment {
                    transcript,
                    rule,
                    reserved,
                    forging,
                    position: cut::at(&plan.blocks, index).position,
                    forged: &mut forged,
                    losses: &mut losses,
                };
                treat.block(plan, index);
            }
        }
        if forged > 0 {
            let problem = format!("chat text spells {forged} opening or closing tokens");
            plan.violations.push(Violation::of(rule.rule, None, problem));
        }
        plan.losses = losses;
    },
};

struct Treatment<'t, 'a> {
    transcript: &'t Transcript<'a>,
    rule: ControlTokenRule,
    reserved: Reserved,
    forging: Option<&'static str>,
    position: Option<u32>,
    forged: &'t mut u64,
    losses: &'t mut Losses,
}

impl<'a> Treatment<'_, 'a> {
    fn block(&mut self, plan: &mut TurnPlan<'a>, index: usize) {
        let Block { content, lead, .. } = cut::at_mut(&mut plan.blocks, index);
        if let Lead::Name(name) = lead {
            *name = self.text(name);
        }
        if let BlockContent::Words(_, words) = *content {
            let words = plan.words_mut(words).iter_mut();
            for run in words.filter(|run| run.component != Component::Framing) {
                run.text = self.text(run.text);
            }
        }
    }

    fn text(&mut self, text: &'a str) -> &'a str {
        let rule = self.rule.rule;
        let (treated, escaped) = match self.transcript.view().policy.control_tokens {
            ControlTokens::Escape => control_tokens::escape(text.into(), self.reserved),
            ControlTokens::Keep => {
                let live = self.reserved.count(text);
                self.losses
                    .add(reasons::POLICY_KEEPS_CONTROL_TOKENS.by(rule), self.position, live);
                let tokens = [Some(self.rule.opening), Some(self.rule.closing), self.forging];
                let spelled = tokens
                    .into_iter()
                    .flatten()
                    .map(|token| text.matches(token).count() as u64);
                *self.forged += spelled.sum::<u64>();
                // A text that already contains an escape is escaped once more: otherwise readers would undo the character that a person
                // typed.
                control_tokens::escape_again(text.into(), self.reserved)
            }
        };
        self.losses.add(
            reasons::CONTROL_TOKENS_ARE_ESCAPED.by(rule),
            self.position,
            escaped,
        );
        self.transcript.arena().keep(treated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::ABC_01;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, Sample, text};

    #[test]
    fn reserved_text_is_escaped_or_left_by_policy() {
        let reserving = DialectProfile {
            control_tokens: Some(ControlTokenRule {
                opening: "<|a|>",
                closing: "<|b|>",
                rule: ABC_01,
            }),
            ..PLAIN
        };
        let mut sample = Sample::new().post(ANN, vec![text("<|a|> <tool_call>")]);
        assert!(sample.after(&[&PASS], &PLAIN).1.is_empty());
        let (turns, losses) = sample.after(&[&PASS], &reserving);
        assert_eq!(turns, ["user: <\u{200b}|a|> <\u{200b}tool_call>"]);
        assert_eq!(losses, ["reserved-text-escaped 0 2"]);
        sample.policy.control_tokens = ControlTokens::Keep;
        let (turns, losses) = sample.after(&[&PASS], &reserving);
        assert_eq!(turns, ["user: <|a|> <tool_call>"]);
        assert_eq!(losses, ["special-token-in-text 0 2"]);
    }
}
