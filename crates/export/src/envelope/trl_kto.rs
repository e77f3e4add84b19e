//! TRL's conversational answers labelled good or bad: a prompt, a completion and a label.
//!
//! ```json
//! {"prompt":[{"role":"user","content":"Hi"}],"completion":[{"role":"assistant","content":"Hello"}],"label":true}
//! ```
//!
//! - KTO-01 the prompt ends with a user, and the assistant answers.
//! - KTO-02 every message has content.

use chatmill_dataset::FreeKind;

use super::preference::Answered;
use super::{Envelope, ExportRow, Masking, MediaIn, Preferences, Wrapped, borrowed};
use crate::envelope::turns;
use crate::fields::Field;

/// The envelope of TRL's labelled answers.
pub(super) static TRL_KTO: Envelope = Envelope {
    id: "trl-kto",
    record: "`prompt`, `completion`, `label`, `tools`",
    left_out: "rows with pictures; answers that are neither labelled nor the best or the worst of their place; a prompt that does not end with a user",
    title: "TRL labelled answers",
    specification: "TRL 1.16.0, dataset formats",
    reasons: REASONS,
    masking: Masking::InRecord,
    preferences: Preferences::Labels,
    dialects: &["hf-messages"],
    keys: &[
        ("prompt", FreeKind::Json),
        ("completion", FreeKind::Json),
        ("label", FreeKind::Nested(chatmill_dataset::Shape::Flag)),
        ("tools", FreeKind::Json),
    ],
    is_one_table: true,
    media: MediaIn::Nowhere,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    SILENT = "KTO-01", "the prompt does not end with a user, or has no answer", "a message of a person has to precede the answer: check that the source's question was read (`chatmill init FILE`)";
    UNLABELLED = "KTO-01", "the answer is not labelled good or bad", "label the answer at the source, by a label, a score or a rank";
    CONTENT = "KTO-02", "a message has no content", "leave empty messages out at the source";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let answered = Answered::of(row).ok_or(SILENT.words)?;
    let label = row.label.ok_or(UNLABELLED.words)?;
    let mut all = answered.prompt.iter().chain(&answered.answer);
    if all.any(|turn| turn.message.content.is_none()) {
        return Err(CONTENT.words);
    }
    let mut fields = vec![
        Field::new("prompt", turns::list(&answered.prompt)),
        Field::new("completion", turns::list(&answered.answer)),
        Field::new("label", label.to_string()),
    ];
    fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
    Ok(Wrapped::whole(fields))
}
