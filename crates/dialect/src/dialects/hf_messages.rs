//! Hugging Face conversational data: `messages` and `tools` as TRL, Axolotl and chat templates read them.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! - HFM-01 one set of columns: `messages`, with `tools` where there are some.
//! - HFM-02 no key is null: a template that looks at a null list of calls fails.
//! - HFM-03 content is a string, for templates drop or garble lists.
//! - HFM-04 arguments are an object; profile `string-arguments` writes the text that some templates want.
//! - HFM-05 results stand directly after their calls, in the order of the calls.
//! - HFM-06 there is at least one message.
//! - HFM-07 reasoning, where policy keeps it, is the field `reasoning_content` that templates of reasoning models read.

use chatmill_model::Sink;

use crate::about::{DialectAbout, Rules};
use crate::list::{ArgumentsAs, List};
use crate::loss::reasons;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, nothing};
use crate::view::View;
use crate::{Dialect, Emit};

/// The dialect of conversational data sets.
pub(crate) struct HfMessages;

static ABOUT: DialectAbout = DialectAbout {
    title: "Hugging Face messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: "TRL 1.16.0, dataset formats",
    dated: "2026-08-01",
    carries: "text, tools with arguments as objects, quoted replies, reasoning if policy keeps it; names in front of the text",
    loses: "ids of messages, times, notices, media, failures of tools, facts about people and rooms",
    profiles: &["document", "string-arguments"],
    neutral: false,
    rules: Rules::Judged,
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
    media_rule: reasons::CONTENT_IS_TEXT.by("HFM-03"),
    media_rule_plain: reasons::CONTENT_IS_TEXT.by("HFM-03"),
    thoughts: Thoughts::Field,
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: "HFM-05",
        unique: "HFM-05",
        shaped: "HFM-05",
    },
    tool_names: NameRule {
        most: None,
        reason: reasons::CALL_HAS_A_NAME.by("HFM-05"),
    },
    pairing: "HFM-05",
    silent: "HFM-06: no message is left",
    keeps_message_ids: false,
};

impl Dialect for HfMessages {
    fn id(&self) -> &'static str {
        "hf-messages"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let arguments = match view.profile {
            "string-arguments" => ArgumentsAs::Text,
            _ => ArgumentsAs::Object("HFM-04"),
        };
        let list = List {
            arguments,
            always_content: true,
            names_results: true,
            ..List::PLAIN
        };
        let rendering = list.render(view, &MANNER, sink);
        emit(sink, rendering);
    }
}
