//! TRL's conversational prompts, for trainers that write the answers themselves: GRPO, online DPO, RLOO.
//!
//! ```json
//! {"prompt":[{"role":"user","content":"6 × 7?"}],"ground_truth":"42"}
//! ```
//!
//! - PRO-01 the prompt ends with a user.
//! - PRO-02 every message of the prompt has content.
//!
//! Turns after the last question are cut. TRL passes every column except `prompt` to the reward functions, so `ground_truth` is one of their
//! arguments: a field of the record, else the answer that was cut.

use chatmill_dataset::FreeKind;

use super::preference::Answered;
use super::reference::reference;
use super::{Envelope, ExportRow, Masking, MediaIn, Question, Wrapped, borrowed};
use crate::envelope::turns;
use crate::fields::{Field, text};

/// The envelope of TRL's prompts.
pub(super) static TRL_PROMPTS: Envelope = Envelope {
    id: "trl-prompts",
    record: "`prompt`, `ground_truth` where there is one, `tools`, `images`",
    left_out: "no question of a user; an empty message in the prompt",
    title: "TRL prompts",
    specification: "TRL 1.16.0, dataset formats",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["hf-messages"],
    keys: &[
        ("prompt", FreeKind::Json),
        ("ground_truth", FreeKind::Text),
        ("tools", FreeKind::Json),
        ("images", FreeKind::Json),
    ],
    is_one_table: true,
    media: MediaIn::Column,
    question: Question::Last,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    UNASKED = "PRO-01", "no turn of a user ends the prompt", "a message of a person has to come before system text ends: check that the source's question was read (`chatmill init FILE`)";
    CONTENT = "PRO-02", "a message of the prompt has no content", "leave empty messages out at the source";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let asked = Answered::asked(row).ok_or(UNASKED.words)?;
    if asked.prompt.iter().any(|turn| turn.message.content.is_none()) {
        return Err(CONTENT.words);
    }
    let mut fields = vec![Field::new("prompt", turns::list(&asked.prompt))];
    let reference = reference(row, &asked);
    fields.extend(reference.map(|reference| Field::new("ground_truth", text(&reference))));
    fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
    Ok(Wrapped::whole(fields).without_turns(asked.answer.len()))
}
