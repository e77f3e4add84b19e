//! Who speaks in a list without a roster: one participant for each pair of role and `name`.
//!
//! A named speaker has the name as id, one without a name the role (`user`, `assistant`, `system`); where that id is
//! taken by another speaker, the role stands in front (`assistant:Alex`). People are `user`, agents `assistant`. Tools are
//! nobody: a result belongs to the agent who asked for it. As there is no roster to be missing from, everybody who speaks
//! counts as listed.

use std::collections::{HashMap, HashSet};

use chatmill_model::{Participant, ParticipantKind, Role};

/// The speakers so far.
#[derive(Debug, Default)]
pub struct Speakers {
    /// In order of first appearance.
    pub participants: Vec<Participant>,
    places: HashMap<(&'static str, Option<String>), usize>,
    taken: HashSet<String>,
    callers: HashMap<String, usize>,
    last_caller: Option<usize>,
}

impl Speakers {
    /// The participant who speaks in this role under this name.
    pub fn of(&mut self, role: Role, name: Option<&str>) -> usize {
        let key = (role.as_str(), name.map(str::to_owned));
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let id = self.free_id(role, name);
        let place = self.participants.len();
        self.participants.push(Participant {
            id,
            is_id_made: true,
            name: key.1.clone(),
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

    fn free_id(&mut self, role: Role, name: Option<&str>) -> String {
        let plain = name.unwrap_or(role.as_str()).to_owned();
        if self.taken.insert(plain.clone()) {
            return plain;
        }
        let qualified = format!("{}:{}", role.as_str(), name.unwrap_or_default());
        let mut id = qualified.clone();
        let mut number = 2_u32;
        while !self.taken.insert(id.clone()) {
            id = format!("{qualified}~{number}");
            number += 1;
        }
        id
    }

    /// Remembers who asked for a tool, and under which id.
    pub fn calls(&mut self, caller: usize, id: Option<&str>) {
        self.last_caller = Some(caller);
        if let Some(id) = id {
            self.callers.insert(id.to_owned(), caller);
        }
    }

    /// The agent whom a result belongs to: who made the call of that id, else the last who made any, else the agent
    /// without a name.
    pub fn answered(&mut self, call_id: Option<&str>) -> usize {
        let caller = call_id.and_then(|id| self.callers.get(id).copied());
        match caller.or(self.last_caller) {
            Some(caller) => caller,
            None => self.of(Role::Assistant, None),
        }
    }
}
