//! Hugging Face conversational data: `messages` and `tools` as TRL, Axolotl and chat templates read them.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```

use chatmill_model::Sink;

use crate::about::{DialectAbout, Rules};
use crate::list::{ArgumentsAs, List};
use crate::loss::reasons;
use crate::rules::rules;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, nothing};
use crate::view::View;
use crate::{Dialect, Emit};

rules! {
    /// one set of columns: `messages`, with `tools` where there are some, and roles that templates know
    HFM_01 = "HFM-01";
    /// no key is null: a template that looks at a null list of calls fails
    HFM_02 = "HFM-02";
    /// content is a string, for templates drop or garble lists
    HFM_03 = "HFM-03";
    /// arguments are an object, or text in profile `string-arguments`, which some templates want
    HFM_04 = "HFM-04";
    /// results stand directly after their calls, in the order of the calls
    HFM_05 = "HFM-05";
    /// there is at least one message
    HFM_06 = "HFM-06";
    /// reasoning is the field `reasoning_content` of the assistant, which templates of reasoning models
    /// read
    HFM_07 = "HFM-07";
}

/// The dialect of TRL's messages.
pub(crate) struct HfMessages {
    profile: &'static str,
    arguments: ArgumentsAs,
}

/// In profile `document`.
pub(crate) static HF_MESSAGES: HfMessages = HfMessages {
    profile: "document",
    arguments: ArgumentsAs::Object(HFM_04),
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Hugging Face messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: "TRL 1.16.0, dataset formats",
    dated: "2026-08-01",
    carries: "text, tools with arguments as objects, quoted replies, reasoning if policy keeps it; names in front of the text",
    loses: "ids of messages, times, notices, media, failures of tools, facts about people and rooms",
    profiles: &[
        &HF_MESSAGES,
        &HfMessages {
            profile: "string-arguments",
            arguments: ArgumentsAs::Text,
        },
    ],
    neutral: false,
    rules: Rules::Judged(RULES),
};

pub(crate) static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
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
    media_rule: reasons::CONTENT_IS_TEXT.by(HFM_03),
    media_rule_plain: reasons::CONTENT_IS_TEXT.by(HFM_03),
    thoughts: Thoughts::Field,
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: HFM_05,
        unique: HFM_05,
        shaped: HFM_05,
    },
    tool_names: NameRule {
        most: None,
        reason: reasons::CALL_HAS_A_NAME.by(HFM_05),
    },
    pairing: HFM_05,
    silent: (HFM_06, "no message is left"),
    keeps_message_ids: false,
};

impl Dialect for HfMessages {
    fn id(&self) -> &'static str {
        "hf-messages"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let list = List {
            arguments: self.arguments,
            always_content: true,
            names_results: true,
            ..List::PLAIN
        };
        let rendering = list.render(view, &MANNER, sink);
        emit(sink, rendering);
    }
}
