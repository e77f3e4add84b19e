//! What conversations of one record share is paid and learned once: in the first of them that is kept.

use std::collections::HashSet;

use chatmill_model::{Conversation, MessageOrigin};

/// Where the messages stand that the kept conversations of a record have.
#[derive(Default)]
pub(super) struct Told(HashSet<MessageOrigin>);

impl Told {
    /// Takes note of a conversation that is kept. What it leaves to earlier ones of which none is kept, it tells itself.
    pub(super) fn keep(&mut self, conversation: &mut Conversation) {
        for message in &mut conversation.messages {
            if message.told_before.is_some() && !self.0.contains(&message.origin) {
                message.tell_here();
            }
        }
        let places = conversation.messages.iter().map(|message| message.origin);
        self.0.extend(places);
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::{Message, Role, Usage, Weight};

    use super::*;

    /// A conversation of answers at these places, of which an earlier one has the first.
    fn branch(places: &[u32], shared: usize) -> Conversation {
        let message = |(position, index): (usize, &u32)| {
            let origin = MessageOrigin {
                index: *index,
                ..MessageOrigin::default()
            };
            let mut message = Message::new(Role::Assistant, position as u32, origin);
            message.usage = Some(Usage {
                output: Some(1),
                ..Usage::default()
            });
            if position < shared {
                message.tell_before();
            }
            message
        };
        Conversation {
            messages: places.iter().enumerate().map(message).collect(),
            ..Conversation::default()
        }
    }

    #[test]
    fn the_first_that_is_kept_tells_what_is_shared() {
        let mut told = Told::default();
        // The one that came first, and had 0, is not kept.
        let mut all = [branch(&[0, 1], 1), branch(&[0, 1, 2], 2), branch(&[0, 3], 1)];
        for conversation in &mut all {
            told.keep(conversation);
        }
        let tells = |message: &Message| {
            assert_eq!(message.usage.is_none(), message.weight == Weight::new(0.0));
            message.usage.is_some()
        };
        let tells = all.map(|conversation| conversation.messages.iter().map(tells).collect::<Vec<_>>());
        assert_eq!(
            tells,
            [vec![true, true], vec![false, false, true], vec![false, true]]
        );
    }
}
