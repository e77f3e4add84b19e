//! Hugging Face conversational data: `messages` and `tools` as TRL, Axolotl and chat templates read them.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```

use crate::loss::reasons;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::{
    messages_profile::{self, HFM_03, RULES},
    profile::{DialectProfile, Texts},
};
use crate::tools::arguments::ArgumentsAs;
use crate::write::list::{ContentAs, List};
use crate::write::picture::picture_or_path;

/// TRL's messages, in profile `document`.
pub(crate) static HF_MESSAGES: Dialect =
    Dialect::turns(&ABOUT, &PROFILE, |plan, sink| LIST.write(plan, sink));

/// The same messages with arguments as text.
static STRING_ARGUMENTS: Dialect =
    Dialect::turns(&ABOUT, &TEXT_PROFILE, |plan, sink| TEXT_LIST.write(plan, sink))
        .called("string-arguments");

/// The profile of the dialect.
const PROFILE: DialectProfile = DialectProfile {
    carries: Some(picture_or_path),
    texts: Texts::JoinedBetweenMedia,
    media_rule: reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE.by(HFM_03),
    ..messages_profile::PROFILE
};

/// The same profile with arguments as text.
static TEXT_PROFILE: DialectProfile = DialectProfile {
    arguments: ArgumentsAs::Text,
    ..PROFILE
};

const LIST: List = List {
    arguments: PROFILE.arguments,
    ..TEXT_LIST
};

const TEXT_LIST: List = List {
    content: ContentAs::StringUnlessPictured,
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
    carries: "text, tools with arguments as objects, pictures by address, by path or as bytes, quoted replies, reasoning if policy keeps it; names in front of the text",
    profiles: &[&HF_MESSAGES, &STRING_ARGUMENTS],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};
