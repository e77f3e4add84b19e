//! Writes the names of speakers into a field, before the text, or nowhere; turns of the assistant have no name.

use chatmill_diag::cut;
use chatmill_model::{Message, Role};

use super::Pass;
use crate::loss::{LossCode, LossReason, reasons};
use crate::naming::participants::{is_nobody, speaker};
use crate::passes::profile::DialectProfile;
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Lead, Turn, TurnPlan, Wording, Words};
use crate::view::policy::Names;

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.name_field, profile.nameless) {
        (_, Some(_)) => &[LossCode::NameDropped, LossCode::ControlCharacterRemoved],
        (None, None) => &[
            LossCode::NameDropped,
            LossCode::NameInlined,
            LossCode::ControlCharacterRemoved,
        ],
        (Some(_), None) => &[
            LossCode::NameDropped,
            LossCode::NameInlined,
            LossCode::NameAliased,
            LossCode::ControlCharacterRemoved,
        ],
    },
    run: |plan, transcript, profile| {
        let mut namer = NameWriter {
            transcript,
            naming: NamePlace::choose(transcript, profile),
            named: Vec::new(),
            unnamed_own: 0,
            unnamed_others: 0,
        };
        namer.quotes(plan);
        namer.turns(plan);
        namer.declare(plan, profile);
    },
};

/// Where the names of one rendering are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamePlace {
    /// In the field for names.
    Field,
    /// Before the text, for this reason.
    Prefix(LossReason),
    /// Nowhere, by policy.
    Dropped,
    /// Nowhere, for this reason.
    Absent(LossReason),
}

impl NamePlace {
    /// Chooses by policy, and by the number of speakers where policy leaves it open. Speakers of the whole conversation count, so that
    /// either all of its windows show names or none does.
    fn choose(transcript: &Transcript<'_>, profile: &DialectProfile) -> Self {
        let has_field = profile.name_field.is_some();
        if let Some(reason) = profile.nameless {
            return Self::Absent(reason);
        }
        match transcript.view().policy.names {
            Names::Auto | Names::Field if has_field => Self::Field,
            Names::Prefix => Self::Prefix(reasons::POLICY_PUTS_NAMES_IN_FRONT),
            Names::Drop => Self::Dropped,
            Names::Field => Self::Absent(reasons::NO_FIELD_FOR_NAMES),
            Names::Auto => {
                if transcript.has_several_others() {
                    Self::Prefix(reasons::SEVERAL_OTHER_SPEAKERS)
                } else {
                    Self::Absent(reasons::ONE_OTHER_SPEAKER)
                }
            }
        }
    }
}

struct NameWriter<'t, 'a> {
    transcript: &'t Transcript<'a>,
    naming: NamePlace,
    /// Number of messages per participant that are written with the participant's alias.
    named: Vec<u64>,
    /// Number of messages of the perspective, which have no name.
    unnamed_own: u64,
    /// Number of messages of others that have no name.
    unnamed_others: u64,
}

impl<'a> NameWriter<'_, 'a> {
    /// Writes aliases in quotes where turns have them, too.
    fn quotes(&mut self, plan: &mut TurnPlan<'a>) {
        if plan.quotes.is_empty() {
            return;
        }
        for index in 0..plan.blocks.len() {
            let Block {
                content: BlockContent::Words(Wording::Quote(number), words),
                position: Some(position),
                ..
            } = *cut::at(&plan.blocks, index)
            else {
                continue;
            };
            let name = *cut::at(&plan.quotes, number);
            match name.aliased.filter(|_| self.naming == NamePlace::Field) {
                Some((head, participant)) => {
                    if let Some(first) = plan.words_mut(words).first_mut() {
                        first.text = head;
                    }
                    self.count(participant);
                }
                None => plan.losses.several(
                    reasons::QUOTED_NAMES_HOLD_NO_CONTROLS,
                    position,
                    u64::from(name.is_cleaned),
                ),
            }
        }
    }

    fn turns(&mut self, plan: &mut TurnPlan<'a>) {
        let has_prefixes = matches!(self.naming, NamePlace::Prefix(_));
        let mut nameless = Vec::new();
        for index in 0..plan.turns.len() {
            let turn = *cut::at(&plan.turns, index);
            let message = turn
                .position
                .and_then(|position| self.transcript.view().message(position));
            let Some(message) = message else {
                continue;
            };
            match turn.role {
                Role::Assistant => self.unnamed_own += 1,
                Role::System => self.system(plan, message),
                Role::User => {
                    let alias = self.alias(&turn);
                    let name = self.user(plan, &turn, message);
                    cut::at_mut(&mut plan.turns, index).alias = alias;
                    if let Some(name) = name.filter(|_| has_prefixes) {
                        match plan.blocks_mut(turn).first_mut() {
                            Some(first) if matches!(first.content, BlockContent::Words(..)) => {
                                first.lead = Lead::Name(name);
                            }
                            _ => nameless.push((index, name)),
                        }
                    }
                }
                Role::Tool => {}
            }
        }
        if !nameless.is_empty() {
            put_names_before(plan, &nameless);
        }
    }

    fn system(&self, plan: &mut TurnPlan<'a>, message: &Message) {
        if message.sender.is_some_and(|sender| !self.is_nobody(sender)) {
            plan.losses
                .at(reasons::SYSTEM_TEXT_BEARS_NO_NAME, message.position);
        }
    }

    /// Returns the name of the speaker of a user turn; where the name is not written or inlined, that is declared or counted.
    fn user(&mut self, plan: &mut TurnPlan<'a>, turn: &Turn<'a>, message: &'a Message) -> Option<&'a str> {
        let position = message.position;
        if self.naming == NamePlace::Dropped && turn.sender.is_some() {
            let reason = reasons::POLICY_DROPS_NAMES;
            plan.losses.at((LossCode::NameDropped, reason), position);
        }
        let view = self.transcript.view();
        let participants = &view.conversation().participants;
        let called = turn
            .sender
            .and_then(|index| self.transcript.namesakes().of_participant(index));
        let name = match turn.sender.and_then(|index| participants.get(index)) {
            Some(participant) => called.unwrap_or(participant.display_name()),
            None if view.is_own(message) => return None,
            None => speaker(view, message)?,
        };
        match self.naming {
            NamePlace::Prefix(reason) => plan.losses.at((LossCode::NameInlined, reason), position),
            NamePlace::Absent(_) => {
                let is_nobody = turn.sender.is_some_and(|index| self.is_nobody(index));
                self.unnamed_others += u64::from(!is_nobody);
            }
            NamePlace::Field | NamePlace::Dropped => {}
        }
        Some(name)
    }

    /// Returns the alias of the speaker for the name field of a turn, and counts it.
    fn alias(&mut self, turn: &Turn<'a>) -> Option<&'a str> {
        let sender = turn.sender.filter(|_| self.naming == NamePlace::Field);
        let index = sender.filter(|index| !self.is_nobody(*index))?;
        self.count(index);
        Some(self.transcript.alias(index))
    }

    fn count(&mut self, participant: usize) {
        if self.named.len() <= participant {
            self.named.resize(participant + 1, 0);
        }
        *cut::at_mut(&mut self.named, participant) += 1;
    }

    /// Whether only the role of a participant is known, which every turn states anyway.
    fn is_nobody(&self, index: usize) -> bool {
        let participants = &self.transcript.view().conversation().participants;
        participants.get(index).is_some_and(is_nobody)
    }

    /// Declares names that are not written, and names that are written as aliases.
    fn declare(&self, plan: &mut TurnPlan<'a>, profile: &DialectProfile) {
        let losses = &mut plan.losses;
        losses.whole_rendering(reasons::OWN_TURNS_CARRY_NO_NAME, self.unnamed_own);
        if let NamePlace::Absent(reason) = self.naming {
            losses.whole_rendering((LossCode::NameDropped, reason), self.unnamed_others);
        }
        let Some(rule) = profile.name_field else {
            return;
        };
        let participants = &self.transcript.view().conversation().participants;
        let mut aliased = 0;
        for (index, (count, participant)) in self.named.iter().zip(participants).enumerate() {
            if *count > 0 && self.transcript.alias(index) != participant.display_name() {
                aliased += count;
            }
        }
        losses.whole_rendering(reasons::NAME_IS_AN_ALIAS.by(rule), aliased);
    }
}

/// Adds a block with the name before turns that do not begin with a text.
fn put_names_before<'a>(plan: &mut TurnPlan<'a>, names: &[(usize, &'a str)]) {
    let mut names = names.iter().peekable();
    let mut index = 0;
    plan.rebuild(|plan, turn, blocks| {
        let start = plan.blocks.len();
        if let (Some((_, name)), Some(first)) = (names.next_if(|(at, _)| *at == index), blocks.first()) {
            let content = BlockContent::Words(Wording::Name, Words::default());
            plan.blocks.push(Block {
                lead: Lead::Name(name),
                opens: true,
                ..Block::new(content, first.position, first.role)
            });
        }
        index += 1;
        let has_name = plan.blocks.len() > start;
        plan.blocks.extend(blocks.iter().map(|block| Block {
            opens: block.opens && !has_name,
            ..*block
        }));
        plan.close(turn, start);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::samples::{ANN, BEN, BOT, PLAIN, Sample, picture, text};

    fn chat() -> Sample {
        Sample::new()
            .post(ANN, vec![text("a")])
            .post(BEN, vec![text("b")])
            .post(BOT, vec![text("c")])
    }

    #[test]
    fn several_users_are_named_before_their_text() {
        let (turns, losses) = chat().after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: Ann: a", "user: Ben: b", "assistant: c"]);
        assert_eq!(
            losses,
            ["name-dropped all 1", "name-inlined 0 1", "name-inlined 1 1"]
        );
        let one = Sample::new().post(ANN, vec![text("a")]);
        let (turns, losses) = one.after(&[&PASS], &PLAIN);
        assert_eq!(
            (turns, losses),
            (vec!["user: a".to_owned()], vec!["name-dropped all 1".to_owned()])
        );
    }

    #[test]
    fn a_field_for_names_has_aliases() {
        let field = DialectProfile {
            name_field: Some(crate::loss::rule::samples::ABC_01),
            ..PLAIN
        };
        let (turns, losses) = chat().after(&[&PASS], &field);
        assert_eq!(turns, ["user(Ann): a", "user(Ben): b", "assistant: c"]);
        assert_eq!(losses, ["name-dropped all 1"]);
    }

    #[test]
    fn a_name_before_a_picture_stands_alone() {
        let sample = Sample::new()
            .post(ANN, vec![picture()])
            .post(BEN, vec![text("b")]);
        let (turns, _) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: Ann:  | <image>", "user: Ben: b"]);
    }

    #[test]
    fn policy_may_drop_names() {
        let mut sample = chat();
        sample.policy.names = Names::Drop;
        let (turns, losses) = sample.after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["user: a", "user: b", "assistant: c"]);
        assert_eq!(
            losses,
            ["name-dropped all 1", "name-dropped 0 1", "name-dropped 1 1"]
        );
    }
}
