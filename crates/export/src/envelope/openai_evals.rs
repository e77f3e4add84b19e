//! OpenAI Evals: `input` is the conversation before the assistant's last turn, `ideal` is the text of that turn.
//!
//! ```json
//! {"input":[{"role":"user","content":"Hi"}],"ideal":"Hello"}
//! ```
//!
//! - EVL-01 the assistant has a turn, and another turn precedes it.
//! - EVL-02 the last turn of the assistant is a text and not a call.
//! - EVL-03 that turn is not context: no model wrote the placeholder for a picture, and a bad answer is not ideal.
//! - EVL-04 the arguments of a call are an object.
//!
//! Turns after the assistant's last one are cut. Unknown keys are allowed, so `tools` is kept.

use chatmill_dataset::FreeKind;

use super::training_role::TrainingRole;
use super::{Envelope, ExportRow, Masking, Wrapped, borrowed};
use crate::envelope::turns;
use crate::fields::{self, Field};

/// The envelope of OpenAI Evals.
pub(super) static OPENAI_EVALS: Envelope = Envelope {
    id: "openai-evals",
    record: "`input`, `ideal`, `tools`",
    left_out: "no answer, or one that is a call; arguments that are not an object",
    title: "OpenAI Evals samples",
    specification: "openai/evals, samples of basic evals",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["openai-chat"],
    keys: &[
        ("input", FreeKind::Json),
        ("ideal", FreeKind::Text),
        ("tools", FreeKind::Json),
    ],
    is_one_file: true,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    SILENT = "EVL-01", "the assistant has no turn, or no message precedes it", "where no participant is an agent, convert with `--set perspective.as=each-participant`";
    CALLS = "EVL-02", "the assistant's last turn is not text, or calls a tool", "choose windows that end with text: `window.targets = \"answers\"`";
    CONTEXT = "EVL-03", "the assistant's last turn is context", "choose windows that end with a trained turn";
    ARGUMENTS = "EVL-04", "the arguments of a call are not an object", "look for TL006 and TL007 in the findings, which name the calls";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let turns = borrowed(row, "messages")
        .and_then(turns::of)
        .ok_or(SILENT.words)?;
    let cut = turns::cut(&turns).ok_or(SILENT.words)?;
    let ideal = cut.answer.message.only_text().filter(|text| !text.is_empty());
    let ideal = ideal.ok_or(CALLS.words)?;
    if row.training_role(cut.answer.json) == TrainingRole::Context {
        return Err(CONTEXT.words);
    }
    if !turns::calls_take_objects(cut.before) {
        return Err(ARGUMENTS.words);
    }
    let mut fields = vec![
        Field::new("input", turns::list(cut.before)),
        Field::new("ideal", fields::text(&ideal)),
    ];
    fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
    Ok(Wrapped::whole(fields).without_turns(cut.after))
}
