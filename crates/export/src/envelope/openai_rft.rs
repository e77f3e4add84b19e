//! OpenAI reinforcement fine-tuning: a line is a prompt with the reference that a grader compares the model's answer with.
//!
//! ```json
//! {"messages":[{"role":"user","content":"6 × 7?"}],"reference_answer":"42"}
//! ```
//!
//! - RFT-01 the last message is a user's.
//! - RFT-02 content is text or pictures.
//! - RFT-03 there is a reference for the grader: a field of the record, else the answer that was cut.
//! - RFT-04 the arguments of a call are an object.
//!
//! In the `OpenAPI` document (2.3.0, `FineTuneReinforcementRequestInput`) only `messages` and `tools` are reserved: a grader reads any other key
//! as `{{ item.KEY }}`. System text has the role `developer`, its name for the models that are trained this way. Turns after the last question are
//! cut. Azure accepts the same files, and Bedrock those without system text.

use chatmill_dataset::FreeKind;

use super::preference::Answered;
use super::reference::reference;
use super::{Envelope, ExportRow, Masking, Question, Wrapped, borrowed};
use crate::envelope::turns::{Turn, calls_take_objects};
use crate::fields::{self, Field};

/// The envelope of OpenAI's files for reinforcement fine-tuning.
pub(super) static OPENAI_RFT: Envelope = Envelope {
    id: "openai-rft",
    record: "`messages`, `tools`, `reference_answer`",
    left_out: "no question of a user; audio and files; arguments that are not an object; no reference for a grader. At least 10 records, a file of 512 MiB at most",
    title: "OpenAI reinforcement fine-tuning",
    specification: "OpenAI API, reinforcement fine-tuning guide and OpenAPI document 2.3.0",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["openai-chat"],
    keys: &[
        ("messages", FreeKind::Json),
        ("tools", FreeKind::Json),
        ("reference_answer", FreeKind::Text),
    ],
    least_records: 10,
    most_bytes: Some(512 << 20),
    is_one_file: true,
    question: Question::Last,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    UNASKED = "RFT-01", "no turn of a user ends the prompt", "a message of a person has to come before system text ends: check that the source's question was read (`chatmill init FILE`)";
    CONTENT = "RFT-02", "a message has no content, or a part is neither text nor picture", "name media in the text: `policy.media = \"placeholder\"`";
    NO_REFERENCE = "RFT-03", "the record has no reference answer, and no answer in text", "give records a field `ground_truth`, or take windows that end with text: `window.targets = \"answers\"`";
    ARGUMENTS = "RFT-04", "the arguments of a call are not an object", "look for TL006 and TL007 in the findings, which name the calls";
}

/// The beginning of a system message in the dialect.
const SYSTEM: &str = "{\"role\":\"system\"";

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let asked = Answered::asked(row).ok_or(UNASKED.words)?;
    if !asked.prompt.iter().all(is_sayable) {
        return Err(CONTENT.words);
    }
    if !calls_take_objects(&asked.prompt) {
        return Err(ARGUMENTS.words);
    }
    let reference = reference(row, &asked).ok_or(NO_REFERENCE.words)?;
    let messages: Vec<String> = asked.prompt.iter().map(instructed).collect();
    let mut fields = vec![Field::new("messages", format!("[{}]", messages.join(",")))];
    fields.extend(borrowed(row, "tools").map(|tools| Field::new("tools", tools)));
    fields.push(Field::new("reference_answer", fields::text(&reference)));
    Ok(Wrapped::whole(fields).without_turns(asked.answer.len()))
}

/// Whether a turn is text, pictures or calls.
fn is_sayable(turn: &Turn<'_>) -> bool {
    let message = &turn.message;
    if message.text().is_some() || message.content.is_none() && !message.tool_calls.is_empty() {
        return true;
    }
    let parts = message.parts();
    parts.is_some_and(|parts| {
        let mut parts = parts.iter();
        parts.all(|(_, part)| part.kind == "text" || part.image_url.is_some())
    })
}

/// The turn, with the role `developer` for system text.
fn instructed(turn: &Turn<'_>) -> String {
    match turn.json.strip_prefix(SYSTEM) {
        Some(rest) => format!("{{\"role\":\"developer\"{rest}"),
        None => turn.json.to_owned(),
    }
}
