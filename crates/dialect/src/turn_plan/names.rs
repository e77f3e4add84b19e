//! Names of speakers: the dialect's own field, a prefix, or nowhere; the assistant's own turns carry none.

use chatmill_model::{Component, Message, Role};

use super::{DialectProfile, Writer};
use crate::loss::{LossCode, LossReason, reasons};
use crate::names::{is_nobody, speaker};
use crate::policy::Names;
use crate::text_run::TextRun;
use crate::view::View;

/// Where names go in one rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Into the field.
    Field,
    /// Before the text, for this reason.
    Prefix(LossReason),
    /// Nowhere, because policy says so.
    Dropped,
    /// Nowhere, for this reason.
    Absent(LossReason),
}

impl Naming {
    /// By policy, and by the number of people where policy leaves it open: of those in the whole conversation, so that all of
    /// its windows show names or none does.
    pub(super) fn choose(view: &View<'_>, manner: &DialectProfile) -> Self {
        let has_field = manner.name_field.is_some();
        if let Some(reason) = manner.nameless {
            return Self::Absent(reason);
        }
        match view.policy.names {
            Names::Auto | Names::Field if has_field => Self::Field,
            Names::Prefix => Self::Prefix(reasons::POLICY_PUTS_NAMES_IN_FRONT),
            Names::Drop => Self::Dropped,
            Names::Field => Self::Absent(reasons::NO_FIELD_FOR_NAMES),
            Names::Auto => {
                if *view.shared(|shared| &shared.has_several_others, || has_several_others(view)) {
                    Self::Prefix(reasons::SEVERAL_PEOPLE_SPEAK)
                } else {
                    Self::Absent(reasons::ONE_OTHER_SPEAKS)
                }
            }
        }
    }
}

/// Whether more than one speaks beside the perspective.
fn has_several_others(view: &View<'_>) -> bool {
    let messages = view.conversation().messages.iter();
    let others = messages.filter(|message| {
        View::is_turn(message) && !view.is_own(message) && !matches!(message.role, Role::System | Role::Tool)
    });
    let mut speakers = others.map(|message| {
        let name = message.sender.is_none().then_some(&message.sender_name);
        (message.sender, name)
    });
    let first = speakers.next();
    speakers.any(|speaker| Some(speaker) != first)
}

impl<'a> Writer<'_, 'a> {
    /// The participant whose alias a turn has.
    pub(super) fn name_field(&mut self, speaker: Option<usize>) -> Option<usize> {
        let index = speaker.filter(|index| self.naming == Naming::Field && !self.is_nobody(*index))?;
        if let Some(count) = self.named.get_mut(index) {
            *count += 1;
        }
        Some(index)
    }

    /// Whether all that is known of a participant is the role, which every turn says anyway.
    pub(super) fn is_nobody(&self, index: usize) -> bool {
        let participants = &self.view.conversation().participants;
        participants.get(index).is_some_and(is_nobody)
    }

    /// What stands before the text of a message.
    pub(super) fn name_prefix(
        &mut self,
        sender: Option<usize>,
        message: &'a Message,
    ) -> Option<[TextRun<'a>; 2]> {
        let participants = &self.view.conversation().participants;
        let name = match sender.and_then(|index| participants.get(index)) {
            Some(participant) => Some(participant.display_name()),
            None if self.view.is_own(message) => None,
            None => speaker(self.view, message),
        }?;
        match self.naming {
            Naming::Prefix(reason) => {
                self.losses.at(LossCode::NameInlined, message.position, reason);
                Some([name, ": "].map(|text| TextRun::new(text, Component::Names)))
            }
            Naming::Absent(_) => {
                self.unnamed_others += u64::from(!sender.is_some_and(|index| self.is_nobody(index)));
                None
            }
            Naming::Field | Naming::Dropped => None,
        }
    }

    /// Declares what became of names.
    pub(super) fn declare_names(&mut self) {
        self.losses.whole_rendering(
            LossCode::NameDropped,
            self.unnamed_own,
            reasons::OWN_TURNS_CARRY_NO_NAME,
        );
        if let Naming::Absent(reason) = self.naming {
            self.losses
                .whole_rendering(LossCode::NameDropped, self.unnamed_others, reason);
        }
        let Some(rule) = self.manner.name_field else {
            return;
        };
        let participants = &self.view.conversation().participants;
        let mut aliased = 0;
        for (index, participant) in participants.iter().enumerate() {
            if let Some(alias) = self.aliases.of(index)
                && alias.as_ref() != participant.display_name()
            {
                aliased += self.named.get(index).copied().unwrap_or(0);
            }
        }
        let reason = reasons::NAME_IS_AN_ALIAS.by(rule);
        self.losses
            .whole_rendering(LossCode::NameAliased, aliased, reason);
    }
}
