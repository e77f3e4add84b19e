//! The registry of diagnostic codes: one file and one line each, in the order of the mill's stages.
//!
//! To add a code: 1. its file here, which is its page; 2. its line below; 3. its folder in `data-samples/rules/`.

use crate::code::Code;
use crate::suggest::nearest;

/// Declares the modules, and lists the codes in them.
macro_rules! codes {
    ($($module:ident: $code:ident;)+) => {
        $(mod $module;)+
        $(pub use $module::$code;)+

        /// Every code, stage by stage.
        pub static CODES: &[&Code] = &[$(&$code),+];
    };
}

codes! {
    in001_invalid_json: INVALID_JSON;
    in002_invalid_utf8: INVALID_UTF8;
    in003_lone_surrogate: LONE_SURROGATE;
    in004_depth_exceeded: DEPTH_EXCEEDED;
    in005_duplicate_key: DUPLICATE_KEY;
    in006_number_out_of_range: NUMBER_OUT_OF_RANGE;
    in007_record_too_long: RECORD_TOO_LONG;
    in008_truncated_stream: TRUNCATED_STREAM;
    in009_decompression_limit: DECOMPRESSION_LIMIT;
    in010_entry_limit: ENTRY_LIMIT;
    in011_nested_archive: NESTED_ARCHIVE;
    in012_unsafe_entry_name: UNSAFE_ENTRY_NAME;
    in013_not_a_regular_file: NOT_A_REGULAR_FILE;
    in014_unreadable_input: UNREADABLE_INPUT;
    in015_empty_input: EMPTY_INPUT;
    in016_byte_order_mark: BYTE_ORDER_MARK;
    in017_unsupported_container: UNSUPPORTED_CONTAINER;
    in018_corrupt_stream: CORRUPT_STREAM;
    in019_trailing_garbage: TRAILING_GARBAGE;
    in020_document_too_large: DOCUMENT_TOO_LARGE;
    in021_link_not_followed: LINK_NOT_FOLLOWED;
    in022_escaped_nul: ESCAPED_NUL;
    in023_repeated_entry: REPEATED_ENTRY;
    in024_dump_incomplete: DUMP_INCOMPLETE;
    in025_columns_unknown: COLUMNS_UNKNOWN;
    in026_copy_escaped: COPY_ESCAPED;
    in027_malformed_row: MALFORMED_ROW;
    in028_unread_journal: UNREAD_JOURNAL;
    in029_repeated_input: REPEATED_INPUT;
    in030_replacement_character: REPLACEMENT_CHARACTER;
    sr001_missing_field: MISSING_FIELD;
    sr002_wrong_type: WRONG_TYPE;
    sr003_unknown_format: UNKNOWN_FORMAT;
    sr004_source_mismatch: SOURCE_MISMATCH;
    sr005_unknown_version: UNKNOWN_VERSION;
    sr006_unknown_message_type: UNKNOWN_MESSAGE_TYPE;
    sr007_unknown_scene: UNKNOWN_SCENE;
    sr008_empty_conversation: EMPTY_CONVERSATION;
    sr009_empty_message: EMPTY_MESSAGE;
    sr010_cached_block: CACHED_BLOCK;
    sr011_history_repeated: HISTORY_REPEATED;
    sr012_leaked_metadata: LEAKED_METADATA;
    sr013_unfinished_stream: UNFINISHED_STREAM;
    sr014_orphan_chunk: ORPHAN_CHUNK;
    sr015_late_chunk: LATE_CHUNK;
    sr016_compressed_message: COMPRESSED_MESSAGE;
    sr017_loop_depth_exceeded: LOOP_DEPTH_EXCEEDED;
    sr018_unmentioned_response: UNMENTIONED_RESPONSE;
    sr019_split_tool_call: SPLIT_TOOL_CALL;
    sr020_unclosed_turn: UNCLOSED_TURN;
    sr021_text_outside_turns: TEXT_OUTSIDE_TURNS;
    sr022_preference_pair: PREFERENCE_PAIR;
    sr023_labelled_answer: LABELLED_ANSWER;
    sr024_unmatched_path: UNMATCHED_PATH;
    sr025_not_merged: NOT_MERGED;
    sr026_unknown_meta_key: UNKNOWN_META_KEY;
    sr027_mojibake: MOJIBAKE;
    sr028_repeated_message: REPEATED_MESSAGE;
    sr029_truncated_json: TRUNCATED_JSON;
    sr030_other_branches: OTHER_BRANCHES;
    sr031_broken_tree: BROKEN_TREE;
    sr032_incomplete_export: INCOMPLETE_EXPORT;
    sr033_encrypted_reasoning: ENCRYPTED_REASONING;
    sr034_unread_field: UNREAD_FIELD;
    sr035_misrecognised_input: MISRECOGNISED_INPUT;
    as001_duplicate_message_id: DUPLICATE_MESSAGE_ID;
    as002_repeated_row: REPEATED_ROW;
    as003_conversation_too_large: CONVERSATION_TOO_LARGE;
    as004_duplicate_conversation_id: DUPLICATE_CONVERSATION_ID;
    as005_conflicting_message: CONFLICTING_MESSAGE;
    rf001_dangling_reference: DANGLING_REFERENCE;
    rf002_reference_to_itself: REFERENCE_TO_ITSELF;
    rf003_reference_cycle: REFERENCE_CYCLE;
    rf004_reference_incomplete: REFERENCE_INCOMPLETE;
    rf005_preview_mismatch: PREVIEW_MISMATCH;
    rf006_forward_reference: FORWARD_REFERENCE;
    rf007_too_many_references: TOO_MANY_REFERENCES;
    rf008_preview_too_deep: PREVIEW_TOO_DEEP;
    rf009_pseudo_reference: PSEUDO_REFERENCE;
    rf010_reference_elsewhere: REFERENCE_ELSEWHERE;
    tl001_orphaned_result: ORPHANED_RESULT;
    tl002_unanswered_call: UNANSWERED_CALL;
    tl003_result_before_call: RESULT_BEFORE_CALL;
    tl004_duplicate_result: DUPLICATE_RESULT;
    tl005_name_mismatch: NAME_MISMATCH;
    tl006_malformed_arguments: MALFORMED_ARGUMENTS;
    tl007_arguments_not_object: ARGUMENTS_NOT_OBJECT;
    tl008_arguments_not_string: ARGUMENTS_NOT_STRING;
    tl009_missing_call_id: MISSING_CALL_ID;
    tl010_ambiguous_call_id: AMBIGUOUS_CALL_ID;
    tl011_arguments_against_schema: ARGUMENTS_AGAINST_SCHEMA;
    pt001_unknown_sender: UNKNOWN_SENDER;
    pt002_role_conflict: ROLE_CONFLICT;
    pt003_legacy_role: LEGACY_ROLE;
    pt004_personal_data: PERSONAL_DATA;
    pt005_secret: SECRET;
    pt006_contradicting_roster: CONTRADICTING_ROSTER;
    pt007_sender_name_mismatch: SENDER_NAME_MISMATCH;
    tm001_timestamp_unusable: TIMESTAMP_UNUSABLE;
    tm002_timestamp_naive: TIMESTAMP_NAIVE;
    tm003_time_goes_backwards: TIME_GOES_BACKWARDS;
    tm004_unknown_timezone: UNKNOWN_TIMEZONE;
    tm005_timestamp_unusual: TIMESTAMP_UNUSUAL;
    tm006_future_time: FUTURE_TIME;
    tm007_time_before_1990: TIME_BEFORE_1990;
    tm008_wrong_time_unit: WRONG_TIME_UNIT;
    md001_invalid_media_url: INVALID_MEDIA_URL;
    md002_repeated_media: REPEATED_MEDIA;
    md003_unplaced_media: UNPLACED_MEDIA;
    md004_truncated_base64: TRUNCATED_BASE64;
    md005_token_in_address: TOKEN_IN_ADDRESS;
    di001_special_token_in_text: SPECIAL_TOKEN_IN_TEXT;
    di002_several_references: SEVERAL_REFERENCES;
    di003_oversize_rendering: OVERSIZE_RENDERING;
    di004_not_accepted: NOT_ACCEPTED;
    di005_too_many_windows: TOO_MANY_WINDOWS;
    di006_too_many_perspectives: TOO_MANY_PERSPECTIVES;
}

/// Codes of one stage of the mill, which begin with the same two letters.
#[derive(Debug)]
pub struct Family {
    /// The two letters.
    pub letters: &'static str,
    /// What its codes are about.
    pub about: &'static str,
}

impl Family {
    /// Whether a code belongs to it.
    pub fn holds(&self, code: &Code) -> bool {
        code.code.starts_with(self.letters)
    }
}

/// The families, in the order of the mill's stages.
pub static FAMILIES: &[Family] = &[
    family("IN", "Intake: bytes, archives, records"),
    family("SR", "Source: the shape of a format"),
    family("AS", "Assembly: conversations and their ids"),
    family("RF", "References"),
    family("TL", "Tools"),
    family("PT", "Participants"),
    family("TM", "Time"),
    family("MD", "Media"),
    family("DI", "Dialects"),
];

const fn family(letters: &'static str, about: &'static str) -> Family {
    Family { letters, about }
}

/// Finds a code by its letters and digits (any case) or by its name.
pub fn find(text: &str) -> Option<&'static Code> {
    CODES
        .iter()
        .copied()
        .find(|code| code.code.eq_ignore_ascii_case(text) || code.name == text)
}

/// The codes that a word names: one by its letters and digits or its name, or those of a family by the beginning of these.
///
/// # Errors
///
/// The nearest name or code, where there is one that is like it, when the word names none.
pub fn named(word: &str) -> Result<Vec<&'static Code>, Option<&'static str>> {
    let named: Vec<&Code> = CODES
        .iter()
        .copied()
        .filter(|code| code.answers_to(word))
        .collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let letters = word.to_ascii_uppercase();
    let name = nearest(word, CODES.iter().map(|code| code.name));
    Err(name.or_else(|| nearest(&letters, CODES.iter().map(|code| code.code))))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_sorted_by_stage_and_number_and_have_no_gap() {
        let mut expected = Vec::new();
        for family in FAMILIES {
            let size = CODES.iter().filter(|code| family.holds(code)).count();
            expected.extend((1..=size).map(|number| format!("{}{number:03}", family.letters)));
        }
        let codes: Vec<&str> = CODES.iter().map(|code| code.code).collect();
        assert_eq!(codes, expected);
    }

    #[test]
    fn names_are_kebab_case_and_unique() {
        let names: BTreeSet<&str> = CODES.iter().map(|code| code.name).collect();
        assert_eq!(names.len(), CODES.len());
        for name in names {
            let is_word = |word: &str| {
                !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            };
            assert!(name.split('-').all(is_word), "{name}");
        }
    }

    #[test]
    fn every_page_is_written_and_every_example_is_its_own() {
        let mut examples = BTreeSet::new();
        for code in CODES {
            let page = &code.page;
            for text in [page.what, page.why, page.does, page.fix] {
                assert!(
                    text.len() > 20 && text.ends_with(['.', '?']),
                    "{}: {text:?}",
                    code.name
                );
                assert!(!text.contains("  "), "{}: {text:?}", code.name);
            }
            assert!(
                page.example.contains("```"),
                "{}: an example is a block of code",
                code.name
            );
            assert_eq!(
                page.example.matches("```").count() % 2,
                0,
                "{}: a block is left open",
                code.name
            );
            assert!(
                examples.insert(page.example),
                "{}: another code has this example",
                code.name
            );
        }
    }

    #[test]
    fn a_limit_that_a_page_names_exists() {
        let limits = serde_json::to_value(crate::Limits::default()).unwrap();
        for code in CODES {
            for text in [code.page.what, code.page.does, code.page.fix] {
                for rest in text.split("`limits.").skip(1) {
                    let key = rest.split('`').next().unwrap();
                    assert!(limits.get(key).is_some(), "{}: limits.{key}", code.name);
                }
            }
        }
    }

    #[test]
    fn a_word_names_one_code_or_a_family_or_what_is_near() {
        let names = |word: &str| -> Vec<&str> { named(word).unwrap().iter().map(|code| code.name).collect() };
        assert_eq!(names("rf001"), ["dangling-reference"]);
        assert_eq!(names("dangling-reference"), ["dangling-reference"]);
        assert!(names("RF").starts_with(&["dangling-reference", "reference-to-itself"]));
        assert_eq!(named("invalid-jsno").unwrap_err(), Some("invalid-json"));
        assert_eq!(named("in0008").unwrap_err(), Some("IN008"));
        for nothing in ["", "é", "???"] {
            assert_eq!(named(nothing).unwrap_err(), None, "{nothing}");
        }
    }

    #[test]
    fn a_code_is_found_by_code_in_any_case_and_by_name() {
        for code in CODES {
            assert_eq!(find(code.code), Some(*code));
            assert_eq!(find(&code.code.to_lowercase()), Some(*code));
            assert_eq!(find(code.name), Some(*code));
        }
        assert_eq!(find("IN999"), None);
        assert_eq!(find("Invalid-Json"), None);
        assert_eq!(find(""), None);
    }
}
