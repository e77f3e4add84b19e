//! Axolotl's `chat_template` data sets: `messages` as Hugging Face templates read them, with `tools`.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! - AXO-01 keys are `messages` and `tools`.
//! - AXO-02 the first message has content and is not a call: Axolotl takes the keys of all messages from it.
//! - AXO-03 the assistant has a turn: otherwise every token is masked.
//! - AXO-04 a turn of the assistant is trained on; context turns have `train` false, which Axolotl reads with `message_field_training: train`.
//!
//! Arguments are objects. If two calls have the same argument in different types, the reader of JSON lines fails: export
//! Parquet, or the profile `hf-messages@string-arguments`.

use chatmill_dataset::FreeKind;

use super::training_role::mark_context;
use super::{Envelope, ExportRow, Masking, Question, Wrapped, known_fields, put_messages, value};
use crate::envelope::turns;
use crate::fields::text;
use crate::summary::FileSummary;

/// The envelope of Axolotl.
pub(super) static AXOLOTL: Envelope = Envelope {
    id: "axolotl",
    record: "`messages`, `tools`, with `axolotl.yaml` next to the files",
    left_out: "rows without an assistant turn or without a trained turn; a first message that is a call",
    title: "Axolotl chat_template",
    specification: "Axolotl 0.19, conversation data sets",
    reasons: REASONS,
    masking: Masking::Setting("message_field_training: train"),
    dialects: &["hf-messages"],
    keys: &[("messages", FreeKind::Json), ("tools", FreeKind::Json)],
    is_one_table: true,
    question: Question::BeforeAnswer,
    companion,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    KEYS = "AXO-01", "the keys are messages and tools", "take the dialect in a profile that writes no other keys";
    FIRST = "AXO-02", "the first message has no content, or calls a tool", "begin the conversation with system text or a message of a person";
    SILENT = "AXO-03", "the assistant has no turn", "where no participant is an agent, convert with `--set perspective.as=each-participant`";
    CONTEXT = "AXO-04", "no turn of the assistant is trained on", "choose windows that end with a trained turn";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let mut fields = known_fields(row, &AXOLOTL).ok_or(KEYS.words)?;
    let turns = value(&fields, "messages").and_then(turns::of).ok_or(KEYS.words)?;
    let first = turns.first().ok_or(KEYS.words)?;
    if first.message.content.is_none() || !first.message.tool_calls.is_empty() {
        return Err(FIRST.words);
    }
    if !turns.iter().any(|turn| turn.message.is_assistant()) {
        return Err(SILENT.words);
    }
    let (turn_counts, marked) = mark_context(row, &turns, "\"train\":false").ok_or(CONTEXT.words)?;
    put_messages(&mut fields, marked);
    Ok(Wrapped::whole(fields).with_turn_counts(turn_counts))
}

/// Two entries of a configuration: for the part that is trained on, and for the part that is evaluated.
fn companion(files: &[FileSummary]) -> Option<(&'static str, String)> {
    let training = files.first()?;
    let others = || {
        files
            .iter()
            .filter(|file| file.part != training.part && file.rows > 0)
    };
    let evaluated = others().find(|file| file.part == "test").or(others().next_back());
    let entries = |of: &FileSummary| -> String {
        let files = files.iter().filter(|file| file.part == of.part);
        files.map(entry).collect()
    };
    let keys = [("datasets", Some(training)), ("test_datasets", evaluated)];
    let lists = keys
        .into_iter()
        .filter_map(|(key, of)| Some(format!("{key}:\n{}", entries(of?))));
    Some(("axolotl.yaml", lists.collect()))
}

fn entry(file: &FileSummary) -> String {
    let kind = if file.name.ends_with(".parquet") {
        "parquet"
    } else {
        "json"
    };
    format!(
        "  - path: {}\n    ds_type: {kind}\n    type: chat_template\n    field_messages: messages\n    message_field_training: train\n",
        text(&file.name)
    )
}
