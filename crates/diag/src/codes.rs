//! The registry of diagnostic codes: one page and one line each, in the order of the stages of a run.
//!
//! A code with another severity in some case has a line for the case in `cases!`: the code that finds it uses the case, and the page has
//! its severity.
//!
//! To add a code: 1. its page in `docs/rules`, with everything about it; 2. its line below; 3. its folder in `data-samples/rules/`. The
//! number of a code that was removed is not used again.

use crate::code::Code;
use crate::suggest::nearest;

/// Declares the codes by their pages, and lists them.
macro_rules! codes {
    ($($name:ident = $page:literal;)+) => {
        $(
            #[doc = concat!("`", $page, "`; its page describes the finding.")]
            pub static $name: Code = Code::of_page(include_str!(concat!("../../../docs/rules/", $page, ".md")));
        )+

        /// Every code, stage by stage.
        pub static CODES: &[&Code] = &[$(&$name),+];
    };
}

/// Declares cases of codes by words of their pages.
macro_rules! cases {
    ($($name:ident = $code:ident, $case:literal;)+) => {
        $(
            #[doc = concat!("[`", stringify!($code), "`]: ", $case)]
            pub static $name: Code = $code.in_case($case);
        )+

        #[cfg(test)]
        pub(crate) static CASES: &[&Code] = &[$(&$name),+];
    };
}

cases! {
    REPEATED_PARAMETER = DUPLICATE_KEY, "warning where it is a parameter of a call in a text";
    RETAINED_KEY = DUPLICATE_KEY, "note where all values are kept";
    SPARED_FIELD = MISSING_FIELD, "warning where readers of the format do without the field";
    UNANSWERED_REQUEST = MISSING_FIELD, "note where a request of a batch has no result";
    BEARABLE_TYPE = WRONG_TYPE, "warning where nothing of the message is lost by it";
    UNKNOWN_LINE_TYPE = UNKNOWN_MESSAGE_TYPE, "note where it is a whole line of a session";
    UNREAD_CONVERSATION = EMPTY_CONVERSATION, "error where no content of its messages was read";
    UNDECLARED_PARTS = SEVERAL_TABLES, "warning where undeclared tables with the columns of a map are not read";
    CITATION_MARK = LEAKED_METADATA, "note where it is a citation mark, which is replaced or left out";
    SILENT_CONVERSATION = EMPTY_CONVERSATION, "note where a project has presence and nobody says anything";
    ANSWERED_CHUNK = ORPHAN_CHUNK, "note where the whole answer follows";
    LOST_BRANCHES = OTHER_BRANCHES, "warning where all branches were asked for";
    UNNAMED_MEMBERS = INCOMPLETE_EXPORT, "note where nobody is named";
    WORDLESS_FIELD = UNREAD_FIELD, "note where it holds no words";
    DIFFERING_ROW = REPEATED_ROW, "warning where the bodies differ";
    REFUSED_REFERENCE = REFERENCE_INCOMPLETE, "error where the format's own importer refuses it";
    CALL_AT_END = UNANSWERED_CALL, "note where the conversation ends with it";
    EMPTY_ARGUMENTS = MALFORMED_ARGUMENTS, "note where the arguments are empty";
    UNKNOWN_QUOTED_SENDER = UNKNOWN_SENDER, "warning where it is the author of a quotation";
    EXPECTED_PERSONAL_DATA = PERSONAL_DATA, "note where it is a name of the roster, or was replaced by a pseudonym";
    REPLACED_SECRET = SECRET, "note where it was replaced by a pseudonym";
    TIMESTAMP_WITHOUT_ZONE = TIMESTAMP_NAIVE, "warning where no time zone is stated";
}

codes! {
    INVALID_JSON = "IN001-invalid-json";
    INVALID_UTF8 = "IN002-invalid-utf8";
    LONE_SURROGATE = "IN003-lone-surrogate";
    DEPTH_EXCEEDED = "IN004-depth-exceeded";
    DUPLICATE_KEY = "IN005-duplicate-key";
    NUMBER_OUT_OF_RANGE = "IN006-number-out-of-range";
    RECORD_TOO_LONG = "IN007-record-too-long";
    TRUNCATED_STREAM = "IN008-truncated-stream";
    DECOMPRESSION_LIMIT = "IN009-decompression-limit";
    ENTRY_LIMIT = "IN010-entry-limit";
    NESTED_ARCHIVE = "IN011-nested-archive";
    UNSAFE_ENTRY_NAME = "IN012-unsafe-entry-name";
    NOT_A_REGULAR_FILE = "IN013-not-a-regular-file";
    UNREADABLE_INPUT = "IN014-unreadable-input";
    EMPTY_INPUT = "IN015-empty-input";
    BYTE_ORDER_MARK = "IN016-byte-order-mark";
    UNSUPPORTED_CONTAINER = "IN017-unsupported-container";
    CORRUPT_STREAM = "IN018-corrupt-stream";
    TRAILING_GARBAGE = "IN019-trailing-garbage";
    DOCUMENT_TOO_LARGE = "IN020-document-too-large";
    LINK_NOT_FOLLOWED = "IN021-link-not-followed";
    ESCAPED_NUL = "IN022-escaped-nul";
    REPEATED_ENTRY = "IN023-repeated-entry";
    DUMP_INCOMPLETE = "IN024-dump-incomplete";
    COLUMNS_UNKNOWN = "IN025-columns-unknown";
    COPY_ESCAPED = "IN026-copy-escaped";
    MALFORMED_ROW = "IN027-malformed-row";
    UNREAD_JOURNAL = "IN028-unread-journal";
    REPEATED_INPUT = "IN029-repeated-input";
    REPLACEMENT_CHARACTER = "IN030-replacement-character";
    SEVERAL_TABLES = "IN031-several-tables";
    GUESSED_COLUMNS = "IN032-guessed-columns";
    MISSING_FIELD = "SR001-missing-field";
    WRONG_TYPE = "SR002-wrong-type";
    UNKNOWN_FORMAT = "SR003-unknown-format";
    SOURCE_MISMATCH = "SR004-source-mismatch";
    UNKNOWN_VERSION = "SR005-unknown-version";
    UNKNOWN_MESSAGE_TYPE = "SR006-unknown-message-type";
    UNKNOWN_SCENE = "SR007-unknown-scene";
    EMPTY_CONVERSATION = "SR008-empty-conversation";
    EMPTY_MESSAGE = "SR009-empty-message";
    CACHED_BLOCK = "SR010-cached-block";
    HISTORY_REPEATED = "SR011-history-repeated";
    LEAKED_METADATA = "SR012-leaked-metadata";
    UNFINISHED_STREAM = "SR013-unfinished-stream";
    ORPHAN_CHUNK = "SR014-orphan-chunk";
    LATE_CHUNK = "SR015-late-chunk";
    COMPRESSED_MESSAGE = "SR016-compressed-message";
    LOOP_DEPTH_EXCEEDED = "SR017-loop-depth-exceeded";
    UNMENTIONED_RESPONSE = "SR018-unmentioned-response";
    SPLIT_TOOL_CALL = "SR019-split-tool-call";
    UNCLOSED_TURN = "SR020-unclosed-turn";
    TEXT_OUTSIDE_TURNS = "SR021-text-outside-turns";
    PREFERENCE_PAIR = "SR022-preference-pair";
    LABELLED_ANSWER = "SR023-labelled-answer";
    UNMATCHED_PATH = "SR024-unmatched-path";
    UNKNOWN_META_KEY = "SR026-unknown-meta-key";
    MOJIBAKE = "SR027-mojibake";
    REPEATED_MESSAGE = "SR028-repeated-message";
    TRUNCATED_JSON = "SR029-truncated-json";
    OTHER_BRANCHES = "SR030-other-branches";
    BROKEN_TREE = "SR031-broken-tree";
    INCOMPLETE_EXPORT = "SR032-incomplete-export";
    ENCRYPTED_REASONING = "SR033-encrypted-reasoning";
    UNREAD_FIELD = "SR034-unread-field";
    MISRECOGNISED_INPUT = "SR035-misrecognised-input";
    ANSWER_WITHOUT_TURN = "SR036-answer-without-turn";
    DUPLICATE_MESSAGE_ID = "AS001-duplicate-message-id";
    REPEATED_ROW = "AS002-repeated-row";
    CONVERSATION_TOO_LARGE = "AS003-conversation-too-large";
    DUPLICATE_CONVERSATION_ID = "AS004-duplicate-conversation-id";
    CONFLICTING_MESSAGE = "AS005-conflicting-message";
    EVALUATION_OVERLAP = "AS006-evaluation-overlap";
    DANGLING_REFERENCE = "RF001-dangling-reference";
    REFERENCE_TO_ITSELF = "RF002-reference-to-itself";
    REFERENCE_CYCLE = "RF003-reference-cycle";
    REFERENCE_INCOMPLETE = "RF004-reference-incomplete";
    PREVIEW_MISMATCH = "RF005-preview-mismatch";
    FORWARD_REFERENCE = "RF006-forward-reference";
    TOO_MANY_REFERENCES = "RF007-too-many-references";
    PREVIEW_TOO_DEEP = "RF008-preview-too-deep";
    PSEUDO_REFERENCE = "RF009-pseudo-reference";
    REFERENCE_ELSEWHERE = "RF010-reference-elsewhere";
    ORPHANED_RESULT = "TL001-orphaned-result";
    UNANSWERED_CALL = "TL002-unanswered-call";
    RESULT_BEFORE_CALL = "TL003-result-before-call";
    DUPLICATE_RESULT = "TL004-duplicate-result";
    NAME_MISMATCH = "TL005-name-mismatch";
    MALFORMED_ARGUMENTS = "TL006-malformed-arguments";
    ARGUMENTS_NOT_OBJECT = "TL007-arguments-not-object";
    ARGUMENTS_NOT_STRING = "TL008-arguments-not-string";
    MISSING_CALL_ID = "TL009-missing-call-id";
    AMBIGUOUS_CALL_ID = "TL010-ambiguous-call-id";
    ARGUMENTS_AGAINST_SCHEMA = "TL011-arguments-against-schema";
    CALL_SYNTAX_IN_SYSTEM = "TL012-call-syntax-in-system";
    UNKNOWN_SENDER = "PT001-unknown-sender";
    ROLE_CONFLICT = "PT002-role-conflict";
    LEGACY_ROLE = "PT003-legacy-role";
    PERSONAL_DATA = "PT004-personal-data";
    SECRET = "PT005-secret";
    CONTRADICTING_ROSTER = "PT006-contradicting-roster";
    SENDER_NAME_MISMATCH = "PT007-sender-name-mismatch";
    TIMESTAMP_UNUSABLE = "TM001-timestamp-unusable";
    TIMESTAMP_NAIVE = "TM002-timestamp-naive";
    TIME_GOES_BACKWARDS = "TM003-time-goes-backwards";
    UNKNOWN_TIMEZONE = "TM004-unknown-timezone";
    TIMESTAMP_UNUSUAL = "TM005-timestamp-unusual";
    FUTURE_TIME = "TM006-future-time";
    TIME_BEFORE_1990 = "TM007-time-before-1990";
    WRONG_TIME_UNIT = "TM008-wrong-time-unit";
    INVALID_MEDIA_URL = "MD001-invalid-media-url";
    REPEATED_MEDIA = "MD002-repeated-media";
    UNPLACED_MEDIA = "MD003-unplaced-media";
    TRUNCATED_BASE64 = "MD004-truncated-base64";
    TOKEN_IN_ADDRESS = "MD005-token-in-address";
    SPECIAL_TOKEN_IN_TEXT = "DI001-special-token-in-text";
    SEVERAL_REFERENCES = "DI002-several-references";
    OVERSIZE_RENDERING = "DI003-oversize-rendering";
    NOT_ACCEPTED = "DI004-not-accepted";
    TOO_MANY_WINDOWS = "DI005-too-many-windows";
    TOO_MANY_PERSPECTIVES = "DI006-too-many-perspectives";
}

/// The codes of one stage of the pipeline; they begin with the same two letters.
#[derive(Debug)]
pub struct Family {
    /// The two letters.
    pub prefix: &'static str,
    /// The subject of its codes.
    pub about: &'static str,
}

impl Family {
    /// Whether a code belongs to it.
    pub fn holds(&self, code: &Code) -> bool {
        code.code.starts_with(self.prefix)
    }
}

/// The families, in the order of the pipeline's stages.
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

const fn family(prefix: &'static str, about: &'static str) -> Family {
    Family { prefix, about }
}

/// Finds a code by its letters and digits (in any case) or by its name.
pub fn find(text: &str) -> Option<&'static Code> {
    CODES
        .iter()
        .copied()
        .find(|code| code.code.eq_ignore_ascii_case(text) || code.name == text)
}

/// The codes that a word names: one by its letters and digits or its name, or those of a family by its letters.
///
/// # Errors
///
/// The nearest name or code, if one is similar, when the word names no code.
pub fn named(word: &str) -> Result<Vec<&'static Code>, Option<&'static str>> {
    let named: Vec<&Code> = CODES
        .iter()
        .copied()
        .filter(|code| code.answers_to(word))
        .collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let upper = word.to_ascii_uppercase();
    let name = nearest(word, CODES.iter().map(|code| code.name));
    Err(name.or_else(|| nearest(&upper, CODES.iter().map(|code| code.code))))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Numbers of codes that were removed.
    const GONE: [&str; 1] = ["SR025"];

    #[test]
    fn codes_are_sorted_by_stage_and_number_and_no_number_lacks_but_those_that_are_gone() {
        let mut expected = Vec::new();
        for family in FAMILIES {
            let size = CODES.iter().filter(|code| family.holds(code)).count();
            let numbers = (1..).map(|number| format!("{}{number:03}", family.prefix));
            expected.extend(numbers.filter(|code| !GONE.contains(&code.as_str())).take(size));
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
    fn a_word_names_one_code_or_a_family_or_suggests_similar_ones() {
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
