//! The registry of diagnostic codes: one file and one line each.

use crate::code::Code;

mod as001_duplicate_message_id;
mod as002_repeated_row;
mod as003_conversation_too_large;
mod as004_duplicate_conversation_id;
mod di001_special_token_in_text;
mod di002_several_references;
mod di003_oversize_rendering;
mod di004_not_accepted;
mod di005_too_many_windows;
mod di006_too_many_perspectives;
mod in001_invalid_json;
mod in002_invalid_utf8;
mod in003_lone_surrogate;
mod in004_depth_exceeded;
mod in005_duplicate_key;
mod in006_number_out_of_range;
mod in007_record_too_long;
mod in008_truncated_stream;
mod in009_decompression_limit;
mod in010_entry_limit;
mod in011_nested_archive;
mod in012_unsafe_entry_name;
mod in013_not_a_regular_file;
mod in014_unreadable_input;
mod in015_empty_input;
mod in016_byte_order_mark;
mod in017_unsupported_container;
mod in018_corrupt_stream;
mod in019_trailing_garbage;
mod in020_document_too_large;
mod in021_link_not_followed;
mod in022_escaped_nul;
mod in023_repeated_entry;
mod in024_dump_incomplete;
mod in025_columns_unknown;
mod in026_copy_escaped;
mod in027_malformed_row;
mod in028_unread_journal;
mod md001_invalid_media_url;
mod md002_repeated_media;
mod md003_unplaced_media;
mod pt001_unknown_sender;
mod pt002_role_conflict;
mod pt003_legacy_role;
mod pt004_personal_data;
mod pt005_secret;
mod rf001_dangling_reference;
mod rf002_reference_to_itself;
mod rf003_reference_cycle;
mod rf004_reference_incomplete;
mod rf005_preview_mismatch;
mod rf006_forward_reference;
mod rf007_too_many_references;
mod rf008_preview_too_deep;
mod rf009_pseudo_reference;
mod sr001_missing_field;
mod sr002_wrong_type;
mod sr003_unknown_format;
mod sr004_source_mismatch;
mod sr005_unknown_version;
mod sr006_unknown_message_type;
mod sr007_unknown_scene;
mod sr008_empty_conversation;
mod sr009_empty_message;
mod sr010_cached_block;
mod sr011_history_repeated;
mod sr012_leaked_metadata;
mod sr013_unfinished_stream;
mod sr014_orphan_chunk;
mod sr015_late_chunk;
mod sr016_compressed_message;
mod sr017_loop_depth_exceeded;
mod sr018_unmentioned_response;
mod sr019_split_tool_call;
mod sr020_unclosed_turn;
mod sr021_text_outside_turns;
mod sr022_preference_pair;
mod sr023_labelled_answer;
mod sr024_unmatched_path;
mod sr025_not_merged;
mod sr026_unknown_meta_key;
mod tl001_orphaned_result;
mod tl002_unanswered_call;
mod tl003_result_before_call;
mod tl004_duplicate_result;
mod tl005_name_mismatch;
mod tl006_malformed_arguments;
mod tl007_arguments_not_object;
mod tl008_arguments_not_string;
mod tl009_missing_call_id;
mod tl010_ambiguous_call_id;
mod tm001_timestamp_unusable;
mod tm002_timestamp_naive;
mod tm003_time_goes_backwards;
mod tm004_unknown_timezone;
mod tm005_timestamp_unusual;

pub use as001_duplicate_message_id::DUPLICATE_MESSAGE_ID;
pub use as002_repeated_row::REPEATED_ROW;
pub use as003_conversation_too_large::CONVERSATION_TOO_LARGE;
pub use as004_duplicate_conversation_id::DUPLICATE_CONVERSATION_ID;
pub use di001_special_token_in_text::SPECIAL_TOKEN_IN_TEXT;
pub use di002_several_references::SEVERAL_REFERENCES;
pub use di003_oversize_rendering::OVERSIZE_RENDERING;
pub use di004_not_accepted::NOT_ACCEPTED;
pub use di005_too_many_windows::TOO_MANY_WINDOWS;
pub use di006_too_many_perspectives::TOO_MANY_PERSPECTIVES;
pub use in001_invalid_json::INVALID_JSON;
pub use in002_invalid_utf8::INVALID_UTF8;
pub use in003_lone_surrogate::LONE_SURROGATE;
pub use in004_depth_exceeded::DEPTH_EXCEEDED;
pub use in005_duplicate_key::DUPLICATE_KEY;
pub use in006_number_out_of_range::NUMBER_OUT_OF_RANGE;
pub use in007_record_too_long::RECORD_TOO_LONG;
pub use in008_truncated_stream::TRUNCATED_STREAM;
pub use in009_decompression_limit::DECOMPRESSION_LIMIT;
pub use in010_entry_limit::ENTRY_LIMIT;
pub use in011_nested_archive::NESTED_ARCHIVE;
pub use in012_unsafe_entry_name::UNSAFE_ENTRY_NAME;
pub use in013_not_a_regular_file::NOT_A_REGULAR_FILE;
pub use in014_unreadable_input::UNREADABLE_INPUT;
pub use in015_empty_input::EMPTY_INPUT;
pub use in016_byte_order_mark::BYTE_ORDER_MARK;
pub use in017_unsupported_container::UNSUPPORTED_CONTAINER;
pub use in018_corrupt_stream::CORRUPT_STREAM;
pub use in019_trailing_garbage::TRAILING_GARBAGE;
pub use in020_document_too_large::DOCUMENT_TOO_LARGE;
pub use in021_link_not_followed::LINK_NOT_FOLLOWED;
pub use in022_escaped_nul::ESCAPED_NUL;
pub use in023_repeated_entry::REPEATED_ENTRY;
pub use in024_dump_incomplete::DUMP_INCOMPLETE;
pub use in025_columns_unknown::COLUMNS_UNKNOWN;
pub use in026_copy_escaped::COPY_ESCAPED;
pub use in027_malformed_row::MALFORMED_ROW;
pub use in028_unread_journal::UNREAD_JOURNAL;
pub use md001_invalid_media_url::INVALID_MEDIA_URL;
pub use md002_repeated_media::REPEATED_MEDIA;
pub use md003_unplaced_media::UNPLACED_MEDIA;
pub use pt001_unknown_sender::UNKNOWN_SENDER;
pub use pt002_role_conflict::ROLE_CONFLICT;
pub use pt003_legacy_role::LEGACY_ROLE;
pub use pt004_personal_data::PERSONAL_DATA;
pub use pt005_secret::SECRET;
pub use rf001_dangling_reference::DANGLING_REFERENCE;
pub use rf002_reference_to_itself::REFERENCE_TO_ITSELF;
pub use rf003_reference_cycle::REFERENCE_CYCLE;
pub use rf004_reference_incomplete::REFERENCE_INCOMPLETE;
pub use rf005_preview_mismatch::PREVIEW_MISMATCH;
pub use rf006_forward_reference::FORWARD_REFERENCE;
pub use rf007_too_many_references::TOO_MANY_REFERENCES;
pub use rf008_preview_too_deep::PREVIEW_TOO_DEEP;
pub use rf009_pseudo_reference::PSEUDO_REFERENCE;
pub use sr001_missing_field::MISSING_FIELD;
pub use sr002_wrong_type::WRONG_TYPE;
pub use sr003_unknown_format::UNKNOWN_FORMAT;
pub use sr004_source_mismatch::SOURCE_MISMATCH;
pub use sr005_unknown_version::UNKNOWN_VERSION;
pub use sr006_unknown_message_type::UNKNOWN_MESSAGE_TYPE;
pub use sr007_unknown_scene::UNKNOWN_SCENE;
pub use sr008_empty_conversation::EMPTY_CONVERSATION;
pub use sr009_empty_message::EMPTY_MESSAGE;
pub use sr010_cached_block::CACHED_BLOCK;
pub use sr011_history_repeated::HISTORY_REPEATED;
pub use sr012_leaked_metadata::LEAKED_METADATA;
pub use sr013_unfinished_stream::UNFINISHED_STREAM;
pub use sr014_orphan_chunk::ORPHAN_CHUNK;
pub use sr015_late_chunk::LATE_CHUNK;
pub use sr016_compressed_message::COMPRESSED_MESSAGE;
pub use sr017_loop_depth_exceeded::LOOP_DEPTH_EXCEEDED;
pub use sr018_unmentioned_response::UNMENTIONED_RESPONSE;
pub use sr019_split_tool_call::SPLIT_TOOL_CALL;
pub use sr020_unclosed_turn::UNCLOSED_TURN;
pub use sr021_text_outside_turns::TEXT_OUTSIDE_TURNS;
pub use sr022_preference_pair::PREFERENCE_PAIR;
pub use sr023_labelled_answer::LABELLED_ANSWER;
pub use sr024_unmatched_path::UNMATCHED_PATH;
pub use sr025_not_merged::NOT_MERGED;
pub use sr026_unknown_meta_key::UNKNOWN_META_KEY;
pub use tl001_orphaned_result::ORPHANED_RESULT;
pub use tl002_unanswered_call::UNANSWERED_CALL;
pub use tl003_result_before_call::RESULT_BEFORE_CALL;
pub use tl004_duplicate_result::DUPLICATE_RESULT;
pub use tl005_name_mismatch::NAME_MISMATCH;
pub use tl006_malformed_arguments::MALFORMED_ARGUMENTS;
pub use tl007_arguments_not_object::ARGUMENTS_NOT_OBJECT;
pub use tl008_arguments_not_string::ARGUMENTS_NOT_STRING;
pub use tl009_missing_call_id::MISSING_CALL_ID;
pub use tl010_ambiguous_call_id::AMBIGUOUS_CALL_ID;
pub use tm001_timestamp_unusable::TIMESTAMP_UNUSABLE;
pub use tm002_timestamp_naive::TIMESTAMP_NAIVE;
pub use tm003_time_goes_backwards::TIME_GOES_BACKWARDS;
pub use tm004_unknown_timezone::UNKNOWN_TIMEZONE;
pub use tm005_timestamp_unusual::TIMESTAMP_UNUSUAL;

/// Every code, in the order of its letters and digits.
pub static CODES: &[&Code] = &[
    &INVALID_JSON,
    &INVALID_UTF8,
    &LONE_SURROGATE,
    &DEPTH_EXCEEDED,
    &DUPLICATE_KEY,
    &NUMBER_OUT_OF_RANGE,
    &RECORD_TOO_LONG,
    &TRUNCATED_STREAM,
    &DECOMPRESSION_LIMIT,
    &ENTRY_LIMIT,
    &NESTED_ARCHIVE,
    &UNSAFE_ENTRY_NAME,
    &NOT_A_REGULAR_FILE,
    &UNREADABLE_INPUT,
    &EMPTY_INPUT,
    &BYTE_ORDER_MARK,
    &UNSUPPORTED_CONTAINER,
    &CORRUPT_STREAM,
    &TRAILING_GARBAGE,
    &DOCUMENT_TOO_LARGE,
    &LINK_NOT_FOLLOWED,
    &ESCAPED_NUL,
    &REPEATED_ENTRY,
    &DUMP_INCOMPLETE,
    &COLUMNS_UNKNOWN,
    &COPY_ESCAPED,
    &MALFORMED_ROW,
    &UNREAD_JOURNAL,
    &MISSING_FIELD,
    &WRONG_TYPE,
    &UNKNOWN_FORMAT,
    &SOURCE_MISMATCH,
    &UNKNOWN_VERSION,
    &UNKNOWN_MESSAGE_TYPE,
    &UNKNOWN_SCENE,
    &EMPTY_CONVERSATION,
    &EMPTY_MESSAGE,
    &CACHED_BLOCK,
    &HISTORY_REPEATED,
    &LEAKED_METADATA,
    &UNFINISHED_STREAM,
    &ORPHAN_CHUNK,
    &LATE_CHUNK,
    &COMPRESSED_MESSAGE,
    &LOOP_DEPTH_EXCEEDED,
    &UNMENTIONED_RESPONSE,
    &SPLIT_TOOL_CALL,
    &UNCLOSED_TURN,
    &TEXT_OUTSIDE_TURNS,
    &PREFERENCE_PAIR,
    &LABELLED_ANSWER,
    &UNMATCHED_PATH,
    &NOT_MERGED,
    &UNKNOWN_META_KEY,
    &DUPLICATE_MESSAGE_ID,
    &REPEATED_ROW,
    &CONVERSATION_TOO_LARGE,
    &DUPLICATE_CONVERSATION_ID,
    &DANGLING_REFERENCE,
    &REFERENCE_TO_ITSELF,
    &REFERENCE_CYCLE,
    &REFERENCE_INCOMPLETE,
    &PREVIEW_MISMATCH,
    &FORWARD_REFERENCE,
    &TOO_MANY_REFERENCES,
    &PREVIEW_TOO_DEEP,
    &PSEUDO_REFERENCE,
    &ORPHANED_RESULT,
    &UNANSWERED_CALL,
    &RESULT_BEFORE_CALL,
    &DUPLICATE_RESULT,
    &NAME_MISMATCH,
    &MALFORMED_ARGUMENTS,
    &ARGUMENTS_NOT_OBJECT,
    &ARGUMENTS_NOT_STRING,
    &MISSING_CALL_ID,
    &AMBIGUOUS_CALL_ID,
    &UNKNOWN_SENDER,
    &ROLE_CONFLICT,
    &LEGACY_ROLE,
    &PERSONAL_DATA,
    &SECRET,
    &TIMESTAMP_UNUSABLE,
    &TIMESTAMP_NAIVE,
    &TIME_GOES_BACKWARDS,
    &UNKNOWN_TIMEZONE,
    &TIMESTAMP_UNUSUAL,
    &INVALID_MEDIA_URL,
    &REPEATED_MEDIA,
    &UNPLACED_MEDIA,
    &SPECIAL_TOKEN_IN_TEXT,
    &SEVERAL_REFERENCES,
    &OVERSIZE_RENDERING,
    &NOT_ACCEPTED,
    &TOO_MANY_WINDOWS,
    &TOO_MANY_PERSPECTIVES,
];

/// Finds a code by its letters and digits (any case) or by its name.
pub fn find(text: &str) -> Option<&'static Code> {
    CODES
        .iter()
        .copied()
        .find(|code| code.code.eq_ignore_ascii_case(text) || code.name == text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Letters of the codes in the order of the mill's stages.
    const FAMILIES: [&str; 9] = ["IN", "SR", "AS", "RF", "TL", "PT", "TM", "MD", "DI"];

    #[test]
    fn codes_are_sorted_by_stage_and_number_and_have_no_gap() {
        let mut expected = Vec::new();
        for family in FAMILIES {
            let size = CODES.iter().filter(|code| code.code.starts_with(family)).count();
            expected.extend((1..=size).map(|number| format!("{family}{number:03}")));
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
