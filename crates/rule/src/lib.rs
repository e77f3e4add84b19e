//! What a linked conversation is judged by: one file per rule, each with its check and its tests.
//!
//! Rules read [`Linked`] and nothing else: no file, no source text beyond what the model keeps. What reading or
//! linking itself changes is reported by those who change it; the pages of the codes live in `chatmill-diag`.

use chatmill_diag::{Code, Finding, Limits};
use chatmill_model::Linked;

#[cfg(test)]
mod sample;
mod walk;

/// A check of a linked conversation.
///
/// A rule takes time linear in the conversation's size and neither recurses nor panics. Its findings hold places,
/// ids and counts; chat text only in [`Finding::detail`].
pub trait Rule: Sync {
    /// The codes that the rule can raise.
    fn codes(&self) -> &'static [&'static Code];

    /// Appends what the rule finds, in the order of the messages.
    fn check(&self, linked: &Linked, limits: &Limits, findings: &mut Vec<Finding>);
}

/// Declares the modules, and lists the rules in them.
macro_rules! rules {
    ($($module:ident: $rule:ident;)+) => {
        $(mod $module;)+

        /// Every rule, in the order of the codes.
        pub static RULES: &[&dyn Rule] = &[$(&$module::$rule),+];
    };
}

rules! {
    empty_conversation: EmptyConversation;
    empty_message: EmptyMessage;
    mojibake: Mojibake;
    repeated_message: RepeatedMessage;
    truncated_json: TruncatedJson;
    dangling_reference: DanglingReference;
    reference_to_itself: ReferenceToItself;
    reference_cycle: ReferenceCycle;
    reference_incomplete: ReferenceIncomplete;
    preview_mismatch: PreviewMismatch;
    forward_reference: ForwardReference;
    orphaned_result: OrphanedResult;
    unanswered_call: UnansweredCall;
    result_before_call: ResultBeforeCall;
    duplicate_result: DuplicateResult;
    name_mismatch: NameMismatch;
    malformed_arguments: MalformedArguments;
    arguments_not_object: ArgumentsNotObject;
    arguments_not_string: ArgumentsNotString;
    missing_call_id: MissingCallId;
    ambiguous_call_id: AmbiguousCallId;
    arguments_against_schema: ArgumentsAgainstSchema;
    unknown_sender: UnknownSender;
    sender_name_mismatch: SenderNameMismatch;
    time_goes_backwards: TimeGoesBackwards;
    implausible_time: ImplausibleTime;
    invalid_media_url: InvalidMediaUrl;
    truncated_base64: TruncatedBase64;
    special_token_in_text: SpecialTokenInText;
    several_references: SeveralReferences;
}

/// Appends the findings of every rule.
pub fn check(linked: &Linked, limits: &Limits, findings: &mut Vec<Finding>) {
    for rule in RULES {
        rule.check(linked, limits, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test looks at the files beside this one"
    )]
    fn every_file_is_a_rule() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_known = matches!(&*stem, "lib" | "sample" | "walk")
                || include_str!("lib.rs").contains(&format!("\n    {stem}: "));
            assert!(
                is_known,
                "crates/rule/src/{stem}.rs is not a rule yet: add its line to `rules!` in crates/rule/src/lib.rs"
            );
        }
    }

    #[test]
    fn rules_stand_in_the_order_of_their_codes_and_share_none() {
        let codes: Vec<&str> = RULES
            .iter()
            .flat_map(|rule| rule.codes())
            .map(|code| code.code)
            .collect();
        let places: Vec<usize> = codes
            .iter()
            .map(|code| {
                chatmill_diag::codes::CODES
                    .iter()
                    .position(|known| known.code == *code)
                    .expect("a rule's code is in the registry")
            })
            .collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{codes:?}");
    }

    #[test]
    fn an_ordinary_conversation_has_no_findings() {
        let mut sample = Sample::new();
        sample.say("u1", "shall we ship on Friday?");
        sample.say("u2", "yes, after the tests");
        let mut findings = Vec::new();
        check(&sample.linked(), &Limits::default(), &mut findings);
        assert_eq!(findings, Vec::new());
    }

    #[test]
    fn findings_of_several_rules_come_together() {
        let mut sample = Sample::new();
        sample.say("stranger", "");
        let mut findings = Vec::new();
        check(&sample.linked(), &Limits::default(), &mut findings);
        let names: Vec<&str> = findings.iter().map(|finding| finding.code.name).collect();
        assert_eq!(names, ["empty-message", "unknown-sender"]);
    }
}
