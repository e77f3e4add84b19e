//! What the assistant thought, where policy and dialect keep it.

use chatmill_model::{Component, Message, Part};

use super::{Thoughts, Writer};
use crate::loss::LossCode;
use crate::policy::Reasoning;
use crate::words::Words;

impl<'a> Writer<'_, 'a> {
    /// What the perspective thought, where policy and dialect keep it; a blank line between thoughts.
    pub(super) fn thoughts(&mut self, message: &'a Message) -> Vec<Words<'a>> {
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
                        "thoughts are joined into one",
                    );
                    thoughts.push(Words::new("\n\n", Component::Framing));
                }
                thoughts.push(Words::new(thought, Component::Content));
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
