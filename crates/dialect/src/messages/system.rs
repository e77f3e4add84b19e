//! System text by policy: from the messages of the source, from the roster, or none; and the prompt of the pipeline.

use chatmill_model::{Message, Role};

use crate::loss::{LossCode, Losses, reasons};
use crate::view::policy::System;
use crate::view::prompt::Existing;
use crate::view::{View, prompt_fields};

/// The losses that system text by policy may declare.
pub(crate) const LOSES: &[LossCode] = &[LossCode::SystemDropped, LossCode::SystemAdded];

/// The system text of a rendering.
pub(crate) struct SystemText {
    /// System texts that come before all messages and are not messages of the source, in order.
    pub(crate) added: Vec<String>,
    policy: System,
    /// Whether the added text replaces the system text of the source.
    replaces: bool,
}

impl SystemText {
    /// Determines the system text from policy, prompt and the shown messages, and declares text that is added.
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

    /// Whether a system message of the source is written; declares it if not.
    pub(crate) fn keeps(&self, message: &Message, losses: &mut Losses) -> bool {
        if self.replaces {
            losses.at(reasons::PROMPT_TAKES_ITS_PLACE, message.position);
            return false;
        }
        keeps(self.policy, message, losses)
    }
}

/// Whether policy keeps a system message of the source; declares it if not.
pub(crate) fn keeps(policy: System, message: &Message, losses: &mut Losses) -> bool {
    debug_assert_eq!(message.role, Role::System);
    let keeps = policy == System::Source;
    if !keeps {
        losses.at(reasons::POLICY_TAKES_OTHER_SYSTEM_TEXT, message.position);
    }
    keeps
}

/// Declares the pipeline's prompt as lost, for dialects without a place for system text.
pub(crate) fn declare_unplaced(view: &View<'_>, losses: &mut Losses) {
    losses.whole_rendering(reasons::NO_PLACE_FOR_A_PROMPT, u64::from(view.prompt().is_some()));
}

/// Returns the instructions that the roster has for the perspective, if policy asks for them.
fn instructions(view: &View<'_>) -> Option<String> {
    if view.policy.system != System::Agent {
        return None;
    }
    prompt_fields::instructions(view.conversation().participants.get(view.perspective?)?)
}
