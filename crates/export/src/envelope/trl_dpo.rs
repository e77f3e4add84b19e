//! TRL's conversational preferences: a prompt with a chosen and a rejected answer.
//!
//! ```json
//! {"prompt":[{"role":"user","content":"Hi"}],"chosen":[{"role":"assistant","content":"Hello"}],"rejected":[{"role":"assistant","content":"Go"}]}
//! ```
//!
//! - DPO-01 the prompt ends with a user, and the assistant answers.
//! - DPO-02 both answers have the same prompt.
//! - DPO-03 the answers differ.
//! - DPO-04 every message has content.

use chatmill_dataset::FreeKind;

use super::preference::pair;
use super::{Envelope, ExportRow, Masking, MediaIn, Preferences, Wrapped, borrowed};
use crate::envelope::turns;
use crate::fields::Field;

/// The envelope of TRL's preferences.
pub(super) static TRL_DPO: Envelope = Envelope {
    id: "trl-dpo",
    record: "`prompt`, `chosen`, `rejected`, `tools`, `images`",
    left_out: "answers without a preference; equal answers; a prompt that does not end with a user",
    title: "TRL preferences",
    specification: "TRL 1.16.0, dataset formats",
    reasons: REASONS,
    masking: Masking::InRecord,
    preferences: Preferences::Pairs,
    dialects: &["hf-messages"],
    keys: &[
        ("prompt", FreeKind::Json),
        ("chosen", FreeKind::Json),
        ("rejected", FreeKind::Json),
        ("tools", FreeKind::Json),
        ("images", FreeKind::Json),
    ],
    is_one_table: true,
    media: MediaIn::Column,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    SILENT = "DPO-01", "the prompt does not end with a user, or has no answer", "a message of a person has to precede the answer: check that the source's question was read (`chatmill init FILE`)";
    PROMPTS = "DPO-02", "the answers have different prompts", "rate answers to the same request; others belong to two conversations";
    SAME = "DPO-03", "the answers are the same", "nothing: equal answers express no preference";
    CONTENT = "DPO-04", "a message has no content", "leave empty messages out at the source";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let (chosen, rejected) = pair(row, SILENT.words, PROMPTS.words)?;
    let [better, worse] = [&chosen.answer, &rejected.answer].map(|turns| turns::list(turns));
    if better == worse {
        return Err(SAME.words);
    }
    let mut all = chosen.prompt.iter().chain(&chosen.answer).chain(&rejected.answer);
    if all.any(|turn| turn.message.content.is_none()) {
        return Err(CONTENT.words);
    }
    let mut fields = vec![
        Field::new("prompt", turns::list(&chosen.prompt)),
        Field::new("chosen", better),
        Field::new("rejected", worse),
    ];
    fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
    Ok(Wrapped::whole(fields))
}
