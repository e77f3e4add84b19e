//! The roster: participants listed in `user_details`, speakers who are not listed, and which of them are
//! agents.
//!
//! Old archives have job titles where the specification requires `user` or `assistant`. There
//! `scene_desc.bot_ids` names the agents; where it is absent too, the rule of the format's own demo script
//! decides: an id that contains `robot`, `assistant` or `bot` is an agent's (so is `abbott`, which is why the
//! guess is a finding).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value, append_key};
use chatmill_model::{Extra, Participant, ParticipantKind, Role};

use super::shape::{Meta, states_kind};
use crate::base::{Keep as _, Notes, Site, participant_kind};

/// Key under which a participant that is not an object keeps its value.
const WHOLE: &str = "/";

/// The participants of a conversation.
pub(super) struct Roster<'d> {
    /// The participants in roster order, then in order of first appearance.
    pub participants: Vec<Participant>,
    places: HashMap<Cow<'d, str>, usize>,
    bot_ids: Option<HashSet<Cow<'d, str>>>,
}

impl<'d> Roster<'d> {
    /// Reads `user_details`.
    pub(super) fn read(meta: &mut Meta<'d>, notes: &mut Notes) -> Self {
        let mut roster = Self {
            participants: Vec::new(),
            places: HashMap::new(),
            bot_ids: meta.bot_ids.take(),
        };
        let path = format!("{}.user_details", meta.path);
        match meta.user_details {
            None if !meta.is_there => {}
            None => {
                let finding = Finding::new(&codes::MISSING_FIELD, "the metadata has no user_details");
                notes.push(finding.at_path(path), None);
            }
            Some(details) if details.kind() == Kind::Object => {
                notes.repeated_keys(details, &path, |_| true);
                for (id, user) in details.fields() {
                    roster.list(id, user, &path, notes);
                }
            }
            Some(other) => {
                let finding = Finding::new(&codes::WRONG_TYPE, "user_details is not an object");
                notes.push(finding.at_path(path).quoting(other.raw()), Some(other));
            }
        }
        roster
    }

    fn list(&mut self, id: Cow<'d, str>, user: Value<'d>, details_path: &str, notes: &mut Notes) {
        let mut path = details_path.to_owned();
        append_key(&mut path, &id);
        let mut participant = Participant {
            id: id.clone().into_owned(),
            listed: true,
            ..Participant::default()
        };
        if user.kind() == Kind::Object {
            fill(&mut participant, user, &path, notes);
        } else {
            notes.warn(path.as_str(), "the user's details are not an object", user);
            participant.extra.keep(WHOLE, user);
        }
        let (kind, guessed) = self.kind(&id, participant.role.as_deref());
        participant.kind = kind;
        if guessed {
            notes.push(legacy_role().at_path(path), Some(user));
        }
        let place = self.places.get(&id);
        match place.and_then(|place| self.participants.get_mut(*place)) {
            Some(earlier) => *earlier = participant,
            None => self.add(id, participant),
        }
    }

    /// The position of the speaker; speakers who are not listed are added.
    pub(super) fn speaker(&mut self, id: Cow<'d, str>, role: Option<Role>, site: &mut Site<'_>) -> usize {
        if let Some(place) = self.places.get(&id) {
            return *place;
        }
        let (kind, guessed) = match role {
            Some(Role::Assistant) => (ParticipantKind::Agent, false),
            Some(Role::User) => (ParticipantKind::Human, false),
            _ => self.kind(&id, None),
        };
        if guessed {
            site.push(legacy_role(), ".sender", site.message);
        }
        let participant = Participant {
            id: id.clone().into_owned(),
            kind,
            ..Participant::default()
        };
        self.add(id, participant);
        self.participants.len() - 1
    }

    /// The participant with this id, if there is one so far.
    pub(super) fn find(&self, id: &str) -> Option<&Participant> {
        self.participants.get(*self.places.get(id)?)
    }

    fn add(&mut self, id: Cow<'d, str>, participant: Participant) {
        self.places.insert(id, self.participants.len());
        self.participants.push(participant);
    }

    /// Whether the participant is a person or an agent, and whether that is a guess from the id.
    fn kind(&self, id: &str, role: Option<&str>) -> (ParticipantKind, bool) {
        let is_spelled = |word: &str| role.is_some_and(|role| role.eq_ignore_ascii_case(word));
        let (is_agent, guessed) = match &self.bot_ids {
            _ if role == Some("assistant") => (true, false),
            Some(bots) => (bots.contains(id), false),
            // If there is a list `bot_ids`, `Assistant` may be a job title.
            None if is_spelled("assistant") => (true, false),
            None if is_spelled("user") => (false, false),
            // This includes `robot`.
            None => (id.contains("assistant") || id.contains("bot"), true),
        };
        (participant_kind(is_agent), guessed)
    }
}

fn legacy_role() -> Finding {
    let text = "no role is user or assistant: the id decides";
    Finding::new(&codes::LEGACY_ROLE, text)
}

/// Reads the fields of one user; what has no place or the wrong type is kept raw.
fn fill(participant: &mut Participant, user: Value<'_>, path: &str, notes: &mut Notes) {
    let mut extra = Extra::default();
    for (key, value) in user.fields() {
        let slot = match &*key {
            "full_name" => Some(&mut participant.name),
            "role" => Some(&mut participant.role),
            "custom_role" => Some(&mut participant.custom_role),
            "department" => Some(&mut participant.department),
            "email" => Some(&mut participant.email),
            _ => None,
        };
        let Some(slot) = slot else {
            extra.keep(key, value);
            continue;
        };
        if let Some(text) = value.as_str() {
            *slot = Some(text.into_owned());
        } else if !value.is_null() {
            let mut place = path.to_owned();
            append_key(&mut place, &key);
            notes.warn(place, "the field is not a string", value);
            if slot.is_none() {
                extra.keep(key, value);
            }
        }
    }
    participant.extra = extra;
    let is_single = |key: &str| matches!(key, "full_name" | "role" | "custom_role" | "department" | "email");
    notes.repeated_keys(user, path, is_single);
    if participant.custom_role.is_none() && participant.extra.get("custom_role").is_none() {
        let title = participant.role.as_ref();
        let title = title.filter(|role| !states_kind(role) && !role.is_empty());
        participant.custom_role = title.cloned();
    }
}
