//! OpenAI direct preference optimisation: a request, with a preferred answer and another one.
//!
//! ```json
//! {"input":{"messages":[{"role":"user","content":"Hi"}]},"preferred_output":[{"role":"assistant","content":"Hello"}],"non_preferred_output":[{"role":"assistant","content":"Go"}]}
//! ```
//!
//! - ODP-01 the request ends with a user, and the assistant answers.
//! - ODP-02 both answers have the same request.
//! - ODP-03 each answer is one message of the assistant, with text and without calls.
//! - ODP-04 the answers differ.
//! - ODP-05 the arguments of a call in the request are an object.
//!
//! A training file has at least ten records.

use chatmill_dataset::FreeKind;

use super::preference::{Answered, pair};
use super::{Envelope, ExportRow, Masking, Preferences, Wrapped, borrowed};
use crate::envelope::turns;
use crate::fields::{Field, object};

/// The envelope of OpenAI's preferences.
pub(super) static OPENAI_DPO: Envelope = Envelope {
    id: "openai-dpo",
    record: "`input`, `preferred_output`, `non_preferred_output`",
    left_out: "the same; an answer that is not one message of text; arguments that are not an object. At least 10 records",
    title: "OpenAI preferences",
    specification: "OpenAI API, fine-tuning guide, direct preference optimisation",
    reasons: REASONS,
    masking: Masking::InRecord,
    preferences: Preferences::Pairs,
    dialects: &["openai-chat"],
    keys: &[
        ("input", FreeKind::Json),
        ("preferred_output", FreeKind::Json),
        ("non_preferred_output", FreeKind::Json),
    ],
    least_records: 10,
    most_bytes: Some(512 << 20),
    has_fixed_keys: true,
    is_one_file: true,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    SILENT = "ODP-01", "the request does not end with a user, or has no answer", "a message of a person has to precede the answer: check that the source's question was read (`chatmill init FILE`)";
    REQUESTS = "ODP-02", "the answers have different requests", "rate answers to the same request; others belong to two conversations";
    TEXT = "ODP-03", "an answer is not one message of text", "`trl-dpo` takes answers with calls, and those of several messages";
    SAME = "ODP-04", "the answers are the same", "nothing: equal answers express no preference";
    ARGUMENTS = "ODP-05", "the arguments of a call are not an object", "look for TL006 and TL007 in the findings, which name the calls";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let (preferred, other) = pair(row, SILENT.words, REQUESTS.words)?;
    let is_text = |answer: &Answered<'_>| match &*answer.answer {
        [turn] => turn.message.only_text().is_some(),
        _ => false,
    };
    if !is_text(&preferred) || !is_text(&other) {
        return Err(TEXT.words);
    }
    if !turns::calls_take_objects(&preferred.prompt) {
        return Err(ARGUMENTS.words);
    }
    let [better, worse] = [&preferred.answer, &other.answer].map(|turns| turns::list(turns));
    if better == worse {
        return Err(SAME.words);
    }
    let mut request = vec![Field::new("messages", turns::list(&preferred.prompt))];
    for key in ["tools", "parallel_tool_calls"] {
        request.extend(borrowed(row, key).map(|json| Field::new(key, json)));
    }
    Ok(Wrapped::whole(vec![
        Field::new("input", object(&request)),
        Field::new("preferred_output", better),
        Field::new("non_preferred_output", worse),
    ]))
}
