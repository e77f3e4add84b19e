//! Tool calls of a conversation that wait for their results.

use std::collections::{HashMap, VecDeque};

use chatmill_model::{Message, Part};

/// Id and name of a call.
type Asked = (Option<String>, Option<String>);

/// Calls without a result, in the order in which they were made.
#[derive(Default)]
pub(super) struct Waiting {
    /// All calls so far; `None` in the place of one that has its result.
    calls: Vec<Option<Asked>>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
    /// The index of the first call that may wait; all before it have results.
    first: usize,
    /// The number of messages that were searched.
    looked: usize,
}

impl Waiting {
    /// Records the calls in the messages that were added since the last call.
    pub(super) fn add_messages(&mut self, messages: &[Message]) {
        let new = messages.get(self.looked..).unwrap_or_default();
        self.looked = messages.len();
        for part in new.iter().flat_map(|message| &message.parts) {
            match part {
                Part::ToolCall(call) => self.ask((call.id.clone(), call.name.clone())),
                Part::ToolResult(result) => {
                    let place = self.find(result.call_id.as_deref(), None);
                    let place = place.unwrap_or_else(|| self.front());
                    self.take(place);
                }
                _ => {}
            }
        }
    }

    fn ask(&mut self, asked: Asked) {
        let keys = [(&mut self.by_id, &asked.0), (&mut self.by_name, &asked.1)];
        for (places, key) in keys {
            if let Some(key) = key {
                places.entry(key.clone()).or_default().push_back(self.calls.len());
            }
        }
        self.calls.push(Some(asked));
    }

    /// The first waiting call with this id, else the first with this name.
    pub(super) fn find(&mut self, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let calls = &self.calls;
        let mut keys = [(&mut self.by_id, id), (&mut self.by_name, name)].into_iter();
        keys.find_map(|(places, key)| {
            let places = places.get_mut(key?)?;
            while places
                .front()
                .is_some_and(|place| calls.get(*place) == Some(&None))
            {
                places.pop_front();
            }
            places.front().copied()
        })
    }

    /// The first call that waits.
    fn front(&mut self) -> usize {
        while self.calls.get(self.first) == Some(&None) {
            self.first += 1;
        }
        self.first
    }

    /// Removes a call from those that wait for a result.
    pub(super) fn take(&mut self, place: usize) -> Option<Asked> {
        self.calls.get_mut(place)?.take()
    }

    /// The call at this place.
    pub(super) fn get(&self, place: usize) -> Option<&Asked> {
        self.calls.get(place)?.as_ref()
    }

    /// Ids and names of the waiting calls.
    pub(super) fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.calls.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::{ArgumentForm, Arguments, MessageOrigin, Role, ToolCall, ToolResult};

    use super::*;

    fn word(text: &str) -> Option<String> {
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    fn message_of(part: Part) -> Message {
        Message {
            parts: vec![part],
            ..Message::new(Role::Assistant, 0, MessageOrigin::default())
        }
    }

    fn call(id: &str, name: &str) -> Message {
        let given = (Arguments::Malformed(String::new()), ArgumentForm::Text);
        message_of(Part::ToolCall(ToolCall::new(word(id), word(name), given)))
    }

    fn result(id: &str) -> Message {
        message_of(Part::ToolResult(ToolResult {
            call_id: word(id),
            ..ToolResult::default()
        }))
    }

    #[test]
    fn a_result_is_that_of_its_id_else_of_the_first_call() {
        let mut messages = vec![
            call("a", "tide"),
            call("b", "tide"),
            call("", "moon"),
            call("c", "tide"),
        ];
        messages.extend([result("b"), result("gone")]);
        let mut waiting = Waiting::default();
        waiting.add_messages(&messages);
        let asked: Vec<&Asked> = waiting.asked().collect();
        assert_eq!(asked, [&(None, word("moon")), &(word("c"), word("tide"))]);
        // A message is searched only after it was added.
        messages.push(result(""));
        waiting.add_messages(&messages);
        assert_eq!(waiting.find(Some("a"), Some("moon")), None);
        assert_eq!(waiting.find(Some("a"), Some("tide")), Some(3));
    }

    #[test]
    fn a_tool_result_matches_ids_first_and_each_call_once() {
        let mut waiting = Waiting::default();
        waiting.add_messages(&[call("a", "tide"), call("b", "tide")]);
        let place = waiting.find(Some("b"), Some("tide")).unwrap();
        assert_eq!(waiting.take(place), Some((word("b"), word("tide"))));
        let place = waiting.find(Some("b"), Some("tide")).unwrap();
        assert_eq!(waiting.get(place), Some(&(word("a"), word("tide"))));
        waiting.take(place);
        assert_eq!(waiting.find(Some("a"), Some("tide")), None);
    }
}
