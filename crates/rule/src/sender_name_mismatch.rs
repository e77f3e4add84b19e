//! `sender-name-mismatch`: a message calls its sender otherwise than the roster does.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Participant, Role};

use crate::Rule;
use crate::walk::{Id, PerParticipant, at_message};

/// Finds names that the roster does not have: one finding for each listed sender.
pub(crate) struct SenderNameMismatch;

impl Rule for SenderNameMismatch {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::SENDER_NAME_MISMATCH];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        let conversation = &linked.conversation;
        let mut per_participant = PerParticipant::new(conversation);
        for message in &conversation.messages {
            let sender = message
                .sender
                .and_then(|index| Some((index, conversation.participants.get(index)?)));
            let (Some((index, participant)), Some(name)) = (sender, message.sender_name.as_deref()) else {
                continue;
            };
            // Beside a result stands the name of its tool.
            if message.role == Role::Tool
                || !participant.listed
                || participant.own_name().is_none()
                || knows(participant, name)
            {
                continue;
            }
            per_participant.add(index, findings, || {
                let text = format!("sender {} has another name in the roster", Id(&participant.id));
                at_message(&codes::SENDER_NAME_MISMATCH, message, text)
                    .marking(name)
                    .quoting(name)
                    .naming(&participant.id)
            });
        }
    }
}

/// Words that stand in the place of a name and are none.
const ROLES: &[&str] = &[
    "user",
    "human",
    "assistant",
    "ai",
    "bot",
    "agent",
    "robot",
    "system",
    "tool",
];

fn knows(participant: &Participant, name: &str) -> bool {
    let known = [
        Some(participant.id.as_str()),
        participant.name.as_deref(),
        participant.alias.as_deref(),
    ];
    let name = plain(name);
    name.is_empty()
        || ROLES.contains(&name.as_str())
        || known.into_iter().flatten().any(|known| plain(known) == name)
}

/// A name without what people add or leave out.
fn plain(name: &str) -> String {
    name.trim_start_matches('@')
        .chars()
        .filter(|character| !character.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    fn found(roster: Option<&str>, said: &[&str]) -> Vec<(Option<u32>, u64)> {
        let mut sample = Sample::new();
        for name in said {
            sample.say("u1", "hello").sender_name = Some((*name).to_owned());
        }
        let result = sample.say("u1", "12 °C");
        (result.sender_name, result.role) = (Some("weather".to_owned()), Role::Tool);
        let mut linked = sample.linked();
        linked.conversation.participants[0].name = roster.map(str::to_owned);
        let mut findings = Vec::new();
        SenderNameMismatch.check(&linked, &Limits::default(), &mut findings);
        findings
            .iter()
            .map(|finding| (finding.position, finding.count))
            .collect()
    }

    #[test]
    fn another_name_is_one_finding_for_its_sender() {
        assert_eq!(found(Some("Ann"), &["Ann", "Bo", "Cid"]), [(Some(1), 2)]);
    }

    #[test]
    fn capitals_blanks_ids_and_rosters_without_names_are_silent() {
        assert_eq!(
            found(
                Some("Ann Lee"),
                &["ann lee", "AnnLee", "@annlee", "u1", " ", "Ann Lee"]
            ),
            []
        );
        assert_eq!(found(Some("Ann"), &["user", "Assistant"]), []);
        assert_eq!(found(None, &["Bo"]), []);
        assert_eq!(found(Some(""), &["Bo"]), []);
    }
}
