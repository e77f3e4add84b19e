//! `ChatML`: a transcript with turns between control tokens.
//!
//! ```text
//! <|im_start|>user
//! Hi<|im_end|>
//! <|im_start|>assistant
//! Hello<|im_end|>
//! ```
//!
//! A control token in chat text is escaped (U+200B after the `<`). With `control_tokens = "keep"` it stays, and a text that spells an
//! opening or closing token makes the row invalid. The same applies to the tags around calls, results and thoughts: readers would take
//! typed text for that of a tool. A thought that the assistant itself wrote between tags stays a thought, and system text may mention tags.
//!
//! The transcript ends with the last turn: it has no prompt for an answer.

use chatmill_model::{Level, Role, Sink, Speaker};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::messages::order::Order;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{ControlTokenRule, DialectProfile, Thoughts};
use crate::transcript::turns::TurnPlan;

rules! {
    /// control tokens open and close turns, and no text spells them, or the tags around calls, results and thoughts
    CML_01 = "CML-01";
    /// roles are system, user and assistant; there are no tools
    CML_02 = "CML-02";
    /// there is at least one turn
    CML_03 = "CML-03";
    /// reasoning is between `<think>` and `</think>` before the text
    CML_04 = "CML-04";
}

const OPENING: &str = "<|im_start|>";
const CLOSING: &str = "<|im_end|>";
/// `ChatML` transcripts.
pub(crate) static CHATML: Dialect = Dialect::turns(&ABOUT, &PROFILE, write);

static ABOUT: DialectAbout = DialectAbout {
    id: "chatml",
    title: "ChatML",
    family: "template",
    media_type: "text/plain",
    specification: "OpenAI, Chat Markup Language",
    dated: "2023-03-01",
    carries: "text and roles, quoted replies, reasoning if policy keeps it; names in front of the text",
    profiles: &[&CHATML],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

static PROFILE: DialectProfile = DialectProfile {
    order: Order::Toolless(reasons::TEMPLATE_HAS_NO_TOOLS.by(CML_02)),
    thoughts: Thoughts::Tagged,
    control_tokens: Some(ControlTokenRule {
        opening: OPENING,
        closing: CLOSING,
        rule: CML_01,
    }),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(usize::MAX), CML_02, CML_02),
        NameRule::new(None, reasons::TEMPLATE_HAS_NO_TOOLS.by(CML_02)),
        (CML_03, "no turn is left"),
        reasons::TURN_IS_TEXT,
    )
};

fn write<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>) {
    for (turn, blocks) in plan.turn_blocks() {
        sink.control(OPENING);
        sink.framing(match turn.role {
            Role::System => "system\n",
            Role::Assistant => "assistant\n",
            Role::User | Role::Tool => "user\n",
        });
        sink.answer(plan.speaker(turn.role, blocks), turn.position);
        plan.joined(blocks, |words| words.write(sink, Level::Raw));
        sink.control(CLOSING);
        sink.set_speaker(Speaker::Other);
        sink.framing("\n");
    }
}
