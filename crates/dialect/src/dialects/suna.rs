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

use std::rc::Rc;

use chatmill_model::{Message, ParticipantKind, Sink};

use crate::about::{DialectAbout, Rules};
use crate::list::{ContentAs, Ends, List};
use crate::loss::reasons;
use crate::rendering::Rendering;
use crate::rules::rules;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, nothing};
use crate::view::{View, Window};
use crate::{Dialect, Emit};

pub(crate) use bedrock::SUNA_BEDROCK;
pub(crate) use cached::SunaCached;
pub(crate) use rows::SunaRows;

rules! {
    /// roles are system, user, assistant and tool; there is at least one message
    SUN_01 = "SUN-01";
    /// a result follows the turn that called, and bears the call's id and name
    SUN_02 = "SUN-02";
    /// arguments are text
    SUN_03 = "SUN-03";
}

/// The dialect of lists with strings.
pub(crate) struct SunaLlm;

/// The dialect of lists with text blocks.
pub(crate) struct SunaList;

const SPECIFICATION: &str = "Suna, message structures";
const DATED: &str = "2025-11-07";
const LOSES: &str = "times, notices, reasoning, media, definitions and failures of tools, names, facts about people and rooms";

static LLM: DialectAbout = DialectAbout {
    title: "Suna LLM messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: SPECIFICATION,
    dated: DATED,
    carries: "text, tools, ids of messages, quoted replies",
    loses: LOSES,
    profiles: &[&SunaLlm],
    neutral: false,
    rules: Rules::Judged(RULES),
};

static BLOCKS: DialectAbout = DialectAbout {
    title: "Suna messages with text blocks",
    profiles: &[&SunaList],
    carries: "text, tools, ids of messages, four cache marks, quoted replies",
    ..LLM
};

static STRINGS: DialectProfile = DialectProfile {
    name_field: None,
    nameless: Some(reasons::MESSAGES_HAVE_NO_NAMES),
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
    media_rule: reasons::CONTENT_IS_TEXT,
    media_rule_plain: reasons::CONTENT_IS_TEXT,
    thoughts: Thoughts::Nowhere(reasons::MESSAGES_HAVE_NO_REASONING),
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: SUN_02,
        unique: SUN_02,
        shaped: SUN_02,
    },
    tool_names: NameRule {
        most: None,
        reason: reasons::CALL_HAS_A_NAME.by(SUN_02),
    },
    pairing: SUN_02,
    silent: (SUN_01, "no message is left"),
    keeps_message_ids: true,
};

static MARKED: DialectProfile = DialectProfile {
    texts: Texts::Blocks,
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS)),
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

    fn about(&self) -> &'static DialectAbout {
        &LLM
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let rendering = as_one_agent(view, sink, &|view, sink| LIST.render(view, &STRINGS, sink));
        emit(sink, rendering);
    }
}

impl Dialect for SunaList {
    fn id(&self) -> &'static str {
        "suna-list"
    }

    fn about(&self) -> &'static DialectAbout {
        &BLOCKS
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let list = List {
            content: ContentAs::Blocks,
            ..LIST
        };
        let rendering = as_one_agent(view, sink, &|view, sink| list.render(view, &MARKED, sink));
        emit(sink, rendering);
    }
}

/// Says a conversation in which several agents speak as one in which the perspective does: type and role say whose turn it is
/// in Suna, and all agents are the assistant. Their names have no place anyway.
fn as_one_agent<'a>(
    view: &View<'a>,
    sink: &mut Sink<'a>,
    say: &dyn for<'v> Fn(&View<'v>, &mut Sink<'v>) -> Rendering,
) -> Rendering {
    let people = &view.conversation().participants;
    let is_agent = |index: usize| {
        people
            .get(index)
            .is_some_and(|person| person.kind == ParticipantKind::Agent)
    };
    let own = view.perspective.filter(|index| is_agent(*index));
    let is_others =
        |message: &Message| own.is_some() && message.sender != own && message.sender.is_some_and(is_agent);
    let has_other_agents = || view.conversation().messages.iter().any(is_others);
    if !*view.shared(|shared| &shared.has_other_agents, has_other_agents) {
        return say(view, sink);
    }
    let mut linked = view.linked.clone();
    for message in &mut linked.conversation.messages {
        if is_others(message) {
            message.sender = own;
        }
    }
    let changed = View {
        linked: &linked,
        window: view.window.as_ref().map(|window| Window {
            stretch: window.stretch,
            shared: Rc::default(),
        }),
        ..view.clone()
    };
    let mut written = Sink::default();
    let rendering = say(&changed, &mut written);
    sink.copy(&written);
    rendering
}
