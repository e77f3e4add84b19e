//! The active personality, and facts about senders that only records of Tzurot state.

use std::collections::BTreeMap;

use chatmill_model::{Extra, Message, RawJson, Reference, ReferenceForm, Role};

use crate::naming::participants::speaker;
use crate::text::json;
use crate::transcript::Transcript;
use crate::view::View;

/// The personality that requests are addressed to.
pub(super) struct Active<'t, 'a> {
    transcript: &'t Transcript<'a>,
    /// Its id: from a field of the record for all requests, otherwise from the perspective.
    id: Option<&'a str>,
    /// Ids by display name; the first participant with a name counts.
    ids: BTreeMap<&'a str, &'a str>,
    /// The account that the record states for all messages.
    user: Option<String>,
    /// Whether a proxy speaks in all messages, as the record states it.
    is_proxy: Option<&'a RawJson>,
}

impl<'t, 'a> Active<'t, 'a> {
    /// Determines the personality: the one that the conversation names, otherwise the perspective.
    pub(super) fn of(transcript: &'t Transcript<'a>) -> Self {
        let view = transcript.view();
        let conversation = view.conversation();
        let extras = [&conversation.extra, &conversation.envelope];
        let stated = |key| extras.into_iter().filter_map(move |extra| extra.get(key));
        let mut active = Self {
            transcript,
            id: None,
            ids: BTreeMap::new(),
            user: stated("userId").find_map(|raw| json::decode_string(raw.as_str())),
            is_proxy: stated("isProxyMessage").next(),
        };
        for participant in &conversation.participants {
            let id = active.ids.entry(participant.display_name());
            id.or_insert(&participant.id);
        }
        let named = extras.into_iter().find_map(|extra| active.named_in(extra));
        let own = view
            .perspective
            .and_then(|index| conversation.participants.get(index));
        active.id = named.or(own.map(|participant| participant.id.as_str()));
        active
    }

    /// Returns the id of the personality that `currentPersonality` names, by id or by name.
    fn named_in(&self, extra: &Extra) -> Option<&'a str> {
        let raw = extra.get("currentPersonality").map(RawJson::as_str)?;
        let named = self.transcript.arena().keep(json::decode_string(raw)?);
        if self.transcript.roster().find(named).is_some() {
            return Some(named);
        }
        Some(self.ids.get(named).copied().unwrap_or(named))
    }

    /// Returns the id of the personality that a request is addressed to.
    pub(super) fn addressee(&self, message: &Message) -> Option<&'a str> {
        self.named_in(&message.extra).or(self.id)
    }

    /// Whether a message was written by a participant other than the addressed personality.
    pub(super) fn is_from_others(&self, message: &Message) -> bool {
        let is_own = match (self.transcript.view().sender(message), self.addressee(message)) {
            (Some(sender), Some(id)) => sender.id == id,
            _ => false,
        };
        View::is_turn(message) && matches!(message.role, Role::User | Role::Assistant) && !is_own
    }

    /// Whether a quoted message was written with the same account as the quoting message; `None` if one of the accounts is not known.
    pub(super) fn is_same_account(&self, message: &Message, reference: &Reference) -> Option<bool> {
        let own = message.extra.get("userId");
        let own = own.and_then(|raw| json::decode_string(raw.as_str()));
        let user = own.as_ref().or(self.user.as_ref())?;
        let ReferenceForm::Object(quoted) = &reference.form else {
            return None;
        };
        let author = json::text_field(quoted.as_str(), "authorId")?;
        Some(*user == author)
    }

    /// Returns the name of a proxy that speaks for a person, unless it is the placeholder for a missing name.
    pub(super) fn proxy_name(&self, message: &'a Message) -> Option<&'a str> {
        let is_proxy = message.extra.get("isProxyMessage").or(self.is_proxy)?;
        let name = speaker(self.transcript.view(), message)?;
        (is_proxy.as_str() == "true" && name != "a user").then_some(name)
    }
}
