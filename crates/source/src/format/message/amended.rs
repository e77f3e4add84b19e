//! Earlier messages that later records reword or add to.

use std::collections::HashMap;

use chatmill_model::Message;

/// An index of messages by id, and for each the number of records about it.
#[derive(Debug, Default)]
pub(in crate::format) struct Amended {
    places: HashMap<String, usize>,
    /// The number of messages that the index contains.
    known: usize,
    times: HashMap<(usize, String), u32>,
}

impl Amended {
    /// The position of the last message with an id.
    pub(in crate::format) fn place(&mut self, id: &str, messages: &[Message]) -> Option<usize> {
        for (place, message) in messages.iter().enumerate().skip(self.known) {
            self.places.extend(message.id.clone().map(|own| (own, place)));
        }
        self.known = messages.len();
        self.places.get(id).copied()
    }

    /// The number of earlier records with this name about a message; counts this one.
    pub(in crate::format) fn number(&mut self, place: usize, name: &str) -> u32 {
        let times = self.times.entry((place, name.to_owned())).or_default();
        *times += 1;
        *times - 1
    }
}
