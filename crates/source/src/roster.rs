//! Who speaks in rows that name their speakers by id, without a roster of their own.
//!
//! One participant for each pair of role and id: an account under which a person and an agent speak is two. The second
//! of them has the role in front of its id (`assistant:7`). As there is no roster to be missing from, everybody who
//! speaks counts as listed.

use std::collections::{HashMap, HashSet};

use chatmill_model::{Participant, ParticipantKind, Role};

/// The speakers so far.
#[derive(Debug, Default)]
pub struct Roster {
    /// In order of first appearance.
    pub participants: Vec<Participant>,
    places: HashMap<(&'static str, String), usize>,
    taken: HashSet<String>,
    callers: HashMap<String, usize>,
    last_caller: Option<usize>,
}

impl Roster {
    /// The participant who speaks in this role under this id; the first name that is given stays.
    pub fn of(&mut self, role: Role, id: &str, name: Option<&str>) -> usize {
        let name = name.filter(|name| !name.is_empty());
        let key = (role.as_str(), id.to_owned());
        if let Some(place) = self.places.get(&key).copied() {
            if let Some(known) = self.participants.get_mut(place)
                && known.name.is_none()
            {
                known.name = name.map(str::to_owned);
            }
            return place;
        }
        let place = self.participants.len();
        let is_id_made = id == role.as_str();
        let id = self.free_id(role, id);
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
        self.places.insert(key, place);
        place
    }

    fn free_id(&mut self, role: Role, plain: &str) -> String {
        if self.taken.insert(plain.to_owned()) {
            return plain.to_owned();
        }
        let qualified = format!("{}:{plain}", role.as_str());
        let mut id = qualified.clone();
        let mut number = 2_u32;
        while !self.taken.insert(id.clone()) {
            id = format!("{qualified}~{number}");
            number += 1;
        }
        id
    }

    /// Remembers who asked for a tool, under these ids.
    pub fn calls<'i>(&mut self, caller: usize, ids: impl Iterator<Item = &'i str>) {
        self.last_caller = Some(caller);
        for id in ids {
            self.callers.insert(id.to_owned(), caller);
        }
    }

    /// The agent whom a result belongs to: who made a call of one of these ids, else the last who made any.
    pub fn answered<'i>(&self, mut ids: impl Iterator<Item = &'i str>) -> Option<usize> {
        let caller = ids.find_map(|id| self.callers.get(id).copied());
        caller.or(self.last_caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_result_belongs_to_who_called_or_called_last() {
        let mut roster = Roster::default();
        assert_eq!(roster.answered(["x"].into_iter()), None);
        roster.calls(0, ["a", "b"].into_iter());
        roster.calls(1, std::iter::empty());
        assert_eq!(roster.answered(["?", "b"].into_iter()), Some(0));
        assert_eq!(roster.answered(std::iter::empty()), Some(1));
    }
}
