//! Axolotl's `chat_template` data sets: `messages` as Hugging Face templates read them, with `tools`.
//!
//! ```json
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}
//! ```
//!
//! - AXO-01 keys are `messages` and `tools`.
//! - AXO-02 the first message has content and is not a call: Axolotl takes the keys of all messages from it.
//! - AXO-03 the assistant speaks: else every token is masked.
//!
//! Arguments are objects. Where two calls give one argument in different types, the reader of JSON lines fails: export
//! Parquet, or the profile `hf-messages@string-arguments`.

use chatmill_dataset::FreeKind;

use super::{Envelope, EnvelopeAbout, ExportRow, Wrapped, known_fields, value};
use crate::turns;

/// The envelope of Axolotl.
pub(super) struct Axolotl;

static ABOUT: EnvelopeAbout = EnvelopeAbout {
    id: "axolotl",
    record: "`messages`, `tools`",
    left_out: "the assistant silent; a first message that is a call",
    title: "Axolotl chat_template",
    specification: "Axolotl 0.19, conversation data sets",
    dialects: &["hf-messages"],
    keys: &[("messages", FreeKind::Json), ("tools", FreeKind::Json)],
    least_records: 1,
    most_records: None,
    most_bytes: None,
    is_one_table: true,
};

impl Envelope for Axolotl {
    fn about(&self) -> &'static EnvelopeAbout {
        &ABOUT
    }

    fn wrap<'a>(&self, row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
        let keys = "AXO-01: the keys are messages and tools";
        let fields = known_fields(row, &ABOUT).ok_or(keys)?;
        let turns = value(&fields, "messages").and_then(turns::of).ok_or(keys)?;
        let first = turns.first().ok_or(keys)?;
        if first.said.content.is_none() || !first.said.tool_calls.is_empty() {
            return Err("AXO-02: the first message has no content, or calls a tool");
        }
        if !turns.iter().any(|turn| turn.said.is_assistant()) {
            return Err("AXO-03: the assistant says nothing");
        }
        Ok(Wrapped::whole(fields))
    }
}
