//! Messages of the AI SDK: those of its user interface, versions 4 and 5, and those that it sends to a model.
//!
//! The smallest example:
//!
//! ```json
//! {"id": "chat-1", "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Is it open?"}]},
//!  {"id": "m2", "role": "assistant", "parts": [{"type": "tool-hours", "toolCallId": "c1", "state": "output-available",
//!   "input": {"day": "today"}, "output": {"until": 16}}, {"type": "text", "text": "Until four."}]}]}
//! ```
//!
//! A part holds a call and what came of it: the result is the tool's turn, and what follows it the assistant's next one. The
//! list may stand alone: as a whole file, or as rows that each name their chat. What an app puts into parts of its own
//! (`data-*`), and sources, are kept in `extra`.

use chatmill_intake::RecordSketch;

use crate::reader::{RequestForm, Requests, Vendor, exchange};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "ai-sdk",
    title: "AI SDK messages",
    specification: "AI SDK reference, UIMessage (versions 4 and 5) and ModelMessage",
    shapes: &["messages"],
    carries: "roles, text, reasoning, pictures and files, tool definitions, calls and results, failures, ids",
    customs: NO_TEXT_ARGUMENTS,
};

static FORM: RequestForm = RequestForm {
    list: "messages",
    may_be_text: false,
    system: Some("system"),
    tools: "tools",
    known: &["role", "content", "parts", "toolInvocations"],
    turn: exchange::ai_sdk,
    described: None,
};

/// The source `ai-sdk`.
pub static AI_SDK: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: Some(Vendor::AiSdk),
};

/// Its parts alone tell it.
fn recognise(_record: &RecordSketch) -> Option<(u8, String)> {
    None
}
