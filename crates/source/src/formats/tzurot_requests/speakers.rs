//! The participants: users, known only by name, and personalities.

use std::collections::{HashMap, HashSet};

use chatmill_model::{Participant, ParticipantKind, Role};

/// The id of a user without a name in any record.
const UNNAMED: &str = "user";

/// The people and personalities of one conversation.
///
/// A person's id is the name, because quoted messages have nothing else; if a personality has the same name, `user:`
/// precedes it, and if another person has it, a number follows.
#[derive(Default)]
pub(super) struct Speakers {
    /// The participants in order of first appearance.
    pub participants: Vec<Participant>,
    personalities: HashSet<String>,
    authors: HashSet<String>,
    taken: HashSet<String>,
    /// The last number that was appended to an id already in use.
    numbers: HashMap<String, u32>,
    places: HashMap<Key, usize>,
}

/// The key that distinguishes participants.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// By name and account.
    User(Option<String>, Option<String>),
    Agent(String),
}

impl Speakers {
    /// Registers the personalities and the quoted authors of a conversation, before ids are assigned.
    pub(super) fn new(personalities: HashSet<String>, authors: HashSet<String>) -> Self {
        Self {
            personalities,
            authors,
            ..Self::default()
        }
    }

    /// The id of a person with this name.
    pub(super) fn id(&self, name: &str) -> String {
        if self.personalities.contains(name) {
            format!("user:{name}")
        } else {
            name.to_owned()
        }
    }

    /// The person with this name and account. A person without a name never shares an id with the author of a quoted
    /// message.
    pub(super) fn user(&mut self, name: Option<String>, account: Option<String>) -> usize {
        let name = name.filter(|name| !name.is_empty());
        let plain = self.id(name.as_deref().unwrap_or(UNNAMED));
        let is_author = name.is_none() && self.authors.contains(UNNAMED);
        let key = Key::User(name.clone(), account);
        self.place(key, &plain, is_author, name, ParticipantKind::Human)
    }

    /// The person with this account; only the id is known. Without an id, an unnamed person.
    pub(super) fn account(&mut self, id: Option<String>) -> usize {
        let plain = self.id(id.as_deref().unwrap_or(UNNAMED));
        self.place(Key::User(None, id), &plain, false, None, ParticipantKind::Human)
    }

    /// The personality with this id.
    pub(super) fn agent(&mut self, id: &str) -> usize {
        let key = Key::Agent(id.to_owned());
        self.place(key, id, false, None, ParticipantKind::Agent)
    }

    /// Adds a personality that is only quoted: it is not listed, and takes no part unless it speaks.
    pub(super) fn quoted_agent(&mut self, id: &str, name: Option<String>) {
        let known = self.participants.len();
        let place = self.agent(id);
        self.call(place, name);
        if place == known
            && let Some(participant) = self.participants.get_mut(place)
        {
            participant.listed = false;
        }
    }

    /// Names a participant that has no name so far.
    pub(super) fn call(&mut self, place: usize, name: Option<String>) {
        if let Some(participant) = self.participants.get_mut(place)
            && participant.name.is_none()
        {
            participant.name = name;
        }
    }

    /// The id of a participant.
    pub(super) fn id_of(&self, place: usize) -> &str {
        self.participants
            .get(place)
            .map_or("", |participant| &participant.id)
    }

    fn place(
        &mut self,
        key: Key,
        plain: &str,
        is_taken: bool,
        name: Option<String>,
        kind: ParticipantKind,
    ) -> usize {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let mut id = plain.to_owned();
        let mut is_free = !is_taken;
        while !is_free || self.taken.contains(&id) {
            // The counter only grows: a room of people with one name costs one step each.
            let number = self.numbers.entry(plain.to_owned()).or_insert(1);
            *number += 1;
            id = format!("{plain}~{number}");
            is_free = true;
        }
        self.taken.insert(id.clone());
        let role = if kind == ParticipantKind::Agent {
            Role::Assistant
        } else {
            Role::User
        };
        let is_account =
            matches!(&key, Key::Agent(_)) || matches!(&key, Key::User(None, Some(account)) if *account == id);
        self.participants.push(Participant {
            is_id_made: !is_account,
            id,
            name,
            role: Some(role.as_str().to_owned()),
            kind,
            listed: true,
            ..Participant::default()
        });
        self.places.insert(key, self.participants.len() - 1);
        self.participants.len() - 1
    }
}
