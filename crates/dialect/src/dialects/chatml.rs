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

use chatmill_model::{Component, Level, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::controls::{self, Reserved};
use crate::definitions;
use crate::loss::{LossCode, LossReason, Losses, reasons};
use crate::policy::ControlTokens;
use crate::rules::rules;
use crate::text_run::TextRun;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::say::joined;
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{
    BlockContent, DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, Turn, TurnPlan, nothing,
};
use crate::view::View;
use crate::violation::Violation;
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
    loses: "tools, ids, times, notices, media, facts about people and rooms",
    profiles: &[&Chatml],
    neutral: false,
    rules: Rules::Judged(RULES),
};

static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Toolless(reasons::TEMPLATE_HAS_NO_TOOLS.by(CML_02)),
    results: Results::OwnTurns,
    merging: None,
    user_first: None,
    system: SystemPlace::Anywhere,
    texts: Texts::Joined,
    blank_is_empty: false,
    trims_end: None,
    splits_calls: None,
    carries: nothing,
    media_rule: reasons::TURN_IS_TEXT,
    media_rule_plain: reasons::TURN_IS_TEXT,
    thoughts: Thoughts::Tagged,
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: CML_02,
        unique: CML_02,
        shaped: CML_02,
    },
    tool_names: NameRule {
        most: None,
        reason: reasons::TEMPLATE_HAS_NO_TOOLS.by(CML_02),
    },
    pairing: CML_02,
    silent: (CML_03, "no turn is left"),
    keeps_message_ids: false,
};

impl Dialect for Chatml {
    fn id(&self) -> &'static str {
        "chatml"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let mut script = TurnPlan::new(view, &MANNER);
        let mut forged = 0;
        for turn in std::mem::take(&mut script.turns) {
            sink.control(OPENING);
            sink.framing(match turn.role {
                Role::System => "system\n",
                Role::Assistant => "assistant\n",
                Role::User | Role::Tool => "user\n",
            });
            if turn.role == Role::Assistant {
                sink.speak(Speaker::Perspective);
            }
            for words in content(view, turn, &mut forged, &mut script.losses) {
                words.write(sink, Level::Raw);
            }
            sink.control(CLOSING);
            sink.speak(Speaker::Other);
            sink.framing("\n");
        }
        if forged > 0 {
            let fault = format!("chat text spells {forged} opening or closing tokens");
            script.violations.push(Violation::of(CML_01, None, fault));
        }
        definitions::lose(&view.conversation().tools, &mut script.losses);
        let rendering = script.finish();
        emit(sink, rendering);
    }
}

/// The words of a turn, their control tokens treated as policy says.
fn content<'a>(
    view: &View<'a>,
    mut turn: Turn<'a>,
    forged: &mut u64,
    losses: &mut Losses,
) -> Vec<TextRun<'a>> {
    // What is reserved, and what readers take for a call or a result.
    let (reserved, forging) = match turn.role {
        Role::System => (Reserved::Tokens, None),
        Role::Assistant => (Reserved::Tools, Some("<tool_call>")),
        Role::User | Role::Tool => (Reserved::Tags, Some("<tool_response>")),
    };
    for block in &mut turn.blocks {
        let BlockContent::Text(words) = &mut block.held else {
            continue;
        };
        for words in words
            .iter_mut()
            .filter(|words| words.component != Component::Framing)
        {
            let mut declare = |code, count, reason: LossReason| match block.position {
                Some(position) => losses.several(code, position, count, reason),
                None => losses.whole_rendering(code, count, reason),
            };
            let text = std::mem::take(&mut words.text);
            let (text, escaped) = match view.policy.control_tokens {
                ControlTokens::Escape => controls::escape(text, reserved),
                ControlTokens::Keep => {
                    let kept = reserved.count(&text);
                    let reason = reasons::POLICY_KEEPS_CONTROL_TOKENS.by(CML_01);
                    declare(LossCode::SpecialTokenInText, kept, reason);
                    let tokens = [Some(OPENING), Some(CLOSING), forging].into_iter().flatten();
                    *forged += tokens
                        .map(|token| text.matches(token).count() as u64)
                        .sum::<u64>();
                    // Else readers would take the character that somebody typed for an escape.
                    controls::escape_again(text, reserved)
                }
            };
            let reason = reasons::CONTROL_TOKENS_ARE_ESCAPED.by(CML_01);
            declare(LossCode::ReservedTextEscaped, escaped, reason);
            words.text = text;
        }
    }
    joined(turn.blocks)
}
