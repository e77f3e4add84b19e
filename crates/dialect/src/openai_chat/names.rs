//! Names of speakers: the native field, a prefix, or nowhere; the assistant's own turns carry none.

use chatmill_model::{Component, Level, Message};

use super::Writer;
use crate::loss::LossCode;
use crate::names::speaker;
use crate::policy::Names;

impl<'a> Writer<'_, 'a> {
    /// Whether names go into the field, the text, or nowhere.
    pub(super) fn names(&self) -> Names {
        match self.view.policy.names {
            Names::Auto => Names::Field,
            other => other,
        }
    }

    pub(super) fn name_field(&mut self, speaker: Option<usize>) {
        let Some(index) = speaker.filter(|_| self.names() == Names::Field) else {
            return;
        };
        let Some(alias) = self.aliases.of(index).cloned() else {
            return;
        };
        if let Some(count) = self.named.get_mut(index) {
            *count += 1;
        }
        self.rope.framing(",\"name\":");
        self.rope.json_string(alias, Component::Names);
    }

    pub(super) fn name_prefix(&mut self, sender: Option<usize>, message: &'a Message) {
        if self.names() != Names::Prefix {
            return;
        }
        let participants = &self.view.conversation().participants;
        let name = match sender.and_then(|index| participants.get(index)) {
            Some(participant) => Some(participant.display_name()),
            None if self.view.is_own(message) => None,
            None => speaker(self.view, message),
        };
        if let Some(name) = name {
            self.losses.at(
                LossCode::NameInlined,
                message.position,
                "policy puts names in front of the text",
            );
            self.rope.content(name, Level::JsonString, Component::Names);
            self.rope.content(": ", Level::JsonString, Component::Names);
        }
    }

    /// Declares what became of names, one entry for each participant.
    pub(super) fn declare_names(&mut self) {
        self.losses.everywhere(
            LossCode::NameDropped,
            self.unnamed_own,
            "the assistant's own turns carry no name",
        );
        let participants = &self.view.conversation().participants;
        for (index, participant) in participants.iter().enumerate() {
            let count = self.named.get(index).copied().unwrap_or(0);
            if let Some(alias) = self.aliases.of(index)
                && alias.as_ref() != participant.display_name()
            {
                let reason = format!(
                    "OAC-08: participant {} is written as {alias}, which the roster leads back from",
                    participant.id
                );
                self.losses.everywhere(LossCode::NameAliased, count, &reason);
            }
        }
    }
}
