//! Whom requests are addressed to, and what records say of who speaks.

use std::collections::BTreeMap;

use chatmill_model::{Extra, Message, RawJson, Reference, ReferenceForm, Role};

use crate::json;
use crate::names::speaker;
use crate::transcript::Transcript;
use crate::view::View;

/// Whom the requests are addressed to.
pub(super) struct Active<'t, 'a> {
    transcript: &'t Transcript<'a>,
    /// By what the record says of all requests, else by perspective.
    id: Option<&'a str>,
    /// Ids by display name; the first of a name counts.
    ids: BTreeMap<&'a str, &'a str>,
}

impl<'t, 'a> Active<'t, 'a> {
    /// The personality that a conversation names, else the perspective.
    pub(super) fn of(transcript: &'t Transcript<'a>) -> Self {
        let view = transcript.view();
        let conversation = view.conversation();
        let mut active = Self {
            transcript,
            id: None,
            ids: BTreeMap::new(),
        };
        for participant in &conversation.participants {
            let id = active.ids.entry(participant.display_name());
            id.or_insert(&participant.id);
        }
        let named = [&conversation.extra, &conversation.envelope]
            .into_iter()
            .find_map(|extra| active.named_in(extra));
        let own = view
            .perspective
            .and_then(|index| conversation.participants.get(index));
        active.id = named.or(own.map(|participant| participant.id.as_str()));
        active
    }

    /// The personality that `currentPersonality` names: its id, be it named by id or by name.
    fn named_in(&self, extra: &Extra) -> Option<&'a str> {
        let raw = extra.get("currentPersonality").map(RawJson::as_str)?;
        let named = self.transcript.made().keep(json::decode_string(raw)?);
        if self.transcript.roster().find(named).is_some() {
            return Some(named);
        }
        Some(self.ids.get(named).copied().unwrap_or(named))
    }

    /// Whom one request is addressed to.
    pub(super) fn hearer(&self, message: &Message) -> Option<&'a str> {
        self.named_in(&message.extra).or(self.id)
    }

    /// Whether a message is something that somebody else says.
    pub(super) fn hears(&self, message: &Message) -> bool {
        let is_own = match (self.transcript.view().sender(message), self.hearer(message)) {
            (Some(sender), Some(id)) => sender.id == id,
            _ => false,
        };
        View::is_turn(message) && matches!(message.role, Role::User | Role::Assistant) && !is_own
    }
}

/// What a message or its record says under a key.
fn stated<'a>(view: &View<'a>, message: &'a Message, key: &str) -> impl Iterator<Item = &'a RawJson> {
    let conversation = view.conversation();
    let extras = [&message.extra, &conversation.extra, &conversation.envelope];
    extras.into_iter().filter_map(move |extra| extra.get(key))
}

/// Whether a quoted message was written under the account that quotes it, where both accounts are known.
pub(super) fn is_same_account(view: &View<'_>, message: &Message, reference: &Reference) -> Option<bool> {
    let user = stated(view, message, "userId").find_map(|raw| json::decode_string(raw.as_str()))?;
    let ReferenceForm::Object(quoted) = &reference.form else {
        return None;
    };
    let author = json::text_field(quoted.as_str(), "authorId")?;
    Some(user == author)
}

/// The name of a proxy that speaks for a person, unless it is the one that stands for none.
pub(super) fn proxy_name<'a>(view: &View<'a>, message: &'a Message) -> Option<&'a str> {
    let is_proxy = stated(view, message, "isProxyMessage").next()?;
    let name = speaker(view, message)?;
    (is_proxy.as_str() == "true" && name != "a user").then_some(name)
}
