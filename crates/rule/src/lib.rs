//! Checks linked conversations: one file per rule, each with its check.
//!
//! [`check`] takes a [`Linked`] conversation and the limits, and appends findings; `engine` calls it. Rules read `Linked` and nothing else:
//! no file, and no source text that the model does not keep. Faults that reading or linking repairs are reported there; the pages of the
//! codes are in `chatmill-diag`.

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_model::Linked;

mod walk;

/// A check: appends the findings of a rule in a linked conversation, in the order of the messages.
///
/// It takes time linear in the conversation's size, and neither recurses nor panics. Findings contain places, ids and counts; chat text
/// only in [`Finding::detail`].
type Check = fn(&Linked, &Limits, &mut Vec<Finding>);

/// A rule: the codes that it can raise, and its check.
struct Rule {
    codes: &'static [&'static Code],
    check: Check,
}

/// Declares the modules, and lists the rules in them, each with its codes.
macro_rules! rules {
    ($($module:ident: $($code:ident),+;)+) => {
        $(mod $module;)+

        /// Every rule, in the order of the codes.
        static RULES: &[Rule] = &[$(Rule { codes: &[$(&codes::$code),+], check: $module::check }),+];
    };
}

rules! {
    empty_conversation: EMPTY_CONVERSATION;
    empty_message: EMPTY_MESSAGE;
    mojibake: MOJIBAKE;
    repeated_message: REPEATED_MESSAGE;
    truncated_json: TRUNCATED_JSON;
    answer_without_turn: ANSWER_WITHOUT_TURN;
    dangling_reference: DANGLING_REFERENCE;
    reference_to_itself: REFERENCE_TO_ITSELF;
    reference_cycle: REFERENCE_CYCLE;
    reference_incomplete: REFERENCE_INCOMPLETE;
    preview_mismatch: PREVIEW_MISMATCH;
    forward_reference: FORWARD_REFERENCE;
    orphaned_result: ORPHANED_RESULT;
    unanswered_call: UNANSWERED_CALL;
    result_before_call: RESULT_BEFORE_CALL;
    duplicate_result: DUPLICATE_RESULT;
    name_mismatch: NAME_MISMATCH;
    malformed_arguments: MALFORMED_ARGUMENTS;
    arguments_not_object: ARGUMENTS_NOT_OBJECT;
    arguments_not_string: ARGUMENTS_NOT_STRING;
    missing_call_id: MISSING_CALL_ID;
    ambiguous_call_id: AMBIGUOUS_CALL_ID;
    arguments_against_schema: ARGUMENTS_AGAINST_SCHEMA;
    call_syntax_in_system: CALL_SYNTAX_IN_SYSTEM;
    unknown_sender: UNKNOWN_SENDER;
    sender_name_mismatch: SENDER_NAME_MISMATCH;
    time_goes_backwards: TIME_GOES_BACKWARDS;
    implausible_time: FUTURE_TIME, TIME_BEFORE_1990, WRONG_TIME_UNIT;
    invalid_media_url: INVALID_MEDIA_URL;
    truncated_base64: TRUNCATED_BASE64;
    special_token_in_text: SPECIAL_TOKEN_IN_TEXT;
    several_references: SEVERAL_REFERENCES;
}

/// Appends the findings of every rule.
pub fn check(linked: &Linked, limits: &Limits, findings: &mut Vec<Finding>) {
    for rule in RULES {
        let earlier = findings.len();
        (rule.check)(linked, limits, findings);
        let mut own = findings.iter().skip(earlier);
        debug_assert!(
            own.all(|finding| rule.codes.contains(&finding.code)),
            "{:?}",
            rule.codes
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test lists the files in this folder"
    )]
    fn every_file_is_a_rule() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_known = matches!(&*stem, "lib" | "walk")
                || include_str!("lib.rs").contains(&format!("\n    {stem}: "));
            assert!(
                is_known,
                "crates/rule/src/{stem}.rs is not a rule yet: add its line to `rules!` in crates/rule/src/lib.rs"
            );
        }
    }

    #[test]
    fn rules_are_sorted_by_code_and_no_code_has_two_rules() {
        let codes: Vec<&str> = RULES
            .iter()
            .flat_map(|rule| rule.codes)
            .map(|code| code.code)
            .collect();
        let places: Vec<usize> = codes
            .iter()
            .map(|code| {
                codes::CODES
                    .iter()
                    .position(|known| known.code == *code)
                    .expect("a rule's code is in the registry")
            })
            .collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{codes:?}");
    }
}
