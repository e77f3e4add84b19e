//! The input of the completeness test: a rendering, its conversation, and the names of the participants in it.

use chatmill_dialect::{Coverage, LossCode, View};
use chatmill_model::{Conversation, Message, MessageKind, Participant, ParticipantKind, Role};

use super::declared::Declared;
use super::elements::{Element, Kind};

/// A rendering and its conversation.
pub(super) struct Case<'r> {
    /// The view that was rendered.
    pub view: View<'r>,
    /// The declared losses.
    pub declared: &'r Declared,
    /// Whether the dialect has no perspectives.
    pub is_neutral: bool,
    /// Whether the format has system text; if not, a reader may take the first turn for it.
    pub has_system: bool,
    /// Whether no source reads the dialect back.
    pub is_text: bool,
    /// The coverage of the rendering.
    pub coverage: Coverage,
}

impl<'r> Case<'r> {
    pub(super) fn messages(&self) -> &'r [Message] {
        &self.view.linked.conversation.messages
    }

    pub(super) fn participants(&self) -> &'r [Participant] {
        &self.view.linked.conversation.participants
    }

    pub(super) fn is_single(&self) -> bool {
        self.coverage == Coverage::SingleTurn
    }

    /// Whether an element may have a role.
    pub(super) fn is_role(&self, element: &Element<'_>, role: Role, is_worded: bool) -> bool {
        let (message, position) = (element.message, element.position());
        let has = |code| self.declared.at(code, position) > 0;
        if role == Role::System && !self.has_system {
            return is_worded || has(LossCode::SystemInlined) || !self.view.is_own(message);
        }
        if is_worded && matches!(element.kind, Kind::Result(_)) {
            return role == Role::User || self.declared.whole(LossCode::TurnMerged) > 0 && role == Role::Tool;
        }
        if has(LossCode::SystemInlined) {
            return matches!(role, Role::User | Role::System);
        }
        if has(LossCode::RoleMapped) {
            return match role {
                Role::Assistant => is_agents(&self.view, message),
                Role::User => !self.view.is_own(message),
                Role::Tool | Role::System => self.is_neutral,
            };
        }
        role == message.role || message.kind == MessageKind::Notice
    }

    /// Whether a name is an id of a participant, or a name that one of the messages gives the speaker.
    pub(super) fn is_name(&self, message: &Message, name: &str) -> bool {
        let mut others = self
            .messages()
            .iter()
            .filter(|other| other.sender == message.sender);
        self.participants().iter().any(|person| person.id == name)
            || others.any(|other| other.sender_name.as_deref() == Some(name))
    }

    /// Whether an id belongs to another message in the same turn.
    pub(super) fn is_id_of_another(&self, id: &str) -> bool {
        self.messages()
            .iter()
            .any(|message| message.id.as_deref() == Some(id))
    }

    /// The names of a participant.
    pub(super) fn names(&self, id: &str) -> Vec<String> {
        let mut names = vec![id.to_owned()];
        for person in self
            .participants()
            .iter()
            .filter(|person| person.id == id || person.name.as_deref() == Some(id))
        {
            names.push(person.id.clone());
            names.extend([&person.name, &person.alias].into_iter().flatten().cloned());
            let account = person
                .extra
                .get("userId")
                .map(|raw| raw.as_str().trim_matches('"').to_owned());
            names.extend(account);
        }
        names
    }

    /// Whether an id identifies a participant: it is the participant's id, the account's id, or a name, alone or with a role.
    pub(super) fn is_known_as(&self, sender: usize, id: &str) -> bool {
        let names = self.names(&self.participants()[sender].id);
        let parts = id
            .split_once('/')
            .map(|(account, _)| account)
            .into_iter()
            .chain(id.split_once(':').map(|(_, name)| name));
        parts
            .chain([id])
            .any(|part| names.iter().any(|name| name == part))
    }

    /// Whether the value of a field was read back in any field.
    pub(super) fn is_reported(value: &str, at: &[&Message]) -> bool {
        let value = value.trim_matches('"');
        at.iter().any(|message| format!("{message:?}").contains(value))
    }

    /// Whether a fact about the conversation was read back in another field.
    pub(super) fn is_of_conversation(value: &str, other: &Conversation) -> bool {
        let value = value.trim_matches('"');
        let facts = [&other.source_id, &other.description, &other.title];
        facts.into_iter().flatten().any(|facts| facts == value)
    }
}

/// Whether an agent sent a message: the one of the perspective, or another.
fn is_agents(view: &View<'_>, message: &Message) -> bool {
    let participants = &view.conversation().participants;
    view.is_own(message)
        || message
            .sender
            .is_some_and(|sender| participants[sender].kind == ParticipantKind::Agent)
}
