//! Earlier messages that records say anew, or add something to.

use std::collections::HashMap;

use chatmill_model::Message;

/// Where messages stand that records say anew or add to, and how often they do.
#[derive(Debug, Default)]
pub(in crate::format) struct Amended {
    places: HashMap<String, usize>,
    /// How many messages have their places there.
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

    /// How often a record of this name spoke of a message before.
    pub(in crate::format) fn number(&mut self, place: usize, name: &str) -> u32 {
        let times = self.times.entry((place, name.to_owned())).or_default();
        *times += 1;
        *times - 1
    }
}
