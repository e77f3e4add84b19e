//! The members of a workspace, as far as a channel names them, and bots, which need not be members.

use std::collections::HashMap;

use chatmill_intake::json::Value;
use chatmill_model::{Extra, Participant, ParticipantKind};

use crate::base::{ExtraFields, Keep as _, id, participant_kind, present, text};

/// The members of one channel.
#[derive(Debug, Default)]
pub(super) struct Members {
    list: Vec<Participant>,
    places: HashMap<String, usize>,
    /// Whether a list of members was read.
    pub(super) is_listed: bool,
}

impl Members {
    /// Reads a row of the list of members; the first row of an id is used.
    pub(super) fn member(&mut self, row: Value<'_>) {
        self.is_listed = true;
        let Some(id) = present(row, "id").and_then(id) else {
            return;
        };
        let profile = present(row, "profile");
        let words = |object: Option<Value<'_>>, key: &str| {
            text(object.and_then(|object| object.get(key))).filter(|words| !words.trim().is_empty())
        };
        let name = words(profile, "display_name")
            .or_else(|| words(profile, "real_name"))
            .or_else(|| words(Some(row), "real_name"));
        let is_bot = row.get("is_bot").and_then(Value::as_bool) == Some(true) || id == "USLACKBOT";
        let mut extra = ExtraFields::new();
        if row.get("deleted").and_then(Value::as_bool) == Some(true) {
            extra.keep_some("deleted", row.get("deleted"));
        }
        extra.keep_some("tz", present(row, "tz"));
        let place = self.add(Participant {
            name,
            alias: words(Some(row), "name"),
            email: words(profile, "email"),
            custom_role: words(profile, "title"),
            kind: participant_kind(is_bot),
            listed: true,
            extra: Extra(extra),
            id,
            ..Participant::default()
        });
        // Messages may name the bot of a member instead of the member.
        if let Some(bot) = profile
            .and_then(|profile| text(profile.get("bot_id")))
            .filter(|_| is_bot)
        {
            self.places.entry(bot).or_insert(place);
        }
    }

    /// The person with an id, who may have left the workspace; `profile` is the message's data about its
    /// sender.
    pub(super) fn person(&mut self, id: &str, profile: Option<Value<'_>>) -> usize {
        let word = |key: &str| {
            let words = text(profile.and_then(|profile| profile.get(key)));
            words.filter(|words| !words.is_empty())
        };
        let [shown, real, name] = ["display_name", "real_name", "name"].map(word);
        let is_bot = id == "USLACKBOT";
        self.add(Participant {
            id: id.to_owned(),
            name: shown.or(real),
            alias: name,
            kind: participant_kind(is_bot),
            // Slack's own bot is not in any list, and guests of other workspaces have a profile in their
            // messages.
            listed: is_bot || profile.is_some(),
            ..Participant::default()
        })
    }

    /// A bot, by its id or by the name in its message.
    pub(super) fn bot(&mut self, id: Option<String>, name: Option<String>) -> Option<usize> {
        let is_id_made = id.is_none();
        let id = id.or_else(|| name.clone())?;
        Some(self.add(Participant {
            id,
            is_id_made,
            name,
            kind: ParticipantKind::Agent,
            // No list of an export contains bots that are not members.
            listed: true,
            ..Participant::default()
        }))
    }

    fn add(&mut self, participant: Participant) -> usize {
        let next = self.list.len();
        let place = *self.places.entry(participant.id.clone()).or_insert(next);
        match self.list.get_mut(place) {
            None => self.list.push(participant),
            Some(known) => {
                known.name = known.name.take().or(participant.name);
                known.listed |= participant.listed;
            }
        }
        place
    }

    /// All participants; without a member list, all of them count as listed.
    pub(super) fn finish(mut self) -> Vec<Participant> {
        let is_listed = self.is_listed;
        self.list
            .iter_mut()
            .for_each(|person| person.listed |= !is_listed);
        self.list
    }

    /// Whether a member is a bot.
    pub(super) fn is_agent(&self, place: usize) -> bool {
        self.list
            .get(place)
            .is_some_and(|person| person.kind == ParticipantKind::Agent)
    }

    /// The name in a message, if its sender has another.
    pub(super) fn other_name(&self, place: usize, name: String) -> Option<String> {
        let own = self.list.get(place).and_then(Participant::own_name);
        (own != Some(&name)).then_some(name)
    }

    /// The name of an id, for mentions.
    pub(super) fn name_of(&self, id: &str) -> Option<&str> {
        let person = self.places.get(id).and_then(|place| self.list.get(*place))?;
        person.own_name()
    }
}
