//! System text by policy: from the source's messages, from the roster, or none.

use chatmill_model::{Message, Role};

use crate::json;
use crate::loss::{LossCode, Losses, reasons};
use crate::policy::System;
use crate::view::View;

/// What system text by policy may cost.
pub(crate) const LOSES: &[LossCode] = &[LossCode::SystemDropped, LossCode::SystemAdded];

/// Whether the dialect should say a system message of the source; declares it where policy says no.
pub(crate) fn keeps(view: &View<'_>, message: &Message, losses: &mut Losses) -> bool {
    debug_assert_eq!(message.role, Role::System);
    let keeps = view.policy.system == System::Source;
    if !keeps {
        losses.at(
            LossCode::SystemDropped,
            message.position,
            reasons::POLICY_TAKES_OTHER_SYSTEM_TEXT,
        );
    }
    keeps
}

/// The instructions that the roster holds for the perspective, where policy asks for them.
pub(crate) fn instructions(view: &View<'_>, losses: &mut Losses) -> Option<String> {
    if view.policy.system != System::Agent {
        return None;
    }
    let agent = view.conversation().participants.get(view.perspective?)?;
    let text = ["agentInstructions", "instructions"]
        .into_iter()
        .find_map(|key| agent.extra.get(key))
        .and_then(|raw| json::decode_string(raw.as_str()))
        .filter(|text| !text.is_empty())?;
    losses.whole_rendering(LossCode::SystemAdded, 1, reasons::SYSTEM_TEXT_FROM_THE_ROSTER);
    Some(text)
}
