//! A roster for formats without one: one participant for each pair of role and name, or of role and id.
//!
//! Lists of messages give names: a speaker's id is the name, or the role (`user`, `assistant`, `system`) without one. Rows of tables give ids; a
//! person and an agent with the same account are two participants. An id that is taken gets the role as a prefix (`assistant:Alex`). Role `user` is a
//! person, `assistant` an agent. Tools are not participants: a result belongs to the agent that made the call. Since the format has no roster, every
//! speaker counts as listed.

use std::collections::{BTreeMap, HashMap, HashSet};

use chatmill_model::{Message, Part, Participant, ParticipantKind, Role};

/// The speakers so far.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// In order of first appearance.
    pub participants: Vec<Participant>,
    places: HashMap<(&'static str, Option<String>), usize>,
    taken: HashSet<String>,
    callers: HashMap<String, usize>,
    last_caller: Option<usize>,
}

impl Roster {
    /// The participant with this role and name, in formats without ids.
    pub(crate) fn named(&mut self, role: Role, name: Option<&str>) -> usize {
        self.place(role, name, name, true)
    }

    /// The participant with this role and id; the first given name is kept.
    pub(crate) fn of(&mut self, role: Role, id: &str, name: Option<&str>) -> usize {
        let name = name.filter(|name| !name.is_empty());
        self.place(role, Some(id), name, id == role.as_str())
    }

    fn place(&mut self, role: Role, key: Option<&str>, name: Option<&str>, is_id_made: bool) -> usize {
        // A speaker with the role's word as name has no name.
        let known = key.filter(|key| *key != role.as_str()).map(str::to_owned);
        let known = (role.as_str(), known);
        if let Some(place) = self.places.get(&known).copied() {
            if let Some(known) = self.participants.get_mut(place)
                && known.name.is_none()
            {
                known.name = name.map(str::to_owned);
            }
            return place;
        }
        let place = self.participants.len();
        let id = self.free_id(role, key);
        self.participants.push(Participant {
            id,
            is_id_made,
            name: name.map(str::to_owned),
            role: Some(role.as_str().to_owned()),
            kind: match role {
                Role::User => ParticipantKind::Human,
                Role::Assistant => ParticipantKind::Agent,
                Role::System | Role::Tool => ParticipantKind::Unknown,
            },
            listed: true,
            ..Participant::default()
        });
        self.places.insert(known, place);
        place
    }

    fn free_id(&mut self, role: Role, key: Option<&str>) -> String {
        let plain = key.unwrap_or(role.as_str());
        if self.taken.insert(plain.to_owned()) {
            return plain.to_owned();
        }
        let qualified = format!("{}:{}", role.as_str(), key.unwrap_or_default());
        let mut id = qualified.clone();
        let mut number = 2_u32;
        while !self.taken.insert(id.clone()) {
            id = format!("{qualified}~{number}");
            number += 1;
        }
        id
    }

    /// Remembers the caller of the calls in these parts.
    pub(crate) fn calls(&mut self, caller: usize, parts: &[Part]) {
        for part in parts {
            if let Part::ToolCall(call) = part {
                self.last_caller = Some(caller);
                for id in [&call.id, &call.metadata_id].into_iter().flatten() {
                    self.callers.insert(id.clone(), caller);
                }
            }
        }
    }

    /// The agent that a result belongs to: the caller of a call with one of these ids, else the caller of the last call.
    pub(crate) fn answered<'i>(&self, mut ids: impl Iterator<Item = &'i str>) -> Option<usize> {
        let caller = ids.find_map(|id| self.callers.get(id).copied());
        caller.or(self.last_caller)
    }

    /// The agent that these results belong to, by the first call id among them; the unnamed agent if there was no call.
    pub(crate) fn answering(&mut self, parts: &[Part]) -> usize {
        let id = parts.iter().find_map(|part| match part {
            Part::ToolResult(result) => result.call_id.as_deref(),
            _ => None,
        });
        let caller = self.answered(id.into_iter());
        caller.unwrap_or_else(|| self.named(Role::Assistant, None))
    }
}

/// The participants who wrote a message of the conversation; the messages are changed to refer to them by their new indices.
pub(crate) fn those_of(messages: &mut [Message], all: &[Participant]) -> Vec<Participant> {
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut own = Vec::new();
    for message in messages {
        let Some(sender) = message.sender else { continue };
        let next = own.len();
        let place = *places.entry(sender).or_insert(next);
        if place == next {
            own.extend(all.get(sender).cloned());
        }
        message.sender = Some(place);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::{ArgumentForm, Arguments, ToolCall};

    fn call(id: Option<&str>) -> Part {
        let arguments = (Arguments::Malformed(String::new()), ArgumentForm::Text);
        Part::ToolCall(ToolCall::new(id.map(str::to_owned), None, arguments))
    }

    #[test]
    fn a_person_and_an_agent_of_one_id_are_two() {
        let mut roster = Roster::default();
        let person = roster.of(Role::User, "7", None);
        let agent = roster.of(Role::Assistant, "7", Some("Bo"));
        assert_eq!(roster.of(Role::User, "7", Some("Ann")), person);
        assert_eq!(roster.of(Role::Assistant, "assistant:7", None), 2);
        let ids: Vec<_> = roster
            .participants
            .iter()
            .map(|each| (each.id.as_str(), each.name.as_deref()))
            .collect();
        assert_eq!(
            ids,
            [
                ("7", Some("Ann")),
                ("assistant:7", Some("Bo")),
                ("assistant:assistant:7", None)
            ]
        );
        assert_eq!(agent, 1);
    }

    #[test]
    fn a_speaker_without_a_name_is_called_by_the_role() {
        let mut roster = Roster::default();
        assert_eq!(roster.named(Role::User, Some("assistant")), 0);
        assert_eq!(roster.named(Role::Assistant, None), 1);
        assert_eq!(roster.named(Role::Assistant, None), 1);
        let ids: Vec<_> = roster
            .participants
            .iter()
            .map(|each| (each.id.as_str(), each.is_id_made))
            .collect();
        assert_eq!(ids, [("assistant", true), ("assistant:", true)]);
    }

    #[test]
    fn a_result_belongs_to_who_called_or_called_last() {
        let mut roster = Roster::default();
        assert_eq!(roster.answered(["x"].into_iter()), None);
        roster.calls(0, &[call(Some("a")), call(Some("b"))]);
        roster.calls(1, &[call(None)]);
        assert_eq!(roster.answered(["?", "b"].into_iter()), Some(0));
        assert_eq!(roster.answered(std::iter::empty()), Some(1));
    }
}
