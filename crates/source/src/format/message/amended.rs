//! Records that repeat earlier messages, or add to them.

use std::collections::HashMap;

use chatmill_model::Message;

/// Messages that later records repeat or add to, with the number of such records.
#[derive(Debug, Default)]
pub(in crate::format) struct Amended {
    places: HashMap<String, usize>,
    /// The number of messages that are in the index.
    known: usize,
    times: HashMap<(usize, String), u32>,
}

impl Amended {
    /// The place of the last message with an id.
    pub(in crate::format) fn place(&mut self, id: &str, messages: &[Message]) -> Option<usize> {
        for (place, message) in messages.iter().enumerate().skip(self.known) {
            self.places.extend(message.id.clone().map(|own| (own, place)));
        }
        self.known = messages.len();
        self.places.get(id).copied()
    }

    /// The number of earlier records with this name about a message.
    pub(in crate::format) fn number(&mut self, place: usize, name: &str) -> u32 {
        let times = self.times.entry((place, name.to_owned())).or_default();
        *times += 1;
        *times - 1
    }
}
