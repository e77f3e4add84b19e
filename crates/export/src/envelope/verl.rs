//! verl: a prompt, with the truth that its reward function compares an answer with.
//!
//! ```json
//! {"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"6 × 7?"}],"reward_model":{"style":"rule","ground_truth":"42"},"extra_info":{"conversation_id":"q1"}}
//! ```
//!
//! - VRL-01 the prompt ends with a user.
//! - VRL-02 every message of the prompt has content.
//! - VRL-03 there is a truth for the reward function: a field of the record, else the answer that was cut.
//!
//! `data_source` selects the reward function. It is the record's, else `chatmill`; `reward_model` is the record's if that has a truth. Turns after
//! the last question are cut, and tools have no place: verl takes them from its own settings.

use chatmill_dataset::FreeKind;

use super::preference::Answered;
use super::reference::{field, reference};
use super::{Envelope, ExportRow, Masking, MediaIn, Question, Wrapped};
use crate::envelope::turns;
use crate::fields::{self, Field, object, text};

/// The envelope of verl's rows.
pub(super) static VERL: Envelope = Envelope {
    id: "verl",
    record: "`data_source`, `prompt`, `reward_model` with `style` and `ground_truth`, `extra_info`",
    left_out: "rows with pictures; no question of a user; an empty message in the prompt; no truth for the reward function",
    title: "verl prompts",
    specification: "verl 0.7, data preparation",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["hf-messages"],
    keys: &[
        ("data_source", FreeKind::Text),
        ("prompt", FreeKind::Json),
        ("reward_model", FreeKind::Json),
        ("extra_info", FreeKind::Json),
    ],
    is_one_table: true,
    media: MediaIn::Nowhere,
    question: Question::Last,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    UNASKED = "VRL-01", "no turn of a user ends the prompt", "a message of a person has to come before system text ends: check that the source's question was read (`chatmill init FILE`)";
    CONTENT = "VRL-02", "a message of the prompt has no content", "leave empty messages out at the source";
    NO_TRUTH = "VRL-03", "the record has no truth, and no answer in text", "give records a field `ground_truth`, or take `trl-prompts`, which needs none";
}

/// The source of rows that name none.
const SOURCE: &str = "chatmill";

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let asked = Answered::asked(row).ok_or(UNASKED.words)?;
    if asked.prompt.iter().any(|turn| turn.message.content.is_none()) {
        return Err(CONTENT.words);
    }
    let truth = reference(row, &asked).ok_or(NO_TRUTH.words)?;
    let source = field(row, "data_source")
        .and_then(|json| fields::string_value(&json).map(std::borrow::Cow::into_owned));
    let fields = vec![
        Field::new("data_source", text(source.as_deref().unwrap_or(SOURCE))),
        Field::new("prompt", turns::list(&asked.prompt)),
        Field::new("reward_model", reward_model(row, &truth)),
        Field::new("extra_info", extra_info(row)),
    ];
    Ok(Wrapped::whole(fields).without_turns(asked.answer.len()))
}

/// The record's own object, with its truth as a text, else an object for a rule.
fn reward_model(row: &ExportRow<'_>, truth: &str) -> String {
    let style = field(row, "reward_model.style").unwrap_or_else(|| text("rule"));
    object(&[
        Field::new("style", style),
        Field::new("ground_truth", text(truth)),
    ])
}

/// The record's own object, with the id of the conversation if it has none.
fn extra_info(row: &ExportRow<'_>) -> String {
    let own = field(row, "extra_info");
    let mut info = own.as_deref().and_then(fields::of).unwrap_or_default();
    if !info.iter().any(|field| field.name == "conversation_id") {
        info.push(Field::new("conversation_id", text(row.conversation)));
    }
    object(&info)
}
