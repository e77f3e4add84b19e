//! Hugging Face conversational data: `messages` and `tools` as TRL, Axolotl and chat templates read them.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```

use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::messages_profile::{PROFILE, RULES, TEXT_PROFILE};
use crate::write::list::List;

/// TRL's messages, in profile `document`.
pub(crate) static HF_MESSAGES: Dialect =
    Dialect::turns(&ABOUT, &PROFILE, |plan, sink| LIST.write(plan, sink));

/// With arguments as text.
static STRING_ARGUMENTS: Dialect =
    Dialect::turns(&ABOUT, &TEXT_PROFILE, |plan, sink| TEXT_LIST.write(plan, sink))
        .called("string-arguments");

const LIST: List = List {
    arguments: PROFILE.arguments,
    ..TEXT_LIST
};

const TEXT_LIST: List = List {
    always_content: true,
    names_results: true,
    ..List::PLAIN
};

static ABOUT: DialectAbout = DialectAbout {
    id: "hf-messages",
    title: "Hugging Face messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: "TRL 1.16.0, dataset formats",
    dated: "2026-08-01",
    carries: "text, tools with arguments as objects, quoted replies, reasoning if policy keeps it; names in front of the text",
    profiles: &[&HF_MESSAGES, &STRING_ARGUMENTS],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};
