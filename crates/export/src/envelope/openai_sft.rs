//! OpenAI supervised fine-tuning: a line is a Chat Completions request that ends with a turn to train on.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! - SFT-01 keys are `messages`, `tools` and `parallel_tool_calls`.
//! - SFT-02 the last turn is the assistant's.
//! - SFT-03 the content of a tool's result is a text.
//! - SFT-04 at most ten pictures, none of them the assistant's.
//! - SFT-05 a turn of the assistant is trained on; context turns have `weight` 0.
//! - SFT-06 the arguments of a call are an object, because the parameters of each function are one.
//!
//! A training file has at least ten records, and at most 512 MB, the limit of the Files API. Other services accept the same files.

use chatmill_dataset::FreeKind;

use super::training_role::mark_context;
use super::{Envelope, ExportRow, Masking, Question, Wrapped, known_fields, put_messages, value};
use crate::envelope::turns::{self, Turn};

/// The envelope of OpenAI fine-tuning files.
pub(super) static OPENAI_SFT: Envelope = Envelope {
    id: "openai-sft",
    record: "the request",
    left_out: "the assistant not last; results that are not text; pictures of the assistant, or more than ten; arguments that are not an object; no trained turn. At least 10 records, a file of 512 MiB at most",
    title: "OpenAI supervised fine-tuning",
    specification: "OpenAI API, fine-tuning guide and OpenAPI document 2.3.0",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["openai-chat"],
    keys: &[
        ("messages", FreeKind::Json),
        ("tools", FreeKind::Json),
        ("parallel_tool_calls", FreeKind::Json),
    ],
    least_records: 10,
    most_bytes: Some(512 << 20),
    question: Question::BeforeAnswer,
    has_fixed_keys: true,
    is_one_file: true,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    KEYS = "SFT-01", "the keys are messages, tools and parallel_tool_calls", "take the dialect in a profile that writes no other keys";
    LAST_TURN = "SFT-02", "the last turn is not the assistant's", "`window.mode = \"consecutive\"` makes rows that end with an answer; `window.targets = \"steps\"` lets them end with calls, too";
    RESULTS = "SFT-03", "a result is not text", "name media in the text: `policy.media = \"placeholder\"`";
    PICTURES = "SFT-04", "more than ten pictures, or one of the assistant's", "make shorter windows, or name pictures in the text: `policy.media = \"placeholder\"`";
    CONTEXT = "SFT-05", "no turn of the assistant is trained on", "choose windows that end with a trained turn";
    ARGUMENTS = "SFT-06", "the arguments of a call are not an object", "look for TL006 and TL007 in the findings, which name the calls";
}

/// The most pictures of a record.
const MOST_PICTURES: usize = 10;

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let mut fields = known_fields(row, &OPENAI_SFT).ok_or(KEYS.words)?;
    let turns = value(&fields, "messages").and_then(turns::of).ok_or(KEYS.words)?;
    if !turns.last().is_some_and(|turn| turn.message.is_assistant()) {
        return Err(LAST_TURN.words);
    }
    if turns
        .iter()
        .any(|turn| turn.message.role == "tool" && turn.message.text().is_none())
    {
        return Err(RESULTS.words);
    }
    if !turns::calls_take_objects(&turns) {
        return Err(ARGUMENTS.words);
    }
    let pictured: Vec<(&Turn<'_>, usize)> = turns.iter().map(|turn| (turn, pictures(turn))).collect();
    if pictured
        .iter()
        .any(|(turn, pictures)| turn.message.is_assistant() && *pictures > 0)
        || pictured.iter().map(|(_, pictures)| pictures).sum::<usize>() > MOST_PICTURES
    {
        return Err(PICTURES.words);
    }
    let (turn_counts, marked) = mark_context(row, &turns, "\"weight\":0").ok_or(CONTEXT.words)?;
    put_messages(&mut fields, marked);
    Ok(Wrapped::whole(fields).with_turn_counts(turn_counts))
}

fn pictures(turn: &Turn<'_>) -> usize {
    let parts = turn.message.parts().unwrap_or_default();
    parts.iter().filter(|(_, part)| part.image_url.is_some()).count()
}
