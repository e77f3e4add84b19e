//! `ChatML`: a transcript whose turns stand between control tokens.
//!
//! ```text
//! <|im_start|>user
//! Hi<|im_end|>
//! <|im_start|>assistant
//! Hello<|im_end|>
//! ```
//!
//! Where chat text spells a control token, it is escaped (U+200B after the `<`); with `control_tokens = "keep"` it stays, and a
//! text that spells an opening or closing token makes the row invalid. The same holds for the tags that set off calls, results and
//! thoughts: readers would take what somebody typed for a tool's. A thought that the assistant itself spells between tags stays
//! one, and system text may speak of tags.
//!
//! The transcript ends with the last turn: nothing asks for an answer.

use chatmill_model::{Level, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::controls::ControlTokenRule;
use crate::loss::{LossCode, reasons};
use crate::order::Order;
use crate::passes;
use crate::profile::{DialectProfile, Thoughts};
use crate::rules::rules;
use crate::tool_call_ids::{IdRule, IdShape};
use crate::tool_names::NameRule;
use crate::transcript::Transcript;
use crate::{Dialect, Emit};

rules! {
    /// control tokens open and close turns, and nothing else spells them, or the tags around calls, results
    /// and thoughts
    CML_01 = "CML-01";
    /// roles are system, user and assistant; there are no tools
    CML_02 = "CML-02";
    /// there is at least one turn
    CML_03 = "CML-03";
    /// reasoning stands between `<think>` and `</think>` before the text
    CML_04 = "CML-04";
}

/// The dialect of `ChatML` transcripts.
pub(crate) struct Chatml;

const OPENING: &str = "<|im_start|>";
const CLOSING: &str = "<|im_end|>";
static ABOUT: DialectAbout = DialectAbout {
    title: "ChatML",
    family: "template",
    media_type: "text/plain",
    specification: "OpenAI, Chat Markup Language",
    dated: "2023-03-01",
    carries: "text and roles, quoted replies, reasoning if policy keeps it; names in front of the text",
    profiles: &[&Chatml],
    neutral: false,
    own_system: false,
    rules: Rules::Judged(RULES),
};

const IDS: IdRule = IdRule {
    shape: IdShape::Any(usize::MAX),
    wanted: CML_02,
    unique: CML_02,
    shaped: CML_02,
};

const TOOL_NAMES: NameRule = NameRule {
    most: None,
    reason: reasons::TEMPLATE_HAS_NO_TOOLS.by(CML_02),
};

static MANNER: DialectProfile = DialectProfile {
    order: Order::Toolless(reasons::TEMPLATE_HAS_NO_TOOLS.by(CML_02)),
    thoughts: Thoughts::Tagged,
    control_tokens: Some(ControlTokenRule {
        opening: OPENING,
        closing: CLOSING,
        rule: CML_01,
    }),
    ..DialectProfile::plain(
        IDS,
        TOOL_NAMES,
        (CML_03, "no turn is left"),
        reasons::TURN_IS_TEXT,
    )
};

impl Dialect for Chatml {
    fn id(&self) -> &'static str {
        "chatml"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn loses(&self) -> Vec<LossCode> {
        passes::loses(&MANNER)
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let plan = passes::arrange(transcript, &MANNER);
        for (turn, blocks) in plan.said() {
            sink.control(OPENING);
            sink.framing(match turn.role {
                Role::System => "system\n",
                Role::Assistant => "assistant\n",
                Role::User | Role::Tool => "user\n",
            });
            sink.answer(plan.voice(turn.role, blocks), turn.position);
            plan.joined(blocks, |words| words.write(sink, Level::Raw));
            sink.control(CLOSING);
            sink.speak(Speaker::Other);
            sink.framing("\n");
        }
        emit(sink, plan.finish());
    }
}
