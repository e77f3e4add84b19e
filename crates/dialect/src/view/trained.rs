//! Decides which of the perspective's messages a trainer learns from; the others are context.
//!
//! A window states the position from which turns are trained on, and a source may exclude a message (`weight: 0`). A message with only
//! placeholders for media is excluded, too, unless the plan asks for it. A turn with an excluded message, or without a message, is context.

use chatmill_model::{Message, Role, Speaker, Weight};

use crate::view::View;

/// The messages of the perspective that are trained on.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrainedMessages {
    /// The first position that may be trained on.
    from: u32,
    /// Later positions that are excluded, in order.
    never: Vec<u32>,
}

impl TrainedMessages {
    /// Selects the messages that a view trains on; `messages` must be in order of position.
    pub(crate) fn of(view: &View<'_>, messages: &[&Message]) -> Self {
        let never = messages.iter().filter(|message| view.is_never_trained(message));
        Self {
            from: view.trained_from(),
            never: never.map(|message| message.position).collect(),
        }
    }

    /// Returns the speaker of a turn with this role and messages at these positions.
    pub(crate) fn speaker(&self, role: Role, positions: impl IntoIterator<Item = u32>) -> Speaker {
        if role != Role::Assistant {
            return Speaker::Other;
        }
        let mut positions = positions.into_iter().peekable();
        if positions.peek().is_some() && positions.all(|position| self.holds(position)) {
            Speaker::Perspective
        } else {
            Speaker::Context
        }
    }

    fn holds(&self, position: u32) -> bool {
        self.from <= position && self.never.binary_search(&position).is_err()
    }
}

/// Whether the source excludes a message from training.
fn is_weightless(message: &Message) -> bool {
    message.weight.map(Weight::value) == Some(0.0)
}

impl View<'_> {
    /// Returns the position from which turns are trained on.
    pub(crate) fn trained_from(&self) -> u32 {
        self.window.as_ref().map_or(0, |window| window.range.trained_from)
    }

    fn is_never_trained(&self, message: &Message) -> bool {
        is_weightless(message) || self.placeholders.exclude(message)
    }

    /// Returns the speaker of a message.
    pub(crate) fn speaker(&self, message: &Message) -> Speaker {
        if !self.is_own(message) {
            Speaker::Other
        } else if message.position < self.trained_from() || self.is_never_trained(message) {
            Speaker::Context
        } else {
            Speaker::Perspective
        }
    }
}
