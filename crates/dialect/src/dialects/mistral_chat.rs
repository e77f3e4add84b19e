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

use crate::about::{DialectAbout, Rules};
use crate::definitions::Form;
use crate::image_url::picture;
use crate::list::List;
use crate::loss::{LossCode, reasons};
use crate::passes;
use crate::profile::{DialectProfile, SystemPlace, Texts};
use crate::rules::rules;
use crate::tool_call_ids::{IdRule, IdShape};
use crate::tool_names::NameRule;
use crate::transcript::Transcript;
use crate::violation::Violation;
use crate::{Dialect, Emit};
use chatmill_model::{Role, Sink};

rules! {
    /// ids are nine letters and digits up to v11, anything but `null` from v13
    MIS_01 = "MIS-01";
    /// before v7 an assistant's turn holds text or calls
    MIS_02 = "MIS-02";
    /// a conversation starts with system text or a user; no system text stands after another turn than a
    /// user's
    MIS_03 = "MIS-03";
    /// every call that another turn follows is answered after it, once
    MIS_04 = "MIS-04";
    /// the last turn is the assistant's for training, a user's or a result as a request, and never the
    /// system's
    MIS_05 = "MIS-05";
    /// names of functions are `[a-zA-Z0-9_-]{1,64}`; users have no name
    MIS_06 = "MIS-06";
    /// no sound stands beside system text
    MIS_07 = "MIS-07";
}

/// The dialect of Mistral's requests, as a version of the tokenizer takes them.
pub(crate) struct MistralChat {
    profile: &'static str,
    manner: &'static DialectProfile,
}

/// In profile `document`.
pub(crate) static MISTRAL_CHAT: MistralChat = MistralChat {
    profile: "document",
    manner: &V7,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Mistral chat",
    family: "openai-chat",
    media_type: "application/json",
    specification: "mistral-common 1.13.1, request validator",
    dated: "2026-08-01",
    carries: "text, tools, pictures by web address or as bytes, quoted replies; names before the text",
    profiles: &[
        &MISTRAL_CHAT,
        &MistralChat {
            profile: "v3",
            manner: &V3,
        },
        &MistralChat {
            profile: "v7",
            manner: &V7,
        },
        &MistralChat {
            profile: "v13",
            manner: &V13,
        },
    ],
    neutral: false,
    own_system: false,
    rules: Rules::Judged(RULES),
};

const IDS: IdRule = IdRule {
    shape: IdShape::Nine,
    wanted: MIS_01,
    unique: MIS_04,
    shaped: MIS_01,
};

const TOOL_NAMES: NameRule = NameRule {
    most: Some(64),
    reason: reasons::FUNCTION_NAME_OF_64.by(MIS_06),
};

static V7: DialectProfile = DialectProfile {
    user_first: Some(MIS_03),
    system: SystemPlace::Start,
    texts: Texts::JoinedWithoutMedia,
    carries: Some(picture),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY,
    definitions: Some(Form::Nested),
    ..DialectProfile::plain(
        IDS,
        TOOL_NAMES,
        (MIS_03, "no message is left"),
        reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE,
    )
};

static V3: DialectProfile = DialectProfile {
    splits_calls: Some(MIS_02),
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

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn loses(&self) -> Vec<LossCode> {
        passes::loses(self.manner)
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let list = List {
            names_results: true,
            ..List::PLAIN
        };
        let mut plan = passes::arrange(transcript, self.manner);
        if plan.turns.last().is_some_and(|turn| turn.role == Role::System) {
            let end = plan.progress.last_said();
            let violation = Violation::of(MIS_05, end, "the last turn is system text");
            plan.violations.push(violation);
        }
        let rendering = list.write(plan, self.manner, sink);
        emit(sink, rendering);
    }
}
