//! Mistral chat requests, by version of the tokenizer.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! | profile | ids of calls | text beside calls |
//! |---|---|---|
//! | `document`, `v7` | nine letters and digits | allowed |
//! | `v3` | nine letters and digits | a turn of its own |
//! | `v13` | anything but `null` | allowed |
//!
//! - MIS-01 ids as the version wants them.
//! - MIS-02 before v7 an assistant's turn holds text or calls.
//! - MIS-03 a conversation starts with system text or a user; no system text stands after another turn than a user's.
//! - MIS-04 every call is answered after its turn, once.
//! - MIS-05 the last turn may be anybody's but the system's.
//! - MIS-06 names of functions are `[a-zA-Z0-9_-]{1,64}`; users have no name.
//! - MIS-07 no sound stands beside system text: sounds are only named in the text.

use crate::about::{DialectAbout, Rules};
use crate::image_url::picture;
use crate::list::List;
use crate::loss::reasons;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, TurnPlan};
use crate::view::View;
use crate::violation::Violation;
use crate::{Dialect, Emit};
use chatmill_model::{Role, Sink};

/// The dialect of Mistral's chat requests.
pub(crate) struct MistralChat;

static ABOUT: DialectAbout = DialectAbout {
    title: "Mistral chat",
    family: "openai-chat",
    media_type: "application/json",
    specification: "mistral-common 1.13.1, request validator",
    dated: "2026-08-01",
    carries: "text, tools, pictures by web address or as bytes, quoted replies; names before the text",
    loses: "ids, times, notices, reasoning, other media, failures of tools, facts about people and rooms",
    profiles: &["document", "v3", "v7", "v13"],
    neutral: false,
    rules: Rules::Judged,
};

static V7: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Paired,
    results: Results::OwnTurns,
    merging: None,
    user_first: Some("MIS-03"),
    system: SystemPlace::Start,
    texts: Texts::JoinedWithoutMedia,
    blank_is_empty: false,
    trims_end: None,
    splits_calls: None,
    carries: picture,
    media_rule: reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE,
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY,
    thoughts: Thoughts::Nowhere(reasons::MESSAGES_HAVE_NO_REASONING),
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Nine,
        wanted: "MIS-01",
        unique: "MIS-04",
        shaped: "MIS-01",
    },
    tool_names: NameRule {
        most: Some(64),
        reason: reasons::FUNCTION_NAME_OF_64.by("MIS-06"),
    },
    pairing: "MIS-04",
    silent: "MIS-03: no message is left",
    keeps_message_ids: false,
};

static V3: DialectProfile = DialectProfile {
    splits_calls: Some("MIS-02"),
    ..V7
};

static V13: DialectProfile = DialectProfile {
    ids: IdRule {
        shape: IdShape::NotNull,
        ..V7.ids
    },
    ..V7
};

impl Dialect for MistralChat {
    fn id(&self) -> &'static str {
        "mistral-chat"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let manner = match view.profile {
            "v3" => &V3,
            "v13" => &V13,
            _ => &V7,
        };
        let list = List {
            names_results: true,
            ..List::PLAIN
        };
        let mut script = TurnPlan::new(view, manner);
        if script.turns.last().is_some_and(|turn| turn.role == Role::System) {
            let violation = "MIS-05: the last turn is system text";
            let end = script.last_said();
            script.violations.push(Violation::at(end, violation));
        }
        let rendering = list.write(view, script, sink);
        emit(sink, rendering);
    }
}
