//! Message lists in the shape of Chat Completions, which several vendors and trainers took over.
//!
//! ```json
//! {"messages":[{"role":"user","name":"Alice","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! Rules of `openai-chat`:
//!
//! - OAC-01 roles are system, user, assistant and tool.
//! - OAC-02 content is a string or a list of parts that is not empty.
//! - OAC-03 user turns hold text and pictures, by web address or as jpeg, png, gif, webp in a data URL; all others text only.
//! - OAC-04 an assistant's turn without content has calls.
//! - OAC-05 a call has an id, a name and arguments as text.
//! - OAC-06 every call is answered directly after its turn, once; every result has such a call.
//! - OAC-07 the name of a function is `[a-zA-Z0-9_-]{1,64}`.
//! - OAC-08 so is the name of a participant.
//! - OAC-09 a result has no name.

use chatmill_model::Sink;

use crate::about::{DialectAbout, Rules};
use crate::image_url::picture;
use crate::list::{ArgumentsAs, Ends, List};
use crate::loss::reasons;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{DialectProfile, Order, Results, SystemPlace, Texts, Thoughts};
use crate::view::View;
use crate::{Dialect, Emit};

/// The dialect of Chat Completions requests.
pub(crate) struct OpenaiChat;

static ABOUT: DialectAbout = DialectAbout {
    title: "OpenAI Chat Completions",
    family: "openai-chat",
    media_type: "application/json",
    specification: "OpenAI API reference, OpenAPI document 2.3.0",
    dated: "2026-08-01",
    carries: "text, names of users, tools, pictures by web address or as bytes, quoted replies",
    loses: "ids, times, notices, reasoning, other media, facts about people and rooms",
    profiles: &["document"],
    neutral: false,
    rules: Rules::Judged,
};

static MANNER: DialectProfile = DialectProfile {
    name_field: Some("OAC-08"),
    nameless: None,
    order: Order::Paired,
    results: Results::OwnTurns,
    merging: None,
    user_first: None,
    system: SystemPlace::Anywhere,
    texts: Texts::JoinedWithoutMedia,
    blank_is_empty: false,
    trims_end: None,
    splits_calls: None,
    carries: picture,
    media_rule: reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE.by("OAC-03"),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY.by("OAC-03"),
    thoughts: Thoughts::Nowhere(reasons::MESSAGES_HAVE_NO_REASONING),
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: "OAC-05",
        unique: "OAC-06",
        shaped: "OAC-05",
    },
    tool_names: NameRule {
        most: Some(64),
        reason: reasons::FUNCTION_NAME_OF_64.by("OAC-07"),
    },
    pairing: "OAC-06",
    silent: "OAC-02: no message is left",
    keeps_message_ids: false,
};

static LIST: List = List {
    ends: Ends::Request,
    arguments: ArgumentsAs::Text,
    ..List::PLAIN
};

impl Dialect for OpenaiChat {
    fn id(&self) -> &'static str {
        "openai-chat"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let rendering = LIST.render(view, &MANNER, sink);
        emit(sink, rendering);
    }
}
