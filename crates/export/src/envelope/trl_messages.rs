//! TRL's conversational language modelling: `messages`, with `tools` if there are any.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! - TRL-01 keys are `messages` and `tools`.
//! - TRL-02 every message has a role and content; TRL inspects only the first message to find that a record is a conversation.
//! - TRL-03 the assistant has a message: otherwise there is nothing to train on.
//! - TRL-04 no turn of the assistant is context: TRL trains on all turns, or, with `assistant_only_loss`, all of the assistant's. Turns with
//!   nothing but placeholders for media are left out, and a record ends before other context that follows a trained turn.
//!
//! In Parquet both are columns of JSON, so no message gets keys that only another message has.

use chatmill_dataset::FreeKind;

use super::training_role::unmarkable::{RecordTurns, RoleTurn, TurnRole};
use super::{Envelope, ExportRow, Masking, MediaIn, Question, Wrapped, known_fields, put_messages, value};
use crate::envelope::turns::{self, Turn};
use crate::summary::turn_counts::TurnCounts;

/// The envelope of TRL's conversations.
pub(super) static TRL_MESSAGES: Envelope = Envelope {
    id: "trl-messages",
    record: "`messages`, `tools`, `images`",
    left_out: "rows without an assistant turn, or with one that is context before the first trained one",
    title: "TRL conversations",
    specification: "TRL 1.16.0, dataset formats",
    reasons: REASONS,
    masking: Masking::CutOff,
    dialects: &["hf-messages"],
    keys: &[
        ("messages", FreeKind::Json),
        ("tools", FreeKind::Json),
        ("images", FreeKind::Json),
    ],
    is_one_table: true,
    media: MediaIn::Column,
    question: Question::BeforeAnswer,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    KEYS = "TRL-01", "the keys are messages and tools", "take the dialect in a profile that writes no other keys";
    CONTENT = "TRL-02", "a message has no content", "leave empty messages out at the source";
    SILENT = "TRL-03", "the assistant has no turn", "where no participant is an agent, convert with `--set perspective.as=each-participant`";
    CONTEXT = "TRL-04", "a turn of the assistant before the first trained one is context, which this format cannot express; trl-prompt-completion can", "`trl-prompt-completion` takes rows that end with a trained turn; `window.overlap` and `window.mode = \"per_turn\"` make such context, and the source's weights and flags do";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let mut fields = known_fields(row, &TRL_MESSAGES).ok_or(KEYS.words)?;
    let turns = value(&fields, "messages").and_then(turns::of).ok_or(KEYS.words)?;
    if turns.iter().any(|turn| turn.message.content.is_none()) {
        return Err(CONTENT.words);
    }
    if !turns.iter().any(|turn| turn.message.is_assistant()) {
        return Err(SILENT.words);
    }
    let turn_counts = row.turn_counts(turns.iter().map(|turn| turn.json));
    if turn_counts.context == 0 {
        return Ok(Wrapped::whole(fields).with_turn_counts(turn_counts));
    }
    let role_turns: Vec<RoleTurn<'_>> = turns.iter().map(role_turns).collect();
    let mut record = RecordTurns::of(row, &role_turns);
    let missed = record.end_before_context(row).ok_or(CONTEXT.words)?;
    let turn_counts = TurnCounts {
        missed,
        placeholders: record.placeholders,
        ..row.turn_counts(record.turns.iter().copied())
    };
    if turn_counts.learned == 0 {
        return Err(CONTEXT.words);
    }
    let messages = record.list();
    put_messages(&mut fields, Some(messages));
    Ok(Wrapped::whole(fields).with_turn_counts(turn_counts))
}

fn role_turns<'t>(turn: &Turn<'t>) -> RoleTurn<'t> {
    let by = match &*turn.message.role {
        "user" => TurnRole::Person,
        turns::ASSISTANT => TurnRole::Assistant,
        _ => TurnRole::Other,
    };
    (turn.json, by, turn.message.only_text())
}
