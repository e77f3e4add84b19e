//! Suna's message lists: what its backend hands to a model.
//!
//! | dialect | content |
//! |---|---|
//! | `suna-llm` | a string |
//! | `suna-list` | a list of text blocks, which may have cache marks |
//! | `suna-cached` | strings; everything before the newest user turn is one user message with a cache mark, and such messages of the source stay |
//! | `suna-bedrock` | strings; what the backend's filter leaves out is not there |
//! | `suna-rows` | rows of the database, the message as JSON in a string |
//!
//! Nobody has a name there, and all agents are the assistant.

mod bedrock;
mod cached;
pub(crate) mod rows;

use chatmill_model::{DEFAULT_PROFILE, Sink};

use crate::about::{DialectAbout, Rules};
use crate::list::{ContentAs, Ends, List};
use crate::loss::{LossCode, reasons};
use crate::passes;
use crate::profile::{DialectProfile, MarksOn, Shape, Texts};
use crate::rules::rules;
use crate::tool_call_ids::{IdRule, IdShape};
use crate::tool_names::NameRule;
use crate::transcript::Transcript;
use crate::{Dialect, Emit};

pub(crate) use bedrock::SUNA_BEDROCK;
pub(crate) use cached::SUNA_CACHED;
pub(crate) use rows::SunaRows;

rules! {
    /// roles are system, user, assistant and tool; there is at least one message
    SUN_01 = "SUN-01";
    /// a result follows the turn that called, and bears the call's id and name
    SUN_02 = "SUN-02";
    /// arguments are text
    SUN_03 = "SUN-03";
}

/// A message list of Suna's: its name, and how it is written.
pub(crate) struct SunaMessages {
    id: &'static str,
    profile: &'static str,
    about: &'static DialectAbout,
    manner: &'static DialectProfile,
    content: ContentAs,
}

/// Lists with strings.
pub(crate) static SUNA_LLM: SunaMessages = SunaMessages {
    id: "suna-llm",
    profile: DEFAULT_PROFILE,
    about: &LLM,
    manner: &STRINGS,
    content: LIST.content,
};

/// Lists with text blocks.
pub(crate) static SUNA_LIST: SunaMessages = SunaMessages {
    id: "suna-list",
    profile: DEFAULT_PROFILE,
    about: &BLOCKS,
    manner: &MARKED,
    content: ContentAs::Blocks,
};

const SPECIFICATION: &str = "Suna, message structures";
const DATED: &str = "2025-11-07";

static LLM: DialectAbout = DialectAbout {
    title: "Suna LLM messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, tools, ids of messages, quoted replies",
    profiles: &[&SUNA_LLM],
    neutral: false,
    own_system: false,
    rules: Rules::Judged(RULES),
};

static BLOCKS: DialectAbout = DialectAbout {
    title: "Suna messages with text blocks",
    profiles: &[&SUNA_LIST],
    carries: "text, tools, ids of messages, four cache marks, quoted replies",
    ..LLM
};

const IDS: IdRule = IdRule {
    shape: IdShape::Any(usize::MAX),
    wanted: SUN_02,
    unique: SUN_02,
    shaped: SUN_02,
};

const TOOL_NAMES: NameRule = NameRule {
    most: None,
    reason: reasons::CALL_HAS_A_NAME.by(SUN_02),
};

static STRINGS: DialectProfile = DialectProfile {
    nameless: Some(reasons::MESSAGES_HAVE_NO_NAMES),
    keeps_message_ids: true,
    agents_are_one: true,
    ..DialectProfile::plain(
        IDS,
        TOOL_NAMES,
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

impl Dialect for SunaMessages {
    fn id(&self) -> &'static str {
        self.id
    }

    fn about(&self) -> &'static DialectAbout {
        self.about
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn loses(&self) -> Vec<LossCode> {
        passes::loses(self.manner)
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let list = List {
            content: self.content,
            ..LIST
        };
        let rendering = list.render(transcript, self.manner, sink);
        emit(sink, rendering);
    }

    fn is_one_request(&self) -> bool {
        matches!(self.manner.shape, Shape::History)
    }
}
