//! Participants of a chat as a reader of payloads knows them: a person is an account, an agent is an account and a name, and the name of a
//! participant is the first that a message shows.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{Message, Participant, Role};

use crate::naming::participants::AGENT;
use crate::transcript::Transcript;

/// Participants of the chat, as far as payloads show them.
pub(super) struct KnownParticipants<'a> {
    /// Participants by the ids in mentions.
    by_id: BTreeMap<&'a str, Person<'a>>,
    /// Number of participants with a name, ignoring case.
    counts: BTreeMap<String, usize>,
    ids: BTreeSet<&'a str>,
    is_native: bool,
    /// Number of participants with another name in the roster.
    pub(super) renamed: u64,
}

struct Person<'a> {
    id: &'a str,
    /// The name in the roster for agents and silent participants, otherwise the first name that the messages show.
    name: Option<&'a str>,
}

impl<'a> KnownParticipants<'a> {
    /// Collects the senders of the shown messages, and in a chat of this system (`is_native`) silent participants, too.
    pub(super) fn of(transcript: &Transcript<'a>, shown: &[&'a Message], is_native: bool) -> Self {
        let view = transcript.view();
        let mut known = Self {
            by_id: BTreeMap::new(),
            counts: BTreeMap::new(),
            ids: BTreeSet::new(),
            is_native,
            renamed: 0,
        };
        let mut first: BTreeMap<usize, (&'a Message, Option<&'a str>)> = BTreeMap::new();
        for message in shown {
            if let (Some(place), Some(sender)) = (message.sender, view.sender(message)) {
                let name = shown_name(message, sender);
                let known = first.entry(place).or_insert((message, name));
                known.1 = known.1.or(name);
            }
        }
        for (place, person) in view.conversation().participants.iter().enumerate() {
            match first.get(&place) {
                Some((message, name)) => known.add_speaker(transcript, person, message, *name),
                None if is_native => known.add(person, &person.id, person.own_name()),
                None => {}
            }
        }
        known
    }

    fn add_speaker(
        &mut self,
        transcript: &Transcript<'a>,
        sender: &'a Participant,
        first: &'a Message,
        shown: Option<&'a str>,
    ) {
        let is_agent = first.role == Role::Assistant;
        let name = if is_agent {
            sender.own_name().or(shown)
        } else {
            shown
        };
        self.renamed += u64::from(sender.own_name() != name && sender.own_name().is_some());
        let id = if is_agent && !self.is_native && name != Some(&sender.id) {
            transcript
                .arena()
                .keep(format!("{}/{}", sender.id, name.unwrap_or(AGENT)))
        } else {
            sender.id.as_str()
        };
        self.add(sender, id, name);
    }

    fn add(&mut self, person: &'a Participant, id: &'a str, name: Option<&'a str>) {
        if let Some(name) = name {
            *self.counts.entry(name.to_lowercase()).or_default() += 1;
        }
        self.ids.insert(id);
        self.by_id.entry(&person.id).or_insert(Person { id, name });
    }

    /// Returns the name of a speaker, if a message or the roster has one.
    pub(super) fn name(&self, speaker: &Participant) -> Option<&'a str> {
        self.by_id.get(speaker.id.as_str())?.name
    }

    /// Returns the name of a mentioned participant if it is unique in the chat, otherwise the id. Returns `None` if several participants of
    /// this system have the name: a mention could not show which of them is meant.
    pub(super) fn mention(&self, mentioned: &'a str) -> Option<&'a str> {
        let Some(person) = self.by_id.get(mentioned) else {
            return Some(mentioned);
        };
        let Some(name) = person.name else {
            return Some(person.id);
        };
        let is_only = self.counts.get(&name.to_lowercase()) == Some(&1);
        let is_anothers_id = name != person.id && self.ids.contains(name);
        match (is_only, is_anothers_id) {
            (true, false) => Some(name),
            (false, _) if self.is_native => None,
            _ => Some(person.id),
        }
    }
}

/// Returns the name that a message shows: the message's name for the sender, otherwise the name in the roster.
pub(super) fn shown_name<'a>(message: &'a Message, sender: &'a Participant) -> Option<&'a str> {
    let own = message.sender_name.as_deref().filter(|name| !name.is_empty());
    own.or(sender.own_name())
}
