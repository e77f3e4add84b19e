//! Mistral chat requests, by version of the tokenizer.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! | profile | ids of calls | text and calls in one turn |
//! |---|---|---|
//! | `document`, `v7` | nine letters and digits | allowed |
//! | `v3` | nine letters and digits | split into two turns |
//! | `v13` | anything but `null` | allowed |

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::loss::violation::Violation;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, SystemPlace, Texts};
use crate::tools::forms::Form;
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::transcript::turns::TurnPlan;
use crate::write::list::List;
use crate::write::picture::picture;
use chatmill_model::{Role, Sink};

rules! {
    /// ids are nine letters and digits up to v11, anything but `null` from v13
    MIS_01 = "MIS-01";
    /// before v7 an assistant's turn has text or calls, not both
    MIS_02 = "MIS-02";
    /// a conversation starts with system text or a user; later system text follows only a user turn
    MIS_03 = "MIS-03";
    /// every call that another turn follows is answered after it, once
    MIS_04 = "MIS-04";
    /// the last turn is the assistant's for training, a user's or a result as a request, and never the
    /// system's
    MIS_05 = "MIS-05";
    /// names of functions are `[a-zA-Z0-9_-]{1,64}`; users have no name
    MIS_06 = "MIS-06";
    /// a conversation with system text has no sound
    MIS_07 = "MIS-07";
    /// a tool has parameters, valid in draft 7 of JSON Schema
    MIS_08 = "MIS-08";
}

/// Mistral's requests, in profile `document`.
pub(crate) static MISTRAL_CHAT: Dialect = Dialect::turns(&ABOUT, &V7, write);

static ABOUT: DialectAbout = DialectAbout {
    id: "mistral-chat",
    title: "Mistral chat",
    family: "openai-chat",
    media_type: "application/json",
    specification: "mistral-common 1.13.1, request validator",
    dated: "2026-08-01",
    carries: "text, tools, pictures by web address or as bytes, quoted replies; names before the text",
    profiles: &[
        &MISTRAL_CHAT,
        &Dialect::turns(&ABOUT, &V3, write).called("v3"),
        &Dialect::turns(&ABOUT, &V7, write).called("v7"),
        &Dialect::turns(&ABOUT, &V13, write).called("v13"),
    ],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

static V7: DialectProfile = DialectProfile {
    user_first: Some(MIS_03),
    system: SystemPlace::Start,
    texts: Texts::JoinedWithoutMedia,
    carries: Some(picture),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY,
    definitions: Some(Form::Nested),
    schemas: Some(&SchemaRules {
        are_required: true,
        ..SchemaRules::none(MIS_08)
    }),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Nine, MIS_01, MIS_04),
        NameRule::new(Some(64), reasons::FUNCTION_NAME_OF_64.by(MIS_06)),
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

fn write<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>) {
    if plan.turns.last().is_some_and(|turn| turn.role == Role::System) {
        let end = plan.progress.last_position();
        let violation = Violation::of(MIS_05, end, "the last turn is system text");
        plan.violations.push(violation);
    }
    let list = List {
        names_results: true,
        ..List::PLAIN
    };
    list.write(plan, sink);
}
