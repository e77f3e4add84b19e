//! The participants of a chat, from presence and from the senders of rows.
//!
//! An account is shared by a person and by the agents that run under it. A person's id is that of the
//! account, an agent's is the account's with its name, `u1/Coder`. Rows of the desktop client name no
//! account: their speakers are found by name. There is no list of members apart from presence, so all
//! speakers count as listed.

use std::collections::HashMap;

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Participant, ParticipantKind};

use super::event::Speaker;
use super::mentions::Names;
use crate::base::{Keep as _, fields, participant_kind};

/// The name that clients give an agent without one.
const AGENT: &str = "Agent";

/// The identity of a participant, independent of the name in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Person(String),
    Agent { account: String, name: String },
    Named(String),
}

/// The participants so far.
#[derive(Debug, Default)]
pub(super) struct Roster {
    /// The participants in order of presence, then of first appearance.
    pub participants: Vec<Participant>,
    /// The names of all participants.
    pub names: Names,
    places: HashMap<Key, usize>,
    ids: HashMap<String, usize>,
    /// The last number that was appended to an id already in use.
    numbers: HashMap<String, u32>,
}

impl Roster {
    /// Adds the participants of a row of presence.
    pub(super) fn join(&mut self, body: Value<'_>) {
        let text = |value: Value<'_>, key: &str| value.get(key).and_then(fields::id);
        let Some(account) = text(body, "userId") else {
            return;
        };
        let username = text(body, "username");
        let is_agent = body.get("isAgent").and_then(Value::as_bool) == Some(true);
        let agents = body.get("agents").into_iter().flat_map(Value::items);
        let mut agents: Vec<(Value<'_>, String)> = agents
            .filter_map(|agent| Some((agent, text(agent, "agentName")?)))
            .collect();
        if agents.is_empty() {
            agents.extend(text(body, "agentName").map(|name| (body, name)));
        }
        // An account that runs an agent may have no person.
        if !agents.iter().any(|(_, name)| Some(name) == username.as_ref()) {
            let place = self.place(Key::Person(account.clone()), username.as_deref());
            if !is_agent {
                self.set_kind(place, Some(false));
            }
        }
        for (agent, name) in agents {
            let place = self.agent(&account, Some(&name));
            self.set_kind(place, Some(true));
            for (key, value) in [
                ("agentInstructions", agent.get("agentInstructions")),
                ("machineName", body.get("machineName")),
            ] {
                let clock = value.filter(|value| value.kind() == Kind::String);
                if let (Some(value), Some(participant)) = (clock, self.participants.get_mut(place)) {
                    let clock = &mut participant.extra.0;
                    clock.retain(|(known, _)| known != key);
                    clock.keep(key, value);
                }
            }
        }
    }

    /// The position of the participant who sent a row; `None` if the row names no sender.
    pub(super) fn speaker(&mut self, speaker: &Speaker) -> Option<usize> {
        let name = speaker.name.as_deref();
        let place = match (&speaker.account, name) {
            (Some(account), name) if speaker.is_agent == Some(true) => self.agent(account, name),
            (Some(account), name) => {
                // If the kind of a speaker is unknown, its name decides between person and agent.
                let unsure = name.filter(|_| speaker.is_agent.is_none());
                let agent = unsure.and_then(|name| self.places.get(&agent_key(account, name)).copied());
                agent.unwrap_or_else(|| self.place(Key::Person(account.clone()), name))
            }
            (None, None) => return None,
            (None, Some(name)) => match (self.among(name, speaker.is_agent), speaker.is_agent) {
                (Some(known), _) => known,
                // Without an account, the name replaces it.
                (None, Some(true)) => self.agent(name, Some(name)),
                (None, Some(false)) => self.place(Key::Person(name.to_owned()), Some(name)),
                (None, None) => self.place(Key::Named(name.to_owned()), Some(name)),
            },
        };
        self.set_kind(place, speaker.is_agent);
        Some(place)
    }

    /// A participant with this name and no contradicting kind; one whose name has the same case is preferred.
    fn among(&self, name: &str, is_agent: Option<bool>) -> Option<usize> {
        let other = is_agent.map(|is_agent| participant_kind(!is_agent));
        let known = |place: usize| self.participants.get(place);
        let called = self.names.called(name).iter().copied();
        let fitting =
            called.filter(|place| known(*place).map(|known| known.kind) != other || other.is_none());
        let exact = |place: &usize| known(*place).is_some_and(|known| known.name.as_deref() == Some(name));
        fitting.clone().find(exact).or_else(|| fitting.clone().next())
    }

    /// The participants with this id or name, from the field `mentions`.
    pub(super) fn meant(&self, word: &str) -> Vec<usize> {
        match self.ids.get(word) {
            Some(place) => vec![*place],
            None => self.names.called(word).to_vec(),
        }
    }

    /// The id of a participant.
    pub(super) fn id(&self, place: usize) -> Option<&str> {
        Some(&self.participants.get(place)?.id)
    }

    /// Whether a participant is an agent.
    pub(super) fn is_agent(&self, place: usize) -> bool {
        let participant = self.participants.get(place);
        participant.is_some_and(|participant| participant.kind == ParticipantKind::Agent)
    }

    /// Sets a participant's kind, unless it is known already.
    pub(super) fn set_kind(&mut self, place: usize, is_agent: Option<bool>) {
        let Some(participant) = self.participants.get_mut(place) else {
            return;
        };
        if participant.kind == ParticipantKind::Unknown {
            participant.kind = is_agent.map(participant_kind).unwrap_or_default();
        }
    }

    fn agent(&mut self, account: &str, name: Option<&str>) -> usize {
        let name = name.unwrap_or(AGENT);
        self.place(agent_key(account, name), Some(name))
    }

    fn place(&mut self, key: Key, name: Option<&str>) -> usize {
        if let Some(place) = self.places.get(&key).copied() {
            if let (Some(participant), Some(name)) = (self.participants.get_mut(place), name)
                && participant.name.is_none()
            {
                participant.name = Some(name.to_owned());
                self.names.add(name, place);
            }
            return place;
        }
        let place = self.participants.len();
        let mut participant = Participant {
            name: name.map(str::to_owned),
            listed: true,
            ..Participant::default()
        };
        let wanted = match &key {
            Key::Person(account) => account.clone(),
            Key::Named(name) => name.clone(),
            Key::Agent { account, .. } if name == Some(account) => account.clone(),
            Key::Agent { account, .. } => format!("{account}/{}", name.unwrap_or(AGENT)),
        };
        participant.id = self.claim(&wanted, place);
        if let Key::Agent { account, .. } = &key
            && participant.id != *account
        {
            participant.extra.keep_text("userId", account);
        }
        if let Some(name) = name {
            self.names.add(name, place);
        }
        self.places.insert(key, place);
        self.participants.push(participant);
        place
    }

    /// Reserves an id that no participant has.
    fn claim(&mut self, wanted: &str, place: usize) -> String {
        let mut id = wanted.to_owned();
        let count = self.numbers.entry(id.clone()).or_insert(1);
        while self.ids.contains_key(&id) {
            *count += 1;
            id = format!("{wanted}~{count}");
        }
        self.ids.insert(id.clone(), place);
        id
    }
}

fn agent_key(account: &str, name: &str) -> Key {
    Key::Agent {
        account: account.to_owned(),
        name: name.to_lowercase(),
    }
}
