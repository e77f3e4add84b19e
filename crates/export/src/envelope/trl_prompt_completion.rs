//! TRL's conversational prompts and completions: the assistant's last turn is the completion, and all turns before it are the prompt.
//!
//! ```json
//! {"prompt":[{"role":"user","content":"Hi"}],"completion":[{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! - TPC-01 the assistant has a turn, and another turn precedes it.
//! - TPC-02 a prompt ends with a user, a tool or the assistant.
//! - TPC-03 every message has content.
//! - TPC-04 the last turn of the assistant is trained on; earlier trained turns are in the prompt, which is not trained on.
//!
//! Turns after the assistant's last one are cut.

use chatmill_dataset::FreeKind;

use super::training_role::TrainingRole;
use super::{Envelope, ExportRow, Masking, MediaIn, Wrapped, borrowed};
use crate::envelope::turns;
use crate::fields::Field;

/// The envelope of TRL's prompts and completions.
pub(super) static TRL_PROMPT_COMPLETION: Envelope = Envelope {
    id: "trl-prompt-completion",
    record: "`prompt`, `completion`, `tools`, `images`",
    left_out: "no answer; a prompt that ends with system text; a last turn that is context",
    title: "TRL prompts and completions",
    specification: "TRL 1.16.0, dataset formats",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["hf-messages"],
    keys: &[
        ("prompt", FreeKind::Json),
        ("completion", FreeKind::Json),
        ("tools", FreeKind::Json),
        ("images", FreeKind::Json),
    ],
    is_one_table: true,
    media: MediaIn::Column,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    SILENT = "TPC-01", "the assistant has no turn, or no message precedes it", "where no participant is an agent, convert with `--set perspective.as=each-participant`";
    PROMPT = "TPC-02", "the prompt ends with neither user nor tool nor assistant", "put system text at the beginning of the conversation";
    CONTENT = "TPC-03", "a message has no content", "leave empty messages out at the source";
    CONTEXT = "TPC-04", "the last turn of the assistant is context", "`window.mode = \"per_turn\"` makes rows that end with a trained turn";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let turns = borrowed(row, "messages")
        .and_then(turns::of)
        .ok_or(SILENT.words)?;
    let cut = turns::cut(&turns).ok_or(SILENT.words)?;
    let last = cut.before.last().ok_or(SILENT.words)?;
    if !["user", "tool", "assistant"].contains(&&*last.message.role) {
        return Err(PROMPT.words);
    }
    if turns.iter().any(|turn| turn.message.content.is_none()) {
        return Err(CONTENT.words);
    }
    if row.training_role(cut.answer.json) == TrainingRole::Context {
        return Err(CONTEXT.words);
    }
    let mut fields = vec![
        Field::new("prompt", turns::list(cut.before)),
        Field::new("completion", format!("[{}]", cut.answer.json)),
    ];
    fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
    let turn_counts = row.turn_counts(turns.iter().map(|turn| turn.json)).of_last();
    Ok(Wrapped::whole(fields)
        .without_turns(cut.after)
        .with_turn_counts(turn_counts))
}
