//! OpenAI Evals: `input` is all that stands before the assistant's last turn, `ideal` is that turn's text.
//!
//! ```json
//! {"input":[{"role":"user","content":"Hi"}],"ideal":"Hello"}
//! ```
//!
//! - EVL-01 the assistant speaks, and somebody before it.
//! - EVL-02 the last turn of the assistant is a text and no call.
//!
//! Turns after the assistant's last one are cut. Unknown keys pass, so `tools` stays.

use chatmill_dataset::FreeKind;

use super::{Envelope, EnvelopeAbout, ExportRow, Masking, Preferences, Wrapped, borrowed};
use crate::fields::{self, Field};
use crate::teaching::Taught;
use crate::turns;

/// The envelope of OpenAI Evals.
pub(super) struct OpenaiEvals;

static ABOUT: EnvelopeAbout = EnvelopeAbout {
    id: "openai-evals",
    record: "`input`, `ideal`, `tools`",
    left_out: "no answer, or one that is a call",
    title: "OpenAI Evals samples",
    specification: "openai/evals, samples of basic evals",
    reasons: REASONS,
    masking: Masking::InRecord,
    preferences: Preferences::None,
    dialects: &["openai-chat"],
    keys: &[
        ("input", FreeKind::Json),
        ("ideal", FreeKind::Text),
        ("tools", FreeKind::Json),
    ],
    least_records: 1,
    most_records: None,
    most_bytes: None,
    is_one_table: false,
    wants_question: false,
};

chatmill_diag::reasons! {
    SILENT = "EVL-01", "the assistant says nothing, or nobody before it", "where no participant is an agent, convert with `--set perspective.as=each-participant`";
    CALLS = "EVL-02", "the assistant's last turn is not text, or calls a tool", "choose windows that end with words: `window.targets = \"answers\"`";
}

impl Envelope for OpenaiEvals {
    fn about(&self) -> &'static EnvelopeAbout {
        &ABOUT
    }

    fn wrap<'a>(&self, row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
        let turns = borrowed(row, "messages")
            .and_then(turns::of)
            .ok_or(SILENT.words)?;
        let cut = turns::cut(&turns)
            .filter(|cut| !cut.before.is_empty())
            .ok_or(SILENT.words)?;
        let ideal = cut.answer.said.text().filter(|text| !text.is_empty());
        let ideal = ideal
            .filter(|_| cut.answer.said.tool_calls.is_empty())
            .ok_or(CALLS.words)?;
        let mut fields = vec![
            Field::new("input", turns::list(cut.before)),
            Field::new("ideal", fields::text(&ideal)),
        ];
        fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
        Ok(Wrapped {
            fields,
            turns_cut: cut.after as u64,
            taught: Taught::default(),
        })
    }
}
