//! `unanswered-call`: a call whose result is nowhere.

use chatmill_diag::{Code, Finding, Limits, Severity, codes};
use chatmill_model::{CallStatus, Linked, Message, MessageKind};

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
                let is_last = is_answer(linked, message);
                findings.push(if is_last {
                    finding.with_severity(Severity::Note)
                } else {
                    finding
                });
            }
        }
    }
}

/// Whether the conversation ends with the calls of a message, none of which has a result: they are what it answers.
fn is_answer(linked: &Linked, message: &Message) -> bool {
    let messages = linked.conversation.messages.iter();
    let mut later = messages.skip(message.position as usize + 1);
    later.all(|later| later.kind == MessageKind::Notice)
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
    fn a_late_result_is_an_answer() {
        let mut sample = Sample::new();
        sample.call_and_answer();
        sample.pair(Some(0), Some(1), CallStatus::Late);
        assert!(sample.check(&UnansweredCall).is_empty());
    }
}
