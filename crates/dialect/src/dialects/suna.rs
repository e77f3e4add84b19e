//! Suna's message lists, as its backend sends them to a model.
//!
//! | dialect | content |
//! |---|---|
//! | `suna-llm` | a string |
//! | `suna-list` | a list of text blocks, which may have cache marks |
//! | `suna-cached` | strings; everything before the newest user turn is one user message with a cache mark, and such messages of the source stay |
//! | `suna-bedrock` | strings; what the backend's filter leaves out is not there |
//! | `suna-rows` | rows of the database, the message as JSON in a string |
//!
//! Messages have no names, and all agents are the assistant.

mod bedrock;
mod cached;
pub(crate) mod rows;

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, MarksOn, Texts};
use crate::write::list::{ContentAs, Ends, List};

pub(crate) use bedrock::SUNA_BEDROCK;
pub(crate) use cached::SUNA_CACHED;
pub(crate) use rows::SUNA_ROWS;

rules! {
    /// roles are system, user, assistant and tool; there is at least one message
    SUN_01 = "SUN-01";
    /// a result follows the turn with the call, and has the call's id and name
    SUN_02 = "SUN-02";
    /// arguments are text
    SUN_03 = "SUN-03";
}

/// Lists with strings.
pub(crate) static SUNA_LLM: Dialect = Dialect::turns(&LLM, &STRINGS, |plan, sink| LIST.write(plan, sink));

/// Lists with text blocks.
pub(crate) static SUNA_LIST: Dialect =
    Dialect::turns(&BLOCKS, &MARKED, |plan, sink| BLOCK_LIST.write(plan, sink));

static LLM: DialectAbout = DialectAbout {
    id: "suna-llm",
    title: "Suna LLM messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: "Suna, message structures",
    dated: "2025-11-07",
    carries: "text, tools, ids of messages, quoted replies",
    profiles: &[&SUNA_LLM],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

static BLOCKS: DialectAbout = DialectAbout {
    id: "suna-list",
    title: "Suna messages with text blocks",
    profiles: &[&SUNA_LIST],
    carries: "text, tools, ids of messages, four cache marks, quoted replies",
    ..LLM
};

static STRINGS: DialectProfile = DialectProfile {
    nameless: Some(reasons::MESSAGES_HAVE_NO_NAMES),
    keeps_message_ids: true,
    agents_are_one: true,
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(usize::MAX), SUN_02, SUN_02),
        NameRule::new(None, reasons::CALL_HAS_A_NAME.by(SUN_02)),
        (SUN_01, "no message is left"),
        reasons::CONTENT_IS_TEXT,
    )
};

static MARKED: DialectProfile = DialectProfile {
    texts: Texts::Blocks,
    marks_on: MarksOn::TextsAndResults,
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS)),
    ..STRINGS
};

const LIST: List = List {
    ends: Ends::Array,
    always_content: true,
    names_results: true,
    ..List::PLAIN
};

const BLOCK_LIST: List = List {
    content: ContentAs::Blocks,
    ..LIST
};

/// Lists with strings, except for texts with a cache mark.
const MARKED_LIST: List = List {
    content: ContentAs::StringUnlessMarked,
    ..LIST
};
