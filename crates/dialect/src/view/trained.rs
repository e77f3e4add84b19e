//! Which of the perspective's messages a trainer learns from, and which are context.
//!
//! A window says from where on turns are learned, and a source may say of a message that it is not (`weight: 0`). A message of
//! which nothing is left but what stands for its media is not learned either, unless somebody asks for it. A turn that holds a
//! message that is not learned, or nothing that anybody said, is context.

use chatmill_model::{Message, Role, Speaker, Weight};

use crate::text::placeholders::{Placeholders, is_only_media};
use crate::view::View;

/// The messages from which a trainer learns, as far as they are the perspective's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// The first position of all.
    from: u32,
    /// Later positions of which the source says that they are not learned, in order.
    never: Vec<u32>,
}

impl Learned {
    /// What a view says of messages in order of their positions.
    pub(crate) fn of(view: &View<'_>, messages: &[&Message]) -> Self {
        let never = messages.iter().filter(|message| view.is_never_learned(message));
        Self {
            from: view.learned_from(),
            never: never.map(|message| message.position).collect(),
        }
    }

    /// Whose words those of a turn are, by its role and the positions of what it says.
    pub(crate) fn voice(&self, role: Role, positions: impl IntoIterator<Item = u32>) -> Speaker {
        if role != Role::Assistant {
            return Speaker::Other;
        }
        let mut said = positions.into_iter().peekable();
        if said.peek().is_some() && said.all(|position| self.holds(position)) {
            Speaker::Perspective
        } else {
            Speaker::Recalled
        }
    }

    fn holds(&self, position: u32) -> bool {
        self.from <= position && self.never.binary_search(&position).is_err()
    }
}

/// Whether the source says that nobody learns from a message.
fn is_weightless(message: &Message) -> bool {
    message.weight.map(Weight::value) == Some(0.0)
}

impl View<'_> {
    /// From which position on turns are learned.
    pub(crate) fn learned_from(&self) -> u32 {
        self.window.as_ref().map_or(0, |window| window.stretch.learned)
    }

    fn is_never_learned(&self, message: &Message) -> bool {
        is_weightless(message) || self.placeholders != Placeholders::Learned && is_only_media(message)
    }

    /// Whose words a message's are.
    pub(crate) fn voice(&self, message: &Message) -> Speaker {
        if !self.is_own(message) {
            Speaker::Other
        } else if message.position < self.learned_from() || self.is_never_learned(message) {
            Speaker::Recalled
        } else {
            Speaker::Perspective
        }
    }
}
