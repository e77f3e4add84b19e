//! Suna's message lists: what its backend hands to a model.
//!
//! | dialect | content |
//! |---|---|
//! | `suna-llm` | a string |
//! | `suna-list` | a list of text blocks, which may bear cache marks |
//! | `suna-cached` | strings; everything before the newest user turn is one user message with a cache mark |
//! | `suna-bedrock` | strings; what the backend's filter leaves out is not there |
//! | `suna-rows` | rows of the database, the message as JSON in a string |
//!
//! - SUN-01 roles are system, user, assistant and tool.
//! - SUN-02 a result follows the turn that called, and bears the call's id and name.
//! - SUN-03 arguments are text.

mod bedrock;
mod cached;
mod rows;

use crate::Dialect;
use crate::about::About;
use crate::list::{ContentAs, Ends, List};
use crate::rendering::Rendering;
use crate::script::ids::{IdRule, IdShape};
use crate::script::tool_names::NameRule;
use crate::script::{Manner, Order, Results, SystemPlace, Texts, Thoughts, nothing};
use crate::view::View;

pub(crate) use bedrock::SunaBedrock;
pub(crate) use cached::SunaCached;
pub(crate) use rows::SunaRows;

/// The dialect of lists with strings.
pub(crate) struct SunaLlm;

/// The dialect of lists with text blocks.
pub(crate) struct SunaList;

const SPECIFICATION: &str = "Suna, message structures";
const DATED: &str = "2025-11-07";
const LOSES: &str =
    "times, notices, reasoning, media, definitions and failures of tools, facts about people and rooms";

static LLM: About = About {
    title: "Suna LLM messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, tools, ids of messages, quoted replies; names in front of the text",
    loses: LOSES,
    profiles: &["document"],
    neutral: false,
};

static BLOCKS: About = About {
    title: "Suna messages with text blocks",
    carries: "text, tools, ids of messages, four cache marks, quoted replies; names in front of the text",
    ..LLM
};

static STRINGS: Manner = Manner {
    name_field: None,
    order: Order::Paired,
    results: Results::OwnTurns,
    merging: None,
    user_first: None,
    system: SystemPlace::Anywhere,
    texts: Texts::Joined,
    blank_is_empty: false,
    trims_end: None,
    splits_calls: None,
    carries: nothing,
    media_rule: "content is text",
    media_rule_plain: "content is text",
    thoughts: Thoughts::Nowhere("the messages have no place for reasoning"),
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: "SUN-02",
        unique: "SUN-02",
        shaped: "SUN-02",
    },
    tool_names: NameRule {
        most: None,
        reason: "SUN-02: a call has a name",
    },
    pairing: "SUN-02",
    silent: "SUN-01: no message is left",
    keeps_message_ids: true,
};

static MARKED: Manner = Manner {
    texts: Texts::Blocks,
    cache_marks: Some((4, "at most four cache marks")),
    ..STRINGS
};

const LIST: List = List {
    ends: Ends::Array,
    always_content: true,
    names_results: true,
    message_ids: true,
    ..List::PLAIN
};

impl Dialect for SunaLlm {
    fn id(&self) -> &'static str {
        "suna-llm"
    }

    fn about(&self) -> &'static About {
        &LLM
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        emit(LIST.render(view, &STRINGS));
    }
}

impl Dialect for SunaList {
    fn id(&self) -> &'static str {
        "suna-list"
    }

    fn about(&self) -> &'static About {
        &BLOCKS
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let list = List {
            content: ContentAs::Blocks,
            ..LIST
        };
        emit(list.render(view, &MARKED));
    }
}
