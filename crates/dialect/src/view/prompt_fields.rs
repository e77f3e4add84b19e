//! The values of a prompt's fields in a conversation.

use std::borrow::Cow;

use chatmill_model::Participant;

use crate::text::json;
use crate::view::View;
use crate::view::prompt::{Field, Prompt};

impl View<'_> {
    /// Returns the pipeline's prompt for this conversation and perspective; `None` without a prompt, or if a field is missing.
    pub(crate) fn prompt(&self) -> Option<String> {
        filled_in(self.additions.prompt?, self).ok()
    }

    /// Returns the field that is missing, so that this conversation and perspective has no prompt.
    pub fn missing_field(&self) -> Option<&'static str> {
        filled_in(self.additions.prompt?, self).err()
    }
}

fn filled_in(prompt: &Prompt, view: &View<'_>) -> Result<String, &'static str> {
    prompt.fill(|field| value(field, view))
}

/// Returns the value of a field; `None` if it is missing or empty.
fn value<'a>(field: Field, view: &View<'a>) -> Option<Cow<'a, str>> {
    let conversation = view.conversation();
    let agent = || conversation.participants.get(view.perspective?);
    let known = |text: Option<&'a str>| text.map(Cow::Borrowed);
    let value = match field {
        Field::AgentName => known(agent()?.own_name()),
        Field::AgentId => known(
            Some(agent()?)
                .filter(|agent| !agent.is_id_made)
                .map(|agent| agent.id.as_str()),
        ),
        Field::AgentAlias => known(agent()?.alias.as_deref()),
        Field::AgentCustomRole => known(agent()?.custom_role.as_deref()),
        Field::AgentDepartment => known(agent()?.department.as_deref()),
        Field::AgentInstructions => instructions(agent()?).map(Cow::Owned),
        Field::ChatTitle => known(conversation.title.as_deref()),
        Field::ChatDescription => known(conversation.description.as_deref()),
        Field::ChatId => known(view.own_id()),
        Field::ChatParticipants => participant_names(view).map(Cow::Owned),
    };
    value.filter(|value| !value.trim().is_empty())
}

/// Returns the names of all participants except the perspective, in the order of the roster.
fn participant_names(view: &View<'_>) -> Option<String> {
    let participants = view.conversation().participants.iter().enumerate();
    let others = participants.filter(|(index, _)| Some(*index) != view.perspective);
    let names: Vec<&str> = others
        .filter_map(|(_, person)| Participant::own_name(person))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}
/// Returns the instructions that the roster has for an agent.
pub(crate) fn instructions(agent: &Participant) -> Option<String> {
    ["agentInstructions", "instructions"]
        .into_iter()
        .find_map(|key| agent.extra.get(key))
        .and_then(|raw| json::decode_string(raw.as_str()))
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use chatmill_diag::Limits;
    use chatmill_model::{Conversation, Linked, ParticipantKind};

    use super::*;
    use crate::view::policy::Policy;
    use crate::view::prompt::{Existing, Prompt};

    fn chat(title: Option<&str>) -> Linked {
        let person = |id: &str, name: Option<&str>, kind| Participant {
            id: id.to_owned(),
            name: name.map(str::to_owned),
            kind,
            ..Participant::default()
        };
        let conversation = Conversation {
            title: title.map(str::to_owned),
            participants: vec![
                person("u1", Some("Ann"), ParticipantKind::Human),
                person("b1", Some("Bot"), ParticipantKind::Agent),
                person("u2", None, ParticipantKind::Human),
                person("u3", Some("Ben"), ParticipantKind::Human),
            ],
            ..Conversation::default()
        };
        chatmill_link::link(conversation, &Limits::default()).0
    }

    fn filled(text: &str, title: Option<&str>) -> Result<String, &'static str> {
        let (linked, policy) = (chat(title), Policy::default());
        let prompt = Prompt::parse(text, Existing::default()).unwrap();
        filled_in(&prompt, &View::whole(&linked, Some(1), &policy))
    }

    #[test]
    fn fields_of_the_conversation_are_filled_in() {
        let text = "You are {agent.name} in {{{room.title}}}, with { room.people }.";
        let expected = "You are Bot in {The pier}, with Ann, Ben.";
        assert_eq!(filled(text, Some("The pier")), Ok(expected.to_owned()));
    }

    #[test]
    fn what_is_missing_is_named_or_has_other_words() {
        assert_eq!(filled("In {room.title}.", None), Err("room.title"));
        assert_eq!(filled("In {room.title}.", Some(" ")), Err("room.title"));
        assert_eq!(
            filled("In {room.title|a room}.", None),
            Ok("In a room.".to_owned())
        );
        assert_eq!(filled("{agent.name|}.", None), Ok("Bot.".to_owned()));
        let (linked, policy) = (chat(None), Policy::default());
        let prompt = Prompt::parse("{agent.name}", Existing::default()).unwrap();
        assert_eq!(
            filled_in(&prompt, &View::whole(&linked, None, &policy)),
            Err("agent.name")
        );
        // A role is not used as a name.
        assert_eq!(
            filled_in(&prompt, &View::whole(&linked, Some(2), &policy)),
            Err("agent.name")
        );
    }
}
