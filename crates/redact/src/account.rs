//! The account of a redaction: the number of matches of each kind, with their places.

use chatmill_diag::{Finding, codes, cut};
use chatmill_model::Conversation;

use crate::kind::PersonalKind;

/// The number of occurrences of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; PersonalKind::ALL.len()]);

impl Counts {
    /// The number of occurrences of a kind.
    pub fn of(&self, kind: PersonalKind) -> u64 {
        *cut::at(&self.0, kind as usize)
    }

    /// The kinds that occur, in order, with their numbers.
    pub fn kinds(&self) -> impl Iterator<Item = (PersonalKind, u64)> + '_ {
        let counts = PersonalKind::ALL.into_iter().zip(self.0);
        counts.filter(|(_, count)| *count > 0)
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    pub(crate) fn add_all(&mut self, others: &Self) {
        for (count, other) in self.0.iter_mut().zip(others.0) {
            *count += other;
        }
    }

    pub(crate) fn add(&mut self, kind: PersonalKind) {
        *cut::at_mut(&mut self.0, kind as usize) += 1;
    }
}

/// The personal data and secrets found in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Matches in the roster, the metadata and the definitions of tools.
    pub conversation: Counts,
    /// Matches in each message, by position.
    pub messages: Vec<Counts>,
}

impl Account {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.conversation.is_empty() && self.messages.iter().all(Counts::is_empty)
    }

    /// The findings: one for each kind and message, and one for each kind outside of the messages. Names of the roster are one finding,
    /// since nearly every message has some. If values were `replaced`, their findings are notes.
    pub fn findings(&self, conversation: &Conversation, replaced: bool) -> Vec<Finding> {
        let finding_of = |kind: PersonalKind, count: u64, place: &str| {
            let done = if replaced { ", replaced by a pseudonym" } else { "" };
            let code = match (kind, replaced) {
                (PersonalKind::Secret, true) => &codes::REPLACED_SECRET,
                (PersonalKind::Secret, false) => &codes::SECRET,
                (PersonalKind::Name, _) | (_, true) => &codes::EXPECTED_PERSONAL_DATA,
                _ => &codes::PERSONAL_DATA,
            };
            let mut finding = Finding::new(code, format!("{} {place}{done}", with_article(kind)));
            finding.count = count;
            finding
        };
        let is_no_name = |(kind, _): &(PersonalKind, u64)| *kind != PersonalKind::Name;
        let facts = self.conversation.kinds().filter(is_no_name);
        let mut findings: Vec<Finding> = facts
            .map(|(kind, count)| finding_of(kind, count, "in the facts about the conversation"))
            .collect();
        let mut names = self.conversation.of(PersonalKind::Name);
        for (message, counts) in conversation.messages.iter().zip(&self.messages) {
            names += counts.of(PersonalKind::Name);
            for (kind, count) in counts.kinds().filter(is_no_name) {
                let finding = finding_of(kind, count, "in the message");
                findings.push(finding.at_message(message.position, message.id.as_deref(), ""));
            }
        }
        if names > 0 {
            findings.push(finding_of(PersonalKind::Name, names, "in the conversation"));
        }
        findings
    }
}

fn with_article(kind: PersonalKind) -> String {
    let article = if matches!(kind, PersonalKind::Email | PersonalKind::Ip | PersonalKind::Iban) {
        "an"
    } else {
        "a"
    };
    format!("{article} {}", kind.noun())
}

#[cfg(test)]
mod tests {
    use chatmill_diag::Severity;
    use chatmill_model::{Message, MessageKind, Role};

    use super::*;

    fn counts(kinds: &[PersonalKind]) -> Counts {
        let mut counts = Counts::default();
        for kind in kinds {
            counts.add(*kind);
        }
        counts
    }

    fn message(position: u32) -> Message {
        Message {
            id: Some(format!("m{position}")),
            unstated: chatmill_model::Unstated::default(),
            external_id: None,
            position,
            sender: None,
            sender_name: None,
            role: Role::User,
            kind: MessageKind::Message,
            source_type: None,
            timestamp: None,
            parts: Vec::new(),
            references: Vec::new(),
            mentions: Vec::new(),
            weight: None,
            model: None,
            answer: None,
            usage: None,
            earlier_copy: None,
            extra: chatmill_model::Extra::default(),
            origin: chatmill_model::MessageOrigin::default(),
        }
    }

    #[test]
    fn findings_stand_at_their_messages_and_names_are_one() {
        let conversation = Conversation {
            messages: vec![message(0), message(1)],
            ..Conversation::default()
        };
        let account = Account {
            conversation: counts(&[PersonalKind::Name, PersonalKind::Email]),
            messages: vec![
                counts(&[PersonalKind::Name]),
                counts(&[PersonalKind::Card, PersonalKind::Card, PersonalKind::Secret]),
            ],
        };
        let seen: Vec<_> = account
            .findings(&conversation, false)
            .into_iter()
            .map(|finding| {
                (
                    finding.code.name,
                    finding.position,
                    finding.count,
                    finding.severity,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("personal-data", None, 1, Severity::Warning),
                ("personal-data", Some(1), 2, Severity::Warning),
                ("secret", Some(1), 1, Severity::Warning),
                ("personal-data", None, 2, Severity::Note),
            ]
        );
        let replaced = account.findings(&conversation, true);
        assert!(replaced.iter().all(|finding| finding.severity == Severity::Note));
        assert_eq!(
            replaced[1].message,
            "a card number in the message, replaced by a pseudonym"
        );
    }
}
