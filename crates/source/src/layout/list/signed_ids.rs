//! Ids of calls that are followed by a signature: `call_1__thought__<base64>`.
//!
//! Gateways append Gemini's signature of a thought to the id, because OpenAI's messages have no place for it. It is not part of the
//! id, and other vendors refuse ids of that length.

use chatmill_model::{Conversation, Part};

/// The beginning of a signature.
const MARK: &str = "__thought__";

/// Removes the signatures from the ids of calls and results.
pub(super) fn take_out(conversation: &mut Conversation) {
    let others = conversation.alternatives.iter_mut();
    let others = others.filter_map(|alternative| alternative.messages.as_mut());
    let messages = others.flatten().chain(&mut conversation.messages);
    for part in messages.flat_map(|message| &mut message.parts) {
        let id = match part {
            Part::ToolCall(call) => &mut call.id,
            Part::ToolResult(result) => &mut result.call_id,
            _ => continue,
        };
        if let Some(id) = id
            && let Some(end) = id.find(MARK).filter(|end| *end > 0)
        {
            id.truncate(end);
        }
    }
}
