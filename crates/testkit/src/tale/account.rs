//! Who speaks, as systems know him whose accounts are shared by a person and agents.

use chatmill_model::{Fact, Linked, Message, Participant, RawJson};

use super::own_name;

/// Who speaks, as systems know him whose accounts are shared by a person and agents.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The account.
    pub id: Option<String>,
    /// The name that the roster has.
    pub known: Option<String>,
    /// Whether that is not a second name.
    pub is_display: bool,
    /// Whether nobody ever gave him the id by which he is known.
    pub is_made: bool,
    /// Whether the message leaves it to others to name him.
    pub is_unnamed: bool,
    /// The name that the message shows.
    pub shown: Option<String>,
    /// The accounts that are mentioned, each with the name that the roster has.
    pub mentions: Vec<(String, Option<String>)>,
}

impl Account {
    pub(super) fn of(linked: &Linked, message: &Message) -> Self {
        let people = &linked.conversation.participants;
        let sender = message.sender.map(|sender| &people[sender]);
        let known = sender.and_then(own_name);
        let own = message.sender_name.clone().filter(|name| !name.is_empty());
        let mentioned = message.mentions.iter().map(|id| {
            let place = people.iter().position(|person| person.id == *id);
            let person = place.map(|place| &people[place]);
            let name = person.and_then(own_name);
            let account = person.map_or_else(|| id.clone(), |person| account_id(linked, person));
            // Of the silent in a room of shared accounts a mention tells the name and nothing else.
            let speaks = |message: &Message| message.sender == place;
            let is_silent = is_shared(linked) && !linked.conversation.messages.iter().any(speaks);
            (name.clone().filter(|_| is_silent).unwrap_or(account), name)
        });
        Self {
            id: sender.map(|sender| account_id(linked, sender)),
            is_unnamed: message.unstated.holds(Fact::SenderName),
            is_made: sender.is_some_and(|sender| sender.is_id_made),
            is_display: sender.is_some_and(|sender| sender.name.is_some()),
            shown: own.or(known.clone()),
            known,
            mentions: mentioned.collect(),
        }
    }
}

/// The account under which somebody speaks: his own id, but for the agents of Jaibber's rooms.
pub(super) fn account_id(linked: &Linked, person: &Participant) -> String {
    let shared = person.extra.get("userId").map(RawJson::as_str);
    let shared = shared.filter(|_| is_shared(linked));
    let account = shared.and_then(|raw| serde_json::from_str(raw).ok());
    account.unwrap_or_else(|| person.id.clone())
}

/// Whether accounts of a room may be shared by a person and his agents.
fn is_shared(linked: &Linked) -> bool {
    linked.conversation.keeps_form("jaibber-events")
}
