//! System text by policy: from the source's messages, from the roster, or none; and the pipeline's own.

use chatmill_model::{Message, Role};

use crate::loss::{LossCode, Losses, reasons};
use crate::view::policy::System;
use crate::view::prompt::Existing;
use crate::view::{View, prompt_fields};

/// What system text by policy may cost.
pub(crate) const LOSES: &[LossCode] = &[LossCode::SystemDropped, LossCode::SystemAdded];

/// The system text of a rendering.
pub(crate) struct SystemText {
    /// What stands before everything and is no message of the source, in order.
    pub(crate) added: Vec<String>,
    policy: System,
    /// Whether what is added stands in the place of the source's.
    replaces: bool,
}

impl SystemText {
    /// What policy and prompt make of the system text of the messages that are shown. What is added is declared.
    pub(crate) fn of(view: &View<'_>, shown: &[&Message], losses: &mut Losses) -> Self {
        let instructions = instructions(view);
        let has_own = || {
            let mut system = shown.iter().filter(|message| message.role == Role::System);
            view.policy.system == System::Source
                && system.any(|message| message.texts().any(|text| !text.is_empty()))
        };
        let prompt = view
            .additions
            .prompt
            .and_then(|prompt| Some((view.prompt()?, prompt.existing())));
        let (prompt, replaces) = match prompt {
            Some((_, Existing::Keep)) if instructions.is_some() || has_own() => (None, false),
            Some((text, existing)) => (Some(text), existing == Existing::Replace),
            None => (None, false),
        };
        let instructions = instructions.filter(|_| !replaces);
        let causes = [
            (&prompt, reasons::SYSTEM_TEXT_OF_THE_PIPELINE),
            (&instructions, reasons::SYSTEM_TEXT_FROM_THE_ROSTER),
        ];
        for (text, cause) in causes {
            losses.whole_rendering(cause, u64::from(text.is_some()));
        }
        Self {
            added: prompt.into_iter().chain(instructions).collect(),
            policy: view.policy.system,
            replaces,
        }
    }

    /// Whether the dialect should write a system message of the source; declares it where it should not.
    pub(crate) fn keeps(&self, message: &Message, losses: &mut Losses) -> bool {
        if self.replaces {
            losses.at(reasons::PROMPT_TAKES_ITS_PLACE, message.position);
            return false;
        }
        keeps(self.policy, message, losses)
    }
}

/// Whether policy keeps a system message of the source; declares it where it does not.
pub(crate) fn keeps(policy: System, message: &Message, losses: &mut Losses) -> bool {
    debug_assert_eq!(message.role, Role::System);
    let keeps = policy == System::Source;
    if !keeps {
        losses.at(reasons::POLICY_TAKES_OTHER_SYSTEM_TEXT, message.position);
    }
    keeps
}

/// Declares the pipeline's prompt where a dialect has no place for system text.
pub(crate) fn declare_unplaced(view: &View<'_>, losses: &mut Losses) {
    losses.whole_rendering(reasons::NO_PLACE_FOR_A_PROMPT, u64::from(view.prompt().is_some()));
}

/// The instructions that the roster holds for the perspective, where policy asks for them.
fn instructions(view: &View<'_>) -> Option<String> {
    if view.policy.system != System::Agent {
        return None;
    }
    prompt_fields::instructions(view.conversation().participants.get(view.perspective?)?)
}
