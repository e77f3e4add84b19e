//! Hugging Face conversational data: `messages` and `tools` as TRL, Axolotl and chat templates read them.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```

use chatmill_model::Sink;

use crate::about::{DialectAbout, Rules};
use crate::definitions::Form;
use crate::list::List;
use crate::loss::{LossCode, reasons};
use crate::passes;
use crate::profile::{ArgumentsAs, DialectProfile, Thoughts};
use crate::rules::rules;
use crate::tool_call_ids::{IdRule, IdShape};
use crate::tool_names::NameRule;
use crate::transcript::Transcript;
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
    manner: &'static DialectProfile,
}

/// In profile `document`.
pub(crate) static HF_MESSAGES: HfMessages = HfMessages {
    profile: "document",
    manner: &MANNER,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Hugging Face messages",
    family: "openai-chat",
    media_type: "application/json",
    specification: "TRL 1.16.0, dataset formats",
    dated: "2026-08-01",
    carries: "text, tools with arguments as objects, quoted replies, reasoning if policy keeps it; names in front of the text",
    profiles: &[
        &HF_MESSAGES,
        &HfMessages {
            profile: "string-arguments",
            manner: &TEXT_MANNER,
        },
    ],
    neutral: false,
    own_system: false,
    rules: Rules::Judged(RULES),
};

const IDS: IdRule = IdRule {
    shape: IdShape::Any(usize::MAX),
    wanted: HFM_05,
    unique: HFM_05,
    shaped: HFM_05,
};

const TOOL_NAMES: NameRule = NameRule {
    most: None,
    reason: reasons::CALL_HAS_A_NAME.by(HFM_05),
};

/// What its conversations allow.
pub(crate) static MANNER: DialectProfile = DialectProfile {
    thoughts: Thoughts::Field,
    arguments: ArgumentsAs::Object(HFM_04),
    definitions: Some(Form::Nested),
    ..DialectProfile::plain(
        IDS,
        TOOL_NAMES,
        (HFM_06, "no message is left"),
        reasons::CONTENT_IS_TEXT.by(HFM_03),
    )
};

static TEXT_MANNER: DialectProfile = DialectProfile {
    arguments: ArgumentsAs::Text,
    ..MANNER
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

    fn loses(&self) -> Vec<LossCode> {
        passes::loses(self.manner)
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let list = List {
            always_content: true,
            names_results: true,
            ..List::PLAIN
        };
        let rendering = list.render(transcript, self.manner, sink);
        emit(sink, rendering);
    }
}
