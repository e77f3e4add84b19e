//! Messages of OpenAI's Chat Completions, which gateways, frameworks and training files write, too.

pub(crate) mod calls;
mod message;
pub(crate) mod parts;

pub(crate) use message::{MessageObject, answered, content, content_parts};
