//! The list after Suna's filter for Bedrock.
//!
//! Profile `2025-11-07` is the code of that day: results must have an id of the newest turn of the assistant, seven patterns recognise an
//! embedded result, and if only system text would be left, the last user message stays.

use std::sync::OnceLock;

use super::{BLOCKS, MARKED_LIST, STRINGS};
use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::messages::filter::{Filter, OpenCalls};
use crate::messages::order::Order;
use crate::passes::dialect::{Dialect, DialectAbout, Rules};
use crate::passes::profile::{DialectProfile, MarksOn, Texts};

rules! {
    /// a result is kept if an earlier call with its id is still open, otherwise it is left out
    SUB_01 = "SUB-01";
    /// a user message that embeds a result is left out, unless it is a cached block
    SUB_02 = "SUB-02";
}

/// Lists that are filtered for Bedrock, in profile `document`.
pub(crate) static SUNA_BEDROCK: Dialect =
    Dialect::turns(&ABOUT, &PROFILE, |plan, sink| MARKED_LIST.write(plan, sink));

/// The same lists as filtered by the code of 2025-11-07.
static BY_CODE: Dialect =
    Dialect::turns(&ABOUT, &CODE_PROFILE, |plan, sink| MARKED_LIST.write(plan, sink)).called("2025-11-07");

static ABOUT: DialectAbout = DialectAbout {
    id: "suna-bedrock",
    title: "Suna messages filtered for Bedrock",
    carries: "text, tools, ids of messages, cached blocks, quoted replies",
    profiles: &[&SUNA_BEDROCK, &BY_CODE],
    rules: Rules::Validated(RULES),
    ..BLOCKS
};

static DOCUMENT: Filter = Filter {
    open: OpenCalls::EveryCall,
    embedded: &[TOOL_OBJECT],
    keeps_last_user: false,
    result_rule: reasons::NO_EARLIER_CALL_IS_OPEN.by(SUB_01),
    text_rule: reasons::EMBEDDED_RESULT_IS_LEFT_OUT.by(SUB_02),
    compiled: OnceLock::new(),
};

static CODE: Filter = Filter {
    open: OpenCalls::NewestTurn,
    embedded: &[
        TOOL_OBJECT,
        r#"\{\s*"query"\s*:\s*"[^"]*"\s*,\s*"follow_up_questions""#,
        r#""tool_execution"\s*:"#,
        r#""tool_result"\s*:"#,
        r"toolUseId\s*[:=]",
        r"(?i)\[Tool output (?:removed|compressed)",
        r#""tool_call_id"\s*:\s*"tooluse_"#,
    ],
    keeps_last_user: true,
    result_rule: reasons::NO_EARLIER_CALL_IS_OPEN.by(SUB_01),
    text_rule: reasons::EMBEDDED_RESULT_IS_LEFT_OUT.by(SUB_02),
    compiled: OnceLock::new(),
};

/// A pattern for texts that begin like the line of a result in a cached block.
const TOOL_OBJECT: &str = r"(?i)^\s*Tool:\s*\{";

static PROFILE: DialectProfile = DialectProfile {
    order: Order::Filtered(&DOCUMENT),
    texts: Texts::JoinedWithoutMarks,
    marks_on: MarksOn::Texts,
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS)),
    pairing: SUB_01,
    ..STRINGS
};

static CODE_PROFILE: DialectProfile = DialectProfile {
    order: Order::Filtered(&CODE),
    ..PROFILE
};
