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

use super::preference::{Answered, rejected};
use super::{Envelope, EnvelopeAbout, ExportRow, Masking, Preferences, Wrapped, borrowed};
use crate::fields::Field;
use crate::turns;

/// The envelope of TRL's preferences.
pub(super) struct TrlDpo;

static ABOUT: EnvelopeAbout = EnvelopeAbout {
    id: "trl-dpo",
    record: "`prompt`, `chosen`, `rejected`, `tools`",
    left_out: "answers that nobody preferred to another; equal answers; a prompt that does not end with a user",
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
    ],
    least_records: 1,
    most_records: None,
    most_bytes: None,
    is_one_table: true,
    wants_question: false,
};

chatmill_diag::reasons! {
    SILENT = "DPO-01", "the prompt does not end with a user, or nobody answers", "a person has to ask before the answer: see whether the source's question was read (`chatmill init FILE`)";
    PROMPTS = "DPO-02", "the answers have different prompts", "judge answers that stand in one another's place; the others are two conversations";
    SAME = "DPO-03", "the answers are the same", "nothing: equal answers teach no preference";
    CONTENT = "DPO-04", "a message has no content", "leave empty messages out at the source";
}

impl Envelope for TrlDpo {
    fn about(&self) -> &'static EnvelopeAbout {
        &ABOUT
    }

    fn wrap<'a>(&self, row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
        let chosen = Answered::of(row).ok_or(SILENT.words)?;
        let rejected = rejected(row)
            .and_then(|row| Answered::of(&row))
            .ok_or(SILENT.words)?;
        if !chosen.answers_the_same(&rejected) {
            return Err(PROMPTS.words);
        }
        let answers = [chosen.answer(), rejected.answer()].map(turns::list);
        let [better, worse] = answers;
        if better == worse {
            return Err(SAME.words);
        }
        let mut all = chosen
            .prompt()
            .iter()
            .chain(chosen.answer())
            .chain(rejected.answer());
        if all.any(|turn| turn.said.content.is_none()) {
            return Err(CONTENT.words);
        }
        let mut fields = vec![
            Field::new("prompt", turns::list(chosen.prompt())),
            Field::new("chosen", better),
            Field::new("rejected", worse),
        ];
        fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
        Ok(Wrapped::whole(fields))
    }
}
