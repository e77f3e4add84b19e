//! `unanswered-call`: a call whose result is nowhere.

use chatmill_diag::{Code, Finding, Limits, Severity, codes};
use chatmill_model::{CallStatus, Linked, MessageKind};

use crate::Rule;
use crate::walk::{Id, at_call, call_of};

/// Finds calls without a result.
pub(crate) struct UnansweredCall;

impl Rule for UnansweredCall {
    fn codes(&self) -> &'static [&'static Code] {
        const CODES: &[&Code] = &[&codes::UNANSWERED_CALL];
        CODES
    }

    fn check(&self, linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
        let end = end_of_talk(linked);
        for pairing in linked
            .pairings
            .iter()
            .filter(|pairing| pairing.status == CallStatus::Unanswered)
        {
            if let Some((message, call)) = call_of(linked, pairing) {
                let text = match call.known_id() {
                    Some(id) => format!("call {} has no result", Id(id)),
                    None => "call has no result".to_owned(),
                };
                let finding = at_call(&codes::UNANSWERED_CALL, message, call, text);
                findings.push(if message.position as usize + 1 >= end {
                    finding.with_severity(Severity::Note)
                } else {
                    finding
                });
            }
        }
    }
}

/// One past the last message that is no notice. Where it calls and none of its calls has a result, they are what it answers.
fn end_of_talk(linked: &Linked) -> usize {
    let mut messages = linked.conversation.messages.iter();
    let last = messages.rposition(|message| message.kind != MessageKind::Notice);
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, object};
    use chatmill_model::ArgumentForm;

    #[test]
    fn a_call_without_result_is_found() {
        let open = || {
            let mut sample = Sample::new();
            sample.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
            sample.pair(Some(0), None, CallStatus::Unanswered);
            sample
        };
        let findings = open().check(&UnansweredCall);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "call `c1` has no result");
        assert_eq!(findings[0].severity, Severity::Note, "nothing follows it");
        let mut followed = open();
        followed.answer(None, "other");
        assert_eq!(followed.check(&UnansweredCall)[0].severity, Severity::Warning);
    }

    #[test]
    fn what_ends_a_conversation_is_followed_by_notices_at_most() {
        let mut sample = Sample::new();
        for _ in 0..2 {
            sample.call(None, "weather", object("{}"), ArgumentForm::Text);
        }
        for position in [0, 1] {
            sample.pair(Some(position), None, CallStatus::Unanswered);
        }
        for _ in 0..3 {
            sample.say("u1", "joined").kind = MessageKind::Notice;
        }
        let severities: Vec<Severity> = sample
            .check(&UnansweredCall)
            .iter()
            .map(|finding| finding.severity)
            .collect();
        assert_eq!(severities, [Severity::Warning, Severity::Note]);
    }

    #[test]
    fn a_late_result_is_an_answer() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Late);
        assert!(sample.check(&UnansweredCall).is_empty());
    }
}
