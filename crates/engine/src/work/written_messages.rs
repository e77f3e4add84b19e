//! Bills and trains messages that several conversations of one
//! record share only once: in the first accepted conversation.

use std::collections::HashSet;

use chatmill_model::{Conversation, MessageOrigin};

/// The origins of the messages of the accepted conversations of a record.
#[derive(Default)]
pub(super) struct WrittenMessages(HashSet<MessageOrigin>);

impl WrittenMessages {
    /// Adds an accepted conversation. It takes over messages that it
    /// left to earlier conversations if none of these was accepted.
    pub(super) fn add(&mut self, conversation: &mut Conversation) {
        for message in &mut conversation.messages {
            if message.earlier_copy.is_some() && !self.0.contains(&message.origin) {
                message.take_from_earlier_copy();
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

    /// Returns a conversation of answers at these places; the first `shared` are in an earlier one.
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
                message.move_to_earlier_copy();
            }
            message
        };
        Conversation {
            messages: places.iter().enumerate().map(message).collect(),
            ..Conversation::default()
        }
    }

    #[test]
    fn the_first_accepted_conversation_has_the_usage_of_shared_messages() {
        let mut written = WrittenMessages::default();
        // The first conversation has 0, and was not accepted.
        let mut all = [branch(&[0, 1], 1), branch(&[0, 1, 2], 2), branch(&[0, 3], 1)];
        for conversation in &mut all {
            written.add(conversation);
        }
        let has_usage = |message: &Message| {
            assert_eq!(message.usage.is_none(), message.weight == Weight::new(0.0));
            message.usage.is_some()
        };
        let has_usage =
            all.map(|conversation| conversation.messages.iter().map(has_usage).collect::<Vec<_>>());
        assert_eq!(
            has_usage,
            [vec![true, true], vec![false, false, true], vec![false, true]]
        );
    }
}
