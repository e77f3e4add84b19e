//! `repeated-message`: somebody says the same several times in a row.
//!
//! Short words are left out: people do say *ok* twice. What has the same id, too, was dropped when the conversation was linked.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Part};

use crate::Rule;
use crate::walk::at_message;

/// Characters of text from which on a repeat is told.
const CHARACTERS: usize = 16;

/// Finds runs of equal messages: one finding a run, at its second message.
pub(crate) struct RepeatedMessage;

impl Rule for RepeatedMessage {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::REPEATED_MESSAGE];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        let messages = &linked.conversation.messages;
        let mut run: Option<Finding> = None;
        for pair in messages.windows(2) {
            let [before, message] = pair else { continue };
            if !repeats(before, message) {
                findings.extend(run.take());
            } else if let Some(run) = &mut run {
                run.count += 1;
            } else {
                let text = format!("it says the same as position {}", before.position);
                run = Some(at_message(&codes::REPEATED_MESSAGE, message, text));
            }
        }
        findings.extend(run);
    }
}

fn repeats(before: &Message, message: &Message) -> bool {
    message.kind == MessageKind::Message
        && (before.kind, before.role, before.sender) == (message.kind, message.role, message.sender)
        && message.sender.is_some()
        && message.parts == before.parts
        && message.parts.iter().any(is_telling)
}

fn is_telling(part: &Part) -> bool {
    match part {
        Part::Text(text) | Part::Reasoning(text) => text.chars().nth(CHARACTERS - 1).is_some(),
        Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
        Part::Notice(_) | Part::CacheMark => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    fn found(said: &[(&str, &str)]) -> Vec<(Option<u32>, u64)> {
        let mut sample = Sample::new();
        for (sender, text) in said {
            sample.say(sender, text);
        }
        let findings = sample.check(&RepeatedMessage);
        findings
            .iter()
            .map(|finding| (finding.position, finding.count))
            .collect()
    }

    #[test]
    fn a_run_is_one_finding_with_a_count() {
        let (long, other) = ("sixteen letters!", "another sentence");
        assert_eq!(
            found(&[
                ("u1", long),
                ("u1", long),
                ("u1", long),
                ("u1", other),
                ("u1", long),
                ("u1", long)
            ]),
            [(Some(1), 2), (Some(5), 1)]
        );
    }

    #[test]
    fn short_words_and_other_speakers_are_silent() {
        assert_eq!(found(&[("u1", "fifteen letters"), ("u1", "fifteen letters")]), []);
        assert_eq!(
            found(&[("u1", "sixteen letters!"), ("u2", "sixteen letters!")]),
            []
        );
        assert_eq!(
            found(&[
                ("u1", "sixteen letters!"),
                ("u1", "ok"),
                ("u1", "sixteen letters!")
            ]),
            []
        );
    }
}
