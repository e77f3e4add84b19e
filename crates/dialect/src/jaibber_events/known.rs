//! How a reader of payloads knows those who speak: an account is a person, an agent is the account's with its name, and a
//! name is what the first message shows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{Message, Participant, Role};

use crate::names::own_name;
use crate::view::View;

/// Everybody who speaks, as payloads make him known.
pub(super) struct Known<'a> {
    /// By the ids that mentions hold.
    by_id: BTreeMap<&'a str, Person<'a>>,
    /// How many have a name, in any case.
    counts: BTreeMap<String, usize>,
    ids: BTreeSet<String>,
    /// People whose roster has another name for them.
    pub(super) renamed: u64,
}

struct Person<'a> {
    id: Cow<'a, str>,
    name: Option<&'a str>,
}

impl<'a> Known<'a> {
    /// Those who speak in these messages; `is_native` where they were read from this system.
    pub(super) fn of(view: &View<'a>, shown: &[&'a Message], is_native: bool) -> Self {
        let mut known = Self {
            by_id: BTreeMap::new(),
            counts: BTreeMap::new(),
            ids: BTreeSet::new(),
            renamed: 0,
        };
        let mut seen = BTreeSet::new();
        for message in shown {
            let (Some(place), Some(sender)) = (message.sender, view.sender(message)) else {
                continue;
            };
            if seen.insert(place) {
                known.add(message, sender, is_native);
            }
        }
        known
    }

    fn add(&mut self, message: &'a Message, sender: &'a Participant, is_native: bool) {
        let is_agent = message.role == Role::Assistant;
        let name = if is_agent {
            own_name(sender).or(shown_name(message, sender))
        } else {
            shown_name(message, sender)
        };
        self.renamed += u64::from(own_name(sender) != name && own_name(sender).is_some());
        let id = if is_agent && !is_native && name != Some(&sender.id) {
            Cow::Owned(format!("{}/{}", sender.id, name.unwrap_or("agent")))
        } else {
            Cow::Borrowed(sender.id.as_str())
        };
        if let Some(name) = name {
            *self.counts.entry(name.to_lowercase()).or_default() += 1;
        }
        self.ids.insert(id.clone().into_owned());
        self.by_id.entry(&sender.id).or_insert(Person { id, name });
    }

    /// The name of the one who is mentioned, where a reader finds him by it and nobody else; else the id by which a reader
    /// knows him.
    pub(super) fn mention(&self, mentioned: &'a str) -> Cow<'a, str> {
        let Some(person) = self.by_id.get(mentioned) else {
            return Cow::Borrowed(mentioned);
        };
        let is_his = |name: &&str| {
            let is_id = *name != person.id && self.ids.contains(*name);
            !is_id && self.counts.get(&name.to_lowercase()) == Some(&1)
        };
        match person.name.filter(is_his) {
            Some(name) => Cow::Borrowed(name),
            None => person.id.clone(),
        }
    }
}

/// The name that a message shows: its own for the sender, else the roster's.
pub(super) fn shown_name<'a>(message: &'a Message, sender: &'a Participant) -> Option<&'a str> {
    let own = message.sender_name.as_deref().filter(|name| !name.is_empty());
    own.or(own_name(sender))
}
