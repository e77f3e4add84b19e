//! Messages of OpenAI's Chat Completions, which gateways, frameworks and training files write, too.

pub(crate) mod calls;
mod message;
pub(crate) mod parts;

pub(crate) use message::{MessageObject, answered, content, content_parts};

use super::Grammar;

/// Messages of Chat Completions.
pub(crate) static OPENAI: Grammar = Grammar {
    blocks: parts::PARTS,
    cache_mark: Some(parts::cache_mark),
    ..Grammar::own("openai-chat", &message::FIELDS, message::turn)
};
