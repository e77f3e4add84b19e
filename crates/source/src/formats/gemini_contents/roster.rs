//! The participants of a Gemini history: identified by user id where the metadata has one, else by user name,
//! name, or role.
//!
//! A history has no roster, so all speakers count as listed. gryag's database is read with the same roster. All turns of the
//! model belong to one bot, whatever name their metadata lines give: the bot has no user id there, and calls never have a
//! line. Function responses belong to it, too.

use std::collections::HashMap;

use chatmill_model::{Fact, Participant, ParticipantKind, RawJson, Role, Unstated};

use super::meta::Meta;
use crate::base::{ExtraFields, Keep as _};

/// The speakers so far.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// The participants in order of first appearance.
    pub participants: Vec<Participant>,
    places: HashMap<(bool, String), usize>,
    taken: HashMap<String, usize>,
    last_caller: Option<usize>,
    /// An agent that speaks and has no name or id so far.
    unnamed_agent: Option<usize>,
    /// The position of the one bot.
    bot: Option<usize>,
    /// Positions of agents.
    agents: Vec<usize>,
    /// The id of an agent without name or id.
    agent: &'static str,
}

/// Agents by user name and by name, each with its position and its id; the first agent with a name has it.
#[derive(Default)]
pub(crate) struct Agents<'r> {
    by_alias: HashMap<&'r str, (usize, &'r str)>,
    /// The flag is whether the agent has a user name as well.
    by_name: HashMap<(&'r str, bool), (usize, &'r str)>,
}

impl<'r> Agents<'r> {
    /// The id of the agent with one of these names. Replies name the bot's account; the bot's own lines never do.
    pub(crate) fn called(&self, username: Option<&str>, name: Option<&str>) -> Option<&'r str> {
        let named = |has_alias| self.by_name.get(&(name?, has_alias)).copied();
        let other = match username {
            Some(username) => self.by_alias.get(username.trim_start_matches('@')).copied(),
            None => named(true),
        };
        let first = other.into_iter().chain(named(false)).min();
        first.map(|(_, id)| id)
    }
}

/// The user name that metadata has, without its `@`.
fn alias(meta: &Meta) -> Option<&str> {
    meta.get("username").map(|name| name.trim_start_matches('@'))
}

impl Roster {
    /// A roster without participants; `agent` is the id of an agent without name or id.
    pub(crate) fn new(agent: &'static str) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }

    /// The participant with this role and metadata.
    pub(crate) fn speaker(&mut self, role: Role, meta: &Meta) -> usize {
        let fallback = match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant | Role::Tool => self.agent,
        };
        let is_agent = matches!(role, Role::Assistant | Role::Tool);
        let own = meta.get("user_id").or(alias(meta)).or(meta.get("name"));
        let key = (is_agent, own.unwrap_or(fallback).to_owned());
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None => self.add(key, role),
        };
        if meta.get("user_id").is_some()
            && let Some(participant) = self.participants.get_mut(place)
        {
            participant.is_id_made = false;
        }
        self.name(place, meta);
        place
    }

    /// The position of the one bot, under any name.
    pub(crate) fn bot(&mut self, meta: &Meta) -> usize {
        let own = meta.get("user_id").or(meta.get("username"));
        let is_named = own.or(meta.get("name")).is_some();
        match self.bot {
            Some(place) if !is_named || self.unnamed_agent != Some(place) => {
                self.name(place, meta);
                place
            }
            _ => {
                let place = self.speaker(Role::Assistant, meta);
                self.unnamed_agent = (!is_named).then_some(place);
                self.bot = Some(place);
                place
            }
        }
    }

    /// Notes that a participant is marked as a bot. A bot with the role of a user is a guest, not the
    /// archive's own bot: neither a person nor an agent, since an agent's side of the conversation can be
    /// trained on.
    pub(crate) fn mark_machine(&mut self, place: usize) {
        if let Some(participant) = self.participants.get_mut(place)
            && participant.kind == ParticipantKind::Human
        {
            participant.kind = ParticipantKind::Unknown;
            let mark = ("is_bot".to_owned(), RawJson("true".to_owned()));
            participant.extra.0.push(mark);
        }
    }

    /// The facts about its sender that a line leaves out and other lines state; `place` is the sender's.
    pub(crate) fn unstated(&self, place: usize, meta: &Meta) -> Unstated {
        let mut unstated = Unstated::default();
        let Some(known) = self.participants.get(place) else {
            return unstated;
        };
        for (fact, key, is_known) in [
            (Fact::SenderId, "user_id", !known.is_id_made),
            (Fact::SenderName, "name", known.name.is_some()),
            (Fact::SenderAlias, "username", known.alias.is_some()),
        ] {
            if is_known && meta.get(key).is_none() {
                unstated.insert(fact);
            }
        }
        unstated
    }

    /// The name that a line gives its sender, if it differs from the roster's; another user name is kept in `extra`.
    pub(crate) fn other_name(&self, place: usize, meta: &Meta, extra: &mut ExtraFields) -> Option<String> {
        let known = self.participants.get(place)?;
        if let Some(username) = alias(meta).filter(|name| known.alias.as_deref() != Some(*name)) {
            extra.keep_text("username", username);
        }
        let name = meta.get("name")?;
        (known.name.as_deref() != Some(name)).then(|| name.to_owned())
    }

    /// Fills in the names of a participant that are missing so far and that the metadata has.
    fn name(&mut self, place: usize, meta: &Meta) {
        if let Some(Participant {
            name, alias: known, ..
        }) = self.participants.get_mut(place)
        {
            *name = name.take().or_else(|| meta.get("name").map(str::to_owned));
            *known = known.take().or_else(|| alias(meta).map(str::to_owned));
        }
    }

    fn add(&mut self, key: (bool, String), role: Role) -> usize {
        if key.0
            && let Some(place) = self.unnamed_agent.take()
        {
            let id = self.claim(&key.1, role, place);
            if let Some(agent) = self.participants.get_mut(place) {
                self.taken.remove(&agent.id);
                agent.id = id;
            }
            self.places.insert(key, place);
            return place;
        }
        let place = self.participants.len();
        let id = self.claim(&key.1, role, place);
        self.agents.extend(key.0.then_some(place));
        self.places.insert(key, place);
        self.participants.push(Participant {
            id,
            is_id_made: true,
            role: Some(role.as_str().to_owned()),
            kind: match role {
                Role::User => ParticipantKind::Human,
                Role::System => ParticipantKind::Unknown,
                Role::Assistant | Role::Tool => ParticipantKind::Agent,
            },
            listed: true,
            ..Participant::default()
        });
        place
    }

    /// Reserves an id that no participant has.
    fn claim(&mut self, wanted: &str, role: Role, place: usize) -> String {
        let mut id = wanted.to_owned();
        while self.taken.contains_key(&id) {
            id = format!("{}:{id}", role.as_str());
        }
        self.taken.insert(id.clone(), place);
        id
    }

    /// Whether there is a participant with this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.taken.contains_key(id)
    }

    /// Whether the participant with this id is an agent.
    pub(crate) fn is_agent(&self, id: &str) -> bool {
        let participant = self.taken.get(id).and_then(|place| self.participants.get(*place));
        participant.is_some_and(|participant| participant.kind == ParticipantKind::Agent)
    }

    /// The agents by their names.
    pub(crate) fn agents(&self) -> Agents<'_> {
        let mut agents = Agents::default();
        for place in &self.agents {
            let Some(agent) = self.participants.get(*place) else {
                continue;
            };
            let own = (*place, agent.id.as_str());
            let alias = agent.alias.as_deref();
            if let Some(alias) = alias {
                agents.by_alias.entry(alias).or_insert(own);
            }
            if let Some(name) = agent.name.as_deref() {
                agents.by_name.entry((name, alias.is_some())).or_insert(own);
            }
        }
        agents
    }

    /// Remembers who asked for a tool.
    pub(crate) fn calls(&mut self, caller: usize) {
        self.last_caller = Some(caller);
    }

    /// The agent that a response belongs to.
    pub(crate) fn answered(&mut self) -> usize {
        let caller = self.last_caller;
        caller.unwrap_or_else(|| self.bot(&Meta::default()))
    }
}
