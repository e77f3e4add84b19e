//! What the assistant thought, where policy and dialect keep it.

use std::borrow::Cow;

use chatmill_model::{Component, Message, Part};

use super::{Thoughts, Writer};
use crate::controls::{Reserved, escape};
use crate::loss::{LossCode, reasons};
use crate::policy::Reasoning;
use crate::text_run::TextRun;

impl<'a> Writer<'_, 'a> {
    /// What the perspective thought, where policy and dialect keep it; a blank line between thoughts.
    pub(super) fn thoughts(&mut self, message: &'a Message) -> Vec<TextRun<'a>> {
        let mut thoughts = Vec::new();
        if !self.keeps_thoughts(message) {
            return thoughts;
        }
        for part in &message.parts {
            if let Part::Reasoning(thought) = part
                && !thought.is_empty()
            {
                if !thoughts.is_empty() {
                    self.losses.at(
                        LossCode::PartFlattened,
                        message.position,
                        reasons::THOUGHTS_ARE_JOINED,
                    );
                    thoughts.push(TextRun::new("\n\n", Component::Framing));
                }
                let mut said = Cow::Borrowed(thought.as_str());
                if self.manner.thoughts == Thoughts::Tagged {
                    let (escaped, count) = escape(said, Reserved::Thoughts);
                    let reason = reasons::THOUGHT_SPELLS_ITS_END;
                    self.losses
                        .several(LossCode::ReservedTextEscaped, message.position, count, reason);
                    said = escaped;
                }
                thoughts.push(TextRun::new(said, Component::Content));
            }
        }
        thoughts
    }

    /// Whether a message's reasoning is kept.
    pub(super) fn keeps_thoughts(&self, message: &Message) -> bool {
        self.view.policy.reasoning == Reasoning::Keep
            && self.view.is_own(message)
            && !matches!(self.manner.thoughts, Thoughts::Nowhere(_))
    }
}
