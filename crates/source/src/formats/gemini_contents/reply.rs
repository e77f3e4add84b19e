//! The reply that metadata names, in a line or in a row of gryag's database.

use chatmill_model::{Preview, Reference, ReferenceForm};

use super::meta::Meta;
use super::roster::{Agents, Roster};
use crate::base::{ExtraFields, Keep as _};

/// The reply given in the metadata: an id, an excerpt of the target, or both. Later versions of the bot leave
/// the ids out of histories and keep the excerpt.
///
/// If the target is a message of the bot, the reference gets the bot's id here instead of its account number,
/// which is kept with the message.
pub(crate) fn reference(
    meta: &Meta,
    roster: &Roster,
    agents: &Agents<'_>,
    extra: &mut ExtraFields,
) -> Option<Reference> {
    let text = |key: &str| meta.get(key).map(str::to_owned);
    let target = text("reply_to_message_id");
    let excerpt = text("reply_excerpt");
    let username = meta.get("reply_to_username");
    let name = meta.get("reply_to_name");
    let account = text("reply_to_user_id");
    if target.is_none() && excerpt.is_none() {
        let keys = ["reply_to_user_id", "reply_to_name"];
        for (key, value) in keys.into_iter().filter_map(|key| Some((key, meta.get(key)?))) {
            extra.keep_text(key, value);
        }
        return None;
    }
    let agent = agents.called(username, name);
    let (sender, from_agent) = match (&account, agent) {
        (Some(account), Some(agent)) if !roster.knows(account) => {
            extra.keep_text("reply_to_user_id", account);
            (Some(agent.to_owned()), true)
        }
        (Some(account), _) => (Some(account.clone()), roster.is_agent(account)),
        (None, agent) => (agent.map(str::to_owned), agent.is_some()),
    };
    let sender_name = name.or(username).map(str::to_owned);
    let form = match target {
        Some(_) => ReferenceForm::Id,
        None => ReferenceForm::Excerpt,
    };
    let preview = Preview {
        content: excerpt,
        sender,
        sender_name,
        from_agent,
        ..Preview::default()
    };
    Some(Reference {
        target,
        preview: (preview != Preview::default()).then_some(preview),
        form,
        ..Reference::default()
    })
}
