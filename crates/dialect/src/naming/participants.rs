//! Names of participants, in spellings that a dialect allows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_diag::cut;
use chatmill_model::{Message, Participant};

use crate::naming::unique::{TakenNames, as_word, is_word};
use crate::text::arena::TextArena;
use crate::view::View;

/// The replacement for a missing name.
pub(crate) const UNNAMED: &str = "unnamed";

/// Maximum number of characters in a name.
const MOST: usize = 64;

/// The name of an agent without a name.
pub(crate) const AGENT: &str = "Agent";

/// Whether a participant has no name and an id that is only a role.
pub(crate) fn is_nobody(participant: &Participant) -> bool {
    const ROLES: [&str; 7] = [
        "user",
        "assistant",
        "model",
        "system",
        "tool",
        "human",
        "developer",
    ];
    let id = participant.id.as_str();
    participant.own_name().is_none() && (ROLES.contains(&id) || participant.role.as_deref() == Some(id))
}

/// Returns the name to show for the sender of a message: from the roster, otherwise from the message, otherwise the id.
pub(crate) fn speaker<'a>(view: &View<'a>, message: &'a Message) -> Option<&'a str> {
    let sender = view.sender(message);
    sender
        .and_then(Participant::own_name)
        .or(message.sender_name.as_deref().filter(|name| !name.is_empty()))
        .or(sender.map(|sender| sender.id.as_str()))
}

/// Participants by id; the first participant with an id counts.
pub(crate) struct Roster<'a>(BTreeMap<&'a str, usize>);

impl<'a> Roster<'a> {
    /// Collects the participants of a view.
    pub(crate) fn of(view: &View<'a>) -> Self {
        let mut by_id = BTreeMap::new();
        for (index, participant) in view.conversation().participants.iter().enumerate() {
            by_id.entry(participant.id.as_str()).or_insert(index);
        }
        Self(by_id)
    }

    /// Returns the index of the participant with this id.
    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        self.0.get(id).copied()
    }
}

/// Names of participants who share a name with another participant of the same rendering: `name (id)`.
pub(crate) struct Namesakes<'a>(BTreeMap<usize, &'a str>);

impl<'a> Namesakes<'a> {
    /// Finds namesakes among the senders and the quoted authors of the shown messages.
    pub(crate) fn of(
        view: &View<'a>,
        roster: &Roster<'a>,
        shown: &[&'a Message],
        arena: &'a TextArena,
    ) -> Self {
        let participants = &view.conversation().participants;
        let sender = |message: &Message| message.sender.filter(|index| *index < participants.len());
        let mut appear: BTreeSet<usize> = shown.iter().filter_map(|message| sender(message)).collect();
        for (reference, link) in shown.iter().flat_map(|message| view.references(message)) {
            let target = link.target.and_then(|target| view.message(target));
            let previewed = reference
                .preview
                .as_ref()
                .and_then(|preview| preview.sender.as_deref());
            let previewed = || previewed.and_then(|id| roster.find(id));
            appear.extend(target.map_or_else(previewed, sender));
        }
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for index in appear {
            if let Some(name) = participants.get(index).and_then(Participant::own_name) {
                by_name.entry(name).or_default().push(index);
            }
        }
        let shared = by_name.into_iter().filter(|(_, alike)| alike.len() > 1);
        let called = shared.flat_map(|(name, alike)| {
            let id = |index: usize| participants.get(index).map_or("", |person| person.id.as_str());
            let called = alike
                .into_iter()
                .map(move |index| (index, format!("{name} ({})", id(index))));
            called.collect::<Vec<_>>()
        });
        Self(called.map(|(index, name)| (index, arena.keep(name))).collect())
    }

    /// Returns the name with id of a participant who shares a name; `None` if the name is unique.
    pub(crate) fn of_participant(&self, index: usize) -> Option<&'a str> {
        self.0.get(&index).copied()
    }
}

/// Names that match `[a-zA-Z0-9_-]{1,64}`, a different one for each participant of a conversation.
///
/// A name that matches is kept, otherwise spaces become `_`. If the name still does not match, the id replaces it, so that the roster maps
/// every alias back to its participant.
pub(crate) struct Aliases<'a>(Vec<&'a str>);

impl<'a> Aliases<'a> {
    /// Chooses the aliases for a roster.
    pub(crate) fn new(participants: &'a [Participant], arena: &'a TextArena) -> Self {
        let mut taken = TakenNames::default();
        let aliases = participants
            .iter()
            .map(|person| taken.unique(arena.keep(alias(person)), arena));
        Self(aliases.collect())
    }

    /// Returns the alias of a participant.
    pub(crate) fn of(&self, participant: usize) -> &'a str {
        cut::at::<&str>(&self.0, participant)
    }

    /// Returns the alias of a participant if it is made from the id because the name cannot be spelled.
    pub(crate) fn instead_of_name(&self, index: usize, participant: &Participant) -> Option<&'a str> {
        let name = participant.own_name()?;
        let is_spelled = is_word(name, MOST) || is_word(&name.trim().replace(' ', "_"), MOST);
        (!is_spelled).then(|| self.of(index))
    }
}

fn alias(participant: &Participant) -> Cow<'_, str> {
    let name = participant.display_name();
    if is_word(name, MOST) {
        return Cow::Borrowed(name);
    }
    let joined = name.trim().replace(' ', "_");
    if is_word(&joined, MOST) {
        return Cow::Owned(joined);
    }
    if is_word(&participant.id, MOST) {
        return Cow::Borrowed(&participant.id);
    }
    Cow::Owned(fitted(&participant.id))
}

/// Returns a text as a word that is allowed as a name; `unnamed` if nothing is left of it.
pub(crate) fn fitted(name: &str) -> String {
    let fitted = as_word(name, MOST);
    if fitted.bytes().all(|byte| byte == b'_') {
        UNNAMED.to_owned()
    } else {
        fitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn participant(id: &str, name: &str) -> Participant {
        Participant {
            id: id.to_owned(),
            name: Some(name.to_owned()),
            ..Participant::default()
        }
    }

    #[test]
    fn names_that_fit_stay_and_others_lead_back_to_their_participant() {
        let arena = TextArena::default();
        let roster = [
            participant("u1", "Alex"),
            participant("u2", "Anna Maria"),
            participant("u3", "Олена"),
            participant("чат 4", "小王"),
            participant("u5", "Alex"),
        ];
        let aliases = Aliases::new(&roster, &arena);
        let seen: Vec<_> = (0..5).map(|index| aliases.of(index)).collect();
        assert_eq!(seen, ["Alex", "Anna_Maria", "u3", "____4", "Alex_2"]);
    }

    #[test]
    fn long_names_that_collide_stay_within_the_limit() {
        let long = "n".repeat(64);
        let arena = TextArena::default();
        let roster = [participant("a", &long), participant("b", &long)];
        let aliases = Aliases::new(&roster, &arena);
        let second = aliases.of(1);
        assert!(is_word(second, MOST));
        assert_ne!(aliases.of(0), aliases.of(1));
    }

    #[test]
    fn numbers_go_on_where_they_stopped_and_pass_names_that_exist() {
        let names = ["Ann", "Ann_3", "Ann", "Ann", "Ann", "Ann_3"];
        let arena = TextArena::default();
        let roster: Vec<Participant> = names
            .iter()
            .enumerate()
            .map(|(index, name)| participant(&index.to_string(), name))
            .collect();
        let aliases = Aliases::new(&roster, &arena);
        let seen: Vec<_> = (0..6).map(|index| aliases.of(index)).collect();
        assert_eq!(seen, ["Ann", "Ann_3", "Ann_2", "Ann_4", "Ann_5", "Ann_3_2"]);
    }

    #[test]
    fn a_name_without_any_allowed_sign_is_unnamed() {
        assert_eq!(fitted("日本"), "unnamed");
        assert_eq!(fitted(""), "unnamed");
        assert_eq!(fitted("web.search"), "web_search");
    }
}
